//! The columns of the source that a report compares with the release. They are read while the
//! release is written, because nothing of the release is needed to read them. If the rewriting scan
//! reads them anyway, they are copied from it.

use super::disclosure::{comparable, within_memory};
use super::utility::{MOST_ROWS, readings};
use crate::base::error::{Error, Result};
use crate::method::hierarchy::{has_order, is_binary, plain_type};
use crate::method::search::Oracle;
use crate::release::engine::apply::Rewrite;
use crate::release::engine::decide::Decision;
use crate::release::engine::executor::is_only_here;
use crate::release::engine::verify::WHOLE;
use crate::release::job::Job;
use crate::release::recount::{CopiedColumns, Copying, KnownSource, NumberRanks, recounting_session};
use arrow::datatypes::DataType;
use datafusion::common::runtime::SpawnedTask;
use datafusion::datasource::ViewTable;
use datafusion::execution::memory_pool::MemoryLimit;
use std::sync::Arc;

/// The columns are read in the background only if they take at most the memory limit divided by
/// this number. The rest is for the write of the release.
const PART: u64 = 8;
/// The release is measured during its recount only if these columns take at most the memory limit
/// divided by this number. The rest is for the figures and for the classes of the recount.
const PART_DURING_RECOUNT: u64 = 32;
/// The maximum number of bytes that a row takes in a column of numbers.
const NUMBER: u64 = 32;
/// The number of bytes that a row takes in another column, if few rows have the same value.
const OTHER: u64 = 8;

/// The columns of the source, while they are read in the background. Dropping this value stops the
/// reading.
pub(in crate::release::engine) struct SourceReading {
    task: Option<SpawnedTask<Result<Option<KnownSource>>>>,
    /// The progress of the copies, if the columns are copied from the rewriting scan.
    copying: Option<Arc<Copying>>,
    leaves_room: bool,
}

impl SourceReading {
    /// Begins to read the columns of the source if the job has a report and the report needs only
    /// these columns. Otherwise, the report reads the source itself. If the columns can be copied
    /// from the rewriting scan, `rewrite` copies them when it is executed.
    pub(in crate::release::engine) fn begin(
        job: &Arc<Job>,
        decision: &Decision,
        rewrite: &mut Rewrite,
    ) -> Result<Self> {
        let rows = decision.evaluator.rows();
        let asked = AskedColumns::of(job, rows).filter(|asked| asked.fit(job, rows, PART));
        let Some(asked) = asked else {
            return Ok(Self {
                task: None,
                copying: None,
                leaves_room: false,
            });
        };
        let leaves_room = asked.fit(job, rows, PART_DURING_RECOUNT);
        let copied = asked.copied(job, rewrite)?;
        let copying = copied.as_ref().map(|copied| Arc::clone(&copied.copying));
        let task = match copied {
            Some(copied) => SpawnedTask::spawn(asked.read_copies(Arc::clone(job), copied)),
            None => SpawnedTask::spawn(asked.read(Arc::clone(job))),
        };
        Ok(Self {
            task: Some(task),
            copying,
            leaves_room,
        })
    }

    /// Returns true if the columns are read, and take so little memory that the release can be
    /// measured while it is recounted.
    pub(super) fn leaves_room(&self) -> bool {
        self.leaves_room
    }

    /// Waits for the columns, after the release was written. Returns `None` if they are not read,
    /// do not fit in memory, or were not copied to the end.
    pub(super) async fn known(self) -> Result<Option<KnownSource>> {
        let Some(task) = self.task else {
            return Ok(None);
        };
        if let Some(copying) = &self.copying {
            copying.stop();
        }
        let read = task.join().await;
        let read = read.map_err(|e| Error::from_task("reading the source", &e))?;
        match self.copying.is_none_or(|copying| copying.is_complete()) {
            true => within_memory(read),
            false => Ok(None),
        }
    }
}

/// The columns that a report reads.
struct AskedColumns {
    columns: Vec<(String, DataType)>,
    /// Whether the numbers of the rows are read, and not only the number of rows with each number.
    keeps_rows: bool,
}

impl AskedColumns {
    /// Returns the columns that the report of a job reads in a source of `rows` rows. Returns
    /// `None` if there is no report, or if the report reads the source in other ways.
    fn of(job: &Job, rows: u64) -> Option<Self> {
        let (roles, keeps_rows) = (&job.roles, rows <= MOST_ROWS);
        let is_drawn = roles.masks.iter().any(|of| of.clause.kind.is_drawn());
        // The figures of a class label and of drawn masks are computed by other queries.
        let is_queried = job.input.entity.is_some() || keeps_rows && (roles.class_label.is_some() || is_drawn);
        if job.output.report.is_none() || job.guarantees.sampling().is_some() || is_queried {
            return None;
        }
        let mut names: Vec<String> = comparable(job).into_iter().map(String::from).collect();
        for reading in readings(job).into_iter().filter(|_| keeps_rows) {
            if !names.contains(&reading.column) {
                names.push(reading.column);
            }
        }
        let schema = job.input.source.rows.schema();
        let mut columns = vec![];
        for name in names {
            let data_type = schema.field_with_unqualified_name(&name).ok()?.data_type();
            let plain = plain_type(data_type);
            let is_float = keeps_rows && has_order(plain) && plain.is_floating();
            if plain.is_nested() || is_binary(plain) || is_float {
                return None;
            }
            columns.push((name, plain.clone()));
        }
        (!columns.is_empty()).then_some(Self { columns, keeps_rows })
    }

    /// Returns true if the columns of `rows` rows take at most the memory limit divided by `part`.
    fn fit(&self, job: &Job, rows: u64, part: u64) -> bool {
        let bytes = |(_, data_type): &(String, DataType)| match NumberRanks::is_possible(data_type) {
            true => NUMBER,
            false => OTHER,
        };
        let bytes: u64 = self.columns.iter().map(bytes).sum();
        match job.input.source.rows.task_ctx().memory_pool().memory_limit() {
            MemoryLimit::Finite(limit) => rows.saturating_mul(bytes) <= limit as u64 / part,
            _ => true,
        }
    }

    /// Makes the rewriting scan copy the columns. Returns `None` if it does not read all of them on
    /// this machine.
    fn copied(&self, job: &Job, rewrite: &mut Rewrite) -> Result<Option<CopiedColumns>> {
        // The scan distinguishes the two zeros of floating point, and the report does not.
        let has_floats = self.columns.iter().any(|(_, data_type)| data_type.is_floating());
        if has_floats || !is_only_here(&job.input.source.state())? {
            return Ok(None);
        }
        let Some((plan, copied)) = CopiedColumns::before_recoding(&rewrite.plan, &self.columns)? else {
            return Ok(None);
        };
        rewrite.plan = plan;
        Ok(Some(copied))
    }

    fn names(&self) -> Vec<&str> {
        self.columns.iter().map(|(name, _)| name.as_str()).collect()
    }

    async fn read_copies(self, job: Arc<Job>, copied: CopiedColumns) -> Result<Option<KnownSource>> {
        let context = job.input.source.rows.task_ctx();
        KnownSource::of_copies(&context, copied, &self.names(), self.keeps_rows).await
    }

    /// Reads the columns in a session of their own, because the recount's session does not exist
    /// yet.
    async fn read(self, job: Arc<Job>) -> Result<Option<KnownSource>> {
        let session = recounting_session(&job.input.source.state(), Arc::default());
        let (_, source) = job.input.source.rows.clone().into_parts();
        session.register_table(WHOLE, Arc::new(ViewTable::new(source, None)))?;
        KnownSource::read(&session, WHOLE, &self.names(), self.keeps_rows).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::engine::apply::rewrite;
    use crate::release::engine::testing::{decided, job, silent};
    use crate::release::job::ReportFile;
    use datafusion::physical_plan::collect;

    #[tokio::test]
    async fn only_a_report_reads_the_columns_that_it_compares() {
        let mut job = job();
        assert!(AskedColumns::of(&job, 6).is_none());
        let file = ReportFile::new("report.json", &job.input.source.state());
        job.output.report = Some(file.unwrap());
        let many = AskedColumns::of(&job, MOST_ROWS + 1).unwrap();
        assert_eq!((many.names(), many.keeps_rows), (vec!["illness"], false));
        job.input.entity = Some("illness".into());
        assert!(AskedColumns::of(&job, 6).is_none());
        job.input.entity = None;
        let few = AskedColumns::of(&job, 6).unwrap();
        assert_eq!((few.names(), few.keeps_rows), (vec!["illness", "age", "zip"], true));
        assert!(few.fit(&job, 6, PART_DURING_RECOUNT));
        let known = few.read(Arc::new(job)).await.unwrap().unwrap();
        let column = |name| known.column(name).unwrap();
        assert_eq!(column("age").rows.as_ref().unwrap().as_slice(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(column("zip").counts.as_slice(), [3, 3]);
        assert_eq!(column("illness").counts.as_slice(), [1, 2, 3]);
    }

    #[tokio::test]
    async fn the_rewriting_scan_copies_what_the_report_would_read() {
        let mut job = job();
        let file = ReportFile::new("report.json", &job.input.source.state());
        job.output.report = Some(file.unwrap());
        let job = Arc::new(job);
        let decision = decided(&job).await;
        let read = AskedColumns::of(&job, 6).unwrap().read(Arc::clone(&job)).await;
        let read = read.unwrap().unwrap();
        for is_executed in [true, false] {
            let mut rewrite = rewrite(&job, &decision, &silent()).await.unwrap();
            let source = SourceReading::begin(&job, &decision, &mut rewrite).unwrap();
            assert!(source.copying.is_some());
            if is_executed {
                let plan = Arc::clone(&rewrite.plan);
                collect(plan, job.input.source.state().task_ctx()).await.unwrap();
            }
            let known = source.known().await.unwrap();
            assert_eq!(known.is_some(), is_executed);
            for name in known.iter().flat_map(|_| ["illness", "age", "zip"]) {
                let of = |source: &KnownSource| {
                    let column = source.column(name).unwrap();
                    (Arc::clone(&column.values), column.counts.to_vec(), column.rows.clone())
                };
                assert_eq!(known.as_ref().map(of), Some(of(&read)), "{name}");
            }
        }
    }
}
