//! The arguments of the clause in a CREATE HIERARCHY statement.

use super::number::Number;
use crate::base::catalogue::Value;
use crate::base::error::{Error, Result};
use arrow::array::{ArrayRef, RecordBatch};

/// The content of one part of a clause.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenPart {
    /// One value.
    Value(Value),
    /// A list of values.
    Values(Vec<Value>),
    /// Rows of values.
    Rows(Vec<Vec<Value>>),
    /// Options: keys, each with a value.
    Options(Vec<(String, Value)>),
    /// A column of a table.
    Column {
        /// The name of the table, in one to three parts.
        table: Vec<String>,
        /// The name of the column.
        column: String,
    },
    /// The text of a query.
    Query(String),
}

/// The data that the session read for a column or a query in a clause.
#[derive(Debug, Clone)]
pub enum Data {
    /// The rows of a query.
    Rows(RecordBatch),
    /// The distinct values of a column, ascending with NULL last, and the number of rows with each
    /// value.
    Counts(ArrayRef, Vec<u64>),
    /// The content of the object at a URL.
    Object(Vec<u8>),
}

/// The arguments of a clause. Each argument is identified by the name of its part. The name of a
/// part is its keywords, or, for a part without keywords, the name in
/// [`Part::First`](super::Part::First).
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
    given: Vec<(&'static str, GivenPart)>,
    data: Vec<(&'static str, Data)>,
}

impl Arguments {
    /// Creates arguments from the content of the parts, and from the data that was read for
    /// columns, queries and URLs.
    pub(crate) fn new(given: Vec<(&'static str, GivenPart)>, data: Vec<(&'static str, Data)>) -> Self {
        Self { given, data }
    }

    fn given(&self, part: &str) -> Option<&GivenPart> {
        self.given
            .iter()
            .find(|(name, _)| *name == part)
            .map(|(_, given)| given)
    }

    /// Returns the values of a part as a slice, even if the part has only one value. The slice is
    /// empty if the part was omitted.
    pub fn values(&self, part: &str) -> &[Value] {
        match self.given(part) {
            Some(GivenPart::Value(value)) => std::slice::from_ref(value),
            Some(GivenPart::Values(values)) => values,
            _ => &[],
        }
    }

    /// Returns the values of a part as strings, without quotes.
    pub fn texts(&self, part: &str) -> Vec<String> {
        self.values(part).iter().map(text).collect()
    }

    /// Returns the values of a part as exact numbers. Fails if a value is not a number.
    pub(crate) fn numbers(&self, part: &str) -> Result<Vec<Number>> {
        self.values(part).iter().map(|v| text(v).parse()).collect()
    }

    /// Returns the values of a part that takes [whole numbers](super::Item::Whole). Fails if a
    /// value is not a whole number.
    pub fn wholes(&self, part: &str) -> Result<Vec<u32>> {
        let whole = |v: &Value| match v {
            Value::Integer(v) => u32::try_from(*v).ok(),
            _ => None,
        };
        let wholes: Option<Vec<u32>> = self.values(part).iter().map(whole).collect();
        wholes.ok_or_else(|| Error::internal(format!("{part} takes other values than whole numbers")))
    }

    /// Returns the rows of a part. The slice is empty if the part was omitted.
    pub fn rows(&self, part: &str) -> &[Vec<Value>] {
        match self.given(part) {
            Some(GivenPart::Rows(rows)) => rows,
            _ => &[],
        }
    }

    /// Returns the keys of a part with their values. The slice is empty if the part was omitted.
    pub fn options(&self, part: &str) -> &[(String, Value)] {
        match self.given(part) {
            Some(GivenPart::Options(options)) => options,
            _ => &[],
        }
    }

    /// Returns the result of the query in a part; `None` if the part is not a query.
    pub fn query(&self, part: &str) -> Option<&RecordBatch> {
        self.data.iter().find_map(|(name, data)| match data {
            Data::Rows(rows) if *name == part => Some(rows),
            _ => None,
        })
    }

    /// Returns the content of the object that a part names by a URL; `None` if the part names a
    /// local file.
    pub(super) fn object(&self, part: &str) -> Option<&[u8]> {
        self.data.iter().find_map(|(name, data)| match data {
            Data::Object(bytes) if *name == part => Some(bytes.as_slice()),
            _ => None,
        })
    }

    /// Returns the distinct values of the column that a part names, ascending with NULL last, and
    /// the number of rows with each value. Returns `None` if the part does not name a column.
    pub fn counts(&self, part: &str) -> Option<(&ArrayRef, &[u64])> {
        self.data.iter().find_map(|(name, data)| match data {
            Data::Counts(values, counts) if *name == part => Some((values, counts.as_slice())),
            _ => None,
        })
    }
}

/// Converts a literal to the text of its value. A string loses its quotes.
pub fn text(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Word(text) => text.clone(),
        other => other.to_string(),
    }
}
