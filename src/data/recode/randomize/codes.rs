//! Codes in the narrowest integer type that can represent them.

use rand::Rng;
use rand::seq::SliceRandom;

/// A vector of codes that all have the same width.
#[derive(Debug, Clone)]
pub(super) enum CodeVector {
    /// Codes of up to 2^8 values.
    Bytes(Vec<u8>),
    /// Codes of up to 2^16 values.
    Shorts(Vec<u16>),
    /// Codes of up to 2^32 values.
    Words(Vec<u32>),
}

/// Evaluates the same expression for codes of any width.
macro_rules! with {
    ($codes:expr, $values:ident => $body:expr) => {
        match $codes {
            CodeVector::Bytes($values) => $body,
            CodeVector::Shorts($values) => $body,
            CodeVector::Words($values) => $body,
        }
    };
}

impl CodeVector {
    /// Returns an empty vector for codes below `values`.
    pub(super) fn for_values(values: usize) -> Self {
        match values {
            0..=0x100 => CodeVector::Bytes(vec![]),
            0x101..=0x1_0000 => CodeVector::Shorts(vec![]),
            _ => CodeVector::Words(vec![]),
        }
    }

    /// Returns an empty vector of the same width.
    pub(super) fn empty(&self) -> Self {
        match self {
            CodeVector::Bytes(_) => CodeVector::Bytes(vec![]),
            CodeVector::Shorts(_) => CodeVector::Shorts(vec![]),
            CodeVector::Words(_) => CodeVector::Words(vec![]),
        }
    }

    /// Returns the number of bytes per code.
    pub(super) fn width(&self) -> usize {
        match self {
            CodeVector::Bytes(_) => 1,
            CodeVector::Shorts(_) => 2,
            CodeVector::Words(_) => 4,
        }
    }

    pub(super) fn len(&self) -> usize {
        with!(self, values => values.len())
    }

    /// Adds a code, which must be below the number of values.
    #[inline]
    pub(super) fn push(&mut self, code: u32) {
        match self {
            CodeVector::Bytes(values) => values.push(code as u8),
            CodeVector::Shorts(values) => values.push(code as u16),
            CodeVector::Words(values) => values.push(code),
        }
    }

    #[inline]
    pub(super) fn get(&self, i: usize) -> u32 {
        match self {
            CodeVector::Bytes(values) => values[i].into(),
            CodeVector::Shorts(values) => values[i].into(),
            CodeVector::Words(values) => values[i],
        }
    }

    /// Returns `len` zeros of the same width.
    pub(super) fn zeros(&self, len: usize) -> Self {
        match self {
            CodeVector::Bytes(_) => CodeVector::Bytes(vec![0; len]),
            CodeVector::Shorts(_) => CodeVector::Shorts(vec![0; len]),
            CodeVector::Words(_) => CodeVector::Words(vec![0; len]),
        }
    }

    #[inline]
    pub(super) fn set(&mut self, i: usize, code: u32) {
        match self {
            CodeVector::Bytes(values) => values[i] = code as u8,
            CodeVector::Shorts(values) => values[i] = code as u16,
            CodeVector::Words(values) => values[i] = code,
        }
    }

    /// Appends `len` codes, starting at index `start`, to `out`.
    pub(super) fn extend_into(&self, out: &mut Vec<u32>, start: usize, len: usize) {
        let range = start..start + len;
        match self {
            CodeVector::Bytes(values) => out.extend(values[range].iter().map(|v| u32::from(*v))),
            CodeVector::Shorts(values) => out.extend(values[range].iter().map(|v| u32::from(*v))),
            CodeVector::Words(values) => out.extend_from_slice(&values[range]),
        }
    }

    /// Shuffles `len` codes, starting at index `start`.
    pub(super) fn shuffle(&mut self, start: usize, len: usize, rng: &mut impl Rng) {
        with!(self, values => values[start..start + len].shuffle(rng))
    }

    /// Sorts `len` codes, starting at index `start`, in ascending order.
    pub(super) fn sort(&mut self, start: usize, len: usize) {
        with!(self, values => values[start..start + len].sort_unstable())
    }

    /// Returns the codes as bytes, and clears the vector.
    pub(super) fn take_bytes(&mut self) -> Vec<u8> {
        with!(self, values => values.drain(..).flat_map(|v| v.to_le_bytes()).collect())
    }

    /// Parses bytes that [`CodeVector::take_bytes`] returned for codes with the width of `self`.
    pub(super) fn with_bytes(&self, bytes: &[u8]) -> Self {
        match self {
            CodeVector::Bytes(_) => CodeVector::Bytes(bytes.to_vec()),
            CodeVector::Shorts(_) => {
                CodeVector::Shorts(bytes.as_chunks().0.iter().map(|b| u16::from_le_bytes(*b)).collect())
            }
            CodeVector::Words(_) => {
                CodeVector::Words(bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect())
            }
        }
    }
}
