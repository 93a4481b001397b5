//! `SATISFYING`: the privacy models that a release must satisfy.

use crate::base::catalogue::Call;
use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::language::sql::cursor::Cursor;
use crate::language::sql::name::{call, names};
use datafusion::sql::sqlparser::tokenizer::Token;
use std::fmt::{self, Display};

/// One term of SATISFYING. `ON name` names a sensitive attribute. `ON (a, b)` and `ON ANY 2`
/// restrict the term to subsets of the quasi-identifiers. A term may have both.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstraintClause {
    /// The privacy model.
    pub model: Call,
    /// The sensitive attribute, which `ON name` gives; `None` if it is not given.
    pub sensitive: Option<String>,
    /// The columns by which rows are grouped for the model.
    pub scope: ScopeClause,
}

/// The columns by which rows are grouped for a model.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum ScopeClause {
    /// All quasi-identifiers.
    #[default]
    All,
    /// `ON (a, b)`: the given quasi-identifiers.
    Columns(Vec<String>),
    /// `ON ANY m`: each subset of m quasi-identifiers.
    Any(usize),
}

/// Parses `model [ON column] [ON (c, ...) | ON ANY m] [AND model ...]`.
pub(crate) fn read(c: &mut Cursor) -> Result<Vec<ConstraintClause>> {
    let mut all = vec![];
    loop {
        let (start, before) = (c.position(), c.clone());
        let model = c.call(MODEL)?;
        if let Some(meant) = miswritten(c, start, &model) {
            return Err(before.expected_so(MODEL, Some(format!("write {meant}"))));
        }
        let mut constraint = ConstraintClause {
            model,
            sensitive: None,
            scope: ScopeClause::All,
        };
        while c.looks_at("ON") {
            let before = c.clone();
            c.take("ON");
            let first = if let Some(scope) = scope(c)? {
                std::mem::replace(&mut constraint.scope, scope) == ScopeClause::All
            } else {
                constraint
                    .sensitive
                    .replace(c.name("a column, (columns), or ANY m")?)
                    .is_none()
            };
            if !first {
                return Err(before.error("ON is given twice for one model"));
            }
        }
        all.push(constraint);
        if c.looks_at_token(&Token::Comma) {
            return Err(c.expected_so("AND", Some("models are joined by AND".into())));
        }
        if c.looks_at("OR") {
            let advice = "a release satisfies every model that it names: join them by AND, or release twice";
            return Err(c.expected_so("AND", Some(advice.into())));
        }
        if !c.take("AND") {
            return Ok(all);
        }
    }
}

/// Parses `(c, ...)` or `ANY m`; returns `None` if neither of them comes next. A column may also be
/// called `any`.
fn scope(c: &mut Cursor) -> Result<Option<ScopeClause>> {
    if c.looks_at_token(&Token::LParen) {
        return Ok(Some(ScopeClause::Columns(c.columns()?)));
    }
    let before = c.clone();
    if c.take("ANY") {
        if c.looks_at_token(&Token::Minus) || c.clone().digits("").is_ok() {
            return Ok(Some(ScopeClause::Any(c.whole("how many quasi-identifiers")?)));
        }
        *c = before;
    }
    Ok(None)
}

/// The text that follows "expected" in the error for a missing model.
const MODEL: &str = "a privacy model such as k_anonymity(5)";

/// The names of models in formulas such as `k = 5`, each with its name in SQL.
const IN_FORMULAS: &[(&str, &str)] = &[("k", "k_anonymity"), ("l", "l_diversity"), ("t", "t_closeness")];

/// Returns the correct form of a model that is written as a formula (`k = 5`), with a hyphen
/// (`k-anonymity(5)`), or with its argument after a space (`k_anonymity 5`). `model` is the model
/// as it was parsed, `start` is the index of its first token, and `c` is the cursor after it.
/// Returns `None` if no correction is known.
fn miswritten(c: &Cursor, start: usize, model: &Call) -> Option<String> {
    let (mut after, mut name) = (c.clone(), model.name.clone());
    while c.cut(start).is_some() && after.take_token(&Token::Minus) {
        name = format!("{name}_{}", after.name("").ok()?);
    }
    if name != model.name {
        let arguments = after.in_parens().unwrap_or_default();
        return Some(format!("{name}{arguments}"));
    }
    let signs = [Token::Eq, Token::DoubleEq, Token::GtEq, Token::Gt];
    let is_formula = signs.iter().any(|sign| after.take_token(sign));
    if !model.args.is_empty() || !(is_formula || after.clone().digits("").is_ok()) {
        return None;
    }
    let argument = after.digits("").ok()?;
    let name = IN_FORMULAS
        .iter()
        .find(|(short, _)| *short == name)
        .map_or(name.as_str(), |(_, long)| long);
    Some(format!("{name}({argument})"))
}

/// Returns the constraints as text: `SATISFYING ...`.
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
        match &self.scope {
            ScopeClause::All => Ok(()),
            ScopeClause::Columns(columns) => write!(f, " ON ({})", names(columns)),
            ScopeClause::Any(columns) => write!(f, " ON ANY {columns}"),
        }
    }
}
