//! The files that a path names: one file, all files in a folder, or the files that match a pattern.

use super::address::listing_url;
use super::pattern::{Name, PathPattern, is_hidden, is_pattern, split};
use crate::base::error::{Error, Result};
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::error::DataFusionError;
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ListResult, ObjectMeta, ObjectStore, ObjectStoreExt};
use futures::{StreamExt, TryStreamExt, stream};
use std::collections::BTreeMap;
use std::fmt;

/// The name of the folder in which a table keeps the manifests of its releases.
const OWN: &str = "_anonsql";
/// The name of the file that marks its folder as a release.
const MANIFEST: &str = "_manifest.json";
/// The prefix in the name of a folder that contains the files of one run of a release.
const RUN: &str = "run=";
/// The maximum number of concurrent requests for listing folders.
const AT_ONCE: usize = 16;

/// The files that a path names. Hidden files, and files in hidden folders, are skipped unless the
/// path names them.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    /// The URL of the file, or of the folder that contains the files.
    url: ListingTableUrl,
    /// The patterns for paths inside the folder; empty if the path is not a pattern.
    patterns: Vec<PathPattern>,
    /// The suffix of the files' names; empty if every name is accepted.
    suffix: String,
    /// Whether every folder between the root and a file must be the folder of a partition:
    /// `column=value`.
    is_partitioned: bool,
}

impl fmt::Display for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.url.as_str())
    }
}

impl Files {
    /// Returns the files that an expanded path names. Fails with `ErrorKind::Usage` for an invalid
    /// pattern or URL.
    pub(crate) fn of(path: &str) -> Result<Self> {
        if !is_pattern(path) {
            return Ok(Self::at(listing_url(path)?));
        }
        let (folder, rest) = split(path);
        let folder = match folder {
            "" => "./",
            folder if folder.ends_with("://") => {
                return Err(Error::usage(format!(
                    "{path:?} is not a URL; write s3://bucket/folder/*.parquet"
                )));
            }
            folder => folder,
        };
        Ok(Self {
            patterns: PathPattern::read(rest)?,
            ..Self::at(listing_url(folder)?)
        })
    }

    fn at(url: ListingTableUrl) -> Self {
        Self {
            url,
            patterns: vec![],
            suffix: String::new(),
            is_partitioned: false,
        }
    }

    /// Returns the same files, limited to those whose names end with `suffix`.
    pub(crate) fn ending(self, suffix: String) -> Self {
        Self { suffix, ..self }
    }

    /// Returns the same files, without files in folders that are not named `column=value`.
    pub(crate) fn in_partitions(self) -> Self {
        Self {
            is_partitioned: true,
            ..self
        }
    }

    /// Returns the URL of the file, or of the folder that contains the files.
    pub(crate) fn url(&self) -> &ListingTableUrl {
        &self.url
    }

    /// Returns true if the path is a pattern.
    pub(crate) fn is_pattern(&self) -> bool {
        !self.patterns.is_empty()
    }

    /// Lists the files in the order of their paths. Fails with `ErrorKind::Usage` if the folder
    /// also contains tables or releases whose files must not be read together with the others.
    /// `is_log` returns true for the name of a table's log.
    pub(crate) async fn list(&self, store: &dyn ObjectStore, is_log: fn(&str) -> bool) -> Result<Vec<ObjectMeta>> {
        let prefix = self.url.prefix();
        if !self.url.is_collection() && !self.is_pattern() {
            match store.head(prefix).await {
                Ok(file) => return Ok(vec![file]),
                Err(object_store::Error::NotFound { .. }) => {}
                Err(e) => return Err(unreadable(e)),
            }
        }
        let levels: Option<Vec<_>> = self.patterns.iter().map(PathPattern::levels).collect();
        let mut found: Vec<ObjectMeta> = vec![];
        match levels {
            Some(patterns) if self.is_pattern() => {
                for levels in patterns {
                    found.extend(self.at_levels(store, &levels).await?);
                }
            }
            _ => found = store.list(Some(prefix)).try_collect().await.map_err(unreadable)?,
        }
        if !self.is_pattern() {
            self.check_tables(&found, is_log)?;
        }
        self.check_releases(&found)?;
        let meant = found.into_iter().filter(|file| self.is_meant(&file.location));
        let by_name: BTreeMap<Path, ObjectMeta> = meant.map(|file| (file.location.clone(), file)).collect();
        Ok(by_name.into_values().collect())
    }

    /// Fails with `ErrorKind::Usage` if a subfolder is a table. Only the table's log or a manifest
    /// states which files contain its rows. The folder still contains files with earlier rows, so
    /// a plain listing would read too many rows.
    fn check_tables(&self, listed: &[ObjectMeta], is_log: fn(&str) -> bool) -> Result<()> {
        for file in listed {
            let inside: Vec<&str> = self.url.strip_prefix(&file.location).into_iter().flatten().collect();
            let at = inside.iter().position(|name| is_hidden(name)).filter(|at| *at > 0);
            if let Some(at) = at.filter(|at| inside[*at] == OWN || is_log(inside[*at])) {
                return Err(Error::usage(format!(
                    "the folder contains a table, {:?}, whose files also contain earlier rows; name the tables one by \
                    one",
                    inside[..at].join("/")
                )));
            }
        }
        Ok(())
    }

    /// Fails with `ErrorKind::Usage` if a subfolder is a release and there are files outside of
    /// every release. A person could then be both in the release and in the other files.
    fn check_releases(&self, listed: &[ObjectMeta]) -> Result<()> {
        let inside = |file: &ObjectMeta| -> Vec<String> {
            let names = self.url.strip_prefix(&file.location).into_iter().flatten();
            names.map(String::from).collect()
        };
        let mut releases: Vec<Vec<String>> = vec![];
        for mut names in listed.iter().map(inside) {
            let is_manifest = names.pop().is_some_and(|name| name == MANIFEST);
            if is_manifest && names.iter().all(|name| name.starts_with(RUN)) {
                // The folder itself is or was a release; its runs are in separate folders.
                return Ok(());
            }
            if is_manifest && !names.iter().any(|name| is_hidden(name)) {
                releases.push(names);
            }
        }
        let Some(release) = releases.first() else {
            return Ok(());
        };
        let is_released = |file: &ObjectMeta| {
            let names = inside(file);
            releases.iter().any(|release| names.starts_with(release))
        };
        let meant = listed.iter().filter(|file| self.is_meant(&file.location));
        let (released, others): (Vec<_>, Vec<_>) = meant.partition(|file| is_released(file));
        match released.is_empty() || others.is_empty() {
            true => Ok(()),
            false => Err(Error::usage(format!(
                "the folder contains a release, {:?}, and other files, and a person in both would be counted twice; \
                move the release, or name the files",
                release.join("/")
            ))),
        }
    }

    /// Lists all files in the folders that match `levels`, which has one pattern for each level.
    /// The last pattern is for the names of files, and is not applied here. Folders whose names do
    /// not match are not listed.
    async fn at_levels(&self, store: &dyn ObjectStore, levels: &[&Name]) -> Result<Vec<ObjectMeta>> {
        let above = levels.split_last().map_or(levels, |(_, above)| above);
        let mut folders = vec![self.url.prefix().clone()];
        for level in above {
            let inside = inside(store, folders).await?.into_iter();
            let names = inside.flat_map(|listed| listed.common_prefixes);
            folders = names
                .filter(|folder| folder.filename().is_some_and(|name| level.matches(name)))
                .collect();
        }
        let inside = inside(store, folders).await?.into_iter();
        Ok(inside.flat_map(|listed| listed.objects).collect())
    }

    /// Returns true if a listing would find a file at this location. For a folder, the suffix is
    /// ignored, because listing a folder fails if it contains a file with another suffix.
    pub(crate) fn would_see(&self, location: &Path) -> bool {
        let of_any_kind = Self {
            suffix: String::new(),
            ..self.clone()
        };
        match self.is_pattern() {
            true => self.is_meant(location),
            false => of_any_kind.is_meant(location),
        }
    }

    /// Returns true if the path names the file at this location, whether or not the file exists.
    pub(crate) fn is_meant(&self, location: &Path) -> bool {
        let Some(inside) = self.url.strip_prefix(location) else {
            return false;
        };
        let names: Vec<&str> = inside.collect();
        let Some((_, folders)) = names.split_last() else {
            return false;
        };
        let is_named = match self.is_pattern() {
            true => self.patterns.iter().any(|pattern| pattern.matches(&names)),
            false => !names.iter().any(|name| is_hidden(name)),
        };
        let is_inside = !self.is_partitioned || folders.iter().all(|folder| folder.contains('='));
        is_named && is_inside && location.as_ref().ends_with(&self.suffix)
    }
}

/// Lists the files and subfolders directly inside each of `folders`.
async fn inside(store: &dyn ObjectStore, folders: Vec<Path>) -> Result<Vec<ListResult>> {
    let listed = folders
        .into_iter()
        .map(|folder| async move { store.list_with_delimiter(Some(&folder)).await });
    stream::iter(listed)
        .buffered(AT_ONCE)
        .try_collect()
        .await
        .map_err(unreadable)
}

fn unreadable(error: object_store::Error) -> Error {
    DataFusionError::ObjectStore(Box::new(error)).into()
}
