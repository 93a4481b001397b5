//! Personal limits: each row of the source has a limit of its own, in a column of limits. Prepares
//! the second scan, which enforces these limits.

use super::interface::RowPromise;
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::data::frequency::gathered;
use crate::data::recode::RowOutcome;
use crate::data::recode::personal::{LabelTree, PersonalColumns, PersonalExec};
use crate::data::source::select_columns;
use crate::method::hierarchy::{Coverage, Hierarchy, Lookup};
use crate::release::job::Job;
use arrow::array::{Array, ArrayRef};
use arrow::compute::{SortOptions, cast, sort};
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use datafusion::functions::expr_fn::isnan;
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{Expr, ident, lit};
use datafusion::physical_plan::ExecutionPlan;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::sync::Arc;

/// The personal limits of the rows, which the second scan enforces. The outcome is known once the
/// second scan has ended.
struct PersonalLimits {
    columns: Arc<PersonalColumns>,
    outcome: Arc<Mutex<Option<RowOutcome>>>,
}

/// Prepares the personal limits of a job. Returns `None` if the job has no personal limits.
pub(super) fn prepare(job: &Job) -> BoxFuture<'_, Result<Option<Box<dyn RowPromise>>>> {
    Box::pin(async move {
        let limits = PersonalLimits::of(job).await?;
        Ok(limits.map(|limits| Box::new(limits) as Box<dyn RowPromise>))
    })
}

impl PersonalLimits {
    /// Reads the values of the sensitive attribute, and binds its hierarchy to these values.
    /// Returns `None` if the job has no personal limits.
    async fn of(job: &Job) -> Result<Option<Self>> {
        let Some((constraint, limit)) = job.guarantees.personal() else {
            return Ok(None);
        };
        let sensitive = job
            .roles
            .sensitive
            .iter()
            .find(|s| Some(&s.column) == constraint.attribute.as_ref());
        let Some((column, hierarchy)) = sensitive.and_then(|s| Some((&s.column, s.hierarchy.as_ref()?))) else {
            return Err(Error::internal("a promise to each row without an attribute"));
        };
        let values = gathered(select_columns(&job.input.source.rows, &[column])?.distinct()?).await?;
        let values = match values.column(0).data_type() {
            DataType::Dictionary(_, plain) => cast(values.column(0), plain)?,
            _ => Arc::clone(values.column(0)),
        };
        let nulls = match values.null_count() {
            0 => 0,
            _ => {
                let rows = select_columns(&job.input.source.rows, &[column])?;
                rows.filter(ident(column).is_null())?.count().await?
            }
        };
        admit(&job.input.source.rows, limit).await?;
        let (hierarchy, name) = (Arc::clone(hierarchy), column.clone());
        let place = move || placed(&hierarchy, &name, &values, nulls as u64);
        let (tree, lookup) = blocking("placing the values of a column", place).await?;
        let least = job
            .guarantees
            .constraints
            .iter()
            .map(|c| c.model.min_class_size())
            .max();
        Ok(Some(Self {
            columns: Arc::new(PersonalColumns {
                attribute: column.clone(),
                tree,
                lookup,
                limit: limit.into(),
                least_rows: usize::try_from(least.unwrap_or(1)).unwrap_or(usize::MAX),
            }),
            outcome: Arc::default(),
        }))
    }
}

impl RowPromise for PersonalLimits {
    fn kept(&self, plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        let (columns, outcome) = (Arc::clone(&self.columns), Arc::clone(&self.outcome));
        Arc::new(PersonalExec::over_classes(plan, columns, outcome))
    }

    fn outcome(&self) -> Option<RowOutcome> {
        self.outcome.lock().clone()
    }
}

/// Places the distinct values of a column in its hierarchy. `nulls` is the number of rows with
/// NULL. Fails with `ErrorKind::Data` if the hierarchy does not map a value, or if there are such
/// rows and the hierarchy refuses NULL.
fn placed(hierarchy: &Hierarchy, column: &str, values: &ArrayRef, nulls: u64) -> Result<(LabelTree, Lookup)> {
    let ascending = SortOptions {
        descending: false,
        nulls_first: false,
    };
    let lookup = hierarchy
        .bind(sort(values, Some(ascending))?)
        .map_err(|e| e.context(format!("column {column}")))?;
    if lookup.unmapped_values() > 0 {
        return Err(Error::data(format!(
            "hierarchy {} does not map {} values of column {column}, which have to be generalized; add them",
            hierarchy.name(),
            lookup.unmapped_values()
        )));
    }
    let coverage = Coverage {
        rows_null: nulls,
        ..Coverage::default()
    };
    hierarchy.admit(column, &coverage)?;
    Ok((LabelTree::new(&lookup)?, lookup))
}

/// Fails with `ErrorKind::Data` if a row has no limit, or a limit that is not a probability. A
/// limit of 20, meant as a percentage, would limit nothing.
async fn admit(rows: &DataFrame, limit: &str) -> Result<()> {
    let limits = select_columns(rows, &[limit])?;
    let value = || Expr::Cast(Cast::new(Box::new(ident(limit)), DataType::Float64));
    let missing = value().is_null().or(isnan(value()));
    match limits.clone().filter(missing)?.count().await? {
        0 => {}
        n => {
            return Err(Error::data(format!(
                "column {limit} has no number in {n} rows; to give rows without a limit of their own the limit 1, \
                 write coalesce({limit}, 1) in a query"
            )));
        }
    }
    match limits.filter(value().not_between(lit(0.0), lit(1.0)))?.count().await? {
        0 => Ok(()),
        n => Err(Error::data(format!(
            "column {limit} has a limit below 0 or above 1 in {n} rows; a limit is a probability: 0.2, not 20"
        ))),
    }
}
