//! The columns of the source that a report compares with the release. They are read while the
//! release is written, because nothing of the release is needed to read them.

use super::disclosure::{comparable, within_memory};
use super::utility::{MOST_ROWS, readings};
use crate::base::error::{Error, Result};
use crate::method::hierarchy::{has_order, is_binary, plain_type};
use crate::method::search::Oracle;
use crate::release::engine::decide::Decision;
use crate::release::engine::verify::WHOLE;
use crate::release::job::Job;
use crate::release::recount::{KnownSource, NumberRanks, recounting_session};
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
    leaves_room: bool,
}

impl SourceReading {
    /// Begins to read the columns of the source if the job has a report and the report needs only
    /// these columns. Otherwise, the report reads the source itself.
    pub(in crate::release::engine) fn begin(job: &Arc<Job>, decision: &Decision) -> Self {
        let asked = AskedColumns::of(job, decision.evaluator.rows());
        let fit = |asked: &AskedColumns, part| asked.fit(job, decision.evaluator.rows(), part);
        let asked = asked.filter(|asked| fit(asked, PART));
        Self {
            leaves_room: asked.as_ref().is_some_and(|asked| fit(asked, PART_DURING_RECOUNT)),
            task: asked.map(|asked| SpawnedTask::spawn(asked.read(Arc::clone(job)))),
        }
    }

    /// Returns true if the columns are read, and take so little memory that the release can be
    /// measured while it is recounted.
    pub(super) fn leaves_room(&self) -> bool {
        self.leaves_room
    }

    /// Waits for the columns. Returns `None` if they are not read or do not fit in memory.
    pub(super) async fn known(self) -> Result<Option<KnownSource>> {
        let Some(task) = self.task else {
            return Ok(None);
        };
        let read = task.join().await;
        within_memory(read.map_err(|e| Error::from_task("reading the source", &e))?)
    }
}

/// The columns that a report reads.
struct AskedColumns {
    columns: Vec<(String, DataType)>,
    /// Whether the numbers of the rows are read, and not only the number of rows with each number.
    keeps_rows: bool,
}

impl AskedColumns {
    /// Returns the columns that the report of a job reads in a source of `rows` rows. Returns `None`
    /// if there is no report, or if the report reads the source in other ways.
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

    /// Reads the columns in a session of their own, because the recount's session does not exist
    /// yet.
    async fn read(self, job: Arc<Job>) -> Result<Option<KnownSource>> {
        let session = recounting_session(&job.input.source.state(), Arc::default());
        let (_, source) = job.input.source.rows.clone().into_parts();
        session.register_table(WHOLE, Arc::new(ViewTable::new(source, None)))?;
        let names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        KnownSource::read(&session, WHOLE, &names, self.keeps_rows).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::engine::testing::job;
    use crate::release::job::ReportFile;

    fn names(asked: &AskedColumns) -> Vec<&str> {
        asked.columns.iter().map(|(name, _)| name.as_str()).collect()
    }

    #[tokio::test]
    async fn only_a_report_reads_the_columns_that_it_compares() {
        let mut job = job();
        assert!(AskedColumns::of(&job, 6).is_none());
        let file = ReportFile::new("report.json", &job.input.source.state());
        job.output.report = Some(file.unwrap());
        let many = AskedColumns::of(&job, MOST_ROWS + 1).unwrap();
        assert_eq!((names(&many), many.keeps_rows), (vec!["illness"], false));
        job.input.entity = Some("illness".into());
        assert!(AskedColumns::of(&job, 6).is_none());
        job.input.entity = None;
        let few = AskedColumns::of(&job, 6).unwrap();
        assert_eq!((names(&few), few.keeps_rows), (vec!["illness", "age", "zip"], true));
        assert!(few.fit(&job, 6, PART_DURING_RECOUNT));
        let known = few.read(Arc::new(job)).await.unwrap().unwrap();
        let column = |name| known.column(name).unwrap();
        assert_eq!(column("age").rows.as_ref().unwrap().as_slice(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(column("zip").counts.as_slice(), [3, 3]);
        assert_eq!(column("illness").counts.as_slice(), [1, 2, 3]);
    }
}
