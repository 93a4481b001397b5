//! A kind of mask and its clause, described as data.
//!
//! Each kind of mask declares what follows its keywords in a statement. The clause is parsed,
//! checked and printed from this declaration, so no mask has its own parser.

use super::values::Mask;
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::base::quoting::{ident, literal};
use crate::method::secret::Secret;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display};
use std::sync::Arc;

/// The syntax of a mask's clause: its keywords, followed by its parts in order.
#[derive(Debug, Clone, Copy)]
pub struct MaskSyntax {
    /// The keywords at the start of the clause, such as `SHIFT BY`.
    pub start: &'static str,
    /// The syntax as help shows it. It contains every keyword of the clause.
    pub syntax: &'static str,
    /// The parts after the keywords.
    pub parts: &'static [MaskPart],
}

/// A part of a clause. The last text of a value is a description of the expected value, for errors.
#[derive(Debug, Clone, Copy)]
pub enum MaskPart {
    /// A required value: its name, its kind and its description.
    Value(&'static str, MaskItem, &'static str),
    /// An optional value: the keywords before it, its name, its kind and its description.
    Maybe(&'static str, &'static str, MaskItem, &'static str),
    /// Required keywords.
    Words(&'static str),
    /// `WITH SECRET 'env:NAME'`.
    Secret,
}

/// The kind of a value in a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskItem {
    /// The name of a column of the source, or `ENTITY`.
    Column,
    /// A whole number from 0 to 4294967295.
    Whole,
    /// A text in quotes.
    Text,
    /// A share in parentheses: `(0.1)` or `(10 PERCENT)`. It is printed as a decimal number.
    Share,
    /// One of these words, in any case.
    Word(&'static [&'static str]),
    /// One of these texts in quotes, in any case. The first text is the default, and a clause that
    /// gives the default is equal to a clause that gives none.
    OneOf(&'static [&'static str]),
}

impl MaskItem {
    /// Returns the text in `texts` that equals `given` when case is ignored; `None` if there is
    /// none. `texts` are the texts of [`MaskItem::OneOf`].
    pub(crate) fn listed(texts: &[&'static str], given: &str) -> Option<&'static str> {
        texts.iter().find(|text| text.eq_ignore_ascii_case(given)).copied()
    }

    /// Returns true if `value` is the default of [`MaskItem::OneOf`]. Other kinds of values have no
    /// default here.
    pub(crate) fn is_usual(self, value: &Given) -> bool {
        match (self, value) {
            (Self::OneOf(texts), Given::Text(text)) => texts.first().is_some_and(|usual| usual == text),
            _ => false,
        }
    }
}

/// A value in a clause, as written in the statement. For a secret, it is only the location, such as
/// `env:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Given {
    /// A text, a word in upper case, or the name of a column.
    Text(String),
    /// A whole number.
    Whole(u32),
    /// `ENTITY` instead of a column: the column in the ENTITY clause of the statement.
    Entity,
}

/// The name of the value of a clause that contains the location of the secret.
pub(crate) const SECRET: &str = "secret";

/// A clause of a statement in which a mask may follow the name of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaskPlace {
    /// IDENTIFIERS.
    Identifiers,
    /// SENSITIVE and KEEP.
    Values,
}

impl MaskPlace {
    /// Returns the first word of the clause, or of each clause that the variant stands for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identifiers => "IDENTIFIERS",
            Self::Values => "SENSITIVE or KEEP",
        }
    }
}

/// What a mask reads in addition to the value and the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Nothing.
    Value,
    /// The value of the column that the clause names, in the same row.
    Named,
    /// The values of all identifiers, in the same row.
    Identifiers,
    /// All released values of the column (see [`Survey`](super::Survey)), and an id that
    /// distinguishes the row.
    Column,
    /// All released values of the column, the id of the row, and the order of the rows by their
    /// value.
    Ranks,
}

/// A kind of mask: its description, its clause, the words for it, and its constructor.
#[derive(Debug, Clone, Copy)]
pub struct MaskKind {
    /// The description. A mask has no parameters other than the values in its clause.
    pub info: Info,
    /// The clause that follows the name of a column.
    pub clause: MaskSyntax,
    /// The clauses of a statement in which the mask may be used.
    pub places: &'static [MaskPlace],
    /// What the mask reads in addition to the value and the secret.
    pub reads: Reads,
    /// The description of the SQL function of the mask; `None` if there is none.
    pub function: Option<Info>,
    /// The noun for a masked value, with its article: `a hash`.
    pub noun: &'static str,
    /// The phrase for the released values: `a keyed hash`.
    pub phrase: &'static str,
    /// The technique in the terms of ISO/IEC 20889, for the report.
    pub technique: &'static str,
    /// True if the masked values link the records of a person.
    pub is_pseudonym: bool,
    /// True if two different values never have the same masked value.
    pub tells_apart: bool,
    /// The limits of the mask, for the report: a topic, and a text about the topic.
    pub limits: (&'static str, &'static str),
    /// Creates the mask from its clause.
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
    /// Returns true if the mask is for identifiers or reads them, so a masked value may be derived
    /// from an identifier. Returns false for a mask of values that could also be released
    /// unchanged. A mask that is allowed in both places, such as SHIFT BY, counts as one for
    /// identifiers, because that is the stricter reading.
    pub(crate) fn is_code(&self) -> bool {
        self.places.contains(&MaskPlace::Identifiers) || self.reads == Reads::Identifiers
    }

    /// Returns true if the mask changes all values of a person in the same way; its clause then
    /// names the column that identifies the person. From one value and its mask, anyone can derive
    /// how the person's other values were changed.
    pub(crate) fn is_of_person(&self) -> bool {
        self.reads == Reads::Named
    }

    /// Returns true if the mask is drawn at random, using all released values of the column.
    pub(crate) fn is_drawn(&self) -> bool {
        matches!(self.reads, Reads::Column | Reads::Ranks)
    }
}

/// The clause of a mask in a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct MaskClause {
    /// The kind of the mask.
    pub kind: &'static MaskKind,
    /// The values in the clause, by name.
    pub given: Vec<(String, Given)>,
}

impl MaskClause {
    fn given(&self, name: &str) -> Option<&Given> {
        self.given.iter().find(|(of, _)| of == name).map(|(_, given)| given)
    }

    /// Returns the text value with this name; `None` if the clause does not contain it.
    pub(super) fn maybe(&self, name: &str) -> Option<&str> {
        match self.given(name) {
            Some(Given::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the text value with this name. Fails if the clause does not contain it.
    pub(super) fn text(&self, name: &str) -> Result<&str> {
        self.maybe(name).ok_or_else(|| self.missing(name))
    }

    /// Returns the whole number with this name. Fails if the clause does not contain it.
    pub(super) fn whole(&self, name: &str) -> Result<u32> {
        match self.given(name) {
            Some(Given::Whole(n)) => Ok(*n),
            _ => Err(self.missing(name)),
        }
    }

    /// Returns the share with this name. If the clause does not contain it, returns `usual`, and
    /// fails if that is `None`.
    pub(super) fn share(&self, name: &str, usual: Option<f64>) -> Result<f64> {
        let given = self.maybe(name).and_then(|text| text.parse().ok());
        given.or(usual).ok_or_else(|| self.missing(name))
    }

    /// Returns the number of rows that the share with this name is of `rows`, rounded down. The
    /// share is parsed as decimal digits and not as a float, so 29 percent of 100 is exactly 29.
    /// Fails if the share has too many digits.
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

    /// Returns the column that the clause names, if any. Its value in a row, together with the
    /// value to mask, determines the masked value.
    pub(crate) fn entity(&self) -> Option<&str> {
        self.kind.clause.parts.iter().find_map(|part| match part {
            MaskPart::Value(name, MaskItem::Column, _) => self.maybe(name),
            _ => None,
        })
    }

    /// Returns the clause with `ENTITY` replaced by `entity`, which is the column in the
    /// statement's ENTITY clause. Fails with a usage error if the mask uses `ENTITY` but the
    /// statement has no ENTITY clause.
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

    /// Returns the location of the secret as text; `None` if the clause does not contain it.
    pub(crate) fn place(&self) -> Option<&str> {
        self.maybe(SECRET)
    }

    /// Returns the location of the secret; `None` if the mask uses no secret. Fails if the location
    /// is missing or invalid.
    pub(super) fn secret(&self) -> Result<Option<Secret>> {
        let has_secret = |part: &MaskPart| matches!(part, MaskPart::Secret);
        if !self.kind.clause.parts.iter().any(has_secret) {
            return Ok(None);
        }
        let place = self.text(SECRET)?;
        Secret::at(place).map(Some).ok_or_else(|| no_place(self.kind))
    }

    /// Returns the clause without the location of its secret, as manifests contain it.
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

/// Returns the error for a text that is not the location of a secret. The error does not contain
/// the text, because it may be the secret itself.
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
