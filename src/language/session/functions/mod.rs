//! SQL functions for tools that can only send SELECT. Each function has its own file.

mod generalize;
mod hierarchies;
mod hierarchy_levels;
mod limited;
mod limited_aggregate;
mod mask;
mod pareto_front;
mod risk;
mod unmask;

use crate::base::catalogue::Info;
use crate::language::session::context::{NamedHierarchies, SharedRegistry};
use crate::method::masks::MASKS;
use datafusion::logical_expr::ScalarUDF;
use datafusion::prelude::SessionContext;
use generalize::Generalize;
use hierarchies::Hierarchies;
use hierarchy_levels::HierarchyLevels;
use mask::MaskFunction;
use pareto_front::ParetoFrontFunction;
use std::sync::Arc;
use unmask::Unmask;

/// The descriptions of all functions except the mask functions.
const FUNCTIONS: &[Info] = &[
    generalize::INFO,
    hierarchy_levels::INFO,
    risk::K_ANONYMITY,
    risk::RISK,
    pareto_front::INFO,
    unmask::INFO,
];

/// Returns the descriptions of all functions.
pub fn functions() -> Vec<Info> {
    let masks = MASKS.iter().filter_map(|kind| kind.function);
    FUNCTIONS.iter().copied().chain(masks).collect()
}

/// Registers the functions in a session.
pub(super) fn register(session: &SessionContext, catalog: &NamedHierarchies, registry: &SharedRegistry) {
    let hierarchies = Hierarchies(Arc::clone(catalog));
    session.register_udf(ScalarUDF::from(Generalize::new(hierarchies.clone())));
    session.register_udtf(
        hierarchy_levels::INFO.name,
        Arc::new(HierarchyLevels(hierarchies.clone())),
    );
    for function in MASKS.iter().filter_map(MaskFunction::new) {
        session.register_udf(ScalarUDF::from(function));
    }
    session.register_udf(ScalarUDF::from(Unmask::default()));
    limited::register(session);
    limited_aggregate::register(session);
    risk::register(session, &hierarchies);
    let front = ParetoFrontFunction {
        hierarchies: Arc::clone(catalog),
        registry: Arc::clone(registry),
    };
    session.register_udtf(pareto_front::INFO.name, Arc::new(front));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::session::AnonContext;
    use std::collections::BTreeSet;

    #[test]
    fn every_function_is_described() {
        let names = |session: &SessionContext| {
            let state = session.state();
            let scalars = state.scalar_functions().keys().cloned();
            let names: BTreeSet<String> = scalars.chain(state.table_functions().keys().cloned()).collect();
            names
        };
        let plain = names(&SessionContext::new());
        let all = names(AnonContext::new(SessionContext::new()).session());
        let ours: BTreeSet<String> = all.difference(&plain).cloned().collect();
        assert_eq!(ours, functions().iter().map(|info| info.name.to_string()).collect());
    }
}
