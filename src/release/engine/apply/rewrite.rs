//! The rewriting scan: one plan for all changes to the source's rows.

use super::by_row::{RowPromise, row_promise};
use super::draw::{draw, numbering};
use super::order::in_order;
use super::plan;
use super::surveyed::Surveyed;
use super::treatments::recoding;
use crate::base::error::{Error, Result};
use crate::data::recode::randomize::{MeasuredInformation, Permutation, RandomizeExec};
use crate::data::recode::{Classes, KeptClasses, RecodingPlan, RowOutcome};
use crate::release::engine::decide::Decision;
use crate::release::job::{Format, Job};
use crate::release::observe::{Observer, Phase};
use arrow::datatypes::Schema;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_plan::ExecutionPlan;
use std::sync::Arc;

/// The plan that turns the source into the release.
pub(in crate::release::engine) struct Rewrite {
    /// The released rows, ordered, with the hidden columns and the columns of the order key.
    pub(in crate::release::engine) plan: Arc<dyn ExecutionPlan>,
    /// The recoding plan of every column except the randomized columns.
    pub(in crate::release::engine) recoding: Arc<RecodingPlan>,
    /// The permutations of the randomized columns.
    pub(in crate::release::engine) permutations: Arc<Vec<Arc<Permutation>>>,
    /// Columns that are recounted but not released: the entity, if it is not a released column.
    pub(in crate::release::engine) hidden: Vec<String>,
    /// Whether the rows come from the classes alone, so that the source is not read again.
    pub(in crate::release::engine) is_of_classes: bool,
    row_promise: Option<Box<dyn RowPromise>>,
    measured: Option<MeasuredInformation>,
    /// The memory reservation for the data of drawn masks. It is kept until the plan has been
    /// executed.
    _held: Option<MemoryReservation>,
}

/// Reads the inputs of the rewriting scan other than the rows: personal limits, matrices, and the
/// columns of drawn masks. Fails if the rewriting scan would fail because of these inputs.
pub(in crate::release::engine) async fn foresee_rewrite(job: &Job, decision: &Decision) -> Result<()> {
    let first: &[String] = job.output.target.as_ref().map_or(&[], |t| &t.partitioned_by);
    let source = Surveyed::of(job, decision).await?;
    draw(job, decision, &source, first, false).await?;
    recoding(job, decision, &source, &[])?;
    row_promise(job).await?;
    Ok(())
}

/// Draws the permutations of the randomized columns, and builds the plan of the released rows. The
/// plan computes the rows from the classes alone if the classes determine them, and otherwise from
/// a second scan of the source. If the job has a target, the mutual information between the
/// randomized columns and the classes is measured, too.
pub(in crate::release::engine) async fn rewrite(
    job: &Job,
    decision: &Decision,
    observer: &Arc<dyn Observer>,
) -> Result<Rewrite> {
    observer.begin(Phase::Write);
    let first: &[String] = job.output.target.as_ref().map_or(&[], |t| &t.partitioned_by);
    let measured = job.output.target.as_ref().map(|_| MeasuredInformation::default());
    let hidden: Vec<String> = job
        .input
        .entity
        .iter()
        .filter(|e| !job.roles.releases(e))
        .cloned()
        .collect();
    let source = Surveyed::of(job, decision).await?;
    let permutations = draw(job, decision, &source, first, measured.is_some()).await?;
    let row_promise = row_promise(job).await?;
    let recoding = Arc::new(recoding(job, decision, &source, &hidden)?);

    let schema = job.input.source.rows.schema().as_arrow();
    let told = ordered_classes(decision, &recoding, schema, first, !permutations.is_empty()).await?;
    let is_of_classes = told.is_some();
    let ordered = match told {
        Some(classes) => classes.into_plan(),
        // The source contains rows outside the sample, so only the classes may be read.
        None if job.guarantees.sampling().is_some() => {
            return Err(Error::internal("a sample whose classes do not determine the release"));
        }
        None => {
            let limit = job.guarantees.limit_column().map(str::to_string);
            let last: Vec<String> = hidden.iter().cloned().chain(limit).collect();
            plan::plan(&source.rows, Arc::clone(&recoding), first, &last, &counted_texts(job)).await?
        }
    };
    let plan: Arc<dyn ExecutionPlan> = match &row_promise {
        Some(promise) => promise.kept(ordered),
        None if permutations.is_empty() => ordered,
        None => {
            let (permutations, numbering) = (Arc::clone(&permutations), numbering(decision, &recoding).await?);
            let measured = measured.clone();
            Arc::new(RandomizeExec::over_ordered(
                ordered,
                schema,
                permutations,
                numbering,
                measured,
            ))
        }
    };
    Ok(Rewrite {
        plan: in_order(&job.roles, plan, first, &hidden)?,
        recoding,
        permutations,
        hidden,
        is_of_classes,
        row_promise,
        measured,
        _held: source.held,
    })
}

/// Returns the columns of a CSV release whose texts a report counts. It counts them from a copy of
/// the rows with texts in dictionaries, for which texts without a dictionary are looked up again.
/// Returns none if an operator after the sort replaces values.
fn counted_texts(job: &Job) -> Vec<String> {
    let (roles, target) = (&job.roles, job.output.target.as_ref());
    let is_counted = job.output.report.is_some() && target.is_some_and(|target| target.format == Format::Csv);
    let is_randomized = roles.sensitive.iter().any(|s| s.randomization.is_some());
    if !is_counted || is_randomized || job.guarantees.of_rows().is_some() {
        return vec![];
    }
    let counted = roles.sensitive.iter().map(|s| &s.column).chain(&roles.class_label);
    // The names of entities rarely repeat.
    let is_entity = |name: &String| job.input.entity.as_ref() == Some(name);
    counted.filter(|name| !is_entity(name)).cloned().collect()
}

/// Orders the released classes by the columns `first` and then by all quasi-identifiers. Returns
/// `None` if the classes do not determine the released rows. If `keys` is true, the columns of the
/// order key are part of the result.
async fn ordered_classes(
    decision: &Decision,
    recoding: &Arc<RecodingPlan>,
    schema: &Schema,
    first: &[String],
    keys: bool,
) -> Result<Option<Classes>> {
    let (recoding, schema, classes) = (Arc::clone(recoding), schema.clone(), Arc::clone(&decision.classes));
    let (kept, first) = (decision.verdict.kept.clone(), first.to_vec());
    let told = move || {
        let of = KeptClasses {
            classes: &classes,
            kept: &kept,
        };
        Classes::try_new(recoding, &schema, of, &first, keys)
    };
    let pool = decision.evaluator.sets().pool();
    pool.compute("ordering the classes", told).await
}

impl Rewrite {
    /// Returns the outcome of the promise about single rows. Returns `None` if there is no such
    /// promise, or if not all rows have been read yet.
    pub(in crate::release::engine) fn outcome(&self) -> Option<RowOutcome> {
        self.row_promise.as_ref()?.outcome()
    }

    /// Returns the mutual information between each randomized column and the released classes, in
    /// bits, once all rows have been read. Returns an empty vector if it is not measured.
    pub(in crate::release::engine) fn measured(&self) -> Vec<f64> {
        self.measured.as_ref().map_or_else(Vec::new, |m| m.lock().clone())
    }
}
