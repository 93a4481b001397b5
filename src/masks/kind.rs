//! What a mask is: its description, and what it does with values.

use super::clause::{Clause, MaskClause};
use super::secret::Key;
use crate::catalogue::Info;
use crate::error::{Error, Result};
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use std::fmt;
use std::sync::Arc;

/// A kind of mask: its description, its clause in IDENTIFIERS, its words and its constructor.
#[derive(Debug, Clone, Copy)]
pub struct MaskKind {
    /// The description. A mask has no parameters besides its clause.
    pub info: Info,
    /// The clause in IDENTIFIERS.
    pub clause: Clause,
    /// The description of the SQL function of the mask.
    pub function: Info,
    /// What a masked value is called, with its article: `a hash`.
    pub noun: &'static str,
    /// What the values are released as: `a keyed hash`.
    pub phrase: &'static str,
    /// The technique in the terms of ISO/IEC 20889, for the report.
    pub technique: &'static str,
    /// Whether rows with the same masked value are of one person.
    pub is_pseudonym: bool,
    /// What the mask does not promise: a topic, and a text about it for the report.
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

/// A mask without its secret. NULL stays NULL, and the same value and secret have the same mask.
pub trait Mask: fmt::Debug + Send + Sync {
    /// Returns the type of the masks of values of a type. Fails with a usage error that says what
    /// to write if the mask does not take them.
    fn data_type(&self, values: &DataType) -> Result<DataType>;

    /// Returns a regular expression that all of the text of every mask matches, for VERIFY; `None`
    /// if any value may be a mask.
    fn form(&self) -> Option<String> {
        None
    }

    /// Returns the masks of values.
    fn mask(&self, unmasked: &Unmasked) -> Result<ArrayRef>;
}

/// What a mask is made of.
#[derive(Debug)]
pub struct Unmasked<'a> {
    /// The values.
    pub values: &'a ArrayRef,
    /// The values of the column that the clause names, in the same rows.
    pub entity: Option<&'a ArrayRef>,
    /// The secret.
    pub key: Option<&'a Key>,
}

impl Unmasked<'_> {
    /// Returns the secret.
    pub(super) fn key(&self) -> Result<&Key> {
        self.key.ok_or_else(|| Error::internal("a mask without its secret"))
    }
}
