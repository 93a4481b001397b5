//! Gives advice on what to write instead when DataFusion rejects a statement. DataFusion's own
//! messages mention only the settings and the syntax of DataFusion.

use crate::base::error::{Error, Result};
use crate::base::settings::Settings;
use crate::language::sql::hyphenated;
use datafusion::common::config::ExtensionOptions;
use datafusion::common::{Column, SchemaError};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::LogicalPlan;

/// Returns anonsql's own error for a statement that DataFusion rejected, with advice on what to
/// write instead; `None` if there is nothing to add to DataFusion's message. `written` is the text
/// of the statement.
pub(super) fn advised(refused: &DataFusionError, written: &str) -> Option<Error> {
    match refused.find_root() {
        DataFusionError::SchemaError(error, _) => match error.as_ref() {
            SchemaError::FieldNotFound { field, valid_fields } => no_column(field, valid_fields, written),
            _ => None,
        },
        DataFusionError::Plan(said) => not_a_table(said),
        DataFusionError::Configuration(said) => setting(said),
        _ => None,
    }
}

/// Returns the error for an unknown column. The error lists the valid names without their
/// qualifiers, because DataFusion qualifies the columns of a file with the path of the file.
/// Returns `None` if a column with this name exists, and only its qualifier is wrong.
fn no_column(field: &Column, valid: &[Column], written: &str) -> Option<Error> {
    let name = field.name.as_str();
    let names: Vec<&str> = valid.iter().map(Column::name).collect();
    if names.contains(&name) {
        return None;
    }
    let is_cut =
        |column: &str| column.split('-').any(|part| part.eq_ignore_ascii_case(name)) && hyphenated(written, column);
    let is_in_capitals = names.iter().any(|same| same.eq_ignore_ascii_case(name));
    let with_a_hyphen = names.iter().find(|column| column.contains('-') && is_cut(column));
    Some(match with_a_hyphen {
        Some(column) if !is_in_capitals => Error::usage(format!(
            "there is no column {name:?}; write a name with a hyphen in double quotes: {column:?}"
        )),
        _ => Error::unknown("column", name, names),
    })
}

/// Returns the error for an unknown table function that looks like another database's file reader,
/// such as `read_csv`; `None` for other messages.
fn not_a_table(said: &str) -> Option<Error> {
    let name = said.to_lowercase();
    let name = name.strip_prefix("table function '")?.strip_suffix("' not found")?;
    let is_reader = name.starts_with("read_") || name.ends_with("_scan");
    is_reader.then(|| {
        Error::usage(format!(
            "there is no table function {name:?}; a path in quotes is a table: SELECT * FROM 'file.csv'"
        ))
    })
}

/// Fails with a usage error if a query has `:name`, which is the syntax of psql for a variable.
pub(super) fn check_variables(query: &LogicalPlan) -> Result<()> {
    let names = query.get_parameter_names()?;
    match names.iter().filter_map(|name| name.strip_prefix(':')).min() {
        None => Ok(()),
        Some(name) => Err(Error::usage(format!(
            ":{name} is not a variable; write ${name}, and give it a value by SET VARIABLE {name} = ... or \
             anonsql -v {name}=..."
        ))),
    }
}

/// Returns the error for a setting that does not exist. If the prefix `anonsql.` is missing from an
/// existing setting, the error shows the full name.
fn setting(said: &str) -> Option<Error> {
    let name = said
        .trim_start_matches(['C', 'c'])
        .strip_prefix("ould not find config namespace for key \"")?;
    let name = name.strip_suffix('"')?;
    let whole = format!("anonsql.{name}");
    let is_ours = Settings::default().entries().iter().any(|entry| entry.key == whole);
    Some(match is_ours {
        true => Error::usage(format!("there is no setting {name:?}; write SET {whole} = ...")),
        false => Error::usage(format!("there is no setting {name:?}; SHOW ALL lists them")),
    })
}

#[cfg(test)]
mod tests {
    use crate::language::session::AnonContext;
    use datafusion::prelude::SessionContext;

    #[tokio::test]
    async fn what_datafusion_refuses_is_said_in_our_words() {
        let anon = AnonContext::new(SessionContext::new());
        let table = "CREATE TABLE w AS SELECT 1 AS \"Ort\", 2 AS \"education-num\", 3 AS age, 4 AS num";
        anon.sql(table).await.unwrap();
        for (statement, said) in [
            (
                "SELECT Ort FROM w",
                "there is no column \"ort\"; write \"Ort\" in double quotes, because unquoted names are converted to \
                 lower case",
            ),
            (
                "SELECT agee FROM w",
                "there is no column \"agee\"; did you mean \"age\"?",
            ),
            (
                "SELECT education-num FROM w",
                "write a name with a hyphen in double quotes: \"education-num\"",
            ),
            ("SELECT * FROM read_csv('x.csv')", "a path in quotes is a table"),
            ("SELECT :k", ":k is not a variable; write $k"),
            ("SET time_limit = '5s'", "write SET anonsql.time_limit = ..."),
            ("SET tyme = '5s'", "there is no setting \"tyme\"; SHOW ALL lists them"),
        ] {
            let e = anon.sql(statement).await.unwrap_err().to_string();
            assert!(e.contains(said) && !e.contains("datafusion."), "{statement}: {e}");
        }
        let nested = "RISK OF (SELECT agee FROM w) QUASI IDENTIFIERS (age)";
        let e = anon.sql(nested).await.unwrap_err().to_string();
        assert!(e.contains("did you mean \"age\"?"), "{e}");
    }
}
