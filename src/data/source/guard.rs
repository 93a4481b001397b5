//! Converts panics of file readers to errors. Unexpected bytes can make a reader panic, which is a
//! fault of the file and not of the statement. The error names the file. It does not contain the
//! message of the panic, which may quote data.

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::operator::add_rule;
use crate::data::frequency::read_dictionaries;
use crate::data::source::arrow_file;
use crate::data::source::bounds::without_bounds_of_floats;
use crate::data::source::csv::{CsvFiles, Dialect};
use crate::data::source::digits::with_checked_digits;
use crate::data::source::int96::with_checked_times;
use crate::data::source::text::with_checks;
use datafusion::common::Statistics;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{CsvSource, FileScanConfig};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, Partitioning, PhysicalExpr};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::metrics::MetricsSet;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use datafusion::prelude::SessionContext;
use futures::{FutureExt, StreamExt};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

/// Runs `reading`, a future that reads a part of `what` outside of a plan, such as a footer, a
/// header or a dictionary. If the future panics, returns an error.
pub(crate) async fn reading<T>(what: &str, reading: impl Future<Output = Result<T>>) -> Result<T> {
    let read = AssertUnwindSafe(reading).catch_unwind().await;
    read.unwrap_or_else(|_| Err(damaged(what)))
}

/// Returns the plan that reads a source. The plan keeps the dictionaries of the files, and fails
/// for values that are outside the range of their type.
pub(crate) async fn source_plan(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = guarded(reading(SOURCE, read_dictionaries(plan)).await?)?;
    Ok(with_checked_digits(plan))
}

/// Returns the plan with which another machine reads a part of a source, with the same guards and
/// checks.
pub(crate) fn read_again(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    Ok(with_checked_digits(guarded(plan)?))
}

/// The name of a source in error messages, if its files are not known individually.
pub(crate) const SOURCE: &str = "the source";

/// Adds an optimizer rule to the session, so that all later plans have a guard around each file
/// reader.
pub(crate) fn guard_readers(session: &SessionContext) {
    add_rule(session, Arc::new(GuardReaders));
}

/// Returns the plan with a guard around each of its file readers.
pub(crate) fn guarded(plan: Arc<dyn ExecutionPlan>) -> DfResult<Arc<dyn ExecutionPlan>> {
    plan.transform_up(|plan| {
        let files = match plan.downcast_ref::<DataSourceExec>() {
            Some(source) if plan.downcast_ref::<Guarded>().is_none() => files(source),
            _ => None,
        };
        Ok(match files {
            Some(files) => {
                let reader = with_checks(with_checked_times(without_bounds_of_floats(plan)));
                let closed = None;
                Transformed::yes(Arc::new(Guarded { reader, files, closed }) as _)
            }
            None => Transformed::no(plan),
        })
    })
    .data()
}

/// The files of a reader.
#[derive(Debug, Clone)]
struct Files {
    /// The name of the files in error messages.
    called: String,
    /// The local files in Arrow format for each partition. They are checked before they are read.
    arrow: Vec<Vec<PathBuf>>,
    /// The local CSV files, which are read again to find the line of an error.
    csv: Option<Arc<CsvFiles>>,
}

/// Returns the files of a reader; `None` if the reader does not read files.
fn files(source: &DataSourceExec) -> Option<Files> {
    let config = source.data_source().downcast_ref::<FileScanConfig>()?;
    let paths = config.file_groups.iter().flat_map(|group| group.files());
    // The URL of an object store ends in a slash.
    let root = match config.object_store_url.as_str() {
        local if local.starts_with("file:") => "/",
        url => url,
    };
    let path = |file: &PartitionedFile| format!("{root}{}", file.path());
    let paths: Vec<String> = paths.map(path).collect();
    let first = paths.first()?;
    let folder = first.rsplit_once('/').map_or("/", |(folder, _)| folder);
    let called = match paths.iter().all(|path| path == first) {
        true => format!("{first:?}"),
        false => format!("{folder:?}"),
    };
    let is_local = config.object_store_url.as_str().starts_with("file:");
    let arrow = match is_local && config.file_source().file_type() == "arrow" {
        true => config
            .file_groups
            .iter()
            .map(|group| group.files().iter().map(path).map(PathBuf::from).collect())
            .collect(),
        false => vec![],
    };
    let csv = is_local.then(|| csv_files(config)).flatten().map(Arc::new);
    Some(Files { called, arrow, csv })
}

fn csv_files(config: &FileScanConfig) -> Option<CsvFiles> {
    let source = config.file_source().downcast_ref::<CsvSource>()?;
    let files = config.file_groups.iter().flat_map(|group| group.files());
    let mut paths: Vec<PathBuf> = files.map(|file| PathBuf::from(format!("/{}", file.path()))).collect();
    paths.sort();
    paths.dedup();
    Some(CsvFiles {
        paths,
        dialect: Dialect::of(source),
        compression: config.file_compression_type,
        columns: config.file_schema().fields().len(),
    })
}

impl Files {
    /// Returns the error to report for an error of the reader. If the data caused it and a CSV file
    /// has a faulty line, the returned error names the file and the line. Otherwise, it is `error`
    /// itself.
    fn told(&self, error: DataFusionError) -> DataFusionError {
        let is_of_data = matches!(
            error.find_root(),
            DataFusionError::ArrowError(..) | DataFusionError::IoError(_)
        );
        let fault = self.csv.as_ref().filter(|_| is_of_data).and_then(|csv| csv.fault());
        fault.map_or(error, Into::into)
    }
}

fn damaged(what: &str) -> Error {
    Error::new(
        ErrorKind::Data,
        format!("cannot read {what}: a file is damaged, and its reader failed"),
    )
}

const NAME: &str = "guard_readers";

/// An optimizer rule that puts a guard around each file reader of a plan.
#[derive(Debug)]
pub(crate) struct GuardReaders;

impl PhysicalOptimizerRule for GuardReaders {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> DfResult<Arc<dyn ExecutionPlan>> {
        guarded(plan)
    }

    fn name(&self) -> &str {
        NAME
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Wraps the whole plan that reads a table as a single reader. The crate of a table format relies
/// on the operators below its own operator, so optimizer rules must neither see nor change them.
/// The plan's statements about its rows, such as their number, bounds and order, are hidden too,
/// because they come from metadata that other programs wrote. `called` is the name of the table in
/// error messages.
pub(super) fn closed(reader: Arc<dyn ExecutionPlan>, called: String) -> Arc<dyn ExecutionPlan> {
    let files = Files {
        called,
        arrow: vec![],
        csv: None,
    };
    let partitions = reader.output_partitioning().partition_count();
    let known = PlanProperties::new(
        EquivalenceProperties::new(reader.schema()),
        Partitioning::UnknownPartitioning(partitions),
        reader.pipeline_behavior(),
        reader.boundedness(),
    );
    let closed = Some(Arc::new(known));
    Arc::new(Guarded { reader, files, closed })
}

/// A reader whose panics become errors. Unless it is closed, it otherwise behaves like the inner
/// reader.
#[derive(Debug)]
struct Guarded {
    reader: Arc<dyn ExecutionPlan>,
    files: Files,
    /// The visible properties of a closed reader; `None` for any other reader.
    closed: Option<Arc<PlanProperties>>,
}

impl DisplayAs for Guarded {
    fn fmt_as(&self, t: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        self.reader.fmt_as(t, f)
    }
}

impl ExecutionPlan for Guarded {
    fn name(&self) -> &str {
        self.reader.name()
    }

    fn downcast_delegate(&self) -> Option<&dyn ExecutionPlan> {
        self.closed.is_none().then_some(self.reader.as_ref())
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.closed.as_ref().unwrap_or_else(|| self.reader.properties())
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> DfResult<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> DfResult<TreeNodeRecursion>,
    ) -> DfResult<TreeNodeRecursion> {
        self.reader.apply_expressions(f)
    }

    fn reset_state(self: Arc<Self>) -> DfResult<Arc<dyn ExecutionPlan>> {
        // The operators below a closed reader are hidden, and must be reset too, because they have
        // already distributed their files.
        let reader = match &self.closed {
            Some(_) => reset_plan_states(Arc::clone(&self.reader))?,
            None => Arc::clone(&self.reader).reset_state()?,
        };
        let (files, closed) = (self.files.clone(), self.closed.clone());
        Ok(Arc::new(Guarded { reader, files, closed }))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        self.reader.metrics()
    }

    fn statistics_from_inputs(&self, inputs: &[Arc<Statistics>], args: &StatisticsArgs) -> DfResult<Arc<Statistics>> {
        match self.closed {
            Some(_) => Ok(Arc::new(Statistics::new_unknown(&self.reader.schema()))),
            None => self.reader.statistics_from_inputs(inputs, args),
        }
    }

    fn fetch(&self) -> Option<usize> {
        self.reader.fetch().filter(|_| self.closed.is_none())
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> DfResult<SendableRecordBatchStream> {
        let called = &self.files.called;
        let mut arrow = self.files.arrow.get(partition).into_iter().flatten();
        if !arrow.all(|path| arrow_file::claims_possible_sizes(path)) {
            return Err(damaged(called).into());
        }
        let open = || self.reader.execute(partition, context);
        let rows = catch_unwind(AssertUnwindSafe(open)).unwrap_or_else(|_| Err(damaged(called).into()))?;
        let (schema, files) = (rows.schema(), self.files.clone());
        let rows = AssertUnwindSafe(rows).catch_unwind();
        let rows = rows.map(move |batch| {
            let batch = batch.unwrap_or_else(|_| Err(damaged(&files.called).into()));
            batch.map_err(|e| files.told(e))
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}
