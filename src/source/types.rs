//! Where the types of a table of files are from.
//!
//! A reader of CSV or JSON finds columns and types by looking at the rows, and one of folders by looking at all their names.
//! Most statements may use what it found. A promise that no single row shows may not: `abc` in one row turns a column of
//! numbers into one of texts, also where that row is not released.
//!
//! A [`FileTable`] remembers it. A [`ListingTable`], which DataFusion makes of CREATE EXTERNAL TABLE, does not; there it is told
//! by the definition of the table.

use super::files::FileTable;
use datafusion::catalog::TableProvider;
use datafusion::datasource::file_format::FileFormat;
use datafusion::datasource::listing::ListingTable;
use std::any::Any;

/// What the definition of a table begins with if the statement gives its columns or their types.
const GIVEN: &str = "-- types given";
/// What it begins with if types were found by looking at the names of folders.
const OF_FOLDERS: &str = "-- types of folder names found";

/// Where the types of a table of files are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Types {
    /// From the statement.
    Given,
    /// From the format: files of some formats have types, and of others, rows are looked at.
    OfFormat,
    /// From the names of folders, for at least one column.
    OfFolders,
}

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

impl Types {
    /// Returns the definition of a table with such types. `statement` is the statement that makes the table, if one does.
    pub(crate) fn definition(self, statement: &str) -> Option<String> {
        let begin = match self {
            Self::Given => GIVEN,
            Self::OfFolders => OF_FOLDERS,
            Self::OfFormat => return (!statement.is_empty()).then(|| statement.to_string()),
        };
        Some(format!("{begin}\n{statement}").trim_end().to_string())
    }
}

/// Returns what was looked at for the types of a table of files; `None` if nothing was, or if it is no table of files.
pub(crate) fn inferred(provider: &dyn TableProvider) -> Option<Inferred> {
    let provider = provider as &dyn Any;
    if let Some(files) = provider.downcast_ref::<FileTable>() {
        return looked_at(files.types(), files.format());
    }
    let listing = provider.downcast_ref::<ListingTable>()?;
    let types = match listing.get_table_definition() {
        Some(definition) if definition.starts_with(OF_FOLDERS) => Types::OfFolders,
        Some(definition) if definition.starts_with(GIVEN) => Types::Given,
        _ => Types::OfFormat,
    };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_says_whether_types_were_given() {
        let statement = "CREATE EXTERNAL TABLE t (a INT) STORED AS CSV LOCATION 't.csv'";
        assert_eq!(
            Types::Given.definition(statement).unwrap(),
            format!("{GIVEN}\n{statement}")
        );
        assert_eq!(Types::Given.definition("").as_deref(), Some(GIVEN));
        assert_eq!(Types::OfFormat.definition(statement).as_deref(), Some(statement));
        assert_eq!(Types::OfFormat.definition(""), None);
    }
}
