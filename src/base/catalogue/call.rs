//! Values and calls, as they are written in a statement.

use crate::base::quoting::literal;
use std::fmt;

/// A literal in a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// A number that is not a whole number.
    Real(f64),
    /// A fraction of two whole numbers, such as `1/11`. The denominator is above 0.
    Fraction(u32, u32),
    /// A quoted string.
    Text(String),
    /// A bare word.
    Word(String),
    /// True or false.
    Boolean(bool),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Integer(v) => write!(f, "{v}"),
            Value::Real(v) => write!(f, "{v:?}"),
            Value::Fraction(over, under) => write!(f, "{over}/{under}"),
            Value::Text(v) => f.write_str(&literal(v)),
            Value::Word(v) => f.write_str(v),
            Value::Boolean(v) => write!(f, "{v}"),
        }
    }
}

/// An argument in a statement: `5` or `rounds => 300`.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// The name of the argument; `None` if it is positional.
    pub name: Option<String>,
    /// The value.
    pub value: Value,
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name} => ")?;
        }
        self.value.fmt(f)
    }
}

/// A name with its arguments, such as `k_anonymity(5)` or `tabu (rounds => 300)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The name.
    pub name: String,
    /// The arguments, in the order in which they were written.
    pub args: Vec<Argument>,
}

impl Call {
    /// Returns a call without arguments.
    pub fn bare(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            args: vec![],
        }
    }

    /// Returns a call with positional arguments.
    pub fn of(name: impl Into<String>, values: Vec<Value>) -> Self {
        let args = values.into_iter().map(|value| Argument { name: None, value });
        Self {
            name: name.into(),
            args: args.collect(),
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if !self.args.is_empty() {
            let args: Vec<String> = self.args.iter().map(ToString::to_string).collect();
            write!(f, "({})", args.join(", "))?;
        }
        Ok(())
    }
}
