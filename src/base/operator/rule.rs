//! Registers anonsql's optimizer rules, which are applied to every later plan of a session.

use datafusion::execution::SessionStateBuilder;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// Adds a rule after all other rules of the session, unless the session already has it.
pub fn add_rule(session: &SessionContext, rule: Arc<dyn PhysicalOptimizerRule + Send + Sync>) {
    let state = session.state();
    let mut rules = state.physical_optimizers().to_vec();
    if rules.iter().any(|there| there.name() == rule.name()) {
        return;
    }
    rules.push(rule);
    let mut builder = SessionStateBuilder::new_from_existing(state).with_session_id(session.session_id());
    *builder.physical_optimizers() = Some(PhysicalOptimizer { rules });
    *session.state_ref().write() = builder.build();
}
