//! The source, prepared for the scans that rewrite it. A drawn mask needs an id of each row and all
//! values of its column.
//!
//! The id of a row follows from the values in its columns alone, so the masks do not depend on the
//! order in which the rows are read.

use super::by_value::ids_by_value;
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::Marginals;
use crate::job::{Input, Job, MaskOf};
use crate::masks::{Masking, Reads, RowIds, SeenRows, Survey, has_text};
use crate::pool::blocking;
use crate::source::{select_columns, source_plan};
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use std::sync::Arc;

/// The bytes per row of the order of the rows by a value, and of the swaps of the rows.
const ORDERED: usize = 64;

/// The rows of the source, the ids that drawn masks need, and the surveys of the masked columns.
pub(super) struct Surveyed {
    /// The rows of the source.
    pub(super) rows: DataFrame,
    surveys: Vec<Survey>,
    /// The ids of the rows; `None` if no mask is drawn.
    ids: Option<Arc<RowIds>>,
    /// The memory reservation for the surveys, for the values that are drawn from them, and for the
    /// ids.
    pub(super) held: Option<MemoryReservation>,
}

impl Surveyed {
    /// Reads the columns of drawn masks.
    pub(super) async fn of(job: &Job) -> Result<Self> {
        let mut own = Self {
            rows: job.input.source.rows.clone(),
            surveys: vec![],
            ids: None,
            held: None,
        };
        let drawn: Vec<&MaskOf> = job.roles.masks.iter().filter(|of| of.clause.kind.is_drawn()).collect();
        let Some(first) = drawn.first() else {
            return Ok(own);
        };
        let held = MemoryConsumer::new("anonsql masks").register(job.input.source.rows.task_ctx().memory_pool());
        let mut rows = 0;
        let names: Vec<&str> = drawn.iter().map(|of| of.column.as_str()).collect();
        for (of, counted) in drawn.iter().zip(counted(&job.input, &names).await?) {
            rows = counted.counts.iter().sum();
            reserve(&held, of, counted.bytes(of))?;
            own.surveys.push(counted.survey(of));
        }
        reserve(&held, first, SeenRows::bytes(rows))?;
        let ids = first.with_secret()?.ids_of(distinguishing(job), rows, &own.surveys)?;
        let ids = Arc::new(ids);
        for survey in &mut own.surveys {
            let of = job.roles.mask(&survey.column);
            if of.is_some_and(|of| of.clause.kind.reads == Reads::Ranks) {
                let of = (survey.column.as_str(), &survey.values);
                survey.order = ids_by_value(&job.input, of, &ids).await?;
            }
        }
        own.ids = Some(ids);
        own.held = Some(held);
        Ok(own)
    }

    /// Returns the mask of a column with its secret. A drawn mask also gets the survey of the
    /// column. If the job has a report, a drawn mask also counts the rows whose released value
    /// equals or nearly equals their value in the source.
    pub(super) fn masking(&self, job: &Job, of: &MaskOf) -> Result<Masking> {
        let masking = of.with_secret()?;
        if of.clause.kind.reads == Reads::Identifiers {
            return Ok(masking.reading(identifiers(job)));
        }
        let survey = self.surveys.iter().find(|survey| survey.column == of.column);
        match (survey, &self.ids) {
            (Some(survey), Some(ids)) if job.output.report.is_some() => masking.surveyed(survey, ids)?.counting(survey),
            (Some(survey), Some(ids)) => masking.surveyed(survey, ids),
            _ => Ok(masking),
        }
    }
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

/// The distinct values of a column in ascending order, with NULL last.
struct ValueCounts {
    values: ArrayRef,
    /// For each value, the number of its rows.
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

/// Returns the distinct values of each of these columns, each value with its number of rows. Reads
/// the source once.
async fn counted(input: &Input, names: &[&str]) -> Result<Vec<ValueCounts>> {
    let rows = select_columns(&input.source.rows, names)?;
    let context = Arc::new(rows.task_ctx());
    let plan = source_plan(rows.create_physical_plan().await?).await?;
    let found = Marginals::of_plan(plan, context).await?;
    let counted = blocking("ordering the values of masked columns", move || found.take()).await?;
    let counted = counted
        .into_iter()
        .map(|(values, counts)| ValueCounts { values, counts });
    Ok(counted.collect())
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
