//! What is minimised.

use crate::catalogue::Call;
use crate::error::Result;
use crate::metric;
use crate::sql::clause::GoalClause;

/// What is minimised: glm, when the statement does not say.
pub(super) fn goal(goals: &[GoalClause]) -> Result<(String, Box<dyn metric::Metric>)> {
    match goals {
        [] => Ok((metric::DEFAULT.into(), metric::build(&Call::bare(metric::DEFAULT))?)),
        [goal] if goal.weight == 1.0 => Ok((goal.metric.to_string(), metric::build(&goal.metric)?)),
        terms => {
            let name: Vec<String> = terms.iter().map(ToString::to_string).collect();
            let terms = terms.iter().map(|t| Ok((t.weight, metric::build(&t.metric)?)));
            let sum = metric::Weighted::try_new(terms.collect::<Result<_>>()?)?;
            Ok((name.join(" + "), Box::new(sum)))
        }
    }
}

/// The metrics of a sum of several, by name.
pub(super) fn terms(goals: &[GoalClause]) -> Result<Vec<(String, Box<dyn metric::Metric>)>> {
    let terms = if goals.len() > 1 { goals } else { &[] };
    let named = |t: &GoalClause| Ok((t.metric.to_string(), metric::build(&t.metric)?));
    terms.iter().map(named).collect()
}
