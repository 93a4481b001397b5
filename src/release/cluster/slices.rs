//! Slices of a source: plans that each read some of its files. All slices together return the rows
//! of the source.

use super::answer::Pulse;
use crate::base::error::{Error, Result};
use crate::base::operator::{Operator, OperatorExec, Parcel, Rows, Travels};
use crate::base::store::Stores;
use crate::data::source::read_again;
use arrow::datatypes::SchemaRef;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileGroup, FileGroupPartitioner, FileScanConfig, FileScanConfigBuilder, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use datafusion::prelude::SessionConfig;
use futures::StreamExt;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The minimum number of bytes in all files together for the files to be divided. For fewer bytes,
/// sending more slices takes longer than reading them.
const LEAST_BYTES: usize = 1 << 20;
/// The approximate maximum number of bytes of a slice. If a worker is lost, the slices that it is
/// processing are lost too. The driver keeps the rows of a slice in memory until the slice is
/// complete.
const MOST_BYTES: u64 = 1 << 26;

/// Divides `plan` into about `wanted` single-partition plans, which together return the rows of
/// `plan`. Returns `None` unless `plan` reads Parquet files and applies only projections and
/// filters, so that each row depends on only one row of the files. The files must be in the local
/// file system, or in a store that other machines can access.
pub(crate) fn slices(
    plan: &Arc<dyn ExecutionPlan>,
    wanted: usize,
    session: &SessionConfig,
) -> Option<Vec<Arc<dyn ExecutionPlan>>> {
    let reading = Reading::of(plan, session)?;
    let groups = divided(&reading.files.file_groups, wanted);
    groups.into_iter().map(|group| reading.only(group)).collect()
}

/// Returns one plan for each file that `plan` reads, with the location of the file. Each plan keeps
/// the order of the rows in the file. Returns `None` in the same cases as [`slices`].
pub(crate) fn by_file(
    plan: &Arc<dyn ExecutionPlan>,
    session: &SessionConfig,
) -> Option<Vec<(String, Arc<dyn ExecutionPlan>)>> {
    let reading = Reading::of(plan, session)?;
    let parts = reading.files.file_groups.iter().flat_map(|group| group.files());
    // Merges the parts of a file again, because the scan may have divided a large file among
    // partitions.
    let whole: BTreeMap<String, PartitionedFile> = parts
        .map(|part| {
            (
                part.path().to_string(),
                PartitionedFile {
                    range: None,
                    ..part.clone()
                },
            )
        })
        .collect();
    let plan = |(path, file)| Some((path, reading.only(FileGroup::new(vec![file]))?));
    whole.into_iter().map(plan).collect()
}

/// A plan that reads files and processes each row independently of the others.
struct Reading {
    files: FileScanConfig,
    /// The operators above the reader, topmost first.
    above: Vec<Arc<dyn ExecutionPlan>>,
}

impl Reading {
    fn of(plan: &Arc<dyn ExecutionPlan>, session: &SessionConfig) -> Option<Self> {
        let mut above = vec![];
        let mut next = plan;
        loop {
            if let Some(files) = files(next, session) {
                let files = files.clone();
                return Some(Self { files, above });
            }
            let [below] = next.children()[..] else {
                return None;
            };
            let is_each = next.is::<ProjectionExec>() || next.is::<CooperativeExec>();
            let is_filter = next.is::<FilterExec>() && next.fetch().is_none();
            if is_each || is_filter {
                above.push(Arc::clone(next));
            } else if !next.is::<RepartitionExec>() {
                return None;
            }
            next = below;
        }
    }

    /// Returns the plan over one group of files; `None` if the plan would not have exactly one
    /// partition.
    fn only(&self, group: FileGroup) -> Option<Arc<dyn ExecutionPlan>> {
        let config = FileScanConfigBuilder::from(self.files.clone())
            .with_file_groups(vec![group])
            .with_output_ordering(vec![])
            .build();
        let leaf: Arc<dyn ExecutionPlan> = DataSourceExec::from_data_source(config);
        let plan = self.above.iter().rev().try_fold(leaf, |below, node| {
            let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
            Arc::clone(node).replace_children(vec![below], options).ok()
        })?;
        (plan.output_partitioning().partition_count() == 1).then_some(plan)
    }
}

/// Returns the configuration of a Parquet reader. Returns `None` if `plan` is not a Parquet reader,
/// if other machines cannot access the files, or if the reader has a row limit, a custom expression
/// adapter or a declared output partitioning.
fn files<'a>(plan: &'a Arc<dyn ExecutionPlan>, session: &SessionConfig) -> Option<&'a FileScanConfig> {
    let source = plan.downcast_ref::<DataSourceExec>()?;
    let (config, _) = source.downcast_to_file_source::<ParquetSource>()?;
    let is_reached = Stores::are_reached_by_others(session, config.object_store_url.as_ref());
    let unusual =
        config.limit.is_some() || config.expr_adapter_factory.is_some() || config.output_partitioning.is_some();
    (is_reached && !unusual).then_some(config)
}

/// Divides files into about `wanted` groups of similar size, or into more groups if a group would
/// exceed [`MOST_BYTES`]. A large file is divided by its row groups.
fn divided(groups: &[FileGroup], wanted: usize) -> Vec<FileGroup> {
    let files = groups.iter().flat_map(|group| group.files());
    let bytes: u64 = files.map(|file| file.object_meta.size).sum();
    let least = usize::try_from(bytes.div_ceil(MOST_BYTES)).unwrap_or(usize::MAX);
    let even = FileGroupPartitioner::new()
        .with_target_partitions(wanted.max(least).max(1))
        .with_repartition_file_min_size(LEAST_BYTES)
        .repartition_file_groups(groups);
    let divided = even.unwrap_or_else(|| {
        // The files are too small to be divided, so each file becomes one slice.
        let files = groups.iter().flat_map(|group| group.files().iter().cloned());
        files.map(|file| FileGroup::new(vec![file])).collect()
    });
    divided.into_iter().filter(|group| !group.files().is_empty()).collect()
}

/// Returns the approximate number of bytes that a plan reads from files.
#[cfg(feature = "ballista")]
pub(super) fn bytes_of(plan: &Arc<dyn ExecutionPlan>) -> u64 {
    let source = plan.downcast_ref::<DataSourceExec>();
    let files = source.and_then(|source| source.downcast_to_file_source::<ParquetSource>());
    let groups = files.into_iter().flat_map(|(config, _)| &config.file_groups);
    let own: u64 = groups.flat_map(|group| group.files()).map(size).sum();
    own + plan.children().into_iter().map(bytes_of).sum::<u64>()
}

#[cfg(feature = "ballista")]
fn size(file: &PartitionedFile) -> u64 {
    let whole = file.object_meta.size;
    file.range
        .as_ref()
        .map_or(whole, |range| u64::try_from(range.end - range.start).unwrap_or(whole))
}

/// An operator that marks a plan as a slice when it is sent. The worker adds the checks of a source
/// to the slice: see `source::read_again`.
#[derive(Debug)]
pub(crate) struct Sent;

impl Sent {
    /// Wraps a slice so that it can be sent.
    pub(crate) fn over(slice: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
        Arc::new(OperatorExec::looking(slice, Self))
    }
}

/// Returns the plan that replaces a slice on its worker.
pub(crate) fn guarded_again(
    _: Parcel,
    _: SchemaRef,
    input: Option<Arc<dyn ExecutionPlan>>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let slice = input.ok_or_else(|| Error::internal("a slice without files"))?;
    Ok(Sent::over(read_again(slice)?))
}

impl fmt::Display for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("slice")
    }
}

impl Operator for Sent {
    const NAME: &'static str = "SentExec";
    const ONLY_LOOKS: bool = true;

    fn run(&self, input: SendableRecordBatchStream, _: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows> {
        let pulse = Pulse::of(context);
        Ok(input.inspect(move |_| pulse.beat()).boxed())
    }
}

impl Travels for Sent {
    fn pack(&self) -> Result<Parcel> {
        Parcel::new(&())
    }

    fn unpack(_: Parcel) -> Result<Self> {
        Ok(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Int64Array;
    use arrow::compute::concat_batches;
    use datafusion::physical_plan::collect;
    use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};

    async fn planned(session: &SessionContext, sql: &str) -> Arc<dyn ExecutionPlan> {
        session.sql(sql).await.unwrap().create_physical_plan().await.unwrap()
    }

    /// Tests that the slices together return every row of the source exactly once.
    #[tokio::test]
    async fn slices_are_the_source() {
        let scratch = tempfile::tempdir().unwrap();
        let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(3));
        for i in 0..5 {
            let path = scratch.path().join(format!("{i}.parquet"));
            let rows = format!(
                "SELECT value AS a, value % 7 AS b FROM generate_series({}, {})",
                i * 100,
                i * 100 + 99
            );
            let sql = format!("COPY ({rows}) TO '{}'", path.display());
            session.sql(&sql).await.unwrap().collect().await.unwrap();
        }
        let path = scratch.path().display().to_string();
        session
            .register_parquet("t", path, ParquetReadOptions::new())
            .await
            .unwrap();
        for (sql, rows) in [
            ("SELECT a, b FROM t", 500),
            ("SELECT b + 1 AS c FROM t WHERE a < 250", 250),
        ] {
            let slices = slices(&planned(&session, sql).await, 4, &session.copied_config()).unwrap();
            assert!(slices.len() > 1, "{sql}");
            let mut found = vec![];
            for slice in &slices {
                found.extend(collect(Arc::clone(slice), session.task_ctx()).await.unwrap());
            }
            assert_eq!(found.iter().map(|b| b.num_rows()).sum::<usize>(), rows, "{sql}");
        }
        let plan = planned(&session, "SELECT a FROM t").await;
        for (number, (path, file)) in by_file(&plan, &session.copied_config())
            .unwrap()
            .into_iter()
            .enumerate()
        {
            assert!(path.ends_with(&format!("{number}.parquet")), "{path}");
            let rows = collect(file, session.task_ctx()).await.unwrap();
            let rows = concat_batches(&plan.schema(), &rows).unwrap();
            let from = 100 * number as i64;
            assert_eq!(rows.column(0).as_ref(), &Int64Array::from_iter_values(from..from + 100));
        }
        for sql in [
            "SELECT a FROM t LIMIT 10",
            "SELECT DISTINCT b FROM t",
            "SELECT value AS a FROM generate_series(1, 10)",
            "SELECT x.a FROM t AS x JOIN t AS y ON x.a = y.b",
            "SELECT a, row_number() OVER (ORDER BY b) AS n FROM t",
            "SELECT a FROM t ORDER BY a LIMIT 3",
        ] {
            assert!(
                slices(&planned(&session, sql).await, 4, &session.copied_config()).is_none(),
                "{sql}"
            );
        }
    }
}
