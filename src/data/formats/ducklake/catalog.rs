//! The catalog of a lake, an SQLite file. A statement reads one snapshot of it.

use super::address::Address;
use super::error::failed;
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::data::formats::at::{At, time};
use chrono::{DateTime, NaiveDateTime, Utc};
use datafusion_ducklake::metadata_provider::{DuckLakeTableColumn, SchemaMetadata, TableMetadata};
use datafusion_ducklake::{MetadataProvider, SqliteMetadataProvider};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The supported version of the DuckLake format.
const VERSION: &str = "1.0";
/// The first bytes of an SQLite file.
const SQLITE: &[u8] = b"SQLite format 3\0";
/// The bytes that follow the checksum in a DuckDB file.
const DUCKDB: &[u8] = b"DUCK";
/// The formats of a snapshot's time with a zone.
const TIMES: &[&str] = &["%Y-%m-%d %H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M:%S%.f%#z"];

/// A catalog. The provider of `datafusion-ducklake` reads the contents of its snapshots.
#[derive(Debug, Clone)]
pub(super) struct Catalog {
    pub(super) provider: Arc<dyn MetadataProvider>,
    /// The start of every error message about the table.
    pub(super) doing: String,
}

impl Catalog {
    /// Opens the catalog of a table. Fails with `ErrorKind::Usage` if the file is not an SQLite
    /// file.
    pub(super) async fn open(address: &Address) -> Result<Self> {
        let doing = format!("cannot read the DuckLake table {address}");
        let path = PathBuf::from(&address.catalog);
        let path = blocking("opening a catalog", move || checked(&path)).await?;
        let provider = SqliteMetadataProvider::new(&url(&path)).await;
        let provider: Arc<dyn MetadataProvider> = Arc::new(provider.map_err(|e| failed(&doing, &e))?);
        Ok(Self { provider, doing })
    }

    /// Fails with `ErrorKind::Data` if the version of the format is not supported, or the files are
    /// encrypted.
    pub(super) fn check_format(&self) -> Result<()> {
        let settings = self.provider.get_metadata_settings(None, None);
        let settings = settings.map_err(|e| failed(&self.doing, &e))?;
        let version = settings.get("version").map_or("", String::as_str);
        if version != VERSION {
            return Err(Error::data(format!(
                "{}: its catalog has version {version:?}, but this version of anonsql reads only version {VERSION}; \
                 DuckDB migrates an older catalog with ATTACH '...' (AUTOMATIC_MIGRATION)",
                self.doing
            )));
        }
        match settings.get("encrypted").map(String::as_str) {
            Some("true") => Err(self.encrypted()),
            _ => Ok(()),
        }
    }

    /// Returns the error for a table with encrypted files.
    pub(super) fn encrypted(&self) -> Error {
        Error::data(format!("{}: its files are encrypted, and cannot be read", self.doing))
    }

    /// Returns the number and the time of each snapshot, sorted by snapshot number.
    fn snapshots(&self) -> Result<Vec<(i64, Option<String>)>> {
        // `datafusion-ducklake` has two functions that list snapshots. Only this function can read
        // the times that DuckDB writes.
        let listed = self.provider.list_snapshot_changes();
        let listed = listed.map_err(|e| failed(&self.doing, &e))?;
        let mut snapshots: Vec<(i64, Option<String>)> =
            listed.into_iter().map(|s| (s.snapshot_id, s.timestamp)).collect();
        snapshots.sort();
        Ok(snapshots)
    }

    /// Returns true if the snapshot exists and has not expired.
    pub(super) fn has_snapshot(&self, number: i64) -> Result<bool> {
        Ok(self.snapshots()?.iter().any(|(known, _)| *known == number))
    }

    /// Returns the number of the snapshot that a statement reads. Fails with `ErrorKind::Usage` if
    /// it does not exist.
    pub(super) fn snapshot(&self, at: &At) -> Result<i64> {
        let snapshots = self.snapshots()?;
        let Some((newest, _)) = snapshots.last() else {
            return Err(Error::data(format!("{}: its catalog has no snapshot", self.doing)));
        };
        match at {
            At::Newest => Ok(*newest),
            At::Version(number) => {
                let found = snapshots.iter().find(|(known, _)| u64::try_from(*known) == Ok(*number));
                found.map(|(number, _)| *number).ok_or_else(|| {
                    Error::usage(format!(
                        "{}: it has no snapshot {number}, or it was expired; the newest is {newest}",
                        self.doing
                    ))
                })
            }
            At::Timestamp(text) => {
                let wanted = time(text)?;
                let mut found = None;
                for (number, written) in &snapshots {
                    let since = written.as_deref().and_then(of_snapshot).ok_or_else(|| {
                        Error::data(format!(
                            "{}: snapshot {number} has no time that is known; write VERSION AS OF and a number",
                            self.doing
                        ))
                    })?;
                    if since <= wanted {
                        found = Some(*number);
                    }
                }
                found.ok_or_else(|| {
                    Error::usage(format!(
                        "{}: at {text:?} it did not exist, or its snapshots from then were expired",
                        self.doing
                    ))
                })
            }
        }
    }

    /// Finds the schema and the table of an address in a snapshot. Fails with `ErrorKind::Usage` if
    /// one of them does not exist.
    pub(super) fn find(&self, address: &Address, snapshot: i64) -> Result<(SchemaMetadata, TableMetadata)> {
        let failed = |e| failed(&self.doing, &e);
        let schema = self.provider.get_schema_by_name(&address.schema, snapshot);
        let Some(schema) = schema.map_err(failed)? else {
            let known = self.provider.list_schemas(snapshot).map_err(failed)?;
            let known = known.iter().map(|schema| schema.schema_name.as_str());
            return Err(Error::unknown("schema", &address.schema, known).context(&self.doing));
        };
        let table = self
            .provider
            .get_table_by_name(schema.schema_id, &address.table, snapshot);
        if let Some(table) = table.map_err(failed)? {
            return Ok((schema, table));
        }
        let view = self
            .provider
            .get_view_by_name(schema.schema_id, &address.table, snapshot);
        if view.map_err(failed)?.is_some() {
            return Err(Error::usage(format!(
                "{}: it is a view; write its query with the tables that it reads",
                self.doing
            )));
        }
        let known = self.provider.list_tables(schema.schema_id, snapshot).map_err(failed)?;
        let known = known.iter().map(|table| table.table_name.as_str());
        Err(Error::unknown("table", &address.table, known).context(&self.doing))
    }

    /// Returns a checksum of the row ids of two kinds of rows: inlined rows, which the catalog
    /// itself contains, and rows of data files that the catalog marks as deleted. Returns `None` if
    /// there are no such rows. Fails with `ErrorKind::Data` if inlined rows were written when the
    /// table had other columns: `datafusion-ducklake` finds the columns of inlined rows by their
    /// current names, and would read a renamed column as NULL.
    pub(super) fn check_inlined(&self, table: i64, snapshot: i64) -> Result<Option<String>> {
        let failed = |e| failed(&self.doing, &e);
        let columns = self.provider.get_table_structure(table, snapshot).map_err(failed)?;
        let inlined = self
            .provider
            .get_inlined_data_with_row_ids(table, snapshot, &columns)
            .map_err(failed)?;
        let numbers: Vec<_> = inlined
            .into_iter()
            .flat_map(|inlined| inlined.row_ids.into_iter().zip(inlined.begin_snapshots))
            .collect();
        let written: BTreeSet<i64> = numbers.iter().map(|(_, begun)| *begun).collect();
        for then in written {
            let before = self.provider.get_table_structure(table, then).map_err(failed)?;
            if !is_same(&before, &columns) {
                return Err(Error::data(format!(
                    "{}: rows in the catalog were written when the table had other columns; CALL \
                     ducklake_flush_inlined_data('catalog') in DuckDB writes them to files, which are read",
                    self.doing
                )));
            }
        }
        let deletes = self.provider.get_inlined_deletes(table, snapshot).map_err(failed)?;
        let mut deleted: Vec<_> = deletes.iter().map(|row| (row.data_file_id, row.row_id)).collect();
        deleted.sort_unstable();
        Ok((!numbers.is_empty() || !deleted.is_empty())
            .then(|| hex::encode(Sha256::digest(format!("{numbers:?} {deleted:?}")))))
    }
}

fn is_same(before: &[DuckLakeTableColumn], now: &[DuckLakeTableColumn]) -> bool {
    let is_same = |(a, b): (&DuckLakeTableColumn, &DuckLakeTableColumn)| {
        (a.column_id, &a.column_name, &a.column_type) == (b.column_id, &b.column_name, &b.column_type)
    };
    before.len() == now.len() && before.iter().zip(now).all(is_same)
}

/// Returns the absolute path of a catalog. Fails with `ErrorKind::Usage` if the file is not an
/// SQLite file.
fn checked(path: &Path) -> Result<PathBuf> {
    let failed = |e| Error::io(format!("cannot read {}", path.display()), e);
    let mut head = vec![];
    let file = File::open(path).map_err(failed)?;
    file.take(SQLITE.len() as u64).read_to_end(&mut head).map_err(failed)?;
    if head.get(8..8 + DUCKDB.len()) == Some(DUCKDB) {
        return Err(Error::usage(format!(
            "{} is a DuckDB file; a DuckLake catalog is read from an SQLite file, which DuckDB makes with ATTACH \
             'ducklake:sqlite:metadata.sqlite'",
            path.display()
        )));
    }
    if head != SQLITE {
        return Err(Error::usage(format!(
            "{} is not an SQLite file, which a DuckLake catalog must be",
            path.display()
        )));
    }
    path.canonicalize().map_err(failed)
}

/// Returns the URL with which `datafusion-ducklake` opens a catalog read-only.
fn url(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.".contains(&byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let spelled = bytes.map(|byte| match plain(*byte) {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("sqlite://{}?mode=ro", spelled.collect::<String>())
}

/// Parses the time of a snapshot. A time without a zone is in UTC. Returns `None` if the text is
/// not a time.
fn of_snapshot(text: &str) -> Option<DateTime<Utc>> {
    let zoned = TIMES.iter().find_map(|form| DateTime::parse_from_str(text, form).ok());
    let plain = || NaiveDateTime::parse_from_str(text, "%Y-%m-%d %H:%M:%S%.f").ok();
    zoned
        .map(|time| time.to_utc())
        .or_else(|| plain().map(|time| time.and_utc()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_snapshots_are_read_as_duckdb_and_the_crate_write_them() {
        let noon = "2026-01-31T12:00:00.5Z".parse::<DateTime<Utc>>().unwrap();
        for text in [
            "2026-01-31 12:00:00.5+00",
            "2026-01-31 13:00:00.500000+01:00",
            "2026-01-31 12:00:00.500",
            "2026-01-31T12:00:00.5Z",
        ] {
            assert_eq!(of_snapshot(text), Some(noon), "{text}");
        }
        assert_eq!(of_snapshot("yesterday"), None);
    }
}
