//! The origin of the inferred types in a table of files.

use super::files::FileTable;
use super::types::Types;
use datafusion::catalog::TableProvider;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::file_format::csv::CsvFormat;
use datafusion::datasource::listing::ListingTable;
use std::any::Any;

/// The data from which the types of a table of files were inferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Inferred {
    /// The rows of CSV files.
    Csv,
    /// The rows of JSON files.
    Json,
    /// The names of folders.
    Folders,
}

/// Returns the data from which the types of a table of files were inferred. Returns `None` if no
/// type was inferred, or the table is not a table of files.
pub(crate) fn inferred(provider: &dyn TableProvider) -> Option<Inferred> {
    let provider = provider as &dyn Any;
    if let Some(files) = provider.downcast_ref::<FileTable>() {
        return looked_at(files.types(), files.format());
    }
    let listing = provider.downcast_ref::<ListingTable>()?;
    let types = Types::of_definition(listing.get_table_definition());
    looked_at(types, listing.options().format.as_ref())
}

/// Describes a table of files whose column names or types come from a statement or a setting, and
/// not from the files. Returns `None` if all names and types come from the files.
pub(crate) fn has_columns_of_its_own(provider: &dyn TableProvider) -> Option<&'static str> {
    let any = provider as &dyn Any;
    if let Some(files) = any.downcast_ref::<FileTable>() {
        return is_headless(provider, files.format()).then_some(HEADLESS);
    }
    let listing = any.downcast_ref::<ListingTable>()?;
    match Types::of_definition(listing.get_table_definition()) {
        Types::Given => Some("reads an external table whose columns its statement names"),
        _ => is_headless(provider, listing.options().format.as_ref()).then_some(HEADLESS),
    }
}

const HEADLESS: &str = "reads CSV files without the names in their first line";

/// Returns true if the files are CSV files that are read without a header. A comment option may
/// hide the header, and a session may read all CSV files without headers. The first column is then
/// called column_1.
fn is_headless(provider: &dyn TableProvider, format: &dyn FileFormat) -> bool {
    let csv = (format as &dyn Any).downcast_ref::<CsvFormat>();
    csv.is_some_and(|csv| {
        let is_stated = csv.options().has_header == Some(false) || csv.options().comment.is_some();
        is_stated || provider.schema().field_with_name("column_1").is_ok()
    })
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
