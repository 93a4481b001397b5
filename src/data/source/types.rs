//! The origin of the column types in a table of files.
//!
//! A reader of CSV or JSON infers columns and types from the rows, and a reader of partitioned
//! folders infers types from all folder names. Most statements may use these types. A privacy model
//! that protects each single row may not: `abc` in one row turns a column of numbers into a column
//! of texts, even if this row is not released.
//!
//! The table over a path stores the origin of its types. DataFusion's `ListingTable`, which CREATE
//! EXTERNAL TABLE creates, cannot store it, so the origin is written into the definition of the
//! table.

/// The first line of a table's definition if the statement specifies its columns or their types.
const GIVEN: &str = "-- types given";
/// The first line of a table's definition if types were inferred from folder names.
const OF_FOLDERS: &str = "-- types of folder names found";

/// The origin of the column types in a table of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Types {
    /// The statement specifies the types.
    Given,
    /// The files contain the types, or, for formats without types, the types are inferred from the
    /// rows.
    OfFormat,
    /// Folder names imply the type of at least one column.
    OfFolders,
}

impl Types {
    /// Returns the definition of a table with types of this origin. `statement` is the CREATE
    /// statement, or is empty if there is none.
    pub(crate) fn definition(self, statement: &str) -> Option<String> {
        let begin = match self {
            Self::Given => GIVEN,
            Self::OfFolders => OF_FOLDERS,
            Self::OfFormat => return (!statement.is_empty()).then(|| statement.to_string()),
        };
        Some(format!("{begin}\n{statement}").trim_end().to_string())
    }

    /// Returns the origin of the types in a table with this definition.
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
