//! Parses the names of tables in statements: `catalog.sqlite#schema.table`.

use crate::base::error::{Error, Result};
use crate::base::location::expanded;
use std::fmt;

/// The separator between catalog and table.
pub(crate) const TABLE: char = '#';
/// The schema of a table whose name has no schema.
const SCHEMA: &str = "main";

/// The address of a table: its catalog, its schema and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// The path of the catalog file.
    pub(crate) catalog: String,
    pub(crate) schema: String,
    pub(crate) table: String,
}

impl Address {
    /// Parses `catalog#table` or `catalog#schema.table`. Fails with `ErrorKind::Usage` if the text
    /// does not name a table, or the catalog is not a local file. The error for such a catalog does
    /// not quote the text, which may contain a password.
    pub(crate) fn of(text: &str) -> Result<Self> {
        let is_local = text.starts_with("file:");
        let scheme = text.split_once(':').map_or("", |(scheme, _)| scheme);
        let is_scheme = scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
        if is_scheme && !is_local {
            return Err(Error::usage(format!(
                "a DuckLake catalog is read from a local SQLite file, and not from {scheme}:; write \
                 ducklake.'lake/metadata.sqlite{TABLE}table'. DuckDB can copy a catalog from another database to an \
                 SQLite file"
            )));
        }
        let (catalog, name) = text.rsplit_once(TABLE).unwrap_or((text, ""));
        let (schema, table) = name.split_once('.').unwrap_or((SCHEMA, name));
        if catalog.is_empty() || schema.is_empty() || table.is_empty() {
            return Err(Error::usage(format!(
                "ducklake.{text:?} names no table; write ducklake.'lake/metadata.sqlite{TABLE}table', or {TABLE}schema.table"
            )));
        }
        Ok(Self {
            catalog: expanded(catalog)?.into_owned(),
            schema: schema.into(),
            table: table.into(),
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{TABLE}{}.{}", self.catalog, self.schema, self.table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_a_catalog_and_a_table() {
        for (text, expected) in [
            ("lake/a.sqlite#people", "lake/a.sqlite#main.people"),
            ("lake#1/a.sqlite#hr.people", "lake#1/a.sqlite#hr.people"),
            ("a#hr.p.q", "a#hr.p.q"),
            ("file:///lake/a.sqlite#people", "/lake/a.sqlite#main.people"),
        ] {
            assert_eq!(Address::of(text).unwrap().to_string(), expected);
        }
        for text in ["", "lake/a.sqlite", "#people", "a#", "a#.people", "a#hr."] {
            assert_eq!(Address::of(text).unwrap_err().exit_code(), 1, "{text}");
        }
    }

    #[test]
    fn no_error_shows_a_password() {
        for text in [
            "postgres://anna:Quixotica@host/lake#people",
            "postgres:dbname=lake password=Quixotica#people",
            "mysql://anna:Quixotica@host/lake#people",
            "s3://anna:Quixotica@lake/a.sqlite#people",
        ] {
            let e = Address::of(text).unwrap_err();
            assert!(!format!("{e} {e:?}").contains("Quixotica"), "{e}");
            assert!(e.to_string().contains("SQLite"), "{e}");
        }
    }
}
