//! The measured figures of a report. They need the written rows, but not the result of the recount,
//! so they can be measured while the release is recounted.

use super::facts::ReleaseToMeasure;
use super::risk::risk;
use super::source_reading::SourceReading;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::method::risk::{Risk, RiskSettings, THRESHOLDS};
use crate::method::utility::Utility;
use crate::release::engine::publish::few::required_class_size;
use crate::release::engine::verify::WHOLE;
use crate::release::engine::write::Writers;
use crate::release::recount::{KnownSource, count};
use crate::release::report::{Disclosure, Neighbour};
use datafusion::prelude::SessionContext;

/// The measured figures of a report.
pub(in crate::release::engine) struct ReportMeasures {
    /// The risk in the source.
    pub(super) before: Risk,
    /// The risk in the release.
    pub(super) after: Risk,
    pub(super) disclosure: Vec<Disclosure>,
    pub(super) utility: Option<Utility>,
    pub(super) neighbours: Vec<Neighbour>,
    /// The number of persons in the source; `None` if records are counted.
    pub(super) persons_in: Option<u64>,
    /// The number of persons in the release; `None` if records are counted.
    pub(super) persons_out: Option<u64>,
}

/// The figures of a report that were measured while the release was recounted.
pub(in crate::release::engine) enum EarlyMeasures {
    /// All figures were measured.
    Measured(Box<ReportMeasures>),
    /// The figures are measured after the recount, with these columns of the source if they were
    /// read while the release was written.
    Unmeasured(Option<KnownSource>),
}

impl ReleaseToMeasure<'_> {
    /// Waits for the columns of the source, and then measures a release that is being recounted.
    /// The figures are left for later in three cases: if workers wrote the release, because they
    /// take part in the recount; if the memory may be too small for both; and if the source is to
    /// be held in memory, because that replaces a table which the recount reads.
    pub(in crate::release::engine) async fn measured_early(self, source: SourceReading) -> Result<EarlyMeasures> {
        let is_possible = source.leaves_room() && matches!(self.written.writers, Writers::Here);
        let known = source.known().await?;
        if !is_possible || known.is_none() || self.is_to_be_held(known.as_ref()).await? {
            return Ok(EarlyMeasures::Unmeasured(known));
        }
        let measures = self.measures(known.as_ref()).await?;
        Ok(EarlyMeasures::Measured(Box::new(measures)))
    }

    /// Measures a recounted release. `known` are the columns of the source that were read while the
    /// release was written.
    pub(in crate::release::engine::publish) async fn measured(
        self,
        known: Option<&KnownSource>,
    ) -> Result<ReportMeasures> {
        let _held = self.hold_source(known).await?;
        self.measures(known).await
    }

    async fn measures(&self, known: Option<&KnownSource>) -> Result<ReportMeasures> {
        let required = required_class_size(self.job);
        let settings = RiskSettings {
            thresholds: THRESHOLDS.into_iter().chain(required.map(|k| 1.0 / k as f64)).collect(),
            ..RiskSettings::default()
        };
        // None of these needs another one's result. One of them may wait for the rows of a file
        // while another one computes. They are on the heap, because a thread's stack is small.
        let (before, (disclosure, sizes), utility, neighbours, (persons_in, persons_out)) = futures::try_join!(
            Box::pin(self.risk_before(&settings)),
            Box::pin(self.disclosure(known)),
            Box::pin(self.utility(known)),
            Box::pin(self.neighbours()),
            Box::pin(self.persons_in_and_out()),
        )?;
        let after = match sizes.filter(|_| self.released.population.is_none()) {
            Some(sizes) => Risk::of(&sizes, None, &settings)?,
            None => risk(self.session, self.released, &settings).await?,
        };
        Ok(ReportMeasures {
            before,
            after,
            disclosure,
            utility,
            neighbours,
            persons_in,
            persons_out,
        })
    }

    /// Returns the numbers of persons in the source and in the release; `None` if records are
    /// counted.
    async fn persons_in_and_out(&self) -> Result<(Option<u64>, Option<u64>)> {
        let Some(entity) = &self.job.input.entity else {
            return Ok((None, None));
        };
        Ok((
            Some(persons(self.session, entity, WHOLE).await?),
            Some(persons(self.session, entity, &self.released.released()).await?),
        ))
    }
}

/// Returns the number of persons in the rows `from`, given as SQL. All rows without a person count
/// as one person.
async fn persons(session: &SessionContext, entity: &str, from: &str) -> Result<u64> {
    let sql = format!("SELECT count(*) FROM (SELECT DISTINCT {} FROM {from})", quote(entity));
    count(session, &sql).await
}
