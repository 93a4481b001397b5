//! What a release says of itself in its manifest, held against what is there.

use super::none_of;
use crate::engine::{Check, FileSummary, MANIFEST, Manifest, ReleasedTable, SuppressedRows, count, quote};
use crate::error::{Error, Result};
use crate::sql::ast::{self, Anonymize};
use crate::sql::{Statement, parse};
use datafusion::prelude::SessionContext;
use std::path::{Path, PathBuf};

/// The manifest of the release that is checked.
pub(super) struct Evidence {
    folder: PathBuf,
    pub(super) manifest: Manifest,
    /// The statement that it names, where it reads as one.
    pub(super) statement: Option<Anonymize>,
}

impl Evidence {
    /// The manifest of the release in `folder`, where there is one.
    pub(super) fn of(folder: &Path) -> Result<Option<Self>> {
        let Some(manifest) = Manifest::read(folder)? else {
            return Ok(None);
        };
        let statement = match parse(&manifest.statement).as_deref() {
            Ok([Statement::Anonymize(anonymize)]) => Some(anonymize.as_ref().clone()),
            _ => None,
        };
        Ok(Some(Self {
            folder: folder.into(),
            manifest,
            statement,
        }))
    }

    /// A quasi-identifier as the release's statement has it.
    pub(super) fn quasi_identifier(&self, column: &str) -> Option<&ast::QuasiIdentifier> {
        let statement = self.statement.as_ref()?;
        statement.quasi_identifiers.iter().find(|q| q.column == column)
    }

    /// The columns that the statement releases as they are.
    pub(super) fn unchanged(&self) -> Option<Vec<String>> {
        let statement = self.statement.as_ref()?;
        let generalized = self.manifest.personal.as_ref().map(|p| &p.column);
        let is_kept = |s: &&ast::Sensitive| s.randomized.is_none() && Some(&s.column) != generalized;
        let sensitive = statement.sensitive.iter().filter(is_kept);
        let sensitive = sensitive.map(|s| &s.column);
        Some(
            sensitive
                .chain(&statement.class)
                .chain(&statement.keep)
                .cloned()
                .collect(),
        )
    }

    /// Every number and name of the manifest that can be counted again.
    pub(super) async fn check(
        &self,
        session: &SessionContext,
        released: &ReleasedTable,
        columns: &[&str],
    ) -> Result<Vec<Check>> {
        let manifest = &self.manifest;
        let entity = self.released_entity();
        let has_hidden_entities = entity.is_none() && self.statement.as_ref().is_some_and(|s| s.entity.is_some());
        let released = ReleasedTable {
            entity,
            ..released.clone()
        };
        let (rows, smallest) = released.count(session).await?;
        let classes = released.classes(session).await?;
        let dropped = match manifest.suppressed_rows {
            SuppressedRows::Dropped => manifest.rows_suppressed,
            SuppressedRows::Starred => 0,
        };
        let mut same_classes = says("classes", Some(manifest.classes), Some(classes));
        // Groups of a local recoding may have the same labels, and are one class in the release then.
        same_classes.ok |= manifest.node.is_empty() && classes <= manifest.classes;
        let mut same_smallest = says("smallest class", manifest.reached_k, smallest);
        // The manifest counts entities, and where those are not in the files their rows are, which are no fewer.
        same_smallest.ok |= has_hidden_entities && smallest >= manifest.reached_k;
        let mut checks = vec![
            says("rows", Some(manifest.rows_out), Some(rows)),
            says("rows read", Some(manifest.rows_in), Some(rows + dropped)),
            same_classes,
            same_smallest,
        ];
        if manifest.suppressed_rows == SuppressedRows::Starred {
            let starred = format!(
                "SELECT count(*) FROM {} WHERE {}",
                quote(&released.name),
                released.is_starred()
            );
            // A class that was generalized to the top may look like them, so there can be more, but never less.
            let starred = count(session, &starred).await?;
            let mut check = says("starred rows", Some(manifest.rows_suppressed), Some(starred));
            check.ok = starred >= manifest.rows_suppressed;
            checks.push(check);
        }
        checks.extend(self.files()?);
        if let Some(statement) = &self.statement {
            let hashed = statement.identifiers.iter().filter(|i| i.hash.is_some());
            let mut named: Vec<&String> = hashed.map(|i| &i.column).collect();
            named.extend(statement.quasi_identifiers.iter().map(|q| &q.column));
            named.extend(statement.sensitive.iter().map(|s| &s.column));
            named.extend(statement.class.iter().chain(&statement.keep));
            let beyond = columns.iter().filter(|c| !named.iter().any(|n| n == *c)).count();
            checks.push(none_of(
                "columns that the statement does not release".into(),
                beyond as u64,
            ));
        }
        Ok(checks)
    }

    fn released_entity(&self) -> Option<String> {
        let statement = self.statement.as_ref()?;
        let entity = statement.entity.as_ref()?;
        let is_quasi = statement.quasi_identifiers.iter().any(|q| q.column == *entity);
        let is_sensitive = statement.sensitive.iter().any(|s| s.column == *entity);
        let is_kept = statement.keep.contains(entity) || statement.class.as_ref() == Some(entity);
        (is_quasi || is_sensitive || is_kept).then(|| entity.clone())
    }

    /// The files by name, size and content.
    fn files(&self) -> Result<[Check; 2]> {
        let mut there = vec![];
        data_files(&self.folder, &self.folder, &mut there)?;
        let mut unchanged = 0;
        for summary in &self.manifest.output {
            let path = self.folder.join(&summary.name);
            unchanged +=
                u64::from(path.is_file() && FileSummary::of(&path, summary.name.clone(), summary.rows)? == *summary);
        }
        let named = |name: &&String| !self.manifest.output.iter().any(|s| s.name == **name);
        Ok([
            says("files", Some(self.manifest.output.len() as u64), Some(unchanged)),
            none_of(
                format!("files that {MANIFEST} does not name"),
                there.iter().filter(named).count() as u64,
            ),
        ])
    }
}

/// A check that what is there is what the manifest has.
fn says(what: &str, required: Option<u64>, reached: Option<u64>) -> Check {
    Check {
        check: format!("{what} as {MANIFEST} says"),
        required: required.unwrap_or(0) as f64,
        reached: reached.map(|n| n as f64),
        ok: reached == required,
    }
}

/// The paths under `root` of the files in `folder` that a reader of the folder may take for data.
fn data_files(root: &Path, folder: &Path, found: &mut Vec<String>) -> Result<()> {
    let failed = |e| Error::io(format!("cannot read {}", folder.display()), e);
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() {
            data_files(root, &path, found)?;
            continue;
        }
        let hidden = path
            .file_name()
            .is_some_and(|n| n.to_string_lossy().starts_with(['.', '_']));
        let is_data = path.extension().is_some_and(|e| e == "parquet" || e == "csv");
        if is_data || !hidden {
            let name = path.strip_prefix(root).unwrap_or(&path);
            found.push(name.to_string_lossy().into_owned());
        }
    }
    Ok(())
}
