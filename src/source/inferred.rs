//! What was looked at to find the types of a table of files.

use super::files::FileTable;
use super::types::Types;
use datafusion::catalog::TableProvider;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::listing::ListingTable;
use std::any::Any;

/// What was looked at for the types of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inferred {
    /// The rows of CSV files.
    Csv,
    /// The rows of JSON files.
    Json,
    /// The names of folders.
    Folders,
}

/// Returns what was looked at for the types of a table of files; `None` if nothing was, or if it is
/// no table of files.
pub(crate) fn inferred(provider: &dyn TableProvider) -> Option<Inferred> {
    let provider = provider as &dyn Any;
    if let Some(files) = provider.downcast_ref::<FileTable>() {
        return looked_at(files.types(), files.format());
    }
    let listing = provider.downcast_ref::<ListingTable>()?;
    let types = Types::of_definition(listing.get_table_definition());
    looked_at(types, listing.options().format.as_ref())
}

fn looked_at(types: Types, format: &dyn FileFormat) -> Option<Inferred> {
    match (types, format.get_ext().as_str()) {
        (Types::Given, _) => None,
        (Types::OfFolders, _) => Some(Inferred::Folders),
        (Types::OfFormat, "csv") => Some(Inferred::Csv),
        (Types::OfFormat, "json") => Some(Inferred::Json),
        (Types::OfFormat, _) => None,
    }
}
