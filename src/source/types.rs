//! Where the types of a table of files are from.
//!
//! A reader of CSV or JSON finds columns and types by looking at the rows, and one of folders by
//! looking at all their names. Most statements may use what it found. A promise that no single row
//! shows may not: `abc` in one row turns a column of numbers into one of texts, also where that row
//! is not released.
//!
//! A table of a path remembers it. DataFusion's `ListingTable`, which CREATE EXTERNAL TABLE makes,
//! does not; there it is told by the definition of the table.

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

impl Types {
    /// Returns the definition of a table with such types. `statement` is the statement that makes
    /// the table, if one does.
    pub(crate) fn definition(self, statement: &str) -> Option<String> {
        let begin = match self {
            Self::Given => GIVEN,
            Self::OfFolders => OF_FOLDERS,
            Self::OfFormat => return (!statement.is_empty()).then(|| statement.to_string()),
        };
        Some(format!("{begin}\n{statement}").trim_end().to_string())
    }

    /// Returns where the types of a table with this definition are from.
    pub(super) fn of_definition(definition: Option<&str>) -> Self {
        match definition {
            Some(definition) if definition.starts_with(OF_FOLDERS) => Self::OfFolders,
            Some(definition) if definition.starts_with(GIVEN) => Self::Given,
            _ => Self::OfFormat,
        }
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
