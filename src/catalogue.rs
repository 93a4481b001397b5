//! How an SQL name becomes an object.
//!
//! Every open set of this crate (privacy models, metrics, searches, hierarchy kinds, statements, REPL commands) is an
//! ordered slice of [`Entry`]: a description, from which help, completion, SHOW lists and argument checks are derived,
//! and a constructor.

use crate::error::{Error, Result};
use crate::quoting::literal;
use std::fmt;
use std::time::Duration;

/// What a parameter takes, with its range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A whole number from `min` to `max`, both included.
    Integer {
        /// The least value.
        min: i64,
        /// The greatest value.
        max: i64,
    },
    /// A number from `min` to `max`; `open` excludes `min` itself.
    Real {
        /// The least value.
        min: f64,
        /// The greatest value.
        max: f64,
        /// Whether `min` itself is out of range.
        open: bool,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any name: a column or a table.
    Name,
    /// True or false.
    Boolean,
    /// A time such as `'60s'`, `'5m'`, `'500ms'` or a number of seconds.
    Duration,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Integer { min, max } if *max == i64::MAX => write!(f, "a whole number of at least {min}"),
            Kind::Integer { min, max } => write!(f, "a whole number from {min} to {max}"),
            Kind::Real { min, max, open } if max.is_infinite() => {
                write!(f, "a number {} {min}", if *open { "above" } else { "of at least" })
            }
            Kind::Real { min, max, open: true } => write!(f, "a number above {min} and at most {max}"),
            Kind::Real { min, max, open: false } => write!(f, "a number from {min} to {max}"),
            Kind::Word(words) => write!(f, "one of {}", words.join(", ")),
            Kind::Name => f.write_str("a name"),
            Kind::Boolean => f.write_str("true or false"),
            Kind::Duration => f.write_str("a time such as '60s' or '5m'"),
        }
    }
}

/// One parameter of an entry.
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// Its name in SQL.
    pub name: &'static str,
    /// What it does, in half a line.
    pub summary: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Its default as SQL; `None` when it must be given.
    pub default: Option<&'static str>,
}

/// What is said of an entry everywhere: help, completion, SHOW lists, README tables.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// The SQL name, in lower case.
    pub name: &'static str,
    /// One line for people.
    pub summary: &'static str,
    /// The parameters, in positional order.
    pub params: &'static [Param],
    /// An example of its use in SQL.
    pub example: &'static str,
    /// Where it comes from: authors, year, DOI or section.
    pub reference: &'static str,
}

/// A description and the function that makes the object from checked arguments.
#[derive(Debug, Clone, Copy)]
pub struct Entry<B> {
    /// The description.
    pub info: Info,
    /// The constructor.
    pub build: B,
}

/// The entry of `slice` called `name` (case-insensitive). `what` is the kind of thing, for the error.
pub fn find<'a, B>(what: &str, slice: &'a [Entry<B>], name: &str) -> Result<&'a Entry<B>> {
    slice
        .iter()
        .find(|e| e.info.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| Error::unknown(what, name, slice.iter().map(|e| e.info.name)))
}

/// What has a description.
pub trait Described {
    /// The description.
    fn info(&self) -> &Info;
}

impl<B> Described for Entry<B> {
    fn info(&self) -> &Info {
        &self.info
    }
}

/// An open set, in the order of help: what this crate has, then what was registered.
#[derive(Debug, Clone)]
pub struct Catalogue<E> {
    what: &'static str,
    entries: Vec<E>,
}

impl<E: Described + Copy> Catalogue<E> {
    /// The set that begins with these entries. `what` is the kind of thing, for errors.
    pub fn new(what: &'static str, entries: &[E]) -> Self {
        Self {
            what,
            entries: entries.to_vec(),
        }
    }

    /// Every entry.
    pub fn entries(&self) -> &[E] {
        &self.entries
    }

    /// Every description.
    pub fn infos(&self) -> impl Iterator<Item = Info> {
        self.entries.iter().map(|e| *e.info())
    }

    /// Every name.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.infos().map(|info| info.name)
    }

    /// The entry called `name` (case-insensitive).
    pub fn get(&self, name: &str) -> Option<E> {
        let found = self.entries.iter().find(|e| e.info().name.eq_ignore_ascii_case(name));
        found.copied()
    }

    /// The entry called `name`; the error proposes the nearest name.
    pub fn find(&self, name: &str) -> Result<E> {
        self.get(name)
            .ok_or_else(|| Error::unknown(self.what, name, self.names()))
    }

    /// An error when the name is taken.
    pub fn is_free(&self, name: &str) -> Result<()> {
        match self.get(name) {
            Some(_) => Err(Error::usage(format!("{} {name} is there already", self.what))),
            None => Ok(()),
        }
    }

    /// Adds an entry. Its name must be one that needs no quotes in SQL and is not taken.
    pub fn add(&mut self, entry: E) -> Result<()> {
        let name = entry.info().name;
        let fits = |(i, b): (usize, u8)| b.is_ascii_lowercase() || b == b'_' || (i > 0 && b.is_ascii_digit());
        if name.is_empty() || !name.bytes().enumerate().all(fits) {
            return Err(Error::usage(format!(
                "{} {name:?} cannot be named in SQL: use lower-case letters, digits and _",
                self.what
            )));
        }
        self.is_free(name)?;
        self.entries.push(entry);
        Ok(())
    }
}

/// A literal as it stands in a statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Real(f64),
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
            Value::Text(v) => f.write_str(&literal(v)),
            Value::Word(v) => f.write_str(v),
            Value::Boolean(v) => write!(f, "{v}"),
        }
    }
}

/// One argument as it stands in a statement: `5` or `rounds => 300`.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// Its name, when it was given by name.
    pub name: Option<String>,
    /// Its value.
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

/// A name with its arguments: `k_anonymity(5)`, `tabu (rounds => 300)`.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The name.
    pub name: String,
    /// The arguments, in the order they were given.
    pub args: Vec<Argument>,
}

impl Call {
    /// A call without arguments.
    pub fn bare(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            args: vec![],
        }
    }

    /// A call with arguments by position.
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

/// The arguments of one entry, checked against its parameters, defaults filled in.
#[derive(Debug, Clone)]
pub struct Arguments {
    entry: &'static str,
    values: Vec<(&'static str, Option<Value>)>,
}

impl Arguments {
    /// Checks `args` against the parameters of `info`.
    pub fn bind(info: &Info, args: &[Argument]) -> Result<Self> {
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
                            &format!("parameter of {}", info.name),
                            name,
                            info.params.iter().map(|p| p.name),
                        )
                    })?,
                None => positional,
            };
            let Some(param) = info.params.get(index) else {
                return Err(Error::usage(format!(
                    "{} takes {} parameters, but more were given; example: {}",
                    info.name,
                    info.params.len(),
                    info.example
                )));
            };
            if values[index].1.is_some() {
                return Err(Error::usage(format!(
                    "{}: parameter {} is given twice",
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

    /// An optional parameter (default `""`) as `read` reads it; `None` where it was not given.
    pub fn given<'a, T>(&'a self, name: &str, read: impl Fn(&'a Self, &str) -> Result<T>) -> Result<Option<T>> {
        self.get(name)?.map(|_| read(self, name)).transpose()
    }

    /// A whole number.
    pub fn integer(&self, name: &str) -> Result<i64> {
        match self.required(name)? {
            Value::Integer(v) => Ok(*v),
            other => Err(self.mismatch(name, other)),
        }
    }

    /// A whole number as a count.
    pub fn count(&self, name: &str) -> Result<u64> {
        let v = self.integer(name)?;
        u64::try_from(v).map_err(|_| self.mismatch(name, &Value::Integer(v)))
    }

    /// A number.
    pub fn real(&self, name: &str) -> Result<f64> {
        match self.required(name)? {
            Value::Integer(v) => Ok(*v as f64),
            Value::Real(v) => Ok(*v),
            other => Err(self.mismatch(name, other)),
        }
    }

    /// A word or name.
    pub fn word(&self, name: &str) -> Result<&str> {
        match self.required(name)? {
            Value::Word(v) | Value::Text(v) => Ok(v),
            other => Err(self.mismatch(name, other)),
        }
    }

    /// True or false.
    pub fn boolean(&self, name: &str) -> Result<bool> {
        match self.required(name)? {
            Value::Boolean(v) => Ok(*v),
            other => Err(self.mismatch(name, other)),
        }
    }

    /// A time.
    pub fn duration(&self, name: &str) -> Result<Duration> {
        let value = self.required(name)?;
        duration(value).ok_or_else(|| self.mismatch(name, value))
    }

    fn mismatch(&self, name: &str, value: &Value) -> Error {
        Error::internal(format!(
            "{}: parameter {name} was read as another kind than {value}",
            self.entry
        ))
    }
}

/// A time written as `'500ms'`, `'60s'`, `'5m'`, `'2h'` or a number of seconds.
pub fn duration(value: &Value) -> Option<Duration> {
    let seconds = match value {
        Value::Integer(v) => *v as f64,
        Value::Real(v) => *v,
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
                    _ => return None,
                }
        }
        Value::Boolean(_) => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
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
        (Kind::Real { .. }, Value::Integer(_) | Value::Real(_)) => {
            let v = match value {
                Value::Integer(v) => *v as f64,
                Value::Real(v) => *v,
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
        (Kind::Boolean, Value::Word(w)) if w.eq_ignore_ascii_case("true") || w.eq_ignore_ascii_case("false") => {
            return Ok(Value::Boolean(w.eq_ignore_ascii_case("true")));
        }
        (Kind::Duration, v) => duration(v).is_some(),
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
    fn a_name_is_taken_once() {
        let entry = |name| Entry {
            info: Info { name, ..INFO },
            build: (),
        };
        let mut searches = Catalogue::new("search", &[entry("tabu")]);
        searches.add(entry("mine_2")).unwrap();
        assert_eq!(searches.names().collect::<Vec<_>>(), ["tabu", "mine_2"]);
        assert_eq!(searches.find("MINE_2").unwrap().info.name, "mine_2");
        let said = |e: Error| e.to_string();
        assert!(said(searches.add(entry("tabu")).unwrap_err()).contains("search tabu is there already"));
        for name in ["", "2nd", "Mine", "a b"] {
            assert!(said(searches.add(entry(name)).unwrap_err()).contains("cannot be named"));
        }
        assert!(said(searches.find("mine").unwrap_err()).contains("did you mean \"mine_2\""));
    }

    #[test]
    fn times_are_read() {
        assert_eq!(duration(&Value::Text("500ms".into())), Some(Duration::from_millis(500)));
        assert_eq!(duration(&Value::Text("5m".into())), Some(Duration::from_secs(300)));
        assert_eq!(duration(&Value::Integer(60)), Some(Duration::from_secs(60)));
        assert_eq!(duration(&Value::Text("soon".into())), None);
    }
}
