//! Opens a table by name. If the table does not exist, the error suggests the table with the most
//! similar name, or a file with that name.

use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::base::quoting::literal;
use crate::language::session::advice::advised;
use crate::language::session::context::AnonContext;
use crate::language::sql::TableName;
use datafusion::dataframe::DataFrame;
use datafusion::error::DataFusionError;
use std::path::Path;

impl AnonContext {
    /// Opens a table of the session.
    pub(in crate::language::session) async fn table(&self, name: &TableName) -> Result<DataFrame> {
        let refused = match self.session.table(name.reference()).await {
            Ok(table) => return Ok(table),
            Err(refused) => refused,
        };
        let is_unknown = match refused.find_root() {
            DataFusionError::Plan(said) => said.starts_with("failed to resolve") || named(&refused).is_some(),
            _ => false,
        };
        Err(match is_unknown {
            true => self.no_table(&name.0.join(".")).await?,
            false => refused.into(),
        })
    }

    /// Plans a query, and returns its data frame.
    pub(in crate::language::session) async fn query(&self, query: &str) -> Result<DataFrame> {
        match self.frame(query).await {
            Ok(frame) => Ok(frame),
            Err(refused) => Err(self.unknown(&refused, query).await?.unwrap_or_else(|| refused.into())),
        }
    }

    /// Returns anonsql's own error for the statement `written`, which DataFusion rejected with
    /// `refused`; `None` if there is nothing to add. anonsql has its own error if a table or
    /// another name in the statement does not exist, or if the statement uses the syntax of another
    /// database.
    pub(in crate::language::session) async fn unknown(
        &self,
        refused: &DataFusionError,
        written: &str,
    ) -> Result<Option<Error>> {
        match named(refused) {
            Some(name) => self.no_table(&name).await.map(Some),
            None => Ok(advised(refused, written)),
        }
    }

    /// Returns the error for a table that does not exist.
    async fn no_table(&self, name: &str) -> Result<Error> {
        let tables = self.tables();
        let error = Error::unknown("table", name, tables.iter().map(String::as_str));
        let name = name.to_string();
        let file = blocking("looking for a file", move || Ok(file_called(&name))).await?;
        Ok(match file {
            Some(file) => error.advised(format_args!("there is a file: {}", literal(&file))),
            None => error,
        })
    }

    /// Returns the names of the tables in the default schema.
    fn tables(&self) -> Vec<String> {
        let state = self.session.state();
        let defaults = &state.config_options().catalog;
        let catalog = self.session.catalog(&defaults.default_catalog);
        let schema = catalog.and_then(|catalog| catalog.schema(&defaults.default_schema));
        schema.map_or(vec![], |schema| schema.table_names())
    }
}

/// Returns the name of the table that DataFusion did not find, without the default catalog and
/// schema; `None` for any other error.
fn named(refused: &DataFusionError) -> Option<String> {
    let DataFusionError::Plan(said) = refused.find_root() else {
        return None;
    };
    let quoted = said
        .strip_prefix("No table named '")
        .and_then(|rest| rest.strip_suffix('\''));
    let full = said
        .strip_prefix("table '")
        .and_then(|rest| rest.strip_suffix("' not found"));
    let name = quoted.or(full)?;
    let name = name.strip_prefix("datafusion.").unwrap_or(name);
    Some(name.strip_prefix("public.").unwrap_or(name).to_string())
}

/// Returns the name of a file or folder in the working directory that is called `name`, with or
/// without an extension.
fn file_called(name: &str) -> Option<String> {
    if Path::new(name).exists() {
        return Some(name.to_string());
    }
    let entries = std::fs::read_dir(".").ok()?.flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let stem = |file: &str| {
        file.split_once('.')
            .map_or(String::new(), |(stem, _)| stem.to_lowercase())
    };
    let wanted = name.to_lowercase();
    let same = |file: &String| file.to_lowercase() == wanted || stem(file) == wanted;
    names.filter(same).min()
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::SessionContext;

    #[tokio::test]
    async fn datafusion_still_says_which_table_it_did_not_find() {
        let session = SessionContext::new();
        let refused = session.sql("SELECT * FROM nowhere").await.unwrap_err();
        assert_eq!(named(&refused).as_deref(), Some("nowhere"));
        let refused = session.sql("SELECT * FROM a.b").await.unwrap_err();
        assert_eq!(named(&refused).as_deref(), Some("a.b"));
        let refused = session.table("nowhere").await.unwrap_err();
        assert_eq!(named(&refused).as_deref(), Some("nowhere"));
        let refused = session.sql("SELECT nothing").await.unwrap_err();
        assert_eq!(named(&refused), None);
    }

    #[test]
    fn a_file_is_found_by_its_name_with_or_without_extension() {
        // Tests run in the root folder of the package.
        assert_eq!(file_called("cargo").as_deref(), Some("Cargo.lock"));
        assert_eq!(file_called("Cargo.toml").as_deref(), Some("Cargo.toml"));
        assert_eq!(file_called("nothing of this name"), None);
    }
}
