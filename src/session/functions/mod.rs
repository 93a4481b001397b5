//! SQL functions for tools that can only send SELECT, one file each.

mod generalize;
mod hierarchies;
mod hierarchy_levels;
mod pareto_front;
mod risk;

use crate::session::context::{Catalog, SharedRegistry};
use datafusion::logical_expr::ScalarUDF;
use datafusion::prelude::SessionContext;
use generalize::Generalize;
use hierarchies::Hierarchies;
use hierarchy_levels::HierarchyLevels;
use pareto_front::ParetoFrontFunction;
use std::sync::Arc;

/// Registers the functions in a session.
pub(super) fn register(session: &SessionContext, catalog: &Catalog, registry: &SharedRegistry) {
    let hierarchies = Hierarchies(Arc::clone(catalog));
    session.register_udf(ScalarUDF::from(Generalize::new(hierarchies.clone())));
    session.register_udtf("hierarchy_levels", Arc::new(HierarchyLevels(hierarchies.clone())));
    risk::register(session, &hierarchies);
    let front = ParetoFrontFunction {
        hierarchies: Arc::clone(catalog),
        registry: Arc::clone(registry),
    };
    session.register_udtf("pareto_front", Arc::new(front));
}
