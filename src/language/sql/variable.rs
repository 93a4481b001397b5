//! The variables of a session: named values that statements can use as `$name`.

use crate::base::error::{Error, Result};
use crate::base::quoting::literal;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::sql::sqlparser::tokenizer::Token;
use std::collections::BTreeMap;
use std::fmt;

/// The maximum number of decimal digits for which a float is exact.
const DIGITS: usize = 15;

/// A value that can be written as a literal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Literal {
    /// NULL.
    Null,
    /// TRUE or FALSE.
    Boolean(bool),
    /// A number, as it was written.
    Number(String),
    /// A text.
    Text(String),
}

impl Literal {
    /// Interprets a text that comes from outside SQL: as a number if it is written like one, and as
    /// a text otherwise. A text such as `01234`, `+5` or `1e5` is not a number, because the number
    /// would print differently.
    pub(crate) fn read(text: &str) -> Self {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
        let are_digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
        let is_whole = are_digits(whole) && (whole == "0" || !whole.starts_with('0'));
        let is_number = match fraction {
            None => is_whole && text != "-0" && text.parse::<i64>().is_ok(),
            Some(fraction) => is_whole && are_digits(fraction) && whole.len() + fraction.len() <= DIGITS,
        };
        match is_number {
            true => Self::Number(text.to_string()),
            false => Self::Text(text.to_string()),
        }
    }

    /// Converts a scalar to a literal. Fails with a usage error if the scalar cannot be written as
    /// a literal.
    pub(crate) fn of(scalar: &ScalarValue) -> Result<Self> {
        use DataType::{Date32, Date64, LargeUtf8, Time32, Time64, Timestamp, Utf8, Utf8View};
        let data_type = scalar.data_type();
        if scalar.is_null() {
            return Ok(Self::Null);
        }
        if let ScalarValue::Boolean(Some(value)) = scalar {
            return Ok(Self::Boolean(*value));
        }
        let is_text = matches!(
            data_type,
            Utf8 | LargeUtf8 | Utf8View | Date32 | Date64 | Time32(_) | Time64(_)
        ) || matches!(data_type, Timestamp(..));
        let number = data_type.is_numeric();
        let text = match number || is_text {
            true => scalar.cast_to(&Utf8)?,
            false => ScalarValue::Null,
        };
        match text {
            ScalarValue::Utf8(Some(text)) if is_text => Ok(Self::Text(text)),
            ScalarValue::Utf8(Some(text)) if text.parse::<f64>().is_ok_and(f64::is_finite) => Ok(Self::Number(text)),
            _ => Err(Error::usage(
                "a variable holds a finite number, a text, a date, a time, true, false or NULL",
            )),
        }
    }

    /// Returns a word for the kind of the value, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "text",
        }
    }

    /// Returns the characters of the value, without quotes.
    pub(super) fn characters(&self) -> &str {
        match self {
            Self::Null => "NULL",
            Self::Boolean(true) => "TRUE",
            Self::Boolean(false) => "FALSE",
            Self::Number(text) | Self::Text(text) => text,
        }
    }

    /// Returns a token for the value. A text in plain quotes becomes a name wherever SQL expects a
    /// name. Therefore, only a path (`is_path`) gets plain quotes, and any other text gets a token
    /// that can only be a text.
    pub(super) fn token(&self, is_path: bool) -> Token {
        match self {
            Self::Null | Self::Boolean(_) => Token::make_word(self.characters(), None),
            Self::Number(digits) => Token::Number(digits.clone(), false),
            Self::Text(text) if is_path => Token::SingleQuotedString(text.clone()),
            Self::Text(text) => Token::EscapedStringLiteral(text.clone()),
        }
    }
}

/// Writes the value as SQL. A negative number is put in parentheses, so that its minus sign is
/// separate from the preceding token.
impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&literal(text)),
            Self::Number(digits) if digits.starts_with('-') => write!(f, "({digits})"),
            other => f.write_str(other.characters()),
        }
    }
}

/// A variable.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variable {
    /// The value.
    pub(crate) value: Literal,
    /// Whether the value comes from the environment, so that it must not be shown.
    pub(crate) hidden: bool,
}

/// The variables of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Variables {
    named: BTreeMap<String, Variable>,
    /// Whether `getenv` may read the environment of the process.
    pub(crate) environment: bool,
    /// Whether the statement is only parsed, and never run. In this case, `getenv` returns an empty
    /// text, whatever the environment contains.
    pub(super) only_read: bool,
}

impl Variables {
    /// Returns the variables for a statement that is only parsed and never run, such as the
    /// statement in a manifest.
    pub(crate) fn of_a_record() -> Self {
        Self {
            only_read: true,
            ..Self::default()
        }
    }

    /// Sets a variable. Fails with a usage error if its name cannot be written after `$`.
    pub(crate) fn set(&mut self, name: &str, variable: Variable) -> Result<()> {
        let starts = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        if !starts
            || name
                .chars()
                .any(|c| !(c.is_alphanumeric() || c == '_') || c.is_uppercase())
        {
            return Err(Error::usage(format!(
                "a variable cannot be called {name:?}: its name has small letters, digits and _, and does not begin \
                 with a digit"
            )));
        }
        self.named.insert(name.to_string(), variable);
        Ok(())
    }

    /// Returns the variable `name`. Fails with a usage error that suggests the nearest name if
    /// there is no such variable.
    pub(crate) fn get(&self, name: &str) -> Result<&Variable> {
        let unknown = || {
            let error = Error::unknown("variable", name, self.named.keys().map(String::as_str));
            Error::usage(format!(
                "{error}; create it with SET VARIABLE {name} = ..., or with anonsql -v {name}=..."
            ))
        };
        self.named.get(name).ok_or_else(unknown)
    }

    /// Removes the variable `name`. Fails like [`Variables::get`] if it does not exist.
    pub(crate) fn remove(&mut self, name: &str) -> Result<()> {
        self.get(name)?;
        self.named.remove(name);
        Ok(())
    }

    /// Returns all variables in the order of their names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Variable)> {
        self.named.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_prints_back_the_same_is_a_number() {
        for number in ["0", "5", "-5", "0.20", "-1.5", "9223372036854775807"] {
            assert_eq!(Literal::read(number), Literal::Number(number.into()));
        }
        for text in [
            "",
            "-",
            "-0",
            "05",
            "01234",
            "+5",
            "1e5",
            ".5",
            "5.",
            "1.2.3",
            "inf",
            "NaN",
            " 5",
            "9223372036854775808",
            "0.1234567890123456",
            "TRUE",
            "x",
        ] {
            assert_eq!(Literal::read(text), Literal::Text(text.into()));
        }
    }

    #[test]
    fn scalars_become_literals() {
        for (scalar, sql) in [
            (ScalarValue::Int64(Some(-5)), "(-5)"),
            (ScalarValue::Float64(Some(1.0)), "1.0"),
            (ScalarValue::Decimal128(Some(125), 5, 2), "1.25"),
            (ScalarValue::Boolean(Some(true)), "TRUE"),
            (ScalarValue::Int32(None), "NULL"),
            (ScalarValue::from("it's"), "'it''s'"),
            (ScalarValue::Date32(Some(0)), "'1970-01-01'"),
        ] {
            assert_eq!(Literal::of(&scalar).unwrap().to_string(), sql);
        }
        for scalar in [ScalarValue::Float64(Some(f64::NAN)), ScalarValue::Binary(Some(vec![1]))] {
            assert!(Literal::of(&scalar).is_err(), "{scalar:?}");
        }
    }

    #[test]
    fn names_are_those_that_can_be_written() {
        let mut variables = Variables::default();
        let variable = Variable {
            value: Literal::Null,
            hidden: false,
        };
        for name in ["k", "_k1", "größe"] {
            variables.set(name, variable.clone()).unwrap();
        }
        for name in ["", "1k", "K", "a b", "a-b", "a;b", "a'b", "$k"] {
            assert!(variables.set(name, variable.clone()).is_err(), "{name}");
        }
        let said = variables.get("kk").unwrap_err().to_string();
        assert!(said.contains("did you mean \"k\"?"), "{said}");
        variables.remove("k").unwrap();
        assert!(variables.remove("k").is_err());
    }
}
