//! Names and literals, and how they are written so that they read back the same.

use crate::catalogue::{Argument, Call, Value};
use datafusion::common::TableReference;
use std::fmt::{self, Display};

/// Writes a name, in double quotes where it would otherwise fold or could be taken for a keyword.
pub fn ident(name: &str) -> impl Display + '_ {
    fmt::from_fn(move |f| {
        if is_plain(name) && !super::keywords().contains(name.to_ascii_uppercase().as_str()) {
            f.write_str(name)
        } else {
            write!(f, "\"{}\"", name.replace('"', "\"\""))
        }
    })
}

/// Writes a string literal.
pub fn literal_text(text: &str) -> impl Display + '_ {
    fmt::from_fn(move |f| write!(f, "'{}'", text.replace('\'', "''")))
}

/// Whether a name needs no quotes: what is left of it after folding is itself.
pub(super) fn is_plain(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Writes items with commas between them.
pub(super) fn list<T>(items: &[T], write: impl Fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result) -> impl Display {
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

/// Writes `a, b, c`.
pub(super) fn names(names: &[String]) -> impl Display + '_ {
    list(names, |n, f| ident(n).fmt(f))
}

/// Writes a literal; a word that would read back as something else is quoted.
pub(super) fn value(value: &Value) -> impl Display + '_ {
    fmt::from_fn(move |f| match value {
        Value::Word(w) if !is_plain(w) || matches!(w.as_str(), "true" | "false" | "null") => {
            write!(f, "\"{}\"", w.replace('"', "\"\""))
        }
        other => other.fmt(f),
    })
}

/// Writes `name`, or `name(args)`.
pub(super) fn call(call: &Call) -> impl Display + '_ {
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

/// The name of a table: one to three parts, each as DataFusion keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct TableName(pub Vec<String>);

impl TableName {
    /// The same name for DataFusion.
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
