//! Prints names, lists and calls.

use crate::base::catalogue::{Argument, Call, Value};
use crate::base::quoting::{ident, is_plain, quote};
use datafusion::common::TableReference;
use std::fmt::{self, Display};

/// Prints items separated by commas.
pub(crate) fn list<T>(items: &[T], write: impl Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result) -> impl Display {
    fmt::from_fn(move |f| {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write(item, f)?;
        }
        Ok(())
    })
}

/// Prints `a, b, c`.
pub(crate) fn names(names: &[String]) -> impl Display + '_ {
    list(names, |n, f| ident(n).fmt(f))
}

/// Prints a literal. A word is quoted if it would otherwise parse as another kind of literal.
pub(crate) fn value(value: &Value) -> impl Display + '_ {
    fmt::from_fn(move |f| match value {
        Value::Word(w) if !is_plain(w) || matches!(w.as_str(), "true" | "false" | "null") => f.write_str(&quote(w)),
        other => other.fmt(f),
    })
}

/// Prints `name`, or `name(args)`.
pub(crate) fn call(call: &Call) -> impl Display + '_ {
    fmt::from_fn(move |f| {
        ident(&call.name).fmt(f)?;
        if call.args.is_empty() {
            return Ok(());
        }
        let argument = |a: &Argument, f: &mut fmt::Formatter<'_>| {
            if let Some(name) = &a.name {
                write!(f, "{} => ", ident(name))?;
            }
            value(&a.value).fmt(f)
        };
        write!(f, "({})", list(&call.args, argument))
    })
}

/// The name of a table, which consists of one to three parts. Each part is stored as in DataFusion,
/// without quotes.
#[derive(Debug, Clone, PartialEq)]
pub struct TableName(pub Vec<String>);

impl TableName {
    /// Returns the name as a DataFusion reference.
    pub fn reference(&self) -> TableReference {
        match self.0.as_slice() {
            [catalog, schema, table] => TableReference::full(catalog.as_str(), schema.as_str(), table.as_str()),
            [schema, table] => TableReference::partial(schema.as_str(), table.as_str()),
            parts => TableReference::bare(parts.concat()),
        }
    }
}

impl Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(".")?;
            }
            ident(part).fmt(f)?;
        }
        Ok(())
    }
}
