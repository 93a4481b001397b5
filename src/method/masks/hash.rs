//! HASH: a keyed hash instead of the value.
//!
//! A hash is the HMAC-SHA-256 of the value's text, in hexadecimal. Without the secret, nobody can
//! compute a hash, or find the value by hashing guesses. With the same secret, equal identifiers
//! have equal hashes, across tables too. NULL stays NULL.
//!
//! Example: `IDENTIFIERS (mrn HASH WITH SECRET 'env:ANONSQL_SECRET')`
//!
//! Reference: RFC 2104 (HMAC), FIPS 180-4 (SHA-256).

use super::clause::{MaskKind, MaskPart, MaskPlace, MaskSyntax, Reads};
use super::text::{each, has_text, push_hex};
use super::values::{Mask, Unmasked};
use crate::base::catalogue::Info;
use crate::base::error::Result;
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use std::sync::Arc;

/// The number of digits in a hash.
const DIGITS: usize = 64;

pub(super) const KIND: MaskKind = MaskKind {
    info: Info {
        name: "hash",
        summary: "a keyed hash (HMAC-SHA-256): equal values have equal hashes, wherever the secret is the same",
        params: &[],
        example: "IDENTIFIERS (mrn HASH WITH SECRET 'env:ANONSQL_SECRET')",
        reference: "RFC 2104, FIPS 180-4",
    },
    clause: MaskSyntax {
        start: "HASH",
        syntax: "HASH WITH SECRET 'env:NAME'",
        parts: &[MaskPart::Secret],
    },
    places: &[MaskPlace::Identifiers],
    reads: Reads::Value,
    function: Some(Info {
        name: "mask_hash",
        summary: "the keyed hash of a value: mask_hash(value, 'env:NAME')",
        params: &[],
        example: "SELECT mask_hash(mrn, 'env:ANONSQL_SECRET') FROM people",
        reference: "RFC 2104, FIPS 180-4",
    }),
    noun: "a hash",
    phrase: "a keyed hash",
    technique: "pseudonymization: a keyed hash (HMAC-SHA-256)",
    is_pseudonym: true,
    tells_apart: true,
    limits: (
        "Pseudonyms",
        "A keyed hash can be computed again by anyone with the secret, and it links all records of one value. \
         Pseudonymized data stay personal data.",
    ),
    build: |_| Ok(Arc::new(Hash)),
};

#[derive(Debug)]
struct Hash;

impl Mask for Hash {
    fn data_type(&self, values: &DataType) -> Result<DataType> {
        has_text(KIND.clause.start, values)
    }

    fn form(&self) -> Option<String> {
        Some("[0-9a-f]{64}".into())
    }

    fn mask(&self, unmasked: &Unmasked) -> Result<ArrayRef> {
        let key = unmasked.key()?;
        each(unmasked.values, DIGITS, |text, hashes| {
            push_hex(&key.digest(text.as_bytes()), hashes);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::masks::Key;
    use arrow::array::{Array, AsArray, DictionaryArray, Float64Array, Int32Array, StringArray};
    use arrow::datatypes::Int32Type;

    fn hash(values: impl Array + 'static) -> StringArray {
        let unmasked = Unmasked {
            values: &(Arc::new(values) as ArrayRef),
            beside: &[],
            key: Some(&Key::new(b"Jefe").unwrap()),
        };
        Hash.mask(&unmasked).unwrap().as_string::<i32>().clone()
    }

    #[test]
    fn equal_values_have_one_hash() {
        let zeros = Float64Array::from(vec![0.0, -0.0]);
        let codes = Int32Array::from(vec![0, 1]);
        let coded = DictionaryArray::<Int32Type>::try_new(codes, Arc::new(zeros.clone())).unwrap();
        for hashed in [hash(zeros), hash(coded)] {
            assert_eq!(hashed.value(0), hashed.value(1));
        }
    }

    #[test]
    fn rfc_4231_test_case_2() {
        let hashed = hash(StringArray::from(vec![
            Some("what do ya want for nothing?"),
            None,
            Some("a"),
            Some("a"),
        ]));
        assert_eq!(
            hashed.value(0),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert!(hashed.is_null(1) && hashed.value(2) == hashed.value(3));
    }
}
