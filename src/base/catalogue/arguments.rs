//! Checks the arguments of a call against the parameters of a catalogue entry.

use super::call::{Argument, Value};
use super::entry::{Info, Kind, Param};
use super::size::size;
use crate::base::error::{Error, Result};
use std::time::Duration;

/// The arguments for a catalogue entry, which were checked against its parameters. Missing
/// arguments have their default values.
///
/// ```
/// use anonsql::error::Result;
/// use anonsql::extend::Arguments;
/// /// The parameter `share` of an entry, as its constructor reads it.
/// fn share(arguments: &Arguments) -> Result<f64> {
///     arguments.real("share")
/// }
/// ```
#[derive(Debug, Clone)]
pub struct Arguments {
    entry: &'static str,
    values: Vec<(&'static str, Option<Value>)>,
}

impl Arguments {
    /// Checks `args` against the parameters of `info`. Fails with `ErrorKind::Usage` if an argument
    /// is unknown, repeated or missing, or if its value has the wrong type or is out of range.
    #[doc(hidden)]
    pub fn bind(info: &Info, args: &[Argument]) -> Result<Self> {
        Self::bind_as("parameter", info, args)
    }

    /// Returns the name of the catalogue entry.
    pub fn entry(&self) -> &'static str {
        self.entry
    }

    /// Checks the options of a clause against `info`, which describes them. Fails like
    /// [`Arguments::bind`].
    pub(crate) fn of_options(info: &Info, options: &[(String, Value)]) -> Result<Self> {
        let named = |(name, value): &(String, Value)| Argument {
            name: Some(name.clone()),
            value: value.clone(),
        };
        Self::bind_as("option", info, &options.iter().map(named).collect::<Vec<_>>())
    }

    /// Checks `args` against the parameters of `info`. `noun` is the word for an argument in error
    /// messages, such as `option`.
    fn bind_as(noun: &str, info: &Info, args: &[Argument]) -> Result<Self> {
        let mut values: Vec<(&'static str, Option<Value>)> = info.params.iter().map(|p| (p.name, None)).collect();
        let mut positional = 0;
        for arg in args {
            let index = match &arg.name {
                Some(name) => info
                    .params
                    .iter()
                    .position(|p| p.name.eq_ignore_ascii_case(name))
                    .ok_or_else(|| {
                        Error::unknown(
                            &format!("{noun} of {}", info.name),
                            name,
                            info.params.iter().map(|p| p.name),
                        )
                    })?,
                None => positional,
            };
            let Some(param) = info.params.get(index) else {
                return Err(Error::usage(format!(
                    "{} takes ({}), and {} arguments are given; example: {}",
                    info.name,
                    info.arguments(),
                    args.len(),
                    info.example
                )));
            };
            if values[index].1.is_some() {
                return Err(Error::usage(format!(
                    "{}: {noun} {} is given twice",
                    info.name, param.name
                )));
            }
            values[index].1 = Some(check(info, param, &arg.value)?);
            positional = index + 1;
        }
        for (param, slot) in info.params.iter().zip(&mut values) {
            if slot.1.is_none() {
                match param.default {
                    Some("") => {}
                    Some(text) => slot.1 = Some(check(info, param, &parse_default(text))?),
                    None => {
                        return Err(Error::usage(format!(
                            "{} needs {} ({}); example: {}",
                            info.name, param.name, param.kind, info.example
                        )));
                    }
                }
            }
        }
        Ok(Self {
            entry: info.name,
            values,
        })
    }

    fn get(&self, name: &str) -> Result<Option<&Value>> {
        self.values
            .iter()
            .find(|(n, _)| *n == name)
            .map(|(_, v)| v.as_ref())
            .ok_or_else(|| Error::internal(format!("{} declares no parameter {name}", self.entry)))
    }

    fn required(&self, name: &str) -> Result<&Value> {
        self.get(name)?
            .ok_or_else(|| Error::internal(format!("{}: parameter {name} has no value", self.entry)))
    }

    /// Returns the value of an optional parameter (default `""`), as returned by the getter `read`;
    /// `None` if the argument is not given.
    pub fn given<'a, T>(&'a self, name: &str, read: impl Fn(&'a Self, &str) -> Result<T>) -> Result<Option<T>> {
        self.get(name)?.map(|_| read(self, name)).transpose()
    }

    /// Returns the value of a parameter that is a whole number.
    pub fn integer(&self, name: &str) -> Result<i64> {
        match self.required(name)? {
            Value::Integer(v) => Ok(*v),
            other => Err(self.mismatch(name, other)),
        }
    }

    /// Returns the value of a parameter that is a whole number of at least 0.
    pub fn count(&self, name: &str) -> Result<u64> {
        let v = self.integer(name)?;
        u64::try_from(v).map_err(|_| self.mismatch(name, &Value::Integer(v)))
    }

    /// Returns the value of a parameter that is a number.
    pub fn real(&self, name: &str) -> Result<f64> {
        match self.required(name)? {
            Value::Integer(v) => Ok(*v as f64),
            Value::Real(v) => Ok(*v),
            Value::Fraction(over, under) => Ok(f64::from(*over) / f64::from(*under)),
            other => Err(self.mismatch(name, other)),
        }
    }

    /// Returns the numerator and the denominator of a parameter that is written as a fraction;
    /// `None` for any other number.
    pub(crate) fn fraction(&self, name: &str) -> Result<Option<(u32, u32)>> {
        Ok(match self.required(name)? {
            Value::Fraction(over, under) => Some((*over, *under)),
            _ => None,
        })
    }

    /// Returns the value of a parameter that is a word or a name.
    pub fn word(&self, name: &str) -> Result<&str> {
        match self.required(name)? {
            Value::Word(v) | Value::Text(v) => Ok(v),
            other => Err(self.mismatch(name, other)),
        }
    }

    /// Returns the value of a parameter that is true or false.
    pub fn boolean(&self, name: &str) -> Result<bool> {
        match self.required(name)? {
            Value::Boolean(v) => Ok(*v),
            other => Err(self.mismatch(name, other)),
        }
    }

    /// Returns the value of a parameter that is one ASCII character.
    pub fn character(&self, name: &str) -> Result<u8> {
        let value = self.required(name)?;
        character(value).ok_or_else(|| self.mismatch(name, value))
    }

    /// Returns the value of a parameter that is a duration.
    pub fn duration(&self, name: &str) -> Result<Duration> {
        let value = self.required(name)?;
        duration(value).ok_or_else(|| self.mismatch(name, value))
    }

    /// Returns the number of bytes in a parameter that is a size.
    pub fn bytes(&self, name: &str) -> Result<u64> {
        let value = self.required(name)?;
        bytes(value).ok_or_else(|| self.mismatch(name, value))
    }

    fn mismatch(&self, name: &str, value: &Value) -> Error {
        Error::internal(format!(
            "{}: parameter {name} was read as another kind than {value}",
            self.entry
        ))
    }
}

/// Parses a duration: `'500ms'`, `'60s'`, `'5m'`, `'2h'` or a number of seconds.
pub fn duration(value: &Value) -> Option<Duration> {
    let seconds = match value {
        Value::Integer(v) => *v as f64,
        Value::Real(v) => *v,
        Value::Fraction(over, under) => f64::from(*over) / f64::from(*under),
        Value::Text(text) | Value::Word(text) => {
            let text = text.trim();
            let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
            let number: f64 = text[..split].trim().parse().ok()?;
            number
                * match &text[split..] {
                    "ms" => 1e-3,
                    "" | "s" => 1.0,
                    "m" | "min" => 60.0,
                    "h" => 3600.0,
                    "d" => 86_400.0,
                    _ => return None,
                }
        }
        Value::Boolean(_) => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

/// Parses a size in bytes: `'256MB'`, `'1GiB'` or a number of bytes.
fn bytes(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Text(text) | Value::Word(text) => text.clone(),
        Value::Integer(bytes) => bytes.to_string(),
        _ => return None,
    };
    size(&text).ok().map(|bytes| bytes as u64)
}

/// Parses one ASCII character in quotes; `\t` stands for a tab. Line breaks are not accepted.
fn character(value: &Value) -> Option<u8> {
    match value {
        Value::Text(text) => match text.as_bytes() {
            [byte] if byte.is_ascii() && !matches!(byte, b'\n' | b'\r') => Some(*byte),
            [b'\\', b't'] => Some(b'\t'),
            _ => None,
        },
        _ => None,
    }
}

fn parse_default(text: &str) -> Value {
    if let Ok(v) = text.parse() {
        Value::Integer(v)
    } else if let Ok(v) = text.parse() {
        Value::Real(v)
    } else if let Ok(v) = text.parse() {
        Value::Boolean(v)
    } else {
        Value::Word(text.to_string())
    }
}

fn check(info: &Info, param: &Param, value: &Value) -> Result<Value> {
    let fits = match (param.kind, value) {
        (Kind::Integer { min, max }, Value::Integer(v)) => min <= *v && *v <= max,
        (Kind::Real { .. }, Value::Integer(_) | Value::Real(_) | Value::Fraction(..)) => {
            let v = match value {
                Value::Integer(v) => *v as f64,
                Value::Real(v) => *v,
                Value::Fraction(over, under) => f64::from(*over) / f64::from(*under),
                _ => f64::NAN,
            };
            matches!(param.kind, Kind::Real { min, max, open } if v <= max && (v > min || (v == min && !open)))
        }
        (Kind::Word(words), Value::Word(v) | Value::Text(v)) => {
            let lower = v.to_lowercase();
            if !words.contains(&lower.as_str()) {
                return Err(Error::unknown(
                    &format!("{} of {}", param.name, info.name),
                    v,
                    words.iter().copied(),
                ));
            }
            return Ok(Value::Word(lower));
        }
        (Kind::Name, Value::Word(_) | Value::Text(_)) => true,
        (Kind::Boolean, Value::Boolean(_)) => true,
        (Kind::Boolean, Value::Word(w) | Value::Text(w))
            if w.eq_ignore_ascii_case("true") || w.eq_ignore_ascii_case("false") =>
        {
            return Ok(Value::Boolean(w.eq_ignore_ascii_case("true")));
        }
        (Kind::Character, v) => character(v).is_some(),
        (Kind::Duration, v) => duration(v).is_some(),
        (Kind::Size, v) => bytes(v).is_some(),
        _ => false,
    };
    if fits {
        return Ok(value.clone());
    }
    Err(Error::usage(format!(
        "{}: {} must be {}, not {value}; example: {}",
        info.name, param.name, param.kind, info.example
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: Info = Info {
        name: "tabu",
        summary: "",
        params: &[
            Param {
                name: "rounds",
                summary: "",
                kind: Kind::Integer { min: 1, max: 1000 },
                default: Some("300"),
            },
            Param {
                name: "share",
                summary: "",
                kind: Kind::Real {
                    min: 0.0,
                    max: 1.0,
                    open: true,
                },
                default: None,
            },
        ],
        example: "tabu(10, 0.5)",
        reference: "",
    };

    fn arg(name: Option<&str>, value: Value) -> Argument {
        Argument {
            name: name.map(Into::into),
            value,
        }
    }

    #[test]
    fn arguments_are_bound_by_position_and_name() {
        let a = Arguments::bind(&INFO, &[arg(Some("share"), Value::Integer(1))]).unwrap();
        assert_eq!((a.count("rounds").unwrap(), a.real("share").unwrap()), (300, 1.0));
        let a = Arguments::bind(&INFO, &[arg(None, Value::Integer(7)), arg(None, Value::Real(0.5))]).unwrap();
        assert_eq!((a.count("rounds").unwrap(), a.real("share").unwrap()), (7, 0.5));
    }

    #[test]
    fn errors_say_the_range() {
        let e = Arguments::bind(&INFO, &[arg(None, Value::Integer(0)), arg(None, Value::Real(0.5))]).unwrap_err();
        assert!(
            e.to_string()
                .contains("rounds must be a whole number from 1 to 1000, not 0"),
            "{e}"
        );
        let e = Arguments::bind(&INFO, &[]).unwrap_err();
        assert!(
            e.to_string()
                .contains("tabu needs share (a number above 0 and at most 1)"),
            "{e}"
        );
        let e = Arguments::bind(&INFO, &[arg(Some("shard"), Value::Real(0.5))]).unwrap_err();
        assert!(e.to_string().contains("did you mean \"share\""), "{e}");
    }

    #[test]
    fn times_are_read() {
        assert_eq!(duration(&Value::Text("500ms".into())), Some(Duration::from_millis(500)));
        assert_eq!(duration(&Value::Text("5m".into())), Some(Duration::from_secs(300)));
        assert_eq!(duration(&Value::Integer(60)), Some(Duration::from_secs(60)));
        assert_eq!(duration(&Value::Text("soon".into())), None);
    }
}
