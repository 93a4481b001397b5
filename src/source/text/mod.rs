//! Reading CSV and JSON so that nothing in them is changed silently, wherever a plan reads them.

mod bytes;
mod opener;
mod source;

pub(super) use source::with_checks;
