//! Restores the lost manifest of a release in a Delta table.
//!
//! The log entry of the commit also contains the text of the manifest, and a property of the table
//! contains the checksum of this text. The entry exists as long as the table keeps its log. The
//! property is a part of every checkpoint.

use super::prefix::{LARGEST, Prefix, check_files, check_properties};
use super::properties::{NAMES_MANIFEST, SUM_OF_MANIFEST};
use crate::base::error::{Error, Result};
use crate::base::store::read_small;
use crate::data::folder::{parse_manifest, sha256};
use crate::data::formats::{At, RELEASE, find, kind_of, written_tables};
use datafusion::object_store::{self, PutMode, PutOptions};

/// The outcome of RESTORE MANIFEST.
#[derive(Debug)]
pub(crate) struct Restored {
    /// The path or URL of the manifest.
    pub(crate) manifest: String,
    /// The version of the table that contains the release.
    pub(crate) version: u64,
    /// The id of the run that wrote the release.
    pub(crate) run: String,
    /// Whether the manifest was missing. If false, it was left unchanged.
    pub(crate) was_lost: bool,
}

impl Prefix {
    /// Restores the manifest of a release in the Delta table at the prefix. Fails with
    /// `ErrorKind::Usage` if there is no table, or the version is not a release. Fails with
    /// `ErrorKind::Data` if the log no longer contains the manifest, or an existing manifest is
    /// different. Fails with `ErrorKind::Verification` if the files of the version or the
    /// properties of the table do not match the manifest.
    pub(crate) async fn restore_manifest(&self, at: &At) -> Result<Restored> {
        let url = self.url();
        let table = find(self.place(), at).await?;
        let table = table.ok_or_else(|| Error::usage(format!("there is no {} at {url}", written_tables())))?;
        let kind = kind_of(table.as_ref());
        let told = |name: &str| table.properties().get(name).cloned();
        let (Some(name), Some(run), Some(sum)) = (told(NAMES_MANIFEST), told(RELEASE), told(SUM_OF_MANIFEST)) else {
            return Err(Error::usage(format!(
                "version {} of the {kind} {url} is not a release of anonsql, and has no manifest",
                table.version()
            )));
        };
        let text = table.manifest_in_log(&run).await?.filter(|text| sha256(text) == sum);
        let text = text.ok_or_else(|| {
            Error::data(format!(
                "the log of the {kind} {url} does not have the manifest of run {run}: an earlier version of anonsql wrote \
                 the release, or the entry of the log was cleaned up; release again into another table"
            ))
        })?;
        let (manifest, _) = parse_manifest(text.as_bytes(), &format!("the manifest in the log of {url}"))?;
        check_files(&manifest, table.as_ref())?;
        check_properties(&manifest, &text, table.as_ref())?;
        table.files().await?;
        let path = self.file(&name)?;
        let put = self
            .store()
            .put_opts(&path, text.clone().into(), PutOptions::from(PutMode::Create));
        let was_lost = match put.await {
            Ok(_) => true,
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => false,
            Err(e) => return Err(self.failed("cannot write to", &e)),
        };
        if !was_lost {
            let what = format!("cannot read {url}{name}");
            let there = read_small(self.store().as_ref(), &path, LARGEST, &what).await?;
            if there.is_none_or(|there| there.bytes != text.as_bytes()) {
                return Err(Error::data(format!(
                    "{url}{name} is not the manifest that the table names; move it to another folder, and run the \
                     statement again"
                )));
            }
        }
        Ok(Restored {
            manifest: format!("{}{name}", self.place().name()),
            version: table.version(),
            run,
            was_lost,
        })
    }
}
