//! The interface of a mask, which replaces the values of a column.

use super::key::Key;
use super::survey::Survey;
use crate::base::error::{Error, Result};
use arrow::array::{Array, ArrayRef, AsArray, UInt32Array, UInt64Array};
use arrow::datatypes::DataType;
use std::fmt;
use std::sync::Arc;

/// A mask without its secret. NULL stays NULL. With the same secret and the same input, the masked
/// value is always the same.
pub trait Mask: fmt::Debug + Send + Sync {
    /// Returns the type of the masked values for values of this type. If the mask does not accept
    /// such values, fails with a usage error that says what to write instead.
    fn data_type(&self, values: &DataType) -> Result<DataType>;

    /// Returns a regular expression that matches the text of every possible masked value, for
    /// VERIFY; `None` if any text is possible.
    fn form(&self) -> Option<String> {
        None
    }

    /// Returns this mask, prepared to draw from the values of the column in the survey. Fails for
    /// masks that are not drawn.
    fn surveyed(&self, _: &Survey, _: &Key) -> Result<Arc<dyn Mask>> {
        Err(Error::internal("a mask of values alone is drawn"))
    }

    /// Returns true if the mask masks a dictionary array without its conversion to a plain array.
    /// Its masked values are then a dictionary array, too.
    fn keeps_dictionaries(&self) -> bool {
        false
    }

    /// Returns the masked values.
    fn mask(&self, unmasked: &Unmasked) -> Result<ArrayRef>;
}

/// The place of a value that was not in the survey.
pub(super) const UNKNOWN: u32 = u32::MAX;

/// The input of a mask for a batch of rows.
#[derive(Debug)]
pub struct Unmasked<'a> {
    /// The values to mask.
    pub values: &'a ArrayRef,
    /// The values of the columns in [`Masking::beside`](super::Masking::beside), in the same rows.
    /// For a drawn mask, the ids of the rows instead.
    pub beside: &'a [ArrayRef],
    /// The secret; `None` if the mask has none.
    pub key: Option<&'a Key>,
}

impl Unmasked<'_> {
    /// Returns the secret. Fails if there is none.
    pub(super) fn key(&self) -> Result<&Key> {
        self.key.ok_or_else(|| Error::internal("a mask without its secret"))
    }

    /// Returns the places of the values that replace the values of the rows; NULL for a row without
    /// a value, whatever its place. Fails with `ErrorKind::Data` if another row has the place
    /// [`UNKNOWN`].
    pub(super) fn known(&self, mut places: Vec<u32>) -> Result<UInt32Array> {
        let nulls = self.values.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        if let Some(nulls) = &nulls {
            let without = places.iter_mut().zip(nulls).filter(|(_, is_known)| !is_known);
            without.for_each(|(place, _)| *place = 0);
        }
        match places.contains(&UNKNOWN) {
            true => Err(Error::data("the source changed during the run")),
            false => Ok(UInt32Array::try_new(places.into(), nulls)?),
        }
    }

    /// Returns the id of each row. Fails if the input has no ids.
    pub(super) fn ids(&self) -> Result<&UInt64Array> {
        let ids = self.beside.first().and_then(|ids| ids.as_primitive_opt());
        ids.ok_or_else(|| Error::internal("a mask is drawn without the ids of its rows"))
    }
}
