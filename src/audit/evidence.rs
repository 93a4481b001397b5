//! What a release says of itself in its manifest, held against what is there.
//!
//! What the manifest alone says of the source (levels that a hierarchy of the session does not confirm, rows, metrics) is
//! checked with AGAINST or not at all; [`Evidence::unchecked`] names it.

use super::check::{none_of, says};
use super::files;
use super::spelling::{CSV_TEXT, TEXT};
use super::tables::WHOLE;
use crate::engine::{ReleasedTable, count};
use crate::error::Result;
use crate::folder::{Check, MANIFEST, Manifest, Role, SuppressedRows};
use crate::pool::blocking;
use crate::quoting::quote;
use datafusion::prelude::SessionContext;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// What the statement of a manifest says of the columns that it releases.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stated {
    /// The columns by name.
    pub(crate) roles: HashMap<String, Role>,
    /// Those that were permuted.
    pub(crate) randomized: HashSet<String>,
}

/// The manifest of the release that is checked.
pub(crate) struct Evidence {
    folder: PathBuf,
    pub(super) manifest: Manifest,
    /// Whether it is as it was written.
    is_sealed: bool,
    /// What the statement that it names says, where it reads as one.
    stated: Option<Stated>,
}

impl Evidence {
    /// How texts of its files are compared with others.
    pub(super) fn text(&self) -> &'static str {
        let is_csv = self.manifest.output.iter().any(|file| file.name.ends_with(".csv"));
        if is_csv { CSV_TEXT } else { TEXT }
    }

    /// The manifest of the release in `folder`, where there is one; `read` says what its statement says.
    pub(crate) fn of(folder: &Path, read: impl Fn(&str) -> Option<Stated>) -> Result<Option<Self>> {
        let found = Manifest::read_sealed(folder)?;
        Ok(found.map(|(manifest, is_sealed)| Self {
            folder: folder.into(),
            stated: read(&manifest.statement),
            manifest,
            is_sealed,
        }))
    }

    /// The columns that are released as they are.
    pub(super) fn unchanged(&self) -> Vec<String> {
        let generalized = self.manifest.personal.as_ref().map(|p| &p.column);
        let randomized: HashSet<&String> = match &self.stated {
            Some(stated) => stated.randomized.iter().collect(),
            None => self.manifest.randomized.iter().map(|r| &r.column).collect(),
        };
        let is_kept = |column: &String| !randomized.contains(column) && Some(column) != generalized;
        let mut columns = self.manifest.columns_of(Role::Sensitive);
        columns.retain(is_kept);
        columns.extend(self.manifest.columns_of(Role::Class));
        columns.extend(self.manifest.columns_of(Role::Keep));
        columns
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
        let has_hidden_entities = entity.is_none() && manifest.entity.is_some();
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
        same_classes.ok |= manifest.partition.is_some() && classes <= manifest.classes;
        let mut same_smallest = says("smallest class", manifest.reached_k, smallest);
        // The manifest counts entities, and where those are not in the files their rows are, which are no fewer; nor are
        // they where only their looks tell suppressed rows from a class.
        let is_no_fewer = has_hidden_entities || released.entity.is_some() && released.starred > 0;
        same_smallest.ok |= is_no_fewer && smallest >= manifest.reached_k;
        let mut checks = vec![
            says("rows", Some(manifest.rows_out), Some(rows)),
            says("rows read", Some(manifest.rows_in), rows.checked_add(dropped)),
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
        let (folder, own) = (self.folder.clone(), manifest.clone());
        checks.extend(blocking("summing up the files", move || files::check(&folder, &own)).await?);
        checks.extend(self.columns(columns));
        checks.push(none_of(
            format!("changes of {MANIFEST} since it was written"),
            u64::from(!self.is_sealed),
        ));
        if released.whole.is_some() {
            let read = count(session, &format!("SELECT count(*) FROM {WHOLE}")).await?;
            checks.push(says("rows of the source", Some(manifest.rows_in), Some(read)));
        }
        Ok(checks)
    }

    /// The columns by name and role, their levels, those that nothing names, and whether the statement can name any.
    fn columns(&self, columns: &[&str]) -> [Check; 4] {
        let manifest = &self.manifest;
        let there: HashSet<&str> = columns.iter().copied().collect();
        let named: HashMap<&str, Role> = manifest.columns.iter().map(|c| (c.name.as_str(), c.role)).collect();
        let stated = self.stated.as_ref().map(|s| &s.roles);
        let is_as_stated = |name: &str, role: Role| stated.is_none_or(|s| s.get(name) == Some(&role));
        let same = named
            .iter()
            .filter(|(name, role)| there.contains(*name) && is_as_stated(name, **role));
        // Every name but those that are missing here or there, which other checks count.
        let mut in_order = manifest.columns_of_files();
        in_order.retain(|name| there.contains(name));
        let in_files: HashSet<&str> = in_order.iter().copied().collect();
        let is_in_order = in_order
            .iter()
            .eq(columns.iter().filter(|name| in_files.contains(**name)));
        let mut same_columns = says(
            "columns",
            Some(manifest.columns.len() as u64),
            Some(same.count() as u64),
        );
        same_columns.ok &= is_in_order;
        let is_named = |name: &str| named.contains_key(name) && stated.is_none_or(|s| s.contains_key(name));
        [
            same_columns,
            none_of(
                format!("levels of {MANIFEST} that are missing or of no quasi-identifier"),
                self.other_levels(),
            ),
            none_of(
                "columns that the statement does not release".into(),
                columns.iter().filter(|c| !is_named(c)).count() as u64,
            ),
            none_of(
                format!("statement of {MANIFEST} that does not parse"),
                u64::from(stated.is_none()),
            ),
        ]
    }

    /// The quasi-identifiers that have no level, and the others that have one. A local recoding has no levels.
    fn other_levels(&self) -> u64 {
        let manifest = &self.manifest;
        let of_columns: BTreeSet<String> = match manifest.partition {
            Some(_) => BTreeSet::new(),
            None => manifest.columns_of(Role::QuasiIdentifier).into_iter().collect(),
        };
        let there: BTreeSet<String> = manifest.node.keys().cloned().collect();
        of_columns.symmetric_difference(&there).count() as u64
    }

    /// What nothing that is there can confirm.
    pub(super) fn unchecked(&self, is_against: bool) -> Vec<String> {
        let mut unchecked = vec![];
        if !is_against {
            unchecked.push(format!(
                "rows, levels and order of the source as {MANIFEST} says (no AGAINST)"
            ));
        }
        let what = match self.manifest.partition {
            Some(_) => "groups, metrics, search and input",
            None => "metrics, search and input",
        };
        unchecked.push(format!("{what} as {MANIFEST} says"));
        unchecked
    }

    fn released_entity(&self) -> Option<String> {
        let entity = self.manifest.entity.as_ref()?;
        let mut columns = self.manifest.columns.iter();
        let is_released = columns.any(|c| c.name == *entity && c.role != Role::Identifier);
        is_released.then(|| entity.clone())
    }
}
