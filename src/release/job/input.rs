//! What a job reads.

use super::source::SourceTable;
use crate::base::error::Result;

/// What a job reads: the source, the population, and the column that identifies people.
pub struct Input {
    /// The table to anonymize.
    pub source: SourceTable,
    /// The population table in which models count, with the same quasi-identifiers.
    pub population: Option<SourceTable>,
    /// The column whose distinct values are counted instead of rows.
    pub entity: Option<String>,
}

impl Input {
    /// Fails with `ErrorKind::Data` if the source or the population has changed since it was bound.
    pub(crate) async fn check_unchanged(&self) -> Result<()> {
        self.source.pins.check().await?;
        match &self.population {
            Some(population) => population.pins.check().await,
            None => Ok(()),
        }
    }
}
