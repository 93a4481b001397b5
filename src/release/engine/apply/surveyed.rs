//! The source, prepared for the scans that rewrite it. A drawn mask needs an id of each row, and
//! the values of its column that are released.
//!
//! The values of suppressed rows are left out: they influence no mask, and are not released in
//! another row. There are two exceptions. If suppressed rows are kept with `*`, their values in
//! KEEP columns are released, and so are part of the survey. The rows that are suppressed because
//! their own limits (`personal_privacy`) cannot be met are not known before all rows are masked, so
//! their values are part of the survey, too.
//!
//! The id of a row follows from the values in its columns alone, so the masks do not depend on the
//! order in which the rows are read. Suppressed rows have ids, too. Equal rows are suppressed
//! together, so the number of a row among its equals is the same with and without them. If
//! suppressed rows are kept with `*`, the values that are not released with them are left out of
//! their ids, because the ids of all rows decide the swaps of RANK SWAP.

use super::by_value::RankedRows;
use super::collected::{ColumnToCollect, ToCollect, ValueCounts, collected};
use super::recoding_plan::recoding_of;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::{Pool, blocking};
use crate::method::masks::{Masking, Reads, RowHashes, RowIds, Survey, has_text};
use crate::release::engine::decide::Decision;
use crate::release::job::{Job, MaskOf};
use arrow::array::Array;
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use std::sync::Arc;

/// The maximum number of bytes that are needed to order a pair of two words: it is held twice, and
/// the second one may have room for more pairs. A row without a value, the ids that follow from
/// ordered pairs, and the preparation of the swaps of RANK SWAP need less memory.
const ORDERED: usize = 40;

/// The maximum number of bytes of a pair, or of a row without a value, that is not ordered yet.
const COLLECTED: usize = 16;

/// The maximum number of bytes per row of the swaps: a pair of 16 bytes, and half an index.
const SWAPPED: usize = 18;

/// The rows of the source, and the drawn masks with the values of their columns.
pub(super) struct Surveyed {
    /// The rows of the source.
    pub(super) rows: DataFrame,
    /// The names of the columns with a drawn mask, each with its mask.
    drawn: Vec<(String, Masking)>,
    /// The memory reservation for the values that are drawn, and for the ids of the rows.
    pub(super) held: Option<MemoryReservation>,
}

impl Surveyed {
    /// Reads the columns of drawn masks, and draws the masks from the values that the decision
    /// releases.
    pub(super) async fn of(job: &Job, decision: &Decision) -> Result<Self> {
        let mut own = Self {
            rows: job.input.source.rows.clone(),
            drawn: vec![],
            held: None,
        };
        let drawn: Vec<&MaskOf> = job.roles.masks.iter().filter(|of| of.clause.kind.is_drawn()).collect();
        let Some(first) = drawn.first() else {
            return Ok(own);
        };
        let held = MemoryConsumer::new("anonsql masks").register(job.input.source.rows.task_ctx().memory_pool());
        let masking = first.with_secret()?;
        let hashes = Arc::new(row_hashes(job, &masking)?);
        let (rows, found) = collected(&job.input, &to_collect(job, decision, &drawn, &hashes)?).await?;
        let pool = Pool::of(job.input.source.rows.task_ctx().session_config());
        let (mut surveys, mut ranked, mut ordering) = (vec![], vec![], vec![]);
        for (of, column) in drawn.iter().zip(&found) {
            reserve(&held, of, column.sorted() * COLLECTED)?;
        }
        for (of, column) in drawn.iter().zip(found) {
            let ordered = column.sorted() * ORDERED;
            reserve(&held, of, column.sorted() * (ORDERED - COLLECTED))?;
            let finish = move || column.finish();
            let (counted, ranks) = pool.compute("ordering the values of masked columns", finish).await?;
            let kept = if ranks.is_some() { ordered } else { 0 };
            held.shrink(ordered - kept);
            ordering.push(kept);
            reserve(
                &held,
                of,
                counted.values.get_array_memory_size() + 16 * counted.counts.len(),
            )?;
            surveys.push(survey(of, counted));
            ranked.push(ranks);
        }
        let hash = move || {
            let ids = masking.ids_of(&hashes, rows, &surveys)?;
            Ok::<_, Error>((ids, surveys))
        };
        let (ids, mut surveys) = blocking("hashing the values of masked columns", hash).await?;
        let ids = Arc::new(order_rows(&pool, ids, &mut surveys, ranked).await?);
        reserve(&held, first, ids.bytes())?;
        for ((of, survey), ordered) in drawn.into_iter().zip(surveys).zip(ordering) {
            let swapped = survey.order.len() * SWAPPED;
            let masking = draw_mask(job, of, survey, &ids).await?;
            own.drawn.push((of.column.clone(), masking));
            held.shrink(ordered - swapped);
        }
        own.held = Some(held);
        Ok(own)
    }

    /// Returns the mask of a column with its secret. All maskings of a column share what was drawn.
    /// If the job has a report, each masking of a drawn mask counts the rows whose released value
    /// equals or nearly equals their value in the source.
    pub(super) fn masking(&self, job: &Job, of: &MaskOf) -> Result<Masking> {
        if let Some((_, drawn)) = self.drawn.iter().find(|(column, _)| *column == of.column) {
            return Ok(drawn.counting_anew());
        }
        let masking = of.with_secret()?;
        Ok(match of.clause.kind.reads == Reads::Identifiers {
            true => masking.reading(identifiers(job)),
            false => masking,
        })
    }
}

/// Orders the rows of each ranked column in its survey. The order of the first of them shows which
/// rows equal another row. Returns the ids with this knowledge.
async fn order_rows(
    pool: &Pool,
    mut ids: RowIds,
    surveys: &mut [Survey],
    ranked: Vec<Option<RankedRows>>,
) -> Result<RowIds> {
    let mut repeated = None;
    for (survey, ranks) in surveys.iter_mut().zip(ranked) {
        let Some(ranks) = ranks else { continue };
        let order = move || {
            let found = ranks.ids(&ids);
            Ok((ids, found))
        };
        let (own, (order, firsts)) = pool.compute("ordering the rows by a value", order).await?;
        (ids, survey.order) = (own, order);
        repeated = repeated.or(Some(firsts));
    }
    Ok(match repeated {
        Some(firsts) => ids.repeating(&firsts),
        None => ids,
    })
}

/// Returns the mask of a column with its secret, drawn from the survey of the column for rows with
/// these ids. If the job has a report, the mask counts the rows that reveal their own value.
async fn draw_mask(job: &Job, of: &MaskOf, survey: Survey, ids: &Arc<RowIds>) -> Result<Masking> {
    let (masking, ids, counts) = (of.with_secret()?, Arc::clone(ids), job.output.report.is_some());
    let pool = Pool::of(job.input.source.rows.task_ctx().session_config());
    let draw = move || {
        let masking = masking.surveyed(&survey, &ids)?;
        match counts {
            true => masking.counting(&survey),
            false => Ok(masking),
        }
    };
    pool.compute("drawing a mask", draw).await
}

/// Reserves memory for a mask. Fails with `ErrorKind::Resources` if the memory limit is reached.
fn reserve(held: &MemoryReservation, of: &MaskOf, bytes: usize) -> Result<()> {
    held.try_grow(bytes).map_err(|e| {
        Error::new(
            ErrorKind::Resources,
            format!(
                "the values of column {} do not fit the memory limit, and {} is drawn from all of them; raise \
                 --memory-limit: {e}",
                of.column, of.clause.kind.clause.start
            ),
        )
    })
}

/// Returns the identifiers whose values can be read as text.
fn identifiers(job: &Job) -> Vec<String> {
    let schema = job.input.source.rows.schema();
    let has_text = |name: &&String| {
        let field = schema.field_with_unqualified_name(name);
        field.is_ok_and(|field| has_text("", field.data_type()).is_ok())
    };
    job.roles.identifiers.iter().filter(has_text).cloned().collect()
}

/// Returns the survey of a column, without the order of its rows.
fn survey(of: &MaskOf, counted: ValueCounts) -> Survey {
    Survey {
        column: of.column.clone(),
        values: counted.values,
        counts: counted.counts,
        order: vec![],
    }
}

/// Returns what the scan collects of the columns with drawn masks: their values, except those that
/// are not released because their rows are suppressed, and these hashes of the rows if a mask ranks
/// the rows.
fn to_collect(job: &Job, decision: &Decision, drawn: &[&MaskOf], hashes: &Arc<RowHashes>) -> Result<ToCollect> {
    let suppressing = match decision.verdict.suppressed {
        0 => None,
        _ => Some(Arc::new(recoding_of(job, decision, vec![])?)),
    };
    let hides = |name: &str| {
        let suppressing = suppressing.as_ref();
        suppressing.is_some_and(|suppressing| suppressing.hides_suppressed(job.roles.protects(name)))
    };
    let columns = drawn.iter().map(|of| ColumnToCollect {
        name: of.column.clone(),
        is_ranked: of.clause.kind.reads == Reads::Ranks,
        is_hidden: hides(&of.column),
    });
    let columns: Vec<ColumnToCollect> = columns.collect();
    let is_ranked = columns.iter().any(|column| column.is_ranked);
    let is_needed = columns.iter().any(|column| column.is_hidden) || is_ranked && hashes.depend_on_suppression();
    Ok(ToCollect {
        suppressing: suppressing.filter(|_| is_needed),
        hashes: is_ranked.then(|| Arc::clone(hashes)),
        columns,
    })
}

/// Returns the hashes of the rows, without the values that are not released with suppressed rows.
/// All scans use the same hashes. `masking` is a drawn mask.
fn row_hashes(job: &Job, masking: &Masking) -> Result<RowHashes> {
    let columns = distinguishing(job);
    let left_out = columns.iter().map(|name| is_starred(job, name)).collect();
    Ok(masking.hashes_of(columns)?.leaving_out(left_out))
}

/// Returns true if suppressed rows are kept, and the values of this column are not released with
/// them: `*` or NULL takes their place.
fn is_starred(job: &Job, column: &str) -> bool {
    let roles = &job.roles;
    let is_hidden =
        roles.protects(column) || roles.quasi_identifier(column).is_some() || roles.item_set(column).is_some();
    job.guarantees.starred && is_hidden
}

/// Returns the names of the columns that distinguish the rows: all columns that the release depends
/// on. Rows with equal values in these columns may exchange their ids, because they are released
/// with equal values otherwise.
fn distinguishing(job: &Job) -> Vec<String> {
    let is_redacted = job
        .roles
        .masks
        .iter()
        .any(|of| of.clause.kind.reads == Reads::Identifiers);
    let redacting = job.roles.identifiers.iter().filter(|_| is_redacted).map(String::as_str);
    let named = job.roles.masks.iter().filter_map(|of| of.clause.entity());
    let deciding: Vec<&str> = named.chain(redacting).collect();
    let limit = job.guarantees.limit_column();
    let fields = job.input.source.rows.schema().fields().iter();
    let read = fields.filter(|field| {
        let name = field.name().as_str();
        let is_read = job.roles.releases(name)
            || deciding.contains(&name)
            || limit == Some(name)
            || job.input.entity.as_deref() == Some(name);
        is_read && !matches!(field.data_type(), DataType::Map(..) | DataType::Union(..))
    });
    read.map(|field| field.name().clone()).collect()
}
