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
//! order in which the rows are read. Suppressed rows have ids, too: all scans count the same rows.
//! If suppressed rows are kept with `*`, the values that are not released with them are left out of
//! their ids, because the ids of all rows decide the swaps of RANK SWAP.

use super::by_value::ids_by_value;
use super::recoding_plan::recoding_of;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::{Pool, blocking};
use crate::data::frequency::Marginals;
use crate::data::recode::{HideSuppressedExec, RecodingPlan};
use crate::data::source::{select_columns, source_plan};
use crate::method::masks::{Masking, Reads, RowIds, SeenRows, Survey, has_text};
use crate::release::engine::decide::Decision;
use crate::release::job::{Input, Job, MaskOf};
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use std::sync::Arc;

/// The maximum number of bytes per row that are needed to prepare the swaps of RANK SWAP. While the
/// ids of the rows are ordered, they are held three times. If every row has a different value,
/// there are two more words for each value. The scan before the preparation and the swaps after it
/// need less memory.
const ORDERED: usize = 40;

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
        let (mut rows, mut surveys) = (0, vec![]);
        let names: Vec<&str> = drawn.iter().map(|of| of.column.as_str()).collect();
        let unreleased = Unreleased::of(job, decision, &names)?;
        for (of, counted) in drawn
            .iter()
            .zip(counted(&job.input, &names, unreleased.as_ref()).await?)
        {
            rows = counted.counts.iter().sum();
            reserve(&held, of, counted.bytes(of))?;
            surveys.push(counted.survey(of));
        }
        reserve(&held, first, SeenRows::bytes(rows))?;
        let (masking, columns) = (first.with_secret()?, distinguishing(job));
        let left_out = columns.iter().map(|name| is_starred(job, name)).collect();
        let hash = move || {
            let ids = masking.ids_of(columns, rows, &surveys)?.leaving_out(left_out);
            Ok::<_, Error>((Arc::new(ids), surveys))
        };
        let (ids, surveys) = blocking("hashing the values of masked columns", hash).await?;
        for (place, (of, mut survey)) in drawn.into_iter().zip(surveys).enumerate() {
            if of.clause.kind.reads == Reads::Ranks {
                let suppressing = unreleased.as_ref().map(|values| &values.suppressing);
                let are_hidden = unreleased.as_ref().is_some_and(|values| values.hidden[place]);
                survey.order = ids_by_value(&job.input, &survey, &ids, suppressing, are_hidden).await?;
            }
            let ranked = survey.order.len();
            let masking = draw_mask(job, of, survey, &ids).await?;
            own.drawn.push((of.column.clone(), masking));
            held.shrink(ranked * (ORDERED - SWAPPED));
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

/// The distinct values of a column that are released, in ascending order, with NULL last.
struct ValueCounts {
    values: ArrayRef,
    /// For each value, the number of its rows. The sum is the number of rows of the source.
    counts: Vec<u64>,
}

impl ValueCounts {
    /// Returns the memory of the values, and of what the mask draws from them, in bytes.
    fn bytes(&self, of: &MaskOf) -> usize {
        let rows = usize::try_from(self.counts.iter().sum::<u64>()).unwrap_or(usize::MAX);
        let ordered = match of.clause.kind.reads {
            Reads::Ranks => rows.saturating_mul(ORDERED),
            _ => 0,
        };
        let values = self.values.get_array_memory_size() + 16 * self.counts.len();
        values.saturating_add(ordered)
    }

    /// Returns the survey of the column, without the order of its rows. NULL comes last, and is not
    /// a value of the survey.
    fn survey(&self, of: &MaskOf) -> Survey {
        let known = self.values.len() - self.values.logical_null_count();
        Survey {
            column: of.column.clone(),
            values: self.values.slice(0, known),
            counts: self.counts[..known].to_vec(),
            order: vec![],
        }
    }
}

/// The rows that are suppressed, and which values of columns with drawn masks are not released with
/// them.
struct Unreleased {
    /// The recoding plan that suppresses the rows.
    suppressing: Arc<RecodingPlan>,
    /// For each column, true if its values are not released in suppressed rows.
    hidden: Vec<bool>,
}

impl Unreleased {
    /// Returns the values of these columns that are not released; `None` if no row is suppressed.
    fn of(job: &Job, decision: &Decision, names: &[&str]) -> Result<Option<Self>> {
        if decision.verdict.suppressed == 0 {
            return Ok(None);
        }
        let suppressing = Arc::new(recoding_of(job, decision, vec![])?);
        let hides = |name: &&str| suppressing.hides_suppressed(job.roles.protects(name));
        let hidden = names.iter().map(hides).collect();
        Ok(Some(Self { suppressing, hidden }))
    }

    /// Returns true if there is a column whose values are not released in the suppressed rows.
    fn has_hidden(&self) -> bool {
        self.hidden.contains(&true)
    }
}

/// Returns the distinct values of each of these columns, each value with its number of rows. A
/// value that is not released counts as NULL. Reads the source once.
async fn counted(input: &Input, names: &[&str], unreleased: Option<&Unreleased>) -> Result<Vec<ValueCounts>> {
    let unreleased = unreleased.filter(|values| values.has_hidden());
    let mut read = names.to_vec();
    read.extend(unreleased.iter().flat_map(|values| values.suppressing.reads()));
    let rows = select_columns(&input.source.rows, &read)?;
    let context = Arc::new(rows.task_ctx());
    let mut plan = source_plan(rows.create_physical_plan().await?).await?;
    if let Some(values) = unreleased {
        let (suppressing, hidden) = (Arc::clone(&values.suppressing), values.hidden.clone());
        plan = Arc::new(HideSuppressedExec::over_columns(plan, suppressing, hidden));
    }
    let found = Marginals::of_plan(plan, context).await?;
    let counted = blocking("ordering the values of masked columns", move || found.take()).await?;
    let counted = counted
        .into_iter()
        .map(|(values, counts)| ValueCounts { values, counts });
    Ok(counted.collect())
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
