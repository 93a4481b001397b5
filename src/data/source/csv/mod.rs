//! Reads CSV files from other programs: their dialects, the types of their columns, and their
//! faulty lines.

mod blanks;
mod declared;
mod dialect;
mod files;
mod kind;
mod lines;
mod quotes;
mod sniff;
mod typed;

pub(crate) use declared::{MistypedText, as_texts, declared};
pub(crate) use dialect::Dialect;
pub(crate) use files::CsvFiles;
pub(crate) use kind::{Kinds, float, integer, is_kept_by_cast, wanted};
pub(crate) use quotes::Quotes;
pub(crate) use sniff::{Asked, Sniffed, continued, sniff};
pub(crate) use typed::{CsvColumn, TypeOrigin, typed};
