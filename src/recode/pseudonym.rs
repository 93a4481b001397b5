//! Keyed hashes of identifiers.
//!
//! A hash is the HMAC-SHA-256 of the value's text, in hexadecimal. Without the secret, a hash can
//! be neither computed nor guessed by trying values. With the same secret, equal identifiers have
//! equal hashes, across tables too. NULL stays NULL.

use crate::canonical::one_spelling;
use crate::error::{Error, Result};
use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use std::fmt;
use std::sync::Arc;

/// The secret with which identifiers are hashed.
#[derive(Clone)]
pub struct Pseudonym {
    keyed: Hmac<Sha256>,
    /// The place of the secret, which is told to another machine instead of the secret.
    place: String,
}

impl fmt::Debug for Pseudonym {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pseudonym(secret)")
    }
}

impl Pseudonym {
    /// Creates a pseudonym with the secret of a place. Fails with a usage error if the secret is
    /// empty.
    pub fn new(secret: &[u8], place: &str) -> Result<Self> {
        let keyed = Hmac::new_from_slice(secret).map_err(|_| Error::usage("the secret of a hash is empty"))?;
        let place = place.into();
        Ok(Self { keyed, place })
    }

    /// Returns the place of the secret.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// Returns a text that tells this secret from another one: 32 bits of the hash of a text that
    /// is used once.
    pub(super) fn mark(&self, once: &str) -> String {
        let mut mark = self.hash_text(&format!("the secret of a worker {once}"));
        mark.truncate(8);
        mark
    }

    /// Returns the hash of every value; equal values have equal hashes.
    pub fn hash(&self, values: &ArrayRef) -> Result<ArrayRef> {
        let values = cast(values, &super::plain_type::plain(values.data_type()))?;
        let text = cast(&one_spelling(&values)?, &DataType::Utf8)?;
        let hashed: StringArray = text
            .as_string::<i32>()
            .iter()
            .map(|v| v.map(|v| self.hash_text(v)))
            .collect();
        Ok(Arc::new(hashed))
    }

    fn hash_text(&self, value: &str) -> String {
        let mut mac = self.keyed.clone();
        mac.update(value.as_bytes());
        hex::encode(mac.finalize().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{DictionaryArray, Float64Array, Int32Array};
    use arrow::datatypes::Int32Type;

    #[test]
    fn equal_values_have_one_pseudonym() {
        let zeros = Float64Array::from(vec![0.0, -0.0]);
        let codes = Int32Array::from(vec![0, 1]);
        let coded = DictionaryArray::<Int32Type>::try_new(codes, Arc::new(zeros.clone())).unwrap();
        for values in [Arc::new(zeros) as ArrayRef, Arc::new(coded)] {
            let hashed = Pseudonym::new(b"Jefe", "env:X").unwrap().hash(&values).unwrap();
            assert_eq!(hashed.as_string::<i32>().value(0), hashed.as_string::<i32>().value(1));
        }
    }

    #[test]
    fn rfc_4231_test_case_2() {
        let p = Pseudonym::new(b"Jefe", "env:X").unwrap();
        assert_eq!(
            p.hash_text("what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        let hashed = p
            .hash(&(Arc::new(StringArray::from(vec![None, Some("a"), Some("a")])) as ArrayRef))
            .unwrap();
        let hashed = hashed.as_string::<i32>();
        assert!(arrow::array::Array::is_null(hashed, 0) && hashed.value(1) == hashed.value(2));
        assert_eq!(format!("{p:?}"), "Pseudonym(secret)");
    }
}
