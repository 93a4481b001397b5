//! A release in an object store, as its readers see it: the files that the manifest of its prefix
//! names.

use super::names::{OWN, SUCCESS, folder_of_run};
use super::prefix::{Prefix, Standing};
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::data::folder::{FileSummary, MANIFEST, Manifest};
use crate::data::formats::{At, Place};
use datafusion::execution::SessionState;
use datafusion::object_store::{ObjectMeta, ObjectStoreExt};
use futures::TryStreamExt;
use std::collections::HashMap;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};

/// The existing release below a prefix.
#[derive(Debug, Clone)]
pub(crate) struct StoredRelease {
    prefix: Prefix,
    standing: Standing,
}

impl StoredRelease {
    /// Reads the manifest of the release at an expanded URL; `None` if the URL has no release.
    pub(crate) async fn of(state: &SessionState, url: &str) -> Result<Option<Self>> {
        let prefix = Prefix::open(state, url)?;
        let standing = prefix.standing().await?;
        Ok(standing.map(|standing| Self { prefix, standing }))
    }

    /// Reads the manifest of a release in the Delta table at `place`. Returns `None` if there is no
    /// table, or its version is not a release.
    pub(crate) async fn in_table(place: Place, at: &At) -> Result<Option<Self>> {
        let prefix = Prefix::at(place);
        let (standing, _) = prefix.in_table(at).await?;
        Ok(standing.map(|standing| Self { prefix, standing }))
    }

    /// Returns the manifest of the release.
    pub(crate) fn manifest(&self) -> &Manifest {
        &self.standing.manifest
    }

    /// Returns true if the text of the manifest has not changed since it was written.
    pub(crate) fn is_sealed(&self) -> bool {
        self.standing.is_sealed
    }

    /// Returns the URL of the prefix, which ends in a slash.
    pub(crate) fn url(&self) -> &str {
        self.prefix.url()
    }

    /// Returns the URLs of the folders that contain the release's files, one for each run, in the
    /// order of the manifest. Each URL ends in a slash.
    pub(crate) fn folders(&self) -> Vec<String> {
        let runs = self.runs().into_iter();
        runs.map(|folder| format!("{}{folder}", self.prefix.url())).collect()
    }

    /// Returns the locations from which a DataFusion table reads the release: its files, or its
    /// folder if the release is partitioned. Fails with `ErrorKind::Usage` if a partitioned release
    /// has several folders.
    pub(crate) fn locations(&self) -> Result<Vec<String>> {
        if self.manifest().partitioned_by.is_empty() {
            let files = self.manifest().output.iter();
            return Ok(files
                .map(|file| format!("{}{}", self.prefix.url(), file.name))
                .collect());
        }
        match &self.folders()[..] {
            [folder] => Ok(vec![folder.clone()]),
            _ => Err(Error::usage(format!(
                "the release under {} has partitions in several batches, and a table reads only one folder; name the \
                 release as a path: SELECT ... FROM '{0}'",
                self.prefix.url()
            ))),
        }
    }

    /// Returns the folders that contain the release's files, relative to the prefix.
    fn runs(&self) -> Vec<String> {
        let mut folders: Vec<String> = vec![];
        for file in &self.manifest().output {
            let folder = folder_of_run(&file.name);
            if !folders.contains(&folder) {
                folders.push(folder);
            }
        }
        folders
    }

    /// Fails with `ErrorKind::Data` if the objects `listed` differ from the files that the manifest
    /// names.
    pub(crate) fn confirm(&self, listed: &[ObjectMeta]) -> Result<()> {
        let listed = listed
            .iter()
            .filter_map(|meta| Some((self.prefix.name(&meta.location)?, meta)));
        let listed: HashMap<&str, &ObjectMeta> = listed.collect();
        let named = self.manifest().output.iter();
        let is_there = |file: &&FileSummary| listed.get(file.name.as_str()).is_some_and(|meta| is_same(file, meta));
        if let Some(file) = named.clone().find(|file| !is_there(file)) {
            return Err(Error::data(format!(
                "{}{} is missing, or differs from the file that the manifest names; release again",
                self.prefix.url(),
                file.name
            )));
        }
        let names: Vec<&str> = named.map(|file| file.name.as_str()).collect();
        match listed.keys().find(|name| !names.contains(*name)) {
            Some(stranger) => Err(Error::data(format!(
                "{}{stranger} is in the folder of the release, and its manifest does not name it; move it to another \
                 folder",
                self.prefix.url()
            ))),
            None => Ok(()),
        }
    }

    /// Returns true if an object with this name, relative to the prefix, is a part of the release
    /// or of the protocol of runs.
    pub(crate) fn has(&self, name: &str) -> bool {
        let is_manifest = |folder: &String| name.strip_prefix(folder.as_str()) == Some(MANIFEST);
        let is_output = self.manifest().output.iter().any(|file| file.name == name);
        is_output || [MANIFEST, SUCCESS].contains(&name) || self.runs().iter().any(is_manifest) || is_of_protocol(name)
    }

    /// Returns the names of all objects in the folders of the release, relative to the prefix.
    pub(crate) async fn names(&self) -> Result<Vec<String>> {
        let mut names = vec![];
        for folder in self.runs() {
            let folder = self.prefix.inside(&folder);
            let listed = self.prefix.store().list(Some(&folder));
            let listed = listed.try_collect::<Vec<ObjectMeta>>().await;
            let listed = listed.map_err(|e| self.prefix.failed("cannot list", &e))?;
            let here = listed.iter().filter_map(|meta| self.prefix.name(&meta.location));
            names.extend(here.map(String::from));
        }
        Ok(names)
    }

    /// Copies an object of the release into the file `into`, and rewinds the file.
    pub(crate) async fn fetch(&self, name: &str, into: File) -> Result<File> {
        let failed = |e| self.prefix.failed("cannot read a file of", &e);
        let got = self
            .prefix
            .store()
            .get(&self.prefix.file(name)?)
            .await
            .map_err(failed)?;
        let (mut chunks, mut file) = (got.into_stream(), into);
        let unwritten = |e| Error::io("cannot write a temporary file", e);
        while let Some(chunk) = chunks.try_next().await.map_err(failed)? {
            let write = move || file.write_all(&chunk).map(|()| file).map_err(unwritten);
            file = blocking("writing a temporary file", write).await?;
        }
        file.seek(SeekFrom::Start(0)).map_err(unwritten)?;
        Ok(file)
    }
}

/// Returns true if an object belongs to the protocol of runs, and is therefore not data.
fn is_of_protocol(name: &str) -> bool {
    name.split('/').next() == Some(OWN)
}

/// Returns true if an object matches its description in the manifest.
pub(super) fn is_same(file: &FileSummary, meta: &ObjectMeta) -> bool {
    let bare = |tag: &String| tag.trim_matches('"').to_string();
    let tags = (file.e_tag.as_ref().map(bare), meta.e_tag.as_ref().map(bare));
    // A store may omit the e_tag from one of the two responses.
    let is_tagged = !matches!(&tags, (Some(one), Some(other)) if one != other);
    file.bytes == meta.size && is_tagged
}
