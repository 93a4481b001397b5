//! Executes the rewrite once, to files or to rows.

use super::files::FileColumns;
use super::footer::footer;
use super::nanoseconds::nanoseconds;
use super::spool::Spool;
use super::staging::StagedTarget;
use super::stream::write_rows;
use super::written::Written;
use crate::base::error::{Error, Result};
use crate::base::spill::SpillSpace;
use crate::data::recode::SUPPRESSED;
use crate::release::engine::apply::Rewrite;
use crate::release::engine::apply::plan::without_order_key;
use crate::release::engine::decide::Decision;
use crate::release::engine::executor::{ToWrite, Wrote, executor};
use crate::release::job::{Format, Input, Job, Target};
use crate::release::observe::{Observer, Phase};
use arrow::datatypes::{DataType, FieldRef, Schema, SchemaRef};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::execute_stream;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Writes the files of a release to its stage.
pub(in crate::release::engine) async fn write_files(
    job: &Job,
    decision: &Decision,
    rewrite: Rewrite,
    StagedTarget { target, staging }: StagedTarget<'_>,
    observer: &Arc<dyn Observer>,
) -> Result<Written> {
    // This is one function because it prepares the input of every executor and builds the result
    // from the files of the executor.
    let schema = rewrite.plan.schema();
    let beside = beside(job, decision, &rewrite);
    let columns = recounted_beside(job, decision, &rewrite, target);
    let schema_beside = columns.map(|columns| schema.project(&columns)).transpose()?;
    let spool = schema_beside.map(|schema| spool(&job.input, with_dictionaries(&job.input, &schema)));
    let progress = observer.begin(Phase::Write);
    observer.expects(
        Phase::Write,
        decision.verdict.released + decision.starred_rows(&job.guarantees),
    );
    let footer = footer(job, target, decision);
    let columns = FileColumns {
        partitioned_by: target.partitioned_by.clone(),
        hidden: rewrite.hidden.clone(),
        nanoseconds: nanoseconds(job, decision, target, &rewrite, observer.as_ref()).await?,
    };
    let release = |spool| ToWrite {
        job,
        decision,
        rewrite: &rewrite,
        target,
        staging,
        columns: &columns,
        footer: &footer,
        spool,
        progress: Arc::clone(&progress),
        observer: observer.as_ref(),
    };
    let wrote = executor(&job.input.source.state())?.write(release(spool)).await?;
    let done = match wrote {
        Wrote::Done(done) => done,
        Wrote::Declined(spool) => write_rows(release(spool), execute(&job.input, &rewrite)?).await?,
    };
    Ok(Written {
        files: done.files,
        footer,
        rows: done.spool.map(Arc::new),
        writers: done.writers,
        ..Written::new(decision, rewrite, schema, beside)
    })
}

/// Keeps the rows of a release in a spool until they are read.
pub(in crate::release::engine) async fn keep_rows(
    job: &Job,
    decision: &Decision,
    mut rewrite: Rewrite,
    observer: &Arc<dyn Observer>,
) -> Result<Written> {
    let beside = beside(job, decision, &rewrite);
    rewrite.plan = without_order_key(rewrite.plan, &beside)?;
    let (rows, schema) = (execute(&job.input, &rewrite)?, rewrite.plan.schema());
    let progress = observer.begin(Phase::Write);
    observer.expects(
        Phase::Write,
        decision.verdict.released + decision.starred_rows(&job.guarantees),
    );
    let told = |rows| {
        progress.fetch_add(rows, Ordering::Relaxed);
    };
    let rows = spool(&job.input, Arc::clone(&schema)).fill(rows, told).await?;
    Ok(Written {
        rows: Some(Arc::new(rows)),
        ..Written::new(decision, rewrite, schema, beside)
    })
}

fn execute(input: &Input, rewrite: &Rewrite) -> Result<SendableRecordBatchStream> {
    let context = input.source.state().task_ctx();
    execute_stream(Arc::clone(&rewrite.plan), context).map_err(Error::from_data)
}

fn spool(input: &Input, schema: SchemaRef) -> Spool {
    Spool::open(schema, SpillSpace::of(&input.source.rows.task_ctx()))
}

/// Returns the schema with texts in dictionaries: they repeat, so they take less memory and are
/// counted faster. The names of entities rarely repeat.
fn with_dictionaries(input: &Input, schema: &Schema) -> SchemaRef {
    let field = |field: &FieldRef| match field.data_type() {
        DataType::Utf8 if input.entity.as_ref() != Some(field.name()) => {
            let [codes, texts] = [DataType::Int32, DataType::Utf8].map(Box::new);
            Arc::new(
                field
                    .as_ref()
                    .clone()
                    .with_data_type(DataType::Dictionary(codes, texts)),
            )
        }
        _ => Arc::clone(field),
    };
    let fields: Vec<FieldRef> = schema.fields().iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Returns the columns that are recounted but not released.
fn beside(job: &Job, decision: &Decision, rewrite: &Rewrite) -> Vec<String> {
    let marks = decision.marks_suppressed(job).then(|| SUPPRESSED.to_string());
    rewrite.hidden.iter().cloned().chain(marks).collect()
}

/// Returns the indices of the columns that are recounted in addition to the files in `target`.
/// Returns `None` if the files contain everything that the recount needs.
fn recounted_beside(job: &Job, decision: &Decision, rewrite: &Rewrite, target: &Target) -> Option<Vec<usize>> {
    let reports = job.output.report.is_some() && target.format == Format::Csv;
    if !(reports || files_do_not_tell(job, decision, target.format)) {
        return None;
    }
    let schema = rewrite.plan.schema();
    let is_recounted = |i: &usize| {
        let name = schema.field(*i).name();
        let is_entity = job.input.entity.as_ref() == Some(name);
        is_entity
            || name == SUPPRESSED && decision.marks_suppressed(job)
            || job.roles.quasi_identifier(name).is_some()
            || job.roles.sensitive.iter().any(|s| s.column == *name)
            // A report shows what the release reveals about the class label.
            || job.output.report.is_some() && job.roles.class_label.as_ref() == Some(name)
    };
    Some((0..schema.fields().len()).filter(is_recounted).collect())
}

/// Returns true if the models cannot be recounted on the files alone: the files lack the entity,
/// they do not mark suppressed rows, or their values are texts that cannot be compared with the
/// values of the source or the population.
fn files_do_not_tell(job: &Job, decision: &Decision, format: Format) -> bool {
    let mut compared = job.guarantees.constraints.iter().filter(|c| !c.is_of_rows());
    let reads_types = compared.any(|c| c.attribute.is_some())
        || job.roles.sensitive.iter().any(|s| s.randomization.is_some())
        || job.input.population.is_some();
    job.hides_entity() || decision.marks_suppressed(job) || (format == Format::Csv && reads_types)
}
