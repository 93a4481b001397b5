//! Where the types of a table of files are from.
//!
//! A reader of CSV or JSON finds columns and types by looking at the rows, and one of folders by looking at all their names.
//! Most statements may use what it found. A promise that no single row shows may not: `abc` in one row turns a column of
//! numbers into one of texts, also where that row is not released.
//!
//! A [`ListingTable`] does not say whether its schema was given. So a table whose types were given is told by its definition.

use super::null_folders::files_of;
use datafusion::catalog::TableProvider;

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
    let listing = files_of(provider)?;
    match listing.get_table_definition() {
        Some(definition) if definition.starts_with(OF_FOLDERS) => return Some(Inferred::Folders),
        Some(definition) if definition.starts_with(GIVEN) => return None,
        _ => {}
    }
    match listing.options().format.get_ext().as_str() {
        "csv" => Some(Inferred::Csv),
        "json" => Some(Inferred::Json),
        _ => None,
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
