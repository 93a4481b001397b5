//! `MINIMIZING` and `OPTIMIZING`: the metric of a release, and the objectives of a Pareto front.

use crate::base::catalogue::Call;
use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::language::sql::cursor::Cursor;
use crate::language::sql::name::call;
use datafusion::sql::sqlparser::tokenizer::Token;
use std::fmt::{self, Display};

/// One term of MINIMIZING.
#[derive(Debug, Clone, PartialEq)]
pub struct GoalClause {
    /// The weight of the term; 1 if it is not given.
    pub weight: f64,
    /// The metric of the term.
    pub metric: Call,
}

/// One term of OPTIMIZING.
#[derive(Debug, Clone, PartialEq)]
pub struct ObjectiveClause {
    /// Whether the objective is maximized (MAX) rather than minimized (MIN).
    pub max: bool,
    /// The property or metric that is optimized, such as `k`, `l` or `glm`.
    pub property: Call,
    /// ON: the sensitive attribute of the property; `None` if it is not given.
    pub on: Option<String>,
}

/// Parses `metric`, or `w * metric + w * metric ...`.
pub(crate) fn goals(c: &mut Cursor) -> Result<Vec<GoalClause>> {
    let mut all = vec![];
    loop {
        let mut weighted = c.clone();
        let weight = match weighted.digits("") {
            Ok(_) => {
                let weight = c.real("a weight above 0")?;
                c.need_token(&Token::Mul, "\"*\" and a metric")?;
                weight
            }
            Err(_) => 1.0,
        };
        all.push(GoalClause {
            weight,
            metric: c.call("a metric such as glm, or a weighted sum 0.7 * glm + 0.3 * cm")?,
        });
        if !c.take_token(&Token::Plus) {
            return Ok(all);
        }
    }
}

/// Parses `MAX | MIN property [ON column], ...`.
pub(crate) fn objectives(c: &mut Cursor) -> Result<Vec<ObjectiveClause>> {
    let mut all = vec![];
    loop {
        let max = match () {
            () if c.take("MAX") => true,
            () if c.take("MIN") => false,
            () => {
                return Err(c.expected(
                    "MAX or MIN before each objective, such as MAX k, MIN glm",
                    ["MAX", "MIN"],
                ));
            }
        };
        let property = c.call("k, l or a metric")?;
        let on = if c.take("ON") {
            Some(c.name("a sensitive column")?)
        } else {
            None
        };
        all.push(ObjectiveClause { max, property, on });
        if !c.take_token(&Token::Comma) {
            return Ok(all);
        }
    }
}

impl Display for GoalClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.weight != 1.0 {
            write!(f, "{:?} * ", self.weight)?;
        }
        call(&self.metric).fmt(f)
    }
}

impl Display for ObjectiveClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", if self.max { "MAX" } else { "MIN" }, call(&self.property))?;
        self.on.as_ref().map_or(Ok(()), |c| write!(f, " ON {}", ident(c)))
    }
}
