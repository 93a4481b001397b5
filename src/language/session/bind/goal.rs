//! Binds MINIMIZING: the metric that the search minimizes.

use crate::base::catalogue::Call;
use crate::base::error::Result;
use crate::data::metric;
use crate::language::session::registry::Registry;
use crate::language::sql::clause::GoalClause;

/// Returns the name of the metric in MINIMIZING, and the metric. The default is glm.
pub(super) fn goal(registry: &Registry, goals: &[GoalClause]) -> Result<(String, Box<dyn metric::Metric>)> {
    match goals {
        [] => Ok((metric::DEFAULT.into(), registry.metric(&Call::bare(metric::DEFAULT))?)),
        [goal] if goal.weight == 1.0 => Ok((goal.metric.to_string(), registry.metric(&goal.metric)?)),
        terms => {
            let name: Vec<String> = terms.iter().map(ToString::to_string).collect();
            let terms = terms.iter().map(|t| Ok((t.weight, registry.metric(&t.metric)?)));
            let sum = metric::Weighted::try_new(terms.collect::<Result<_>>()?)?;
            Ok((name.join(" + "), Box::new(sum)))
        }
    }
}

/// Returns the names and the metrics of the terms of a weighted sum; empty if MINIMIZING names
/// fewer than two metrics.
pub(super) fn terms(registry: &Registry, goals: &[GoalClause]) -> Result<Vec<(String, Box<dyn metric::Metric>)>> {
    let terms = if goals.len() > 1 { goals } else { &[] };
    let named = |t: &GoalClause| Ok((t.metric.to_string(), registry.metric(&t.metric)?));
    terms.iter().map(named).collect()
}
