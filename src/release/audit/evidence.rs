//! Compares the manifest of a release with its files.
//!
//! Some entries of the manifest are about the source: levels that no hierarchy of the session
//! confirms, row counts, metrics. These entries are checked with AGAINST or not at all.
//! [`ReleaseEvidence::unchecked`] names the unchecked entries.

use super::budget;
use super::check::{at_least, none_of, says};
use super::discernibility;
use super::files;
use super::spelling::{CSV_TEXT, TEXT};
use super::tables::WHOLE;
use crate::base::error::{Error, Result};
use crate::base::location::folder_url;
use crate::base::pool::blocking;
use crate::base::quoting::quote;
use crate::base::spill::SpillSpace;
use crate::data::folder::{Check, MANIFEST, Manifest, Role, SuppressedRows};
use crate::data::lake::StoredRelease;
use crate::release::job::SuppressionLimit;
use crate::release::recount::{ReleasedTable, count};
use datafusion::prelude::SessionContext;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::PathBuf;

/// The released columns according to the statement in a manifest.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stated {
    /// The role of each released column, by the name of the column.
    pub(crate) roles: HashMap<String, Role>,
    /// The columns that were permuted.
    pub(crate) randomized: HashSet<String>,
    /// The regular expressions that masked values match, by column.
    pub(crate) forms: Vec<(String, String)>,
    /// The names of the standards that the release follows.
    pub(crate) following: Vec<String>,
    /// The lowest level that LEVELS allows, by column.
    pub(crate) lowest: HashMap<String, u8>,
    /// The maximum number of rows that may be suppressed.
    pub(crate) limit: Option<SuppressionLimit>,
}

/// The location of a release.
#[derive(Debug, Clone)]
pub(crate) enum ReleaseLocation {
    /// In a local folder.
    Folder(PathBuf),
    /// In an object store.
    Store(Box<StoredRelease>),
}

/// The manifest of the release to check, with the facts that its statement states.
pub(crate) struct ReleaseEvidence {
    place: ReleaseLocation,
    pub(super) manifest: Manifest,
    /// Whether the manifest is unchanged since it was written.
    pub(super) is_sealed: bool,
    /// The columns according to the manifest's statement; `None` if the statement does not parse.
    stated: Option<Stated>,
}

impl ReleaseEvidence {
    /// Returns true for a release of CSV files.
    fn is_csv(&self) -> bool {
        self.manifest.output.iter().any(|file| file.name.ends_with(".csv"))
    }

    /// Returns the form in which texts in a column of the release are compared: [`TEXT`] or
    /// [`CSV_TEXT`]. Folder names are never compared as [`CSV_TEXT`], because they are not in the
    /// CSV files.
    pub(super) fn text(&self, column: &str) -> &'static str {
        let is_folder = self.manifest.partitioned_by.iter().any(|folder| folder == column);
        if self.is_csv() && !is_folder { CSV_TEXT } else { TEXT }
    }

    /// Reads the manifest of a release. Returns `None` if there is no manifest. `read` extracts the
    /// roles and other facts from the statement in the manifest.
    pub(crate) fn of(place: ReleaseLocation, read: impl Fn(&str) -> Option<Stated>) -> Result<Option<Self>> {
        let found = match &place {
            ReleaseLocation::Folder(folder) => Manifest::read_sealed(folder)?,
            ReleaseLocation::Store(release) => Some((release.manifest().clone(), release.is_sealed())),
        };
        Ok(found.map(|(manifest, is_sealed)| Self {
            place,
            stated: read(&manifest.statement),
            manifest,
            is_sealed,
        }))
    }

    /// Returns the regular expressions that masked values match, by column.
    pub(super) fn forms(&self) -> &[(String, String)] {
        self.stated.as_ref().map_or(&[], |stated| &stated.forms)
    }

    /// Returns the names of the standards that the release follows.
    pub(super) fn following(&self) -> BTreeSet<&String> {
        let stated = self.stated.iter().flat_map(|stated| &stated.following);
        stated.chain(&self.manifest.following).collect()
    }

    /// Returns the lowest level that the statement allows for a quasi-identifier, if the statement
    /// sets one.
    pub(super) fn lowest_level(&self, column: &str) -> Option<u8> {
        self.stated.as_ref()?.lowest.get(column).copied()
    }

    /// Checks that the manifest has not changed since it was written.
    pub(super) fn sealed(&self) -> Check {
        none_of(
            format!("changes of {MANIFEST} since it was written"),
            u64::from(!self.is_sealed),
        )
    }

    /// Returns the manifest.
    pub(crate) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns true if the release has several batches, each of which is ordered separately.
    pub(super) fn grew(&self) -> bool {
        !self.manifest.batches.is_empty()
    }

    /// Returns the URLs of the files of each batch. Returns `None` if a file is missing, or if
    /// folder names encode partition columns.
    pub(super) async fn batches(&self) -> Result<Option<Vec<Vec<String>>>> {
        let (there, root): (HashSet<String>, String) = match &self.place {
            ReleaseLocation::Folder(folder) => {
                let folder = folder.clone();
                let look = move || {
                    let failed = |e| Error::io(format!("cannot read {}", folder.display()), e);
                    Ok((
                        files::names(&folder)?,
                        folder_url(&folder.canonicalize().map_err(failed)?),
                    ))
                };
                blocking("looking at the files", look).await?
            }
            ReleaseLocation::Store(release) => {
                (release.names().await?.into_iter().collect(), release.url().to_string())
            }
        };
        let mut files = self.manifest.output.iter().map(|file| &file.name);
        let is_there = files.clone().all(|name| there.contains(name));
        if !is_there || !self.manifest.partitioned_by.is_empty() {
            return Ok(None);
        }
        let mut batches = vec![];
        for batch in &self.manifest.batches {
            let own = files.by_ref().take(batch.files as usize);
            batches.push(own.map(|name| format!("{root}{name}")).collect());
        }
        Ok(Some(batches))
    }

    /// Returns the columns that are released unchanged: kept, sensitive and class columns without a
    /// permutation, a mask or a personal limit.
    pub(super) fn unchanged(&self) -> Vec<String> {
        let generalized = self.manifest.personal.as_ref().map(|p| &p.column);
        let (permuted, masked) = (self.permuted(), self.manifest.masked());
        let is_kept =
            |column: &String| !permuted.contains(column) && !masked.contains(column) && Some(column) != generalized;
        let mut columns = self.manifest.columns_of(Role::Sensitive);
        columns.extend(self.manifest.columns_of(Role::Class));
        columns.extend(self.manifest.columns_of(Role::Keep));
        columns.retain(is_kept);
        columns
    }

    /// Returns the columns whose values were permuted.
    pub(super) fn permuted(&self) -> BTreeSet<String> {
        match &self.stated {
            Some(stated) => stated.randomized.iter().cloned().collect(),
            None => self.manifest.randomized.iter().map(|r| r.column.clone()).collect(),
        }
    }

    /// Checks every number and name of the manifest that can be recounted.
    pub(super) async fn check(
        &self,
        session: &SessionContext,
        released: &ReleasedTable,
        columns: &[&str],
    ) -> Result<Vec<Check>> {
        let manifest = &self.manifest;
        let released = ReleasedTable {
            entity: self.manifest.counted_entity(columns).map(str::to_string),
            ..released.clone()
        };
        let (rows, smallest) = released.count(session).await?;
        let classes = released.classes(session).await?;
        let dropped = match manifest.suppressed_rows {
            SuppressedRows::Dropped => manifest.rows_suppressed,
            SuppressedRows::Starred => Some(0),
        };
        let mut checks = vec![
            says("rows", Some(manifest.rows_out), Some(rows)),
            says("classes", Some(manifest.classes), Some(classes)),
            self.smallest_class(session, &released, classes, smallest).await?,
        ];
        checks.extend(self.suppressed());
        match &manifest.differential_privacy {
            None => {
                let read = dropped.and_then(|dropped| rows.checked_add(dropped));
                let mut check = says("rows read", manifest.rows_in, read);
                check.ok &= read.is_some();
                checks.insert(1, check);
            }
            Some(budget) => checks.extend(budget::figures(manifest, budget, smallest)),
        }
        checks.extend(discernibility::check(manifest, session, &released).await?);
        if manifest.suppressed_rows == SuppressedRows::Starred {
            checks.push(self.starred(session, &released).await?);
        }
        checks.extend(self.files(session).await?);
        checks.extend(self.columns(columns));
        checks.push(self.sealed());
        // In a release that grew, a later batch also read the rows that an earlier batch held back.
        if released.whole.is_some() && manifest.differential_privacy.is_none() && manifest.batches.is_empty() {
            let read = count(session, &format!("SELECT count(*) FROM {WHOLE}")).await?;
            checks.push(says("rows of the source", manifest.rows_in, Some(read)));
        }
        Ok(checks)
    }

    /// Checks the size of the smallest class. `released` has `classes` classes, and the smallest
    /// one has the size `smallest`. If the manifest has no size, checks that there is no class.
    ///
    /// The manifest counts entities. If they cannot be counted in the released rows, checks that
    /// the smallest class has at least as many rows.
    async fn smallest_class(
        &self,
        session: &SessionContext,
        released: &ReleasedTable,
        classes: u64,
        smallest: Option<u64>,
    ) -> Result<Check> {
        let Some(stated) = self.manifest.reached_k else {
            return Ok(none_of(
                format!("classes that remain although {MANIFEST} says that none does"),
                classes,
            ));
        };
        if released.entity.is_none() && self.manifest.entity.is_some() {
            let what = format!("rows of the smallest class, at least as many as the entities that {MANIFEST} says");
            return Ok(at_least(what, Some(stated), smallest));
        }
        let fewest = match released.with_fewest_entities(session).await? {
            Some(fewest) => fewest.count(session).await?.1,
            None => smallest,
        };
        let reached = within(stated, fewest, smallest);
        Ok(says("smallest class", Some(stated), reached))
    }

    /// Checks that no more rows are suppressed than the statement allows. A release that grew is
    /// not checked, because each of its batches had its own limit.
    fn suppressed(&self) -> Option<Check> {
        let limit = self.stated.as_ref()?.limit.filter(|_| !self.grew())?;
        let (read, suppressed) = (self.manifest.rows_in?, self.manifest.rows_suppressed?);
        let limit = limit.rows(read);
        Some(Check {
            check: "suppressed rows as the statement allows".into(),
            required: limit as f64,
            reached: Some(suppressed as f64),
            ok: suppressed <= limit,
        })
    }

    /// Checks that the table has at least as many starred rows as the manifest states.
    async fn starred(&self, session: &SessionContext, released: &ReleasedTable) -> Result<Check> {
        let starred = format!(
            "SELECT count(*) FROM {} WHERE {}",
            quote(&released.name),
            released.is_starred()
        );
        // The rows of a class that was generalized to the top also look starred, so there may be
        // more rows that look starred, but never fewer.
        let starred = count(session, &starred).await?;
        let what = format!("starred rows, at least as many as {MANIFEST} says");
        Ok(at_least(what, self.manifest.rows_suppressed, Some(starred)))
    }

    /// Checks the files by their names, sizes and checksums.
    async fn files(&self, session: &SessionContext) -> Result<[Check; 3]> {
        match &self.place {
            ReleaseLocation::Folder(folder) => {
                let (folder, own) = (folder.clone(), self.manifest.clone());
                blocking("summing up the files", move || files::check(&folder, &own)).await
            }
            ReleaseLocation::Store(release) => {
                let space = SpillSpace::of(&session.task_ctx());
                files::check_stored(release, || space.unnamed()).await
            }
        }
    }

    /// Checks four properties: the names and the roles of the columns, their levels, that every
    /// column is named, and that the manifest's statement parses.
    fn columns(&self, columns: &[&str]) -> [Check; 4] {
        let manifest = &self.manifest;
        let there: HashSet<&str> = columns.iter().copied().collect();
        let named: HashMap<&str, Role> = manifest.columns.iter().map(|c| (c.name.as_str(), c.role)).collect();
        let stated = self.stated.as_ref().map(|s| &s.roles);
        // A statement does not show which columns contain lists.
        let role_in_statement = |role: Role| match role {
            Role::ItemSet => Role::QuasiIdentifier,
            other => other,
        };
        let is_as_stated =
            |name: &str, role: Role| stated.is_none_or(|s| s.get(name) == Some(&role_in_statement(role)));
        let same = named
            .iter()
            .filter(|(name, role)| there.contains(*name) && is_as_stated(name, **role));
        // The order is compared only for names that both sides have; other checks count the missing
        // names.
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

    /// Counts the quasi-identifiers that have no level, and the other columns that have a level. A
    /// local recoding has no levels.
    fn other_levels(&self) -> u64 {
        let manifest = &self.manifest;
        let of_columns: BTreeSet<String> = match manifest.partition {
            Some(_) => BTreeSet::new(),
            None => manifest.columns_of(Role::QuasiIdentifier).into_iter().collect(),
        };
        let there: BTreeSet<String> = manifest.node.keys().cloned().collect();
        of_columns.symmetric_difference(&there).count() as u64
    }

    /// Describes the entries that cannot be checked with the given data.
    pub(super) fn unchecked(&self, is_against: bool) -> Vec<String> {
        let mut unchecked = vec![];
        if !is_against {
            unchecked.push(format!(
                "rows, levels and order of the source as {MANIFEST} says (no AGAINST)"
            ));
        }
        let what = match self.manifest.partition {
            Some(_) => "groups, metrics, search, input, warnings and reached values",
            None => "metrics, search, input, warnings and reached values",
        };
        unchecked.push(format!("{what} as {MANIFEST} says"));
        if let Some(policy) = &self.manifest.policy {
            unchecked.push(format!(
                "whether the statement kept to policy {} (compare the digest in {MANIFEST} with that of SHOW POLICIES)",
                policy.name
            ));
        }
        if is_against && !self.manifest.batches.is_empty() {
            unchecked.push(
                "rows and order of the source (the release grew, and each batch was read from a source of its own)"
                    .into(),
            );
        }
        let items = self.manifest.columns_of(Role::ItemSet).into_iter();
        unchecked.extend(
            items.map(|column| format!("items of {column} in the source (lists are in no class to find a row by)")),
        );
        unchecked
    }
}

/// Returns the count that is nearest to `stated` among the counts that are possible. There is no
/// count if there is no class.
fn within(stated: u64, fewest: Option<u64>, most: Option<u64>) -> Option<u64> {
    let possible = fewest.zip(most);
    possible.map(|(fewest, most)| stated.max(fewest).min(most)).or(most)
}
