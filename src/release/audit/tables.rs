//! The tables of the session in which the auditor recounts.

use crate::base::error::Result;
use crate::release::recount::{recounting_session, type_of};
use arrow::datatypes::DataType;
use datafusion::datasource::ViewTable;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The table of the checked rows.
pub(super) const CHECKED: &str = "checked";
/// The table of the source's rows, if the source is given.
pub(super) const WHOLE: &str = "whole";
/// The table of the population's rows.
pub(super) const PEOPLE: &str = "people";
/// The table of the population's rows, generalized like the release.
pub(super) const POPULATION: &str = "population";

/// Creates a separate session that contains each of these views as a table under its name. The
/// number of rows that the session reads is added to `progress`.
pub(super) fn session(
    state: &SessionState,
    views: &[(&str, LogicalPlan)],
    progress: &Arc<AtomicU64>,
) -> Result<SessionContext> {
    let own = recounting_session(state, Arc::clone(progress));
    for (name, plan) in views {
        own.register_table(*name, Arc::new(ViewTable::new(plan.clone(), None)))?;
    }
    Ok(own)
}

/// Returns the type of a column of the checked rows.
pub(super) async fn released_type(session: &SessionContext, column: &str) -> Result<DataType> {
    type_of(session, CHECKED, column).await
}
