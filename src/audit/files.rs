//! Checks the folder of a release: files that the manifest does not name, and content of files besides rows.
//!
//! A name in the manifest is looked up among the files that exist, and never followed: a manifest that names `../other`
//! or a link cannot make the check read anything outside its folder.

use super::check::{none_of, says};
use crate::error::{Error, Result};
use crate::folder::{Check, FileSummary, MANIFEST, Manifest};
use crate::source::has_header;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// The content of a folder.
#[derive(Default)]
pub(super) struct Contents {
    /// The paths of the files, relative to the folder.
    files: HashSet<String>,
    /// The number of links, empty folders and other things that are not files.
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
            // A link is neither a folder nor a file here, because its own type counts.
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

/// Checks the files by name, size and content, that the folder contains nothing else, and that the files contain only
/// rows.
pub(super) fn check(folder: &Path, manifest: &Manifest) -> Result<[Check; 3]> {
    let contents = Contents::of(folder)?;
    let mut named: HashMap<&str, &FileSummary> = HashMap::new();
    for file in manifest.output.iter().filter(|f| contents.files.contains(&f.name)) {
        named.insert(&file.name, file);
    }
    let (mut unchanged, mut tells_more) = (0, 0);
    for (name, file) in &named {
        let path = folder.join(name);
        let rows = rows_of_parquet(&path).or(file.rows);
        unchanged += u64::from(FileSummary::of(&path, (*name).to_string(), rows)? == **file);
        tells_more += u64::from(!has_only_rows(&path, name, manifest));
    }
    let is_named = |name: &&String| {
        named.contains_key(name.as_str()) || *name == MANIFEST || manifest.report.as_ref() == Some(name)
    };
    let unnamed = contents.files.iter().filter(|name| !is_named(name)).count() as u64;
    Ok([
        says("files", Some(manifest.output.len() as u64), Some(unchanged)),
        none_of(
            format!("files that {MANIFEST} does not name"),
            unnamed + contents.others,
        ),
        none_of("files that hold more than rows".into(), tells_more),
    ])
}

/// Returns the row count in a Parquet footer; `None` for other files.
fn rows_of_parquet(path: &Path) -> Option<u64> {
    let reader = SerializedFileReader::new(File::open(path).ok()?).ok()?;
    u64::try_from(reader.metadata().file_metadata().num_rows()).ok()
}

/// Returns true if a file contains only what a release contains: no additional metadata in the footer, no text in names
/// that readers ignore, no bytes between the parts that the footer lists.
fn has_only_rows(path: &Path, name: &str, manifest: &Manifest) -> bool {
    if name.ends_with(".csv") {
        return has_header(path, &manifest.columns_of_files());
    }
    is_plain_parquet(path, &format!("anonsql {}", manifest.version)).unwrap_or(false)
}

/// Returns true if a Parquet file contains only rows; `None` if it cannot be read.
fn is_plain_parquet(path: &Path, created_by: &str) -> Option<bool> {
    let mut file = File::open(path).ok()?;
    let bytes = file.seek(SeekFrom::End(-8)).ok()? + 8;
    let mut end = [0; 4];
    file.read_exact(&mut end).ok()?;
    let footer = u64::from(u32::from_le_bytes(end));
    let reader = SerializedFileReader::new(file).ok()?;
    let metadata = reader.metadata();
    let columns = metadata.row_groups().iter().flat_map(|g| g.columns());
    let data: u64 = columns.map(|c| c.compressed_size().unsigned_abs()).sum();
    let about = metadata.file_metadata();
    let no_metadata = about.key_value_metadata().is_none_or(Vec::is_empty);
    let own_names =
        about.created_by() == Some(created_by) && about.schema_descr().root_schema().name() == "arrow_schema";
    // The signature of 4 bytes is at both ends, and the size of the footer (4 bytes) is before the last.
    Some(no_metadata && own_names && bytes == 4 + data + footer + 8)
}
