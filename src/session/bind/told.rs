//! Who is told of the workers of a statement that fail.

use crate::cluster::{Told, Trouble};
use crate::job::SourceTable;
use crate::session::context::AnonContext;
use datafusion::dataframe::DataFrame;
use std::sync::Arc;

impl AnonContext {
    /// Returns a source whose plans tell the observer of the statement of workers that fail.
    pub(super) fn telling_of_workers(&self, source: SourceTable) -> SourceTable {
        let (mut state, plan) = source.rows.into_parts();
        let observer = Arc::clone(&self.observer);
        Told::enable(state.config_mut(), move |worker, trouble| {
            observer.worker_failed(worker, trouble == Trouble::Distrusted);
        });
        SourceTable {
            rows: DataFrame::new(state, plan),
            ..source
        }
    }
}
