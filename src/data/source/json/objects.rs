//! Checks JSON objects for content that their reader would lose or misread: a repeated key, a key
//! of a nested object that the first rows did not have, and a string in a column of numbers or
//! truth values, whose content would be read as such a value.

use super::typed::is_number;
use crate::data::source::csv::wanted;
use arrow::datatypes::{DataType, Fields, SchemaRef};
use memchr::memchr2;
use std::collections::HashSet;
use std::fmt;

/// A fault in a row. Rows count from 1. The fault contains no text of the file except the name of a
/// column.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    row: usize,
    column: String,
    what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum What {
    Twice,
    Unknown,
    Text(&'static str),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, column, what } = self;
        match what {
            What::Twice => write!(
                f,
                "row {row} repeats a key in column {column:?}, and only one of its values would be read; write each \
                 key only once"
            ),
            What::Unknown => write!(
                f,
                "row {row} has a key within column {column:?} that the first rows do not have; infer types from more \
                 rows with OPTIONS (schema_infer_max_rec 1000000)"
            ),
            What::Text(wanted) => write!(
                f,
                "row {row} is not {wanted} in column {column:?}, unlike the rows before it; read numbers as text with \
                 OPTIONS (types 'text') after the path, or infer types from more rows with OPTIONS \
                 (schema_infer_max_rec 1000000)"
            ),
        }
    }
}

/// Checks a stream of JSON objects. Their reader, and not this check, decides whether they are
/// valid JSON.
pub(crate) struct Objects {
    schema: SchemaRef,
    open: Vec<Open>,
    /// The string that is being read, including its first quote; `None` outside of strings.
    text: Option<Vec<u8>>,
    is_escaped: bool,
    /// The number of completed top-level objects.
    rows: usize,
    column: String,
}

/// An object or array that is still open.
enum Open {
    Object {
        keys: HashSet<Vec<u8>>,
        /// The fields of the object; `None` if they are unknown.
        fields: Option<Fields>,
        /// The type of the value that follows a key; `None` before a key. The inner type is `None`
        /// if the type is unknown.
        value: Option<Option<DataType>>,
    },
    Array {
        item: Option<DataType>,
    },
}

impl Objects {
    /// Creates a check for the objects of a table with `schema`.
    pub(crate) fn new(schema: SchemaRef) -> Self {
        Self {
            schema,
            open: vec![],
            text: None,
            is_escaped: false,
            rows: 0,
            column: String::new(),
        }
    }

    /// Checks the next bytes. Fails with the first fault.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let mut at = 0;
        while at < bytes.len() {
            at = match self.text.is_some() {
                true => self.within_text(bytes, at)?,
                false => {
                    self.outside(bytes[at])?;
                    at + 1
                }
            };
        }
        Ok(())
    }

    fn within_text(&mut self, bytes: &[u8], at: usize) -> Result<usize, Fault> {
        let Some(text) = &mut self.text else {
            return Ok(at);
        };
        if self.is_escaped {
            self.is_escaped = false;
            text.push(bytes[at]);
            return Ok(at + 1);
        }
        let Some(end) = memchr2(b'"', b'\\', &bytes[at..]) else {
            text.extend(&bytes[at..]);
            return Ok(bytes.len());
        };
        let end = at + end;
        text.extend(&bytes[at..=end]);
        match bytes[end] {
            b'\\' => self.is_escaped = true,
            _ => {
                let text = self.text.take().unwrap_or_default();
                self.ended(text)?;
            }
        }
        Ok(end + 1)
    }

    fn outside(&mut self, byte: u8) -> Result<(), Fault> {
        match byte {
            b'"' => self.text = Some(vec![byte]),
            b'{' => {
                let fields = match (self.open.is_empty(), self.expected()) {
                    (true, _) => Some(self.schema.fields().clone()),
                    (false, Some(DataType::Struct(fields))) => Some(fields),
                    (false, _) => None,
                };
                let (keys, value) = (HashSet::new(), None);
                self.open.push(Open::Object { keys, fields, value });
            }
            b'[' => {
                let item = match self.expected() {
                    Some(DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _)) => {
                        Some(item.data_type().clone())
                    }
                    _ => None,
                };
                self.open.push(Open::Array { item });
            }
            b'}' | b']' => {
                self.open.pop();
                self.rows += usize::from(self.open.is_empty());
            }
            b',' => {
                if let Some(Open::Object { value, .. }) = self.open.last_mut() {
                    *value = None;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the type of the next value; `None` if it is unknown.
    fn expected(&self) -> Option<DataType> {
        match self.open.last()? {
            Open::Object { value, .. } => value.clone().flatten(),
            Open::Array { item } => item.clone(),
        }
    }

    /// Processes a complete string with its quotes: a key or a value.
    fn ended(&mut self, text: Vec<u8>) -> Result<(), Fault> {
        let (is_row, fault) = (self.open.len() == 1, |of: &Self, what| {
            Err(Fault {
                row: of.rows + 1,
                column: of.column.clone(),
                what,
            })
        });
        let Some(Open::Object { keys, fields, value }) = self.open.last_mut().filter(|open| open.is_before_a_key())
        else {
            return match self.expected() {
                Some(t) if is_number(&t) || t == DataType::Boolean => fault(self, What::Text(wanted(&t))),
                _ => Ok(()),
            };
        };
        // A key can be written in several ways, such as "a" and "\u0061".
        let key = serde_json::from_slice::<String>(&text).map_or(text, String::into_bytes);
        let name = String::from_utf8_lossy(&key).into_owned();
        let field = fields
            .as_ref()
            .map(|fields| fields.find(&name).map(|(_, field)| field.data_type().clone()));
        *value = Some(field.clone().flatten());
        let is_new = keys.insert(key);
        if is_row {
            // A key that is not a column may be a data value, and is therefore not shown.
            self.column = match &field {
                Some(Some(_)) => name,
                _ => "?".to_string(),
            };
        }
        match field {
            _ if !is_new => fault(self, What::Twice),
            Some(None) if !is_row => fault(self, What::Unknown),
            _ => Ok(()),
        }
    }
}

impl Open {
    fn is_before_a_key(&self) -> bool {
        matches!(self, Self::Object { value: None, .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::{Field, Schema};
    use std::sync::Arc;

    fn read(text: &str, chunk: usize) -> Result<(), Fault> {
        let item = Arc::new(Field::new("item", DataType::Int64, true));
        let inner = Fields::from(vec![Field::new("x", DataType::Boolean, true)]);
        let schema = Schema::new(vec![
            Field::new("n", DataType::Int64, true),
            Field::new("t", DataType::Utf8, true),
            Field::new("l", DataType::List(item), true),
            Field::new("s", DataType::Struct(inner), true),
        ]);
        let mut objects = Objects::new(Arc::new(schema));
        text.as_bytes().chunks(chunk).try_for_each(|bytes| objects.read(bytes))
    }

    #[test]
    fn what_a_reader_would_leave_out_is_found() {
        let good = r#"{"n": 1, "t": "a\\\"}{", "l": [1, 2], "s": {"x": true}, "new": {"n": "1"}}"#;
        for (line, column, what) in [
            (r#"{"n": 1, "n": 2}"#, "n", What::Twice),
            (r#"{"n": 1, "\u006e": 2}"#, "n", What::Twice),
            (r#"{"s": {"x": true, "x": false}}"#, "s", What::Twice),
            (r#"{"new": {"q": 1, "q": 2}}"#, "?", What::Twice),
            (r#"{"s": {"x": true, "y": 2}}"#, "s", What::Unknown),
            (r#"{"n": "1"}"#, "n", What::Text(wanted(&DataType::Int64))),
            (r#"{"l": [1, "2"]}"#, "l", What::Text(wanted(&DataType::Int64))),
            (r#"{"s": {"x": "true"}}"#, "s", What::Text(wanted(&DataType::Boolean))),
        ] {
            for chunk in [1, 3, 4096] {
                assert_eq!(read(&format!("{good}\n{good}\n"), chunk), Ok(()));
                let fault = read(&format!("{good}\n{line}\n"), chunk).unwrap_err();
                let wanted = Fault {
                    row: 2,
                    column: column.into(),
                    what: what.clone(),
                };
                assert_eq!(fault, wanted, "{line}");
            }
        }
    }
}
