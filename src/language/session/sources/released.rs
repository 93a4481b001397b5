//! Finds the release that a source contains: its location, its manifest and its partition columns.

use super::format::DataFormat;
use super::logged::release_in_table;
use super::partitions::partition_columns;
use crate::base::error::{Error, Result};
use crate::base::location::{expanded, is_of_web, is_url};
use crate::base::pool::blocking;
use crate::base::store::is_pattern;
use crate::data::folder::{MANIFEST, Manifest};
use crate::data::formats::{At, PinnedTable};
use crate::data::lake::StoredRelease;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::SourceClause;
use crate::release::audit::ReleaseLocation;
use crate::release::job::SourceTable;
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::source_as_provider;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use std::any::Any;
use std::path::{Path, PathBuf};

/// Returns the release under an expanded URL; `None` if there is none. The URL of a file, a pattern
/// or a web server cannot name a release.
pub(in crate::language::session) async fn release_at(state: &SessionState, url: &str) -> Result<Option<StoredRelease>> {
    if is_of_web(url) || is_pattern(url) || DataFormat::of_name(url).0.is_some() {
        return Ok(None);
    }
    StoredRelease::of(state, url).await
}

impl AnonContext {
    /// Returns the location of a source if its rows are exactly the rows of a folder or a release:
    /// the location that a path names, or the folder of a listing table. Returns `None` for any
    /// other source. Fails with `ErrorKind::Data` if a release was replaced after the source was
    /// opened.
    pub(in crate::language::session) async fn place(
        &self,
        named: &SourceClause,
        source: &SourceTable,
    ) -> Result<Option<ReleaseLocation>> {
        let folder = match (named, read(source.rows.logical_plan())) {
            (SourceClause::Path(named), _) if named.is_read_only() => None,
            (SourceClause::Path(named), _) => {
                let path = expanded(&named.path)?;
                if let Some(version) = source.pins.versions().next() {
                    return self.place_in_table(&path, version).await;
                }
                if is_url(&path) {
                    let Some(release) = release_at(&self.session.state(), &path).await? else {
                        return Ok(None);
                    };
                    let folders = release.folders();
                    let is_in = |name: &str| folders.iter().any(|folder| name.starts_with(folder));
                    if source.pins.objects().any(|(name, _)| !is_in(name)) {
                        return Err(Error::data(format!(
                            "the release under {} was replaced while it was opened; run the statement again",
                            release.url()
                        )));
                    }
                    return Ok(Some(ReleaseLocation::Store(Box::new(release))));
                }
                Some(PathBuf::from(path.as_ref()))
            }
            (SourceClause::Table(_), LogicalPlan::TableScan(scan))
                if scan.filters.is_empty() && scan.fetch.is_none() =>
            {
                let provider = source_as_provider(&scan.source)?;
                let listing = (provider.as_ref() as &dyn Any).downcast_ref::<ListingTable>();
                listing.and_then(|listing| match listing.table_paths().as_slice() {
                    [url] if url.scheme() == "file" => url.get_url().to_file_path().ok(),
                    _ => None,
                })
            }
            _ => None,
        };
        Ok(folder.map(ReleaseLocation::Folder))
    }

    /// Returns the location of the release that a version of the table at `path` contains; `None`
    /// if anonsql did not write the version.
    async fn place_in_table(&self, path: &str, version: &dyn PinnedTable) -> Result<Option<ReleaseLocation>> {
        let at = At::Version(version.version());
        let release = release_in_table(&self.session.state(), path, &at).await?;
        Ok(release.map(|release| ReleaseLocation::Store(Box::new(release))))
    }

    /// Reads the manifest of the release at a path; `None` if there is no manifest. The path names
    /// a folder, a prefix or the manifest itself. For a table with a log, reads the manifest of the
    /// version `at`.
    pub(in crate::language::session) async fn manifest_at(&self, path: &str, at: &At) -> Result<Option<Manifest>> {
        let path = expanded(path)?.into_owned();
        let state = self.session.state();
        if is_url(&path) {
            let prefix = path.strip_suffix(MANIFEST).unwrap_or(&path);
            if let Some(release) = release_at(&state, prefix).await? {
                return Ok(Some(release.manifest().clone()));
            }
        }
        if let Some(release) = release_in_table(&state, &path, at).await? {
            return Ok(Some(release.manifest().clone()));
        }
        if is_url(&path) {
            return Ok(None);
        }
        let read = move || {
            let path = Path::new(&path);
            Manifest::read(match path.file_name() {
                Some(name) if name == MANIFEST => path.parent().unwrap_or(Path::new("")),
                _ => path,
            })
        };
        blocking("reading a manifest", read).await
    }
}

/// Returns the plan of a table without the projection that `spelled_once` adds to convert its
/// values to their canonical form.
fn read(rows: &LogicalPlan) -> &LogicalPlan {
    match rows {
        LogicalPlan::Projection(spelled) => &spelled.input,
        other => other,
    }
}

/// Returns the partition columns of a release, outermost first. For a local release, lists its
/// folder.
pub(in crate::language::session) fn folders(place: &ReleaseLocation) -> Vec<String> {
    match place {
        ReleaseLocation::Folder(folder) => partition_columns(folder),
        ReleaseLocation::Store(release) => release.manifest().partitioned_by.clone(),
    }
}

/// Reads the manifest of a release; `None` if there is no manifest.
pub(in crate::language::session) fn manifest_of(place: &ReleaseLocation) -> Result<Option<Manifest>> {
    match place {
        ReleaseLocation::Folder(folder) => Manifest::read(folder),
        ReleaseLocation::Store(release) => Ok(Some(release.manifest().clone())),
    }
}
