//! What a mask does with values.

use super::key::Key;
use crate::error::{Error, Result};
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use std::fmt;

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
