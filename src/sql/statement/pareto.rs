//! `PARETO FRONT OF ANONYMIZE`: the nodes that no other node beats in every objective.

use super::{Entry, Statement, anonymize};
use crate::sql::clause;

pub(super) const ENTRY: Entry = Entry {
    name: "PARETO FRONT OF",
    starts: &["PARETO FRONT OF ANONYMIZE"],
    summary: "lists the nodes that no other node beats in every objective",
    syntax: "PARETO FRONT OF ANONYMIZE ... OPTIMIZING MAX | MIN property [ON column], ... [EPSILON (e, ...)]
  [REPORT TO 'front.svg']",
    example: "PARETO FRONT OF ANONYMIZE people QUASI IDENTIFIERS (age) OPTIMIZING MAX k, MAX l ON job, MIN glm",
    parse: |c, _| {
        let more = [clause::OPTIMIZING, clause::EPSILON, clause::REPORT];
        let (anonymize, s) = anonymize::read(c, "PARETO FRONT OF ANONYMIZE", &more, false)?;
        anonymize::single(c, &s)?;
        if s.objectives.is_empty() {
            return Err(c.error("PARETO FRONT OF needs OPTIMIZING; example: OPTIMIZING MAX k, MIN glm"));
        }
        if !s.epsilon.is_empty() && s.epsilon.len() != s.objectives.len() {
            let (objectives, numbers) = (s.objectives.len(), s.epsilon.len());
            return Err(c.error(format_args!(
                "EPSILON has {numbers} numbers for {objectives} objectives"
            )));
        }
        Ok(Statement::Pareto {
            anonymize: Box::new(anonymize),
            objectives: s.objectives,
            epsilon: s.epsilon,
        })
    },
};
