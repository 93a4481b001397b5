//! A kind of mask and its clause, as data.
//!
//! A mask declares what follows its keywords. The clause is parsed, checked and printed from this
//! declaration, so a mask has no parser of its own.

use super::values::Mask;
use crate::catalogue::Info;
use crate::error::{Error, Result};
use crate::quoting::{ident, literal};
use crate::secret::Secret;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};
use std::sync::Arc;

/// The clause of a mask: its keywords, followed by its parts in order.
#[derive(Debug, Clone, Copy)]
pub struct MaskSyntax {
    /// The keywords at the start of the clause: `SHIFT BY`.
    pub start: &'static str,
    /// The syntax for help. It contains every keyword of the clause.
    pub syntax: &'static str,
    /// The parts after the keywords.
    pub parts: &'static [MaskPart],
}

/// A part of a clause. The first text is the name of the part's value. The last text describes the
/// expected value in an error.
#[derive(Debug, Clone, Copy)]
pub enum MaskPart {
    /// A value at this position.
    Value(&'static str, MaskItem, &'static str),
    /// An optional value after these keywords.
    Maybe(&'static str, &'static str, MaskItem, &'static str),
    /// Keywords.
    Words(&'static str),
    /// `WITH SECRET 'env:NAME'`.
    Secret,
}

/// One value of a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskItem {
    /// The name of a column of the source, or `ENTITY`.
    Column,
    /// A whole number from 0 to 4294967295.
    Whole,
    /// A text in quotes.
    Text,
    /// A share in parentheses: `(0.1)` or `(10 PERCENT)`. It is printed as the decimal number.
    Share,
    /// One of these words, in any case.
    Word(&'static [&'static str]),
    /// One of these texts in quotes, in any case. The first one is the default, so a clause that
    /// gives the default equals a clause that leaves it out.
    OneOf(&'static [&'static str]),
}

impl MaskItem {
    /// Returns the listed spelling of `given`, or `None` if `given` is none of the texts of
    /// [`MaskItem::OneOf`].
    pub(crate) fn listed(texts: &[&'static str], given: &str) -> Option<&'static str> {
        texts.iter().find(|text| text.eq_ignore_ascii_case(given)).copied()
    }

    /// Returns true if a value is the default.
    pub(crate) fn is_usual(self, value: &Given) -> bool {
        match (self, value) {
            (Self::OneOf(texts), Given::Text(text)) => texts.first().is_some_and(|usual| usual == text),
            _ => false,
        }
    }
}

/// A value of a clause, as the statement gives it. A secret is given by its place, such as
/// `env:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Given {
    /// A text, a word in upper case, or the name of a column.
    Text(String),
    /// A whole number.
    Whole(u32),
    /// `ENTITY` in place of a column: the column of the statement's clause ENTITY.
    Entity,
}

/// The name under which the values of a clause contain the place of the secret.
pub(crate) const SECRET: &str = "secret";

/// A clause of a statement in which a mask may follow a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskPlace {
    /// IDENTIFIERS.
    Identifiers,
    /// SENSITIVE and KEEP.
    Values,
}

impl MaskPlace {
    /// Returns the clause, or the clauses, by their first words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identifiers => "IDENTIFIERS",
            Self::Values => "SENSITIVE or KEEP",
        }
    }
}

/// The input of a mask besides the value and the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Nothing.
    Value,
    /// The value of the column that the clause names, in the same row.
    Named,
    /// The values of all identifiers, in the same row.
    Identifiers,
    /// The values of the whole column (see [`Survey`](super::Survey)), and the rank of the row by all
    /// its columns.
    Column,
    /// Like `Column`, but the row is ranked by its value.
    Ranks,
}

/// A kind of mask: its description, its clause, its words and its constructor.
#[derive(Debug, Clone, Copy)]
pub struct MaskKind {
    /// The description. A mask has no parameters besides its clause.
    pub info: Info,
    /// The clause after the name of a column.
    pub clause: MaskSyntax,
    /// The clauses of a statement that accept the mask.
    pub places: &'static [MaskPlace],
    /// The input of a mask besides the value.
    pub reads: Reads,
    /// The description of the SQL function of the mask; `None` if there is none.
    pub function: Option<Info>,
    /// The noun for a masked value, with its article: `a hash`.
    pub noun: &'static str,
    /// The phrase for the released values: `a keyed hash`.
    pub phrase: &'static str,
    /// The technique in the terms of ISO/IEC 20889, for the report.
    pub technique: &'static str,
    /// True if masked values link the records of a person.
    pub is_pseudonym: bool,
    /// True if different values always have different masks.
    pub tells_apart: bool,
    /// The limits of the mask for the report: a topic, and a text about it.
    pub limits: (&'static str, &'static str),
    /// Makes the mask.
    pub build: fn(&MaskClause) -> Result<Arc<dyn Mask>>,
}

/// Kinds are compared by name.
impl PartialEq for MaskKind {
    fn eq(&self, other: &Self) -> bool {
        self.info.name == other.info.name
    }
}

impl Eq for MaskKind {}

impl MaskKind {
    /// Returns true if a mask is a code or a text that is made from an identifier, not from a value
    /// that may be released unchanged.
    pub(crate) fn is_code(&self) -> bool {
        self.places.contains(&MaskPlace::Identifiers) || self.reads == Reads::Identifiers
    }

    /// Returns true if a mask changes all values of a person alike, and its clause names the column
    /// of the person. One value and its mask then reveal how the person's other values were
    /// changed.
    pub(crate) fn is_of_person(&self) -> bool {
        self.reads == Reads::Named
    }

    /// Returns true if a mask is drawn from the values of the whole column.
    pub(crate) fn is_drawn(&self) -> bool {
        matches!(self.reads, Reads::Column | Reads::Ranks)
    }
}

/// A mask as a statement writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskClause {
    /// The kind of the mask.
    pub kind: &'static MaskKind,
    /// The values of the clause, by name.
    pub given: Vec<(String, Given)>,
}

impl MaskClause {
    fn given(&self, name: &str) -> Option<&Given> {
        self.given.iter().find(|(of, _)| of == name).map(|(_, given)| given)
    }

    /// Returns the text with this name, if the clause has it.
    pub(super) fn maybe(&self, name: &str) -> Option<&str> {
        match self.given(name) {
            Some(Given::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the text with this name. Fails if the clause does not have it.
    pub(super) fn text(&self, name: &str) -> Result<&str> {
        self.maybe(name).ok_or_else(|| self.missing(name))
    }

    /// Returns the whole number with this name. Fails if the clause does not have it.
    pub(super) fn whole(&self, name: &str) -> Result<u32> {
        match self.given(name) {
            Some(Given::Whole(n)) => Ok(*n),
            _ => Err(self.missing(name)),
        }
    }

    /// Returns the share with this name, or `usual` if the clause does not have it.
    pub(super) fn share(&self, name: &str, usual: Option<f64>) -> Result<f64> {
        let given = self.maybe(name).and_then(|text| text.parse().ok());
        given.or(usual).ok_or_else(|| self.missing(name))
    }

    /// Applies a share of the clause to `rows`, and returns the number of rows, rounded down. It
    /// reads the share as decimal digits and not as a float, so 29 percent of 100 is 29.
    pub(super) fn share_of(&self, name: &str, rows: u32) -> Result<u32> {
        let text = self.text(name)?;
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits: Option<u128> = format!("{whole}{decimals}").parse().ok();
        let scale = u32::try_from(decimals.len())
            .ok()
            .and_then(|scale| 10_u128.checked_pow(scale));
        let part = digits
            .zip(scale)
            .and_then(|(digits, scale)| Some(digits.checked_mul(rows.into())? / scale));
        let part = part.and_then(|part| u32::try_from(part).ok());
        part.ok_or_else(|| {
            Error::usage(format!(
                "{}: the share {text} has too many digits",
                self.kind.clause.start
            ))
        })
    }

    /// Returns the column whose value, together with the value to mask, determines the mask of a
    /// row.
    pub(crate) fn entity(&self) -> Option<&str> {
        self.kind.clause.parts.iter().find_map(|part| match part {
            MaskPart::Value(name, MaskItem::Column, _) => self.maybe(name),
            _ => None,
        })
    }

    /// Returns the clause with `ENTITY` replaced by the column of the statement's clause ENTITY.
    /// Fails with a usage error if the statement has no such clause.
    pub(crate) fn by_entity(&self, entity: Option<&str>) -> Result<Self> {
        let mut own = self.clone();
        for (_, given) in own.given.iter_mut().filter(|(_, given)| *given == Given::Entity) {
            let entity = entity.ok_or_else(|| {
                Error::usage(format!(
                    "{} ENTITY means the column of the clause ENTITY, and this clause is missing; add ENTITY \
                     (column), or name a column that is in IDENTIFIERS",
                    self.kind.clause.start
                ))
            })?;
            *given = Given::Text(entity.into());
        }
        Ok(own)
    }

    fn missing(&self, name: &str) -> Error {
        Error::usage(format!(
            "{} lacks its {name}; write {}",
            self.kind.clause.start, self.kind.clause.syntax
        ))
    }

    /// Returns the place of the secret as text, if the clause has one.
    pub(crate) fn place(&self) -> Option<&str> {
        self.maybe(SECRET)
    }

    /// Returns the place of the secret; `None` if the mask has none.
    pub(super) fn secret(&self) -> Result<Option<Secret>> {
        let has_secret = |part: &MaskPart| matches!(part, MaskPart::Secret);
        if !self.kind.clause.parts.iter().any(has_secret) {
            return Ok(None);
        }
        let place = self.text(SECRET)?;
        Secret::at(place).map(Some).ok_or_else(|| no_place(self.kind))
    }

    /// Returns the clause without the place of its secret, as manifests contain it.
    pub(crate) fn without_secret(&self) -> impl Display + '_ {
        fmt::from_fn(|f| self.print(f, false))
    }

    fn print(&self, f: &mut fmt::Formatter<'_>, with_secret: bool) -> fmt::Result {
        f.write_str(self.kind.clause.start)?;
        for part in self.kind.clause.parts {
            match part {
                MaskPart::Words(words) => write!(f, " {words}")?,
                MaskPart::Value(name, item, _) => self.print_value(f, name, *item)?,
                MaskPart::Maybe(words, name, item, _) if self.given(name).is_some() => {
                    write!(f, " {words}")?;
                    self.print_value(f, name, *item)?;
                }
                MaskPart::Secret if with_secret => {
                    f.write_str(" WITH SECRET")?;
                    self.print_value(f, SECRET, MaskItem::Text)?;
                }
                MaskPart::Maybe(..) | MaskPart::Secret => {}
            }
        }
        Ok(())
    }

    fn print_value(&self, f: &mut fmt::Formatter<'_>, name: &str, item: MaskItem) -> fmt::Result {
        match (self.given(name), item) {
            (None, _) => Ok(()),
            (Some(Given::Entity), _) => f.write_str(" ENTITY"),
            (Some(Given::Whole(n)), _) => write!(f, " {n}"),
            (Some(Given::Text(text)), MaskItem::Text | MaskItem::OneOf(_)) => write!(f, " {}", literal(text)),
            (Some(Given::Text(text)), MaskItem::Column) => write!(f, " {}", ident(text)),
            (Some(Given::Text(text)), MaskItem::Share) => write!(f, " ({text})"),
            (Some(Given::Text(text)), _) => write!(f, " {text}"),
        }
    }
}

/// Returns the error for a text that is not the place of a secret. The error does not show the
/// text, which may be the secret.
pub(crate) fn no_place(kind: &MaskKind) -> Error {
    Error::usage(format!(
        "write the place of the secret of {} as 'env:NAME' or 'file:PATH'; a statement never contains the secret \
         itself",
        kind.noun
    ))
}

impl Display for MaskClause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, true)
    }
}
