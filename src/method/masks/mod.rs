//! The masks of values. A mask replaces the values of a column. A column in IDENTIFIERS without a
//! mask is dropped, and a column in SENSITIVE or KEEP without a mask is released unchanged.
//!
//! A masked column is released, and no model counts its values. Each mask states what it does not
//! promise.
//!
//! A new mask is one file and one line in [`MASKS`]. The file contains its clause as data (see
//! [`MaskSyntax`]), the words for it in EXPLAIN, warnings and the report, and the [`Mask`] that
//! masks an array.
//!
//! Most masks depend on the value alone. NOISE, RANK SWAP and PRAM are drawn: the masked value of a
//! row depends on all values of the column that are released ([`Survey`]), the secret, and the id
//! of the row ([`RowIds`]).

mod clause;
mod draws;
mod fake;
mod hash;
mod key;
mod mask;
mod masking;
mod noise;
mod normal;
mod own;
mod pram;
mod rank_swap;
mod redacted;
mod row_hashes;
mod row_ids;
mod seen_rows;
mod shift;
mod survey;
mod swaps;
#[cfg(test)]
mod tests;
mod text;
mod token;
mod values;

pub use clause::{Given, MaskClause, MaskItem, MaskKind, MaskPart, MaskPlace, MaskSyntax, Reads};
pub(crate) use clause::{SECRET, no_place};
pub use key::Key;
pub use masking::Masking;
pub use own::OwnRows;
pub use row_hashes::RowHashes;
pub use row_ids::RowIds;
pub use seen_rows::SeenRows;
pub use survey::Survey;
pub(crate) use text::has_text;
pub(crate) use token::UNMASK;
pub use token::unmask;
pub use values::{Mask, Unmasked};

/// Every mask, in the order in which help lists them.
pub static MASKS: &[MaskKind] = &[
    hash::KIND,
    mask::KIND,
    fake::KIND,
    token::KIND,
    shift::KIND,
    noise::KIND,
    rank_swap::KIND,
    pram::KIND,
    redacted::KIND,
];

/// Returns the mask whose clause begins with the keywords `start`.
pub(crate) fn named(start: &str) -> Option<&'static MaskKind> {
    MASKS.iter().find(|kind| kind.clause.start == start)
}

/// Returns the mask of a clause in a manifest, which another version of anonsql may have written;
/// `None` if the mask is not known here. Only whole words count: `MASKED` is not `MASK`.
pub(crate) fn of_clause(written: &str) -> Option<&'static MaskKind> {
    MASKS.iter().find(|kind| {
        let rest = written.strip_prefix(kind.clause.start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}
