//! What becomes of the values of a column of IDENTIFIERS that is not dropped: a mask of each.
//!
//! A masked column is released, and no model counts it. Its mask says what it does not promise.
//!
//! A new mask is one file and one line in [`MASKS`]: its clause as data (see [`Clause`]), the words
//! that EXPLAIN, warnings and the report have for it, and the function that masks an array.

mod clause;
mod fake;
mod hash;
mod key;
mod mask;
mod masking;
mod shift;
#[cfg(test)]
mod tests;
mod text;
mod token;
mod values;

pub use clause::{Clause, Given, Item, MaskClause, MaskKind, Part};
pub(crate) use clause::{SECRET, no_place};
pub use key::Key;
pub use masking::Masking;
pub(crate) use text::has_text;
pub(crate) use token::UNMASK;
pub use token::unmask;
pub use values::{Mask, Unmasked};

/// Every mask, in the order of help.
pub static MASKS: &[MaskKind] = &[hash::KIND, mask::KIND, fake::KIND, token::KIND, shift::KIND];

/// Returns the mask with these first keywords.
pub(crate) fn named(start: &str) -> Option<&'static MaskKind> {
    MASKS.iter().find(|kind| kind.clause.start == start)
}
