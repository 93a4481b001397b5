//! The source, prepared for the scans that rewrite it. A drawn mask needs the rank of each row and
//! all values of its column.
//!
//! The rank of a row follows from the values in its columns alone, so the masks do not depend on
//! the order in which the rows are read.

use crate::error::{Error, ErrorKind, Result};
use crate::frequency::gathered;
use crate::job::{Input, Job, MaskOf};
use crate::masks::{Masking, Reads, Survey, has_text};
use crate::recode::ORDER_PREFIX;
use crate::source::select_columns;
use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Int64Type};
use datafusion::common::Column;
use datafusion::dataframe::DataFrame;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::functions_window::expr_fn::row_number;
use datafusion::logical_expr::{ExprFunctionExt, SortExpr};
use datafusion::prelude::{Expr, lit};

/// The rows of the source with the ranks that drawn masks need, and the surveys of the masked
/// columns.
pub(super) struct Surveyed {
    /// The rows of the source, with the columns of ranks that drawn masks read.
    pub(super) rows: DataFrame,
    surveys: Vec<Survey>,
    /// The memory reservation for the surveys and for the values that are drawn from them.
    _held: Option<MemoryReservation>,
}

impl Surveyed {
    /// Reads the columns of drawn masks, and adds columns of ranks to the rows.
    pub(super) async fn of(job: &Job) -> Result<Self> {
        let mut own = Self {
            rows: job.input.source.rows.clone(),
            surveys: vec![],
            _held: None,
        };
        let mut drawn: Vec<&MaskOf> = job.roles.masks.iter().filter(|of| of.clause.kind.is_drawn()).collect();
        // Masks that need ranks of their own come first, so that other masks can share these ranks.
        drawn.sort_by_key(|of| of.clause.kind.reads != Reads::Ranks);
        if drawn.is_empty() {
            return Ok(own);
        }
        let held = MemoryConsumer::new("anonsql masks").register(job.input.source.rows.task_ctx().memory_pool());
        for (i, of) in drawn.into_iter().enumerate() {
            let survey = survey(&job.input, &of.column, i).await?;
            let rows: u64 = survey.counts.iter().sum();
            let bytes = survey.values.get_array_memory_size() + 16 * survey.counts.len();
            let bytes = bytes.saturating_add(4 * usize::try_from(rows).unwrap_or(usize::MAX / 4));
            held.try_grow(bytes).map_err(|e| {
                Error::new(
                    ErrorKind::Resources,
                    format!(
                        "the values of column {} do not fit the memory limit, and {} is drawn from all of them; raise \
                         --memory-limit: {e}",
                        of.column, of.clause.kind.clause.start
                    ),
                )
            })?;
            // A mask that needs the ranks only to distinguish rows shares the ranks of another
            // mask.
            let shared = own.surveys.first().filter(|_| of.clause.kind.reads == Reads::Column);
            let survey = match shared {
                Some(other) => Survey {
                    ranks: other.ranks.clone(),
                    ..survey
                },
                None => {
                    // Ranks are added one at a time, because all functions of one window have the
                    // same order.
                    own.rows = own.rows.window(vec![rank(job, &survey)?])?;
                    survey
                }
            };
            own.surveys.push(survey);
        }
        own._held = Some(held);
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
        match self.surveys.iter().find(|survey| survey.column == of.column) {
            Some(survey) if job.output.report.is_some() => masking.surveyed(survey)?.counting(survey),
            Some(survey) => masking.surveyed(survey),
            None => Ok(masking),
        }
    }
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

fn column(name: &str) -> Expr {
    Expr::Column(Column::from_name(name))
}

/// Returns the distinct values of a column of the source, each with its number of rows.
async fn survey(input: &Input, name: &str, number: usize) -> Result<Survey> {
    let values = select_columns(&input.source.rows, &[name])?;
    let counted = values.aggregate(vec![column(name)], vec![count(lit(1)).alias("rows")])?;
    let counted = counted.sort(vec![column(name).sort(true, false)])?;
    let counted = gathered(counted).await?;
    let (values, counts) = (counted.column(0), counted.column(1).as_primitive::<Int64Type>());
    // NULL comes last, and is not a value of the survey.
    let known = values.len() - values.logical_null_count();
    Ok(Survey {
        column: name.into(),
        values: values.slice(0, known),
        counts: counts.values()[..known].iter().map(|n| n.unsigned_abs()).collect(),
        ranks: format!("{ORDER_PREFIX}rank_{number}"),
    })
}

/// Returns the expression for the rank of a row by the surveyed column. Rows with equal values in
/// this column are ranked by all other columns that the release depends on. Only rows with equal
/// released values can therefore exchange their ranks.
fn rank(job: &Job, survey: &Survey) -> Result<Expr> {
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
    let others = fields.filter(|field| {
        let name = field.name().as_str();
        let is_read = job.roles.releases(name)
            || deciding.contains(&name)
            || limit == Some(name)
            || job.input.entity.as_deref() == Some(name);
        is_read && name != survey.column && !matches!(field.data_type(), DataType::Map(..) | DataType::Union(..))
    });
    let order: Vec<SortExpr> = std::iter::once(survey.column.as_str())
        .chain(others.map(|field| field.name().as_str()))
        .map(|name| column(name).sort(true, false))
        .collect();
    Ok(row_number().order_by(order).build()?.alias(&survey.ranks))
}
