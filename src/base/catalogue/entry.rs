//! Catalogue entries, which consist of a description and a constructor.

use crate::base::error::{Error, Result};
use std::fmt;

/// The kind of value that a parameter accepts, with its range.
///
/// ```
/// use anonsql::extend::Kind;
/// assert_eq!(Kind::Integer { min: 1, max: 9 }.to_string(), "a whole number from 1 to 9");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Kind {
    /// A whole number from `min` to `max`, both included.
    Integer {
        /// The minimum.
        min: i64,
        /// The maximum.
        max: i64,
    },
    /// A number from `min` to `max`. If `open` is true, `min` itself is excluded.
    Real {
        /// The minimum.
        min: f64,
        /// The maximum.
        max: f64,
        /// Whether `min` itself is out of range.
        open: bool,
    },
    /// One of the given words, which are in lower case.
    Word(&'static [&'static str]),
    /// Any name, such as the name of a column or a table.
    Name,
    /// True or false.
    Boolean,
    /// One ASCII character in quotes.
    Character,
    /// A duration, such as `'60s'`, `'5m'`, `'500ms'` or a number of seconds.
    Duration,
    /// A size of at least 1 MB, such as `'256MB'` or a number of bytes.
    Size,
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
            Kind::Character => f.write_str("one ASCII character in quotes"),
            Kind::Duration => f.write_str("a time such as '60s' or '5m'"),
            Kind::Size => f.write_str("a size of at least 1MB, such as '256MB'"),
        }
    }
}

/// A parameter of an entry.
///
/// ```
/// use anonsql::extend::{Kind, Param};
/// const SHARE: Param = Param {
///     name: "share",
///     summary: "the greatest share of one value",
///     kind: Kind::Real { min: 0.0, max: 1.0, open: true },
///     default: None,
/// };
/// assert_eq!(SHARE.kind.to_string(), "a number above 0 and at most 1");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Param {
    /// The name of the parameter in SQL.
    pub name: &'static str,
    /// The effect of the parameter, in a few words.
    pub summary: &'static str,
    /// The kind of value that the parameter accepts.
    pub kind: Kind,
    /// The default value as SQL; an empty string if the parameter is optional and has no default,
    /// and `None` if the parameter is required.
    pub default: Option<&'static str>,
}

/// The description of a catalogue entry. Help, completion, SHOW lists and README tables are
/// generated from it.
///
/// ```
/// use anonsql::extend::Info;
/// const INFO: Info = Info {
///     name: "largest_class",
///     summary: "the rows of the largest class",
///     params: &[],
///     example: "MINIMIZING largest_class",
///     reference: "in-house",
/// };
/// assert!(INFO.params.is_empty());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// The SQL name, in lower case.
    pub name: &'static str,
    /// A summary in one line, for users.
    pub summary: &'static str,
    /// The parameters, in positional order.
    pub params: &'static [Param],
    /// An example of the entry in SQL.
    pub example: &'static str,
    /// The source of the definition: authors and year, a DOI, or a section.
    pub reference: &'static str,
}

impl Info {
    /// Returns the parameters in the form of a call, such as `t, distance => auto`. An optional
    /// parameter without a default value is put in brackets.
    pub(crate) fn arguments(&self) -> String {
        let written = |param: &Param| match param.default {
            None => param.name.to_string(),
            Some("") => format!("[{}]", param.name),
            Some(default) => format!("{} => {default}", param.name),
        };
        self.params.iter().map(written).collect::<Vec<_>>().join(", ")
    }
}

/// A catalogue entry: a description, and a function that creates the object from checked arguments.
///
/// ```
/// # use anonsql::error::Result;
/// # use anonsql::extend::metric::{Build, Measure, Metric, Subject, View};
/// # use anonsql::extend::{Entry, Info};
/// # #[derive(Debug)]
/// # struct Suppressed;
/// # impl Metric for Suppressed {
/// #     fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
/// #         Ok(Box::new(OfTable(subject.rows())))
/// #     }
/// # }
/// # #[derive(Debug)]
/// # struct OfTable(u64);
/// # impl Measure for OfTable {
/// #     fn value(&self, view: &View) -> f64 {
/// #         view.suppressed as f64
/// #     }
/// #     fn range(&self) -> (f64, f64) {
/// #         (0.0, self.0 as f64)
/// #     }
/// # }
/// const ENTRY: Entry<Build> = Entry {
///     info: Info {
///         name: "suppressed_rows",
///         summary: "the rows that are suppressed",
///         params: &[],
///         example: "MINIMIZING suppressed_rows",
///         reference: "in-house",
///     },
///     build: |_| Ok(Box::new(Suppressed)),
/// };
/// anonsql::AnonContext::new(Default::default()).register_metric(ENTRY)?;
/// # Ok::<(), anonsql::error::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Entry<B> {
    /// The description.
    pub info: Info,
    /// The function that creates the object.
    pub build: B,
}

/// Returns the entry called `name` in `slice`, ignoring case. Fails with `ErrorKind::Usage` if
/// there is no such entry. `what` is the word for an entry in the error message, such as `metric`.
pub fn find<'a, B>(what: &str, slice: &'a [Entry<B>], name: &str) -> Result<&'a Entry<B>> {
    slice
        .iter()
        .find(|e| e.info.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| Error::unknown(what, name, slice.iter().map(|e| e.info.name)))
}
