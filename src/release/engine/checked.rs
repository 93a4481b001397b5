//! The recount of a written release. While the release is recounted, it is measured for its report,
//! because neither needs the result of the other.

use super::decide::Decision;
use super::publish::{EarlyMeasures, ReleaseToMeasure, SourceReading};
use super::verify::{PreparedRecount, Recounted, Union, recount_union};
use super::write::{StagedTarget, Written};
use crate::base::error::{Error, Result};
use crate::release::job::Job;
use crate::release::observe::{Observer, Phase};
use std::sync::Arc;

/// A written release that is to be recounted.
pub(super) struct ReleaseToCheck<'a> {
    pub(super) job: &'a Job,
    pub(super) decision: &'a Decision,
    pub(super) written: &'a Written,
    /// The target and its staging, unless the rows are only kept.
    pub(super) to: Option<StagedTarget<'a>>,
    pub(super) observer: &'a Arc<dyn Observer>,
}

/// A release that keeps its promises.
pub(super) struct CheckedRelease {
    pub(super) recounted: Recounted,
    /// The recount of all rows of a release that grows.
    pub(super) union: Option<Union>,
    /// The figures of the report that were measured in the meantime. An error of these figures is
    /// an error of the report, and not of the recount.
    pub(super) early: Result<EarlyMeasures>,
}

impl ReleaseToCheck<'_> {
    /// Recounts the release, and measures it for its report at the same time. Fails if a promise is
    /// broken. If the recount fails, the measuring stops.
    pub(super) async fn checked(self, source: SourceReading) -> Result<CheckedRelease> {
        let Self {
            job,
            decision,
            written,
            to,
            observer,
        } = self;
        let prepared = PreparedRecount::of(job, decision, written, to.map(|to| to.staging), observer).await?;
        let to_measure = ReleaseToMeasure {
            job,
            decision,
            written,
            session: prepared.session(),
            released: prepared.released(),
            target: to.map(|to| to.target),
        };
        let recounting = async {
            let recounted = prepared.run().await?.require()?;
            let union = match to {
                Some(to) => recount_union(job, written, &recounted, to, observer).await?,
                None => None,
            };
            if job.output.report.is_some() {
                // From now on, the run waits for the figures of the report.
                observer.begin(Phase::Report);
            }
            Ok::<_, Error>((recounted, union))
        };
        let measuring = async { Ok::<_, Error>(to_measure.measured_early(source).await) };
        // Both are on the heap, because a thread's stack is small.
        let ((recounted, union), early) = futures::try_join!(Box::pin(recounting), Box::pin(measuring))?;
        Ok(CheckedRelease {
            recounted,
            union,
            early,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;
    use crate::release::engine::apply::rewrite;
    use crate::release::engine::testing::{decided, job, silent};
    use crate::release::engine::write::keep_rows;
    use crate::release::job::ReportFile;
    use arrow::compute::concat_batches;
    use datafusion::datasource::memory::MemorySourceConfig;
    use datafusion::physical_plan::collect;

    /// Checks a release that is to have a report. If `is_lost` is true, a row was lost after the
    /// decision.
    async fn check(is_lost: bool) -> Result<CheckedRelease> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        let mut job = job();
        let file = ReportFile::new(path.to_str().unwrap(), &job.input.source.state());
        job.output.report = Some(file.unwrap());
        let job = Arc::new(job);
        let decision = decided(&job).await;
        let mut rewrite = rewrite(&job, &decision, &silent()).await.unwrap();
        let source = SourceReading::begin(&job, &decision, &mut rewrite).unwrap();
        if is_lost {
            let schema = rewrite.plan.schema();
            let rows = collect(Arc::clone(&rewrite.plan), job.input.source.state().task_ctx()).await;
            let rows = concat_batches(&schema, &rows.unwrap()).unwrap().slice(0, 5);
            rewrite.plan = MemorySourceConfig::try_new_exec(&[vec![rows]], schema, None).unwrap();
        }
        let written = keep_rows(&job, &decision, rewrite, &silent()).await.unwrap();
        let to_check = ReleaseToCheck {
            job: &job,
            decision: &decision,
            written: &written,
            to: None,
            observer: &silent(),
        };
        to_check.checked(source).await
    }

    #[tokio::test]
    async fn a_release_is_measured_while_it_is_recounted() {
        let checked = check(false).await.unwrap();
        assert!(matches!(checked.early, Ok(EarlyMeasures::Measured(_))));
        assert_eq!((checked.recounted.rows, checked.recounted.reached_k), (6, Some(2)));
        assert!(checked.union.is_none());
    }

    #[tokio::test]
    async fn a_recount_that_fails_is_the_error() {
        let error = check(true).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Verification);
        assert!(
            error.to_string().contains("5 rows were written instead of 6"),
            "{error}"
        );
    }
}
