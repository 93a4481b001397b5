//! What a CREATE HIERARCHY gives to the kind that it names.

use super::number::Number;
use crate::catalogue::Value;
use crate::error::{Error, Result};
use arrow::array::{ArrayRef, RecordBatch};

/// What stands in one part of a clause.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// One value.
    Value(Value),
    /// A list of values.
    Values(Vec<Value>),
    /// Rows of values.
    Rows(Vec<Vec<Value>>),
    /// Keys with their values.
    Options(Vec<(String, Value)>),
    /// A column.
    Column {
        /// The name of its table, one to three parts.
        table: Vec<String>,
        /// Its own name.
        column: String,
    },
    /// The text of a query.
    Query(String),
}

/// What the session read of a column or query that stands in a clause.
#[derive(Debug, Clone)]
pub enum Data {
    /// The rows of a query.
    Rows(RecordBatch),
    /// The distinct values of a column, ascending and NULL last, with how many rows each has.
    Counts(ArrayRef, Vec<u64>),
}

/// What a clause says, by part: a part without a keyword has a name, any other has its keywords.
///
/// ```
/// use anonsql::error::{Error, Result};
/// use anonsql::extend::hierarchy::Arguments;
/// /// The widths that `AS ROUNDED (10, 100)` gives.
/// fn widths(given: &Arguments) -> Result<Vec<u32>> {
///     let widths = given.wholes("widths")?;
///     if widths.contains(&0) {
///         return Err(Error::usage("ROUNDED: a width must be above 0"));
///     }
///     Ok(widths)
/// }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    given: Vec<(&'static str, Given)>,
    data: Vec<(&'static str, Data)>,
}

impl Arguments {
    /// What stands in the parts, and what was read for those that name a column or query.
    pub(crate) fn new(given: Vec<(&'static str, Given)>, data: Vec<(&'static str, Data)>) -> Self {
        Self { given, data }
    }

    fn given(&self, part: &str) -> Option<&Given> {
        self.given
            .iter()
            .find(|(name, _)| *name == part)
            .map(|(_, given)| given)
    }

    /// The values of a part, or its one; none where it was left out.
    pub fn values(&self, part: &str) -> &[Value] {
        match self.given(part) {
            Some(Given::Value(value)) => std::slice::from_ref(value),
            Some(Given::Values(values)) => values,
            _ => &[],
        }
    }

    /// The values of a part as texts, without quotes.
    pub fn texts(&self, part: &str) -> Vec<String> {
        self.values(part).iter().map(text).collect()
    }

    /// The values of a part as exact numbers.
    pub(crate) fn numbers(&self, part: &str) -> Result<Vec<Number>> {
        self.values(part).iter().map(|v| text(v).parse()).collect()
    }

    /// The values of a part that takes [whole numbers](super::Item::Whole).
    pub fn wholes(&self, part: &str) -> Result<Vec<u32>> {
        let whole = |v: &Value| match v {
            Value::Integer(v) => u32::try_from(*v).ok(),
            _ => None,
        };
        let wholes: Option<Vec<u32>> = self.values(part).iter().map(whole).collect();
        wholes.ok_or_else(|| Error::internal(format!("{part} takes other values than whole numbers")))
    }

    /// The rows of a part; none where it was left out.
    pub fn rows(&self, part: &str) -> &[Vec<Value>] {
        match self.given(part) {
            Some(Given::Rows(rows)) => rows,
            _ => &[],
        }
    }

    /// The keys of a part with their values; none where it was left out.
    pub fn options(&self, part: &str) -> &[(String, Value)] {
        match self.given(part) {
            Some(Given::Options(options)) => options,
            _ => &[],
        }
    }

    /// The rows of the query that stands in a part.
    pub fn query(&self, part: &str) -> Option<&RecordBatch> {
        self.data.iter().find_map(|(name, data)| match data {
            Data::Rows(rows) if *name == part => Some(rows),
            _ => None,
        })
    }

    /// The distinct values of the column that stands in a part, ascending and NULL last, with how many rows each has.
    pub fn counts(&self, part: &str) -> Option<(&ArrayRef, &[u64])> {
        self.data.iter().find_map(|(name, data)| match data {
            Data::Counts(values, counts) if *name == part => Some((values, counts.as_slice())),
            _ => None,
        })
    }
}

/// A literal as the text of a value: a string without its quotes.
pub fn text(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Word(text) => text.clone(),
        other => other.to_string(),
    }
}
