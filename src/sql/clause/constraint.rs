//! `SATISFYING`: the privacy models that a release must hold.

use crate::catalogue::Call;
use crate::error::Result;
use crate::quoting::ident;
use crate::sql::cursor::Cursor;
use crate::sql::name::{call, names};
use datafusion::sql::sqlparser::tokenizer::Token;
use std::fmt::{self, Display};

/// One term of SATISFYING. `ON name` is a sensitive attribute, `ON (a, b)` a subset of the columns; both may be given.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstraintClause {
    /// The privacy model.
    pub model: Call,
    /// The sensitive attribute of `ON name`.
    pub sensitive: Option<String>,
    /// The columns of `ON (a, b)`; empty if not given.
    pub subset: Vec<String>,
}

/// Parses `model [ON column] [ON (c, ...)] [AND model ...]`.
pub(crate) fn read(c: &mut Cursor) -> Result<Vec<ConstraintClause>> {
    let mut all = vec![];
    loop {
        let model = c.call("a privacy model such as k_anonymity(5)")?;
        let mut constraint = ConstraintClause {
            model,
            sensitive: None,
            subset: vec![],
        };
        while c.looks_at("ON") {
            let before = c.clone();
            c.take("ON");
            let first = if c.looks_at_token(&Token::LParen) {
                std::mem::replace(&mut constraint.subset, c.columns()?).is_empty()
            } else {
                constraint
                    .sensitive
                    .replace(c.name("a column, or (columns)")?)
                    .is_none()
            };
            if !first {
                return Err(before.error("ON is given twice for one model"));
            }
        }
        all.push(constraint);
        if !c.take("AND") {
            return Ok(all);
        }
    }
}

/// Prints `SATISFYING ...`.
pub(crate) fn written(constraints: &[ConstraintClause]) -> impl Display + '_ {
    fmt::from_fn(move |f| {
        for (i, constraint) in constraints.iter().enumerate() {
            write!(f, "{}{constraint}", if i == 0 { "SATISFYING " } else { " AND " })?;
        }
        Ok(())
    })
}

impl Display for ConstraintClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        call(&self.model).fmt(f)?;
        if let Some(column) = &self.sensitive {
            write!(f, " ON {}", ident(column))?;
        }
        if self.subset.is_empty() {
            Ok(())
        } else {
            write!(f, " ON ({})", names(&self.subset))
        }
    }
}
