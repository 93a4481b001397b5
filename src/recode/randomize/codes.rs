//! Codes in the narrowest integer type that can represent them.

use rand::Rng;
use rand::seq::SliceRandom;

/// A vector of codes that all have the same width.
#[derive(Debug, Clone)]
pub(super) enum Codes {
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
            Codes::Bytes($values) => $body,
            Codes::Shorts($values) => $body,
            Codes::Words($values) => $body,
        }
    };
}

impl Codes {
    /// Returns an empty vector for codes below `values`.
    pub(super) fn for_values(values: usize) -> Self {
        match values {
            0..=0x100 => Codes::Bytes(vec![]),
            0x101..=0x1_0000 => Codes::Shorts(vec![]),
            _ => Codes::Words(vec![]),
        }
    }

    /// Returns an empty vector of the same width.
    pub(super) fn empty(&self) -> Self {
        match self {
            Codes::Bytes(_) => Codes::Bytes(vec![]),
            Codes::Shorts(_) => Codes::Shorts(vec![]),
            Codes::Words(_) => Codes::Words(vec![]),
        }
    }

    /// Returns the number of bytes per code.
    pub(super) fn width(&self) -> usize {
        match self {
            Codes::Bytes(_) => 1,
            Codes::Shorts(_) => 2,
            Codes::Words(_) => 4,
        }
    }

    pub(super) fn len(&self) -> usize {
        with!(self, values => values.len())
    }

    /// Adds a code, which must be below the number of values.
    #[inline]
    pub(super) fn push(&mut self, code: u32) {
        match self {
            Codes::Bytes(values) => values.push(code as u8),
            Codes::Shorts(values) => values.push(code as u16),
            Codes::Words(values) => values.push(code),
        }
    }

    #[inline]
    pub(super) fn get(&self, i: usize) -> u32 {
        match self {
            Codes::Bytes(values) => values[i].into(),
            Codes::Shorts(values) => values[i].into(),
            Codes::Words(values) => values[i],
        }
    }

    /// Returns `len` zeros of the same width.
    pub(super) fn zeros(&self, len: usize) -> Self {
        match self {
            Codes::Bytes(_) => Codes::Bytes(vec![0; len]),
            Codes::Shorts(_) => Codes::Shorts(vec![0; len]),
            Codes::Words(_) => Codes::Words(vec![0; len]),
        }
    }

    #[inline]
    pub(super) fn set(&mut self, i: usize, code: u32) {
        match self {
            Codes::Bytes(values) => values[i] = code as u8,
            Codes::Shorts(values) => values[i] = code as u16,
            Codes::Words(values) => values[i] = code,
        }
    }

    /// Appends `len` codes from `start` to `out`.
    pub(super) fn extend_into(&self, out: &mut Vec<u32>, start: usize, len: usize) {
        let range = start..start + len;
        match self {
            Codes::Bytes(values) => out.extend(values[range].iter().map(|v| u32::from(*v))),
            Codes::Shorts(values) => out.extend(values[range].iter().map(|v| u32::from(*v))),
            Codes::Words(values) => out.extend_from_slice(&values[range]),
        }
    }

    /// Shuffles `len` codes from `start` on.
    pub(super) fn shuffle(&mut self, start: usize, len: usize, rng: &mut impl Rng) {
        with!(self, values => values[start..start + len].shuffle(rng))
    }

    /// Sorts `len` codes from `start` on, ascending.
    pub(super) fn sort(&mut self, start: usize, len: usize) {
        with!(self, values => values[start..start + len].sort_unstable())
    }

    /// Returns the codes as bytes, and empties the vector.
    pub(super) fn take_bytes(&mut self) -> Vec<u8> {
        with!(self, values => values.drain(..).flat_map(|v| v.to_le_bytes()).collect())
    }

    /// Parses codes of the width of `self` from bytes that [`Codes::take_bytes`] returned.
    pub(super) fn with_bytes(&self, bytes: &[u8]) -> Self {
        match self {
            Codes::Bytes(_) => Codes::Bytes(bytes.to_vec()),
            Codes::Shorts(_) => Codes::Shorts(bytes.as_chunks().0.iter().map(|b| u16::from_le_bytes(*b)).collect()),
            Codes::Words(_) => Codes::Words(bytes.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect()),
        }
    }
}
