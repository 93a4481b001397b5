//! Checks the folder of a release: whether it contains files that the manifest does not name, and
//! whether its files contain anything besides rows.
//!
//! The check only looks for a name from the manifest among the files that exist, and never opens a
//! path that the manifest gives. A manifest that names `../other` or a link cannot make the check
//! read a file outside its folder.

use super::check::{none_of, says};
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::data::folder::{Check, FileSummary, MANIFEST, Manifest};
use crate::data::lake::StoredRelease;
use crate::data::source::has_header;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The content of a folder and all its subfolders.
#[derive(Default)]
pub(super) struct Contents {
    /// The paths of the files, relative to the folder.
    files: HashSet<String>,
    /// The number of entries that are not files, such as links and empty folders.
    others: u64,
}

impl Contents {
    pub(super) fn of(folder: &Path) -> Result<Self> {
        let mut contents = Self::default();
        contents.add(folder, folder)?;
        Ok(contents)
    }

    fn add(&mut self, root: &Path, folder: &Path) -> Result<()> {
        let failed = |e| Error::io(format!("cannot read {}", folder.display()), e);
        let mut is_empty = true;
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(failed)?);
            is_empty = false;
            // A link counts as neither a folder nor a file, because `kind` is the type of the link
            // itself.
            if kind.is_dir() {
                self.add(root, &path)?;
            } else if kind.is_file() {
                let name = path.strip_prefix(root).unwrap_or(&path);
                self.files.insert(name.to_string_lossy().into_owned());
            } else {
                self.others += 1;
            }
        }
        self.others += u64::from(is_empty);
        Ok(())
    }
}

/// Returns the paths of the files in a folder, relative to the folder.
pub(super) fn names(folder: &Path) -> Result<HashSet<String>> {
    Ok(Contents::of(folder)?.files)
}

/// Checks three properties: the files match the manifest by name, size and content, the folder
/// contains nothing else, and the files contain only rows.
pub(super) fn check(folder: &Path, manifest: &Manifest) -> Result<[Check; 3]> {
    let contents = Contents::of(folder)?;
    let mut found = Found::default();
    for file in named(manifest, |name| contents.files.contains(name)) {
        let path = folder.join(&file.name);
        let failed = |e| Error::io(format!("cannot read {}", path.display()), e);
        found.look(File::open(&path).map_err(failed)?, file, manifest)?;
    }
    let unnamed = contents.files.iter().filter(|name| !is_named(name, manifest)).count() as u64;
    Ok(found.checks(manifest, unnamed + contents.others))
}

/// Checks the files of a release in an object store like [`check`]. Each file is copied to a file
/// that `temporary` creates.
pub(super) async fn check_stored(release: &StoredRelease, temporary: impl Fn() -> Result<File>) -> Result<[Check; 3]> {
    let manifest = release.manifest();
    let names: HashSet<String> = release.names().await?.into_iter().collect();
    let mut found = Found::default();
    for file in named(manifest, |name| names.contains(name)) {
        let copy = release.fetch(&file.name, temporary()?).await?;
        let (own, file) = (manifest.clone(), file.clone());
        let look = move || found.look(copy, &file, &own).map(|()| found);
        found = blocking("summing up a file", look).await?;
    }
    let unnamed = names.iter().filter(|name| !release.has(name)).count() as u64;
    Ok(found.checks(manifest, unnamed))
}

/// Returns the files that a manifest names and that exist. Each name is returned once.
fn named(manifest: &Manifest, is_there: impl Fn(&str) -> bool) -> impl Iterator<Item = &FileSummary> {
    let there = manifest.output.iter().filter(|file| is_there(&file.name));
    let by_name: BTreeMap<&str, &FileSummary> = there.map(|file| (file.name.as_str(), file)).collect();
    by_name.into_values()
}

fn is_named(name: &str, manifest: &Manifest) -> bool {
    let is_output = manifest.output.iter().any(|file| file.name == name);
    is_output || name == MANIFEST || manifest.report.as_deref() == Some(name)
}

/// Counts of the files of a release that were checked.
#[derive(Default, Clone, Copy)]
struct Found {
    /// The number of files that match the manifest.
    unchanged: u64,
    /// The number of files that contain more than rows.
    tells_more: u64,
}

impl Found {
    fn look(&mut self, mut file: File, named: &FileSummary, manifest: &Manifest) -> Result<()> {
        let failed = |e| Error::io(format!("cannot read {}", named.name), e);
        let rows = rows_of_parquet(&file).or(named.rows);
        file.rewind().map_err(failed)?;
        let summary = FileSummary {
            // The e-tag and version of an object were compared when it was opened.
            e_tag: named.e_tag.clone(),
            version: named.version.clone(),
            ..FileSummary::read(&file, named.name.clone(), rows, failed)?
        };
        self.unchanged += u64::from(summary == *named);
        file.rewind().map_err(failed)?;
        self.tells_more += u64::from(!has_only_rows(file, &named.name, manifest));
        Ok(())
    }

    fn checks(self, manifest: &Manifest, unnamed: u64) -> [Check; 3] {
        [
            says("files", Some(manifest.output.len() as u64), Some(self.unchanged)),
            none_of(format!("files that {MANIFEST} does not name"), unnamed),
            none_of("files that hold more than rows".into(), self.tells_more),
        ]
    }
}

/// Returns the row count in a Parquet footer; `None` for other files.
fn rows_of_parquet(file: &File) -> Option<u64> {
    let reader = SerializedFileReader::new(file.try_clone().ok()?).ok()?;
    u64::try_from(reader.metadata().file_metadata().num_rows()).ok()
}

/// Returns true if a file contains only what a release contains: there is no additional metadata in
/// the footer, no additional text in names that readers ignore, and no bytes between the parts that
/// the footer lists.
fn has_only_rows(file: File, name: &str, manifest: &Manifest) -> bool {
    if name.ends_with(".csv") {
        return has_header(file, &manifest.columns_of_files());
    }
    is_plain_parquet(file, manifest).unwrap_or(false)
}

/// Returns true if a Parquet file contains only rows, and if its footer is the footer that the
/// manifest specifies for every file; `None` if the file cannot be read.
fn is_plain_parquet(mut file: File, manifest: &Manifest) -> Option<bool> {
    let bytes = file.seek(SeekFrom::End(-8)).ok()? + 8;
    let mut end = [0; 4];
    file.read_exact(&mut end).ok()?;
    let footer = u64::from(u32::from_le_bytes(end));
    let reader = SerializedFileReader::new(file).ok()?;
    let metadata = reader.metadata();
    let columns = metadata.row_groups().iter().flat_map(|g| g.columns());
    let data: u64 = columns.map(|c| c.compressed_size().unsigned_abs()).sum();
    let about = metadata.file_metadata();
    let said = about.key_value_metadata().into_iter().flatten();
    let said: Vec<(&str, Option<&str>)> = said.map(|pair| (pair.key.as_str(), pair.value.as_deref())).collect();
    let known = manifest
        .footer
        .iter()
        .map(|(key, value)| (key.as_str(), Some(value.as_str())));
    let is_known = said == known.collect::<Vec<_>>();
    let versions = manifest.all_batches().into_iter().map(|batch| batch.version);
    let mut created_by = versions.map(|version| format!("anonsql {version}"));
    let is_ours = about.created_by().is_some_and(|name| created_by.any(|own| own == name));
    let own_names = is_ours && about.schema_descr().root_schema().name() == "arrow_schema";
    // The magic number (4 bytes) is at both ends of the file. The length of the footer (4 bytes)
    // precedes the second magic number.
    Some(is_known && own_names && bytes == 4 + data + footer + 8)
}
