//! Promises to each row: readying the second scan for them, and what is said of them.

use super::evaluator::Verdict;
use super::job::{Constraint, Job};
use super::manifest::{Check, PersonalSummary};
use super::prepare::select_columns;
use super::release::Decided;
use crate::error::{Error, Result};
use crate::frequency::FrequencySet;
use crate::metric::Metric;
use crate::recode::personal::{Columns, Outcome, PersonalExec, Tree};
use crate::search::Oracle;
use arrow::compute::{SortOptions, cast, concat_batches, sort};
use arrow::datatypes::DataType;
use datafusion::physical_plan::ExecutionPlan;
use parking_lot::Mutex;
use std::sync::Arc;

/// The promise to each row, ready for the second scan.
pub(super) struct Personal {
    columns: Arc<Columns>,
    outcome: Arc<Mutex<Option<Outcome>>>,
}

impl Job {
    /// The promise to each row, and the column with its limits.
    pub fn personal(&self) -> Option<(&Constraint, &str)> {
        self.constraints.iter().find_map(|c| Some((c, c.model.limit_column()?)))
    }
}

/// Refuses what a promise to each row cannot stand beside.
pub(super) fn check(job: &Job) -> Result<()> {
    let Some((constraint, limit)) = job.personal() else {
        return Ok(());
    };
    let name = constraint.describe(&job.quasi_identifiers);
    let refuse = |text: &str| Err(Error::usage(format!("{name} {text}")));
    let field = job.source.rows.schema().field_with_unqualified_name(limit)?;
    if !field.data_type().is_numeric() {
        return refuse(&format!("reads limits from {limit}, which holds no numbers"));
    }
    if job
        .constraints
        .iter()
        .filter(|c| c.model.limit_column().is_some())
        .count()
        > 1
    {
        return refuse("is promised for one sensitive attribute at a time; leave out the other personal_privacy");
    }
    let attribute = job
        .sensitive
        .iter()
        .find(|s| Some(&s.column) == constraint.attribute.as_ref());
    if attribute.is_none_or(|a| a.hierarchy.is_none()) {
        return refuse("generalizes the sensitive attribute: give its hierarchy, SENSITIVE (column USING hierarchy)");
    }
    if constraint.subset.is_some() {
        return refuse("is about the rows of whole classes; leave out the list of columns");
    }
    if job.sensitive.iter().any(|s| s.randomization.is_some()) {
        return refuse("cannot stand beside RANDOMIZED; use one of the two");
    }
    if job.entity.is_some() {
        return refuse("is a promise to each row, not to each entity; leave out ENTITY");
    }
    if job.starred {
        return refuse("suppresses rows when they are written, and they are then DROPPED; leave out STARRED");
    }
    let other = job.constraints.iter().find(|c| {
        let reads = c.model.reads();
        c.model.limit_column().is_none() && (reads.attribute || reads.population || c.subset.is_some())
    });
    match other {
        Some(other) => refuse(&format!(
            "generalizes and suppresses after the classes are chosen, which {} may not survive; it stands beside models of \
             class size, such as k_anonymity",
            other.describe(&job.quasi_identifiers)
        )),
        None => Ok(()),
    }
}

impl Decided {
    /// Reads the values of the sensitive attribute and places them in its hierarchy.
    pub(super) async fn personalize(&mut self, first: &[String]) -> Result<()> {
        let job = Arc::clone(&self.job);
        let Some((constraint, limit)) = job.personal() else {
            return Ok(());
        };
        if let Some(column) = first.iter().find(|c| job.quasi_identifier(c).is_none()) {
            return Err(Error::usage(format!(
                "{} looks at the rows of a class together, which PARTITIONED BY {column} would tear apart; partition by \
                 quasi-identifiers",
                constraint.describe(&job.quasi_identifiers)
            )));
        }
        let sensitive = job
            .sensitive
            .iter()
            .find(|s| Some(&s.column) == constraint.attribute.as_ref());
        let Some((column, hierarchy)) = sensitive.and_then(|s| Some((&s.column, s.hierarchy.as_ref()?))) else {
            return Err(Error::internal("a promise to each row without an attribute"));
        };
        let distinct = select_columns(&job.source.rows, &[column])?.distinct()?;
        let schema = Arc::new(distinct.schema().as_arrow().clone());
        let batches = distinct.collect().await.map_err(Error::from_data)?;
        let values = concat_batches(&schema, &batches)?;
        let values = match values.column(0).data_type() {
            DataType::Dictionary(_, plain) => cast(values.column(0), plain)?,
            _ => Arc::clone(values.column(0)),
        };
        let ascending = SortOptions {
            descending: false,
            nulls_first: false,
        };
        let lookup = hierarchy
            .bind(sort(&values, Some(ascending))?)
            .map_err(|e| e.context(format!("column {column}")))?;
        if lookup.unmapped_values() > 0 {
            return Err(Error::data(format!(
                "hierarchy {} does not map {} values of column {column}, which have to be generalized; add them",
                hierarchy.name(),
                lookup.unmapped_values()
            )));
        }
        let least = job.constraints.iter().map(|c| c.model.min_class_size()).max();
        self.personal = Some(Personal {
            columns: Arc::new(Columns {
                attribute: column.clone(),
                tree: Tree::new(&lookup)?,
                lookup,
                limit: limit.into(),
                least_rows: usize::try_from(least.unwrap_or(1)).unwrap_or(usize::MAX),
            }),
            outcome: Arc::default(),
        });
        Ok(())
    }

    /// The attribute whose values are generalized for the rows' own limits.
    pub(super) fn generalized_attribute(&self) -> Option<&str> {
        self.job.personal()?.0.attribute.as_deref()
    }

    /// The rows of `plan` with the promise kept, where one is made.
    pub(super) fn protected(&self, plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        match &self.personal {
            None => Ok(plan),
            Some(Personal { columns, outcome }) => {
                let (columns, outcome) = (Arc::clone(columns), Arc::clone(outcome));
                Ok(Arc::new(PersonalExec::over_classes(plan, columns, outcome)))
            }
        }
    }

    /// What came of the rows in the last complete run.
    pub(super) fn outcome(&self) -> Outcome {
        let outcome = self.personal.as_ref().and_then(|p| p.outcome.lock().clone());
        outcome.unwrap_or_default()
    }

    /// The chosen classes, and which of them are kept, as they were released: without the rows that were suppressed for
    /// their own limits.
    pub(super) fn settled(&self) -> Result<(Arc<FrequencySet>, Verdict)> {
        let (classes, mut verdict) = (&self.decision.classes, self.decision.verdict.clone());
        let mut outcome = self.outcome();
        if outcome.lost.is_empty() {
            return Ok((Arc::clone(classes), verdict));
        }
        let recipe = self.recipe(&[])?;
        let mut counts = classes.counts().to_vec();
        for (class, count) in counts.iter_mut().enumerate().filter(|(class, _)| verdict.kept[*class]) {
            // Groups with the same labels were one class when rows were suppressed: each row is taken off once.
            if let Some(left) = outcome.lost.get_mut(&recipe.order_key(classes, class)) {
                let taken = (*left).min(*count);
                *left -= taken;
                *count -= taken;
            }
        }
        verdict
            .kept
            .iter_mut()
            .zip(&counts)
            .for_each(|(kept, n)| *kept &= *n > 0);
        verdict.classes -= outcome.classes;
        verdict.released -= outcome.suppressed;
        verdict.suppressed += outcome.suppressed;
        Ok((Arc::new(classes.with_counts(counts)), verdict))
    }

    /// The values of the metrics that the table was readied for, in their order, on what is released; `None` where a metric
    /// reads the values of a further column in each class, of which some were suppressed since they were counted.
    pub fn measured(&self, metrics: &[&dyn Metric]) -> Result<Vec<Option<f64>>> {
        let (classes, verdict) = self.settled()?;
        let as_counted = verdict.suppressed == self.decision.verdict.suppressed;
        let values = self.prepared.evaluator.measure(&classes, &verdict);
        let known = |metric: &dyn Metric| as_counted || !(metric.reads().class_label || metric.reads().attribute);
        let known = values
            .into_iter()
            .zip(metrics)
            .map(|(value, m)| known(*m).then_some(value));
        Ok(known.collect())
    }

    /// The value of the job's metric on what is released.
    pub(super) fn value(&self) -> Result<f64> {
        self.measured(&[self.job.metric.as_ref()])?.swap_remove(0).ok_or_else(|| {
            Error::usage(format!(
                "{} is not known of what is left after rows were suppressed for their own limits; MINIMIZING glm is",
                self.job.metric_name
            ))
        })
    }

    /// Whether what was suppressed for the rows' own limits is within the suppression limit.
    pub(super) fn check_suppressed(&self) -> Result<()> {
        let (outcome, limit) = (self.outcome(), self.prepared.evaluator.suppression_limit());
        let suppressed = self.decision.verdict.suppressed + outcome.suppressed;
        let Some((constraint, _)) = self.job.personal().filter(|_| suppressed > limit) else {
            return Ok(());
        };
        Err(Error::infeasible(format!(
            "{} does not hold: the limits of {} rows are met by no generalization of their class; {suppressed} rows would \
             have to be suppressed, and {limit} may be",
            constraint.describe(&self.job.quasi_identifiers),
            outcome.unmet
        )))
    }

    /// The check of the promise: recounted on the rows as they were handed out.
    pub(super) fn check_personal(&self) -> Option<Check> {
        let (constraint, _) = self.job.personal()?;
        let above = self.personal.as_ref()?.outcome.lock().as_ref().map(|o| o.above);
        Some(Check {
            check: format!(
                "rows above their limit, {}",
                constraint.describe(&self.job.quasi_identifiers)
            ),
            required: 0.0,
            reached: above.map(|n| n as f64),
            ok: above == Some(0),
        })
    }

    /// What the manifest says of the promise.
    pub(super) fn personal_summary(&self) -> Option<PersonalSummary> {
        let personal = self.personal.as_ref()?;
        let outcome = self.outcome();
        Some(PersonalSummary {
            column: personal.columns.attribute.clone(),
            rows_by_level: outcome.levels,
            limits_not_met: outcome.unmet,
            rows_suppressed: outcome.suppressed,
        })
    }
}
