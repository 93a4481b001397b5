//! A prefix of an object store, which contains a release or will contain one.

use super::names::{Layout, OWN, RUN, SUCCESS, inside, manifests_in_table};
use super::properties::{NAMES_MANIFEST, properties_at, run_of};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::quoting::literal;
use crate::base::store::{SingleObject, Stores, listing_url, read_small};
use crate::data::folder::{MANIFEST, Manifest, parse_manifest};
use crate::data::formats::{At, LoggedTable, Place, find, is_log, kind_of};
use chrono::{DateTime, Utc};
use datafusion::execution::SessionState;
use datafusion::object_store::path::Path;
use datafusion::object_store::{ObjectStore, UpdateVersion};
use std::sync::Arc;

/// The maximum number of bytes of a manifest. A larger object was not written by anonsql.
pub(super) const LARGEST: u64 = 64 << 20;
/// The maximum number of names that an error lists.
const TOLD: usize = 5;

/// A prefix of an object store, or a local folder that contains a Delta table.
#[derive(Debug, Clone)]
pub(crate) struct Prefix {
    place: Place,
}

/// The existing release below a prefix.
#[derive(Debug, Clone)]
pub(crate) struct Standing {
    /// The manifest.
    pub(crate) manifest: Manifest,
    /// Whether the text of the manifest has not changed since it was written.
    pub(crate) is_sealed: bool,
    /// The object or table version that makes this release the current release.
    pub(super) version: Version,
    /// The time at which the manifest object was last modified.
    pub(super) since: DateTime<Utc>,
}

/// The object or table version that makes a release the current release.
#[derive(Debug, Clone)]
pub(super) enum Version {
    /// The version of the manifest object at the prefix.
    Object(UpdateVersion),
    /// The version of a Delta table that contains the files of the release.
    Table(Arc<dyn LoggedTable>),
}

impl Standing {
    /// Returns the version of the Delta table that contains the release; `None` if the release is
    /// not in a table.
    pub(crate) fn table(&self) -> Option<&dyn LoggedTable> {
        match &self.version {
            Version::Object(_) => None,
            Version::Table(table) => Some(table.as_ref()),
        }
    }
}

/// Fails with `ErrorKind::Verification` if the files of a Delta table's version differ from the
/// files that the manifest names, or if the version deletes rows of these files.
pub(super) fn check_files(manifest: &Manifest, table: &dyn LoggedTable) -> Result<()> {
    let mut named: Vec<(&str, u64)> = vec![];
    named.extend(manifest.output.iter().map(|file| (file.name.as_str(), file.bytes)));
    named.sort_unstable();
    let has = table.data_files().iter().map(|(name, bytes)| (name.as_str(), *bytes));
    if has.eq(named) && !table.deletes_rows() {
        return Ok(());
    }
    Err(changed(table, "its rows or files"))
}

/// Fails with `ErrorKind::Verification` if the properties of a table do not match the manifest of
/// its release.
pub(super) fn check_properties(manifest: &Manifest, text: &str, table: &dyn LoggedTable) -> Result<()> {
    for place in manifests_in_table(run_of(manifest)?) {
        let expected = properties_at(manifest, text, place)?;
        let is_said = |(name, value): (&String, &String)| table.properties().get(name) == Some(value);
        if expected.iter().all(is_said) {
            return Ok(());
        }
    }
    Err(changed(table, "its properties about the release"))
}

fn changed(table: &dyn LoggedTable, what: &str) -> Error {
    Error::new(
        ErrorKind::Verification,
        format!(
            "version {} of the {} {} is not the release that its properties name: another tool changed {what} since. \
             Release again into another table",
            table.version(),
            kind_of(table),
            table.place().url
        ),
    )
}

impl Prefix {
    /// Opens the store of the prefix that an expanded URL names.
    pub(crate) fn open(state: &SessionState, url: &str) -> Result<Self> {
        let url = format!("{}/", url.trim_end_matches('/'));
        let place = listing_url(&url)?;
        Ok(Self::at(Place {
            store: Stores::open(state, place.get_url())?,
            path: place.prefix().clone(),
            url,
        }))
    }

    /// Returns the prefix at a location.
    pub(crate) fn at(place: Place) -> Self {
        Self { place }
    }

    /// Returns the location of the prefix.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Returns true if an object is below the prefix.
    pub(crate) fn holds(&self, object: &SingleObject) -> bool {
        object.is_below(&self.place.store, &self.place.path)
    }

    /// Returns true if the prefix is a local folder.
    pub(super) fn is_local(&self) -> bool {
        self.place.local().is_some()
    }

    /// Returns the URL of the prefix, which ends in a slash.
    pub(crate) fn url(&self) -> &str {
        &self.place.url
    }

    /// Returns the store of the prefix.
    pub(super) fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.place.store
    }

    /// Returns the path of the prefix in its store.
    pub(super) fn path(&self) -> &Path {
        &self.place.path
    }

    /// Returns the path of an object by its name relative to the prefix.
    pub(super) fn inside(&self, name: &str) -> Path {
        inside(&self.place.path, name)
    }

    /// Returns the path of a file by its name relative to the prefix. Fails with `ErrorKind::Data`
    /// if the name leads out of the prefix.
    pub(super) fn file(&self, name: &str) -> Result<Path> {
        let whole = match self.place.path.as_ref() {
            "" => name.to_string(),
            path => format!("{path}/{name}"),
        };
        Path::parse(whole)
            .map_err(|_| Error::data(format!("{name:?} is not the name of a file under {}", self.place.url)))
    }

    /// Returns the name of an object relative to the prefix; `None` if the object is not below the
    /// prefix.
    pub(super) fn name<'a>(&self, object: &'a Path) -> Option<&'a str> {
        let rest = object.as_ref().strip_prefix(self.place.path.as_ref())?;
        match self.place.path.as_ref() {
            "" => Some(rest),
            _ => rest.strip_prefix('/'),
        }
    }

    /// Returns the error for a failed request to the store. The message begins with `doing`.
    pub(super) fn failed(&self, doing: &str, error: &datafusion::object_store::Error) -> Error {
        Error::of_store(format_args!("{doing} {}", self.place.url), error)
    }

    /// Reads the manifest of the prefix; `None` if the prefix has no manifest.
    pub(crate) async fn standing(&self) -> Result<Option<Standing>> {
        let path = self.inside(MANIFEST);
        let what = format!("cannot read {}{MANIFEST}", self.place.url);
        let Some(found) = read_small(self.place.store.as_ref(), &path, LARGEST, &what).await? else {
            return Ok(None);
        };
        let (manifest, is_sealed) = parse_manifest(&found.bytes, &format!("{}{MANIFEST}", self.place.url))?;
        Ok(Some(Standing {
            manifest,
            is_sealed,
            version: Version::Object(UpdateVersion {
                e_tag: found.meta.e_tag,
                version: found.meta.version,
            }),
            since: found.meta.last_modified,
        }))
    }

    /// Reads the manifest of a release in the Delta table at the prefix. Returns only the table's
    /// version if this version is not a release, and `(None, None)` if the prefix has no table.
    /// Fails with `ErrorKind::Data` if the manifest is missing, and with `ErrorKind::Verification`
    /// if the table was changed after the release.
    pub(crate) async fn in_table(&self, at: &At) -> Result<(Option<Standing>, Option<Arc<dyn LoggedTable>>)> {
        let Some(table) = find(&self.place, at).await? else {
            return Ok((None, None));
        };
        let Some(name) = table.properties().get(NAMES_MANIFEST).cloned() else {
            return Ok((None, Some(table)));
        };
        let called = format!("{}{name}", self.place.url);
        let what = format!("cannot read {called}");
        let found = read_small(self.place.store.as_ref(), &self.file(&name)?, LARGEST, &what).await?;
        let found = found.ok_or_else(|| {
            Error::data(format!(
                "{called}, the manifest that the {} {} names, is missing; RESTORE MANIFEST OF {} restores it from the log",
                kind_of(table.as_ref()),
                self.place.url,
                literal(&self.place.name())
            ))
        })?;
        let (manifest, is_sealed) = parse_manifest(&found.bytes, &called)?;
        check_files(&manifest, table.as_ref())?;
        check_properties(&manifest, &String::from_utf8_lossy(&found.bytes), table.as_ref())?;
        Ok((
            Some(Standing {
                manifest,
                is_sealed,
                version: Version::Table(Arc::clone(&table)),
                since: found.meta.last_modified,
            }),
            Some(table),
        ))
    }

    /// Fails with `ErrorKind::TargetExists` if the prefix contains objects or folders that do not
    /// belong to releases with this layout. Readers that list folders would treat them as part of
    /// the release. With layout `plain`, the folders of runs also do not belong to the release.
    pub(crate) async fn check_strangers(&self, layout: Layout) -> Result<()> {
        let listed = self.place.store.list_with_delimiter(Some(&self.place.path)).await;
        let listed = listed.map_err(|e| self.failed("cannot list", &e))?;
        let objects = listed.objects.iter().filter_map(|meta| self.name(&meta.location));
        let folders = listed.common_prefixes.iter().filter_map(|path| self.name(path));
        let in_log = layout == Layout::Logged;
        let is_run = |folder: &str| layout != Layout::Plain && folder.starts_with(RUN);
        let is_own = |folder: &&str| *folder == OWN || in_log && is_log(folder) || is_run(folder);
        let strange = objects.filter(|name| in_log || ![MANIFEST, SUCCESS].contains(name));
        let strange = strange.chain(folders.filter(|folder| !is_own(folder)));
        let strange: Vec<String> = strange.map(|name| format!("{name:?}")).collect();
        if strange.is_empty() {
            return Ok(());
        }
        let more = match strange.len() - strange.len().min(TOLD) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let told = &strange[..strange.len().min(TOLD)];
        Err(Error::new(
            ErrorKind::TargetExists,
            format!(
                "{} contains entries that do not belong to a release of this kind: {}{more}; choose another prefix, \
                 or, if a killed run left them, VACUUM this one",
                self.place.url,
                told.join(", ")
            ),
        ))
    }
}
