//! The re-identification risk before and after the release.

use super::disclosure::sizes;
use super::facts::ReleaseToMeasure;
use super::merged::Merged;
use crate::base::error::Result;
use crate::data::frequency::BaseSet;
use crate::data::source::{same_types, select_columns};
use crate::method::risk::{Histogram, InPopulation, PopulationHistogram, Risk, RiskSettings};
use crate::release::engine::verify::WHOLE;
use crate::release::recount::ReleasedTable;
use datafusion::datasource::ViewTable;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The table name of the raw rows of the population in the recounting session.
const RAW_POPULATION: &str = "raw_population";

impl ReleaseToMeasure<'_> {
    /// Returns the risk in the source, before generalization and suppression.
    pub(super) async fn risk_before(&self, settings: &RiskSettings) -> Result<Risk> {
        let base = self.decision.evaluator.sets().base();
        let is_ground = base.bottom().levels().iter().all(|level| *level == 0);
        let held = match &base.set {
            BaseSet::Held(set) if is_ground && base.unmapped_rows == 0 && self.job.input.entity.is_none() => Some(set),
            _ => None,
        };
        let merged = Merged::of(base);
        if let Some(set) = held.filter(|_| !merged.is_empty() && self.job.input.population.is_none())
            && let Some(sizes) = &base.merged_sizes
        {
            let others = (0..set.len()).filter(|class| !merged.has(set.key(*class)));
            let others = others.map(|class| (set.counts()[class], 1));
            let sizes = sizes.iter().map(|(size, classes)| (*size, *classes));
            return Risk::of(&others.chain(sizes).collect(), None, settings);
        }
        if let Some(set) = held.filter(|_| merged.is_empty()) {
            // The base frequency set has the same classes as the source.
            let sizes = set.counts().iter();
            let histogram: Histogram = sizes.clone().map(|n| (*n, 1)).collect();
            let population = set.populations().map(|populations| {
                let mut found = PopulationHistogram::default();
                for (n, there) in sizes.zip(populations).filter(|(n, _)| **n > 0) {
                    let InPopulation { classes, rows } = found.0.entry(*there).or_default();
                    (*classes, *rows) = (*classes + 1, *rows + n);
                }
                found
            });
            return Risk::of(&histogram, population.as_ref(), settings);
        }
        let job = self.job;
        let names: Vec<&str> = job.roles.quasi_identifiers.iter().map(|q| q.column.as_str()).collect();
        if let Some(population) = &job.input.population {
            let rows = same_types(
                &job.input.source.rows,
                select_columns(&population.rows, &names)?,
                &names,
            )?;
            let (_, plan) = rows.into_parts();
            self.session
                .register_table(RAW_POPULATION, Arc::new(ViewTable::new(plan, None)))?;
        }
        let source = ReleasedTable {
            name: WHOLE.into(),
            quasi_identifiers: names.iter().map(ToString::to_string).collect(),
            entity: job.input.entity.clone(),
            population: job.input.population.as_ref().map(|_| RAW_POPULATION.into()),
            ..ReleasedTable::default()
        };
        let session = self.session;
        if job.input.entity.is_none()
            && job.input.population.is_none()
            && let Some(sizes) = sizes(session, &source).await?
        {
            return Risk::of(&sizes, None, settings);
        }
        risk(session, &source, settings).await
    }
}

/// Returns the risk of the people in a table. A journalist's risk is measured only if each row is
/// one person, because the population's table does not show which rows belong to one person.
pub(super) async fn risk(session: &SessionContext, table: &ReleasedTable, settings: &RiskSettings) -> Result<Risk> {
    let group = &table.quasi_identifiers;
    let population = match table.population.as_deref().filter(|_| table.entity.is_none()) {
        Some(name) => Some(table.in_population(session, group, name).await?),
        None => None,
    };
    Risk::of(&table.histogram(session, group).await?, population.as_ref(), settings)
}
