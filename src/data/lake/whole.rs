//! Checks that the existing release below a prefix is complete. IF NOT EXISTS keeps a complete
//! release.

use super::names::{SUCCESS, folder_of_run};
use super::prefix::{Prefix, Standing};
use super::release::is_same;
use crate::base::error::{ErrorKind, Result};
use crate::data::folder::{FileSummary, MANIFEST, not_whole};
use datafusion::object_store::{self, ObjectMeta, ObjectStoreExt};
use futures::TryStreamExt;
use std::collections::{BTreeSet, HashMap};

impl Prefix {
    /// Fails with `ErrorKind::TargetExists` if the manifest of the existing release was changed, or
    /// its files differ from the manifest.
    pub(crate) async fn check_whole(&self, standing: &Standing) -> Result<()> {
        if !standing.is_sealed {
            return Err(not_whole(
                self.url(),
                format!("its {MANIFEST} was changed since it was written"),
            ));
        }
        if let Some(table) = standing.table() {
            // The manifest's files were already compared with those of the log when the manifest
            // was read.
            return match table.files().await {
                Err(e) if e.kind() == ErrorKind::Data => Err(not_whole(self.url(), e.message())),
                listed => listed.map(drop),
            };
        }
        let files = &standing.manifest.output;
        let folders: BTreeSet<String> = files.iter().map(|file| folder_of_run(&file.name)).collect();
        let mut listed: HashMap<String, ObjectMeta> = HashMap::new();
        for folder in &folders {
            let found = self
                .store()
                .list(Some(&self.inside(folder)))
                .try_collect::<Vec<_>>()
                .await;
            let found = found.map_err(|e| self.failed("cannot list", &e))?;
            listed.extend(
                found
                    .into_iter()
                    .filter_map(|meta| Some((self.name(&meta.location)?.to_string(), meta))),
            );
        }
        let other = |file: &&FileSummary| !listed.get(&file.name).is_some_and(|meta| is_same(file, meta));
        match files.iter().find(other) {
            None => Ok(()),
            Some(FileSummary { name, .. }) if !listed.contains_key(name) => Err(not_whole(
                self.url(),
                format!("{name:?}, which its {MANIFEST} names, is missing"),
            )),
            Some(FileSummary { name, .. }) => Err(not_whole(
                self.url(),
                format!("{name:?} differs from the file that its {MANIFEST} names"),
            )),
        }
    }

    /// Puts the object that marks a release with layout `plain` as complete, unless the object
    /// exists. A run that was killed after its commit may not have put it.
    pub(crate) async fn complete_plain(&self) -> Result<()> {
        let path = self.inside(SUCCESS);
        match self.store().head(&path).await {
            Ok(_) => Ok(()),
            Err(object_store::Error::NotFound { .. }) => {
                let put = self.store().put(&path, Vec::new().into()).await;
                put.map(drop).map_err(|e| self.failed("cannot write to", &e))
            }
            Err(e) => Err(self.failed("cannot read", &e)),
        }
    }
}
