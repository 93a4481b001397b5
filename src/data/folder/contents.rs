//! Checks whether OVERWRITE or APPEND may replace a folder. This is allowed only if the folder is
//! empty, or the manifest in the folder names every other file in it.
//!
//! Anything else in a folder does not belong to the release, for example a table of the session, a
//! hierarchy, notes or `.git`. It is neither replaced nor removed. If a manifest names a path
//! outside its folder, the path is ignored: only entries of the folder are checked, and links are
//! not followed.

use super::manifest::MANIFEST;
use crate::base::error::{Error, ErrorKind, Result};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The maximum number of names that an error lists.
const TOLD: usize = 5;

/// The maximum number of attempts to list a folder while other runs replace it.
const ATTEMPTS: usize = 16;

/// The clause with which a statement replaces the folder of a release.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Replacing {
    /// OVERWRITE: another release replaces the folder.
    Overwrite,
    /// APPEND: the same release with more rows replaces the folder.
    Append,
}

/// Checks that `target` does not exist, or is a folder that is empty or contains only a release.
/// Otherwise, fails with `ErrorKind::TargetExists`; the error says what else is at the path.
pub(crate) fn check(target: &Path, replacing: Replacing) -> Result<()> {
    let refused = |why: String| {
        Err(Error::new(
            ErrorKind::TargetExists,
            format!("{} {why}", target.display()),
        ))
    };
    let unreadable = |e| Error::io(format!("cannot read {}", target.display()), e);
    let found = match fs::symlink_metadata(target) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => found.map_err(unreadable)?,
    };
    if found.is_symlink() {
        let to = fs::read_link(target).map_err(unreadable)?;
        let missing = if target.exists() { "" } else { ", which does not exist" };
        return refused(format!(
            "is a symbolic link to {}{missing}; name a folder",
            to.display()
        ));
    }
    if !found.is_dir() {
        return refused("is a file, and a release is a folder; choose another target".into());
    }
    let strangers = Contents::of(target).map_err(unreadable)?.strangers;
    if strangers.is_empty() {
        return Ok(());
    }
    let (why, advice) = match replacing {
        Replacing::Overwrite => (
            "OVERWRITE would delete it",
            "move it to another folder or choose another target",
        ),
        Replacing::Append => (
            "the folder that replaces this one would not contain it",
            "move it to another folder, and run the statement again",
        ),
    };
    refused(format!(
        "contains something that its manifest does not name, and {why}: {}; {advice}",
        named(strangers)
    ))
}

/// Fails with `ErrorKind::Io` if this folder or one of its parents is a file. The error names the
/// file.
pub(crate) fn check_folder(folder: &Path) -> Result<()> {
    let there = folder.ancestors().find(|around| fs::symlink_metadata(around).is_ok());
    match there.filter(|there| !there.is_dir()) {
        None => Ok(()),
        Some(file) => Err(Error::new(
            ErrorKind::Io,
            format!(
                "{} is a file, but must be a folder; choose another path, or move the file away",
                file.display()
            ),
        )),
    }
}

/// Returns up to [`TOLD`] of the paths, sorted and in quotes, and the number of the omitted paths.
pub(super) fn named(paths: impl IntoIterator<Item = PathBuf>) -> String {
    let mut names: Vec<String> = paths
        .into_iter()
        .map(|p| format!("{:?}", p.display().to_string()))
        .collect();
    names.sort();
    let more = names.len().saturating_sub(TOLD);
    names.truncate(TOLD);
    match more {
        0 => names.join(", "),
        more => format!("{} and {more} more", names.join(", ")),
    }
}

/// Returns the visible entries of a release's folder that do not belong to the release, but that
/// other readers would include when they list the folder: data files and folders.
pub(super) fn read_by_others(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let is_read = |path: &PathBuf| {
        let is_hidden = path.iter().any(|part| part.to_string_lossy().starts_with(['.', '_']));
        let is_data = path.extension().is_some_and(|e| e == "parquet" || e == "csv");
        !is_hidden && (is_data || folder.join(path).is_dir())
    };
    Ok(Contents::of(folder)?.strangers.into_iter().filter(is_read).collect())
}

/// Removes the files of a release, and its folder if the folder is then empty. Returns true if the
/// folder was removed.
pub(crate) fn remove(folder: &Path) -> io::Result<bool> {
    let contents = Contents::of(folder)?;
    for file in &contents.files {
        fs::remove_file(folder.join(file))?;
    }
    for inner in contents.folders.iter().rev() {
        unless_filled(fs::remove_dir(folder.join(inner)))?;
    }
    // The manifest is removed last, because it names the files that are left if the removal fails.
    if !Contents::of(folder)?.strangers.is_empty() {
        return Ok(false);
    }
    if contents.manifest {
        fs::remove_file(folder.join(MANIFEST))?;
    }
    unless_filled(fs::remove_dir(folder))
}

/// Returns true if the folder was removed, and false if it was not removed because it was not
/// empty.
fn unless_filled(removed: io::Result<()>) -> io::Result<bool> {
    match removed {
        Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
        removed => removed.map(|()| true),
    }
}

/// The files that a manifest names. Manifests of all versions have these fields.
#[derive(Deserialize)]
struct Named {
    output: Vec<NamedFile>,
    #[serde(default)]
    report: Option<PathBuf>,
}

#[derive(Deserialize)]
struct NamedFile {
    name: PathBuf,
}

/// Returns the text of the manifest; `None` if there is no manifest.
fn manifest(folder: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(folder.join(MANIFEST)) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory) => Ok(None),
        text => text.map(Some),
    }
}

/// The contents of a folder, as paths relative to it.
#[derive(Debug, Default)]
struct Contents {
    manifest: bool,
    /// The files that the manifest names, except the manifest itself.
    files: Vec<PathBuf>,
    /// The folders of these files, each before its subfolders.
    folders: Vec<PathBuf>,
    /// All other entries. A folder is listed without its contents.
    strangers: BTreeSet<PathBuf>,
}

impl Contents {
    /// Lists a folder. Another run may replace the folder at the same time, and the files of one
    /// release are strangers to the manifest of the other. Therefore, the folder is listed until
    /// the manifest is unchanged and two successive listings find the same strangers. Strangers in
    /// only one listing may be files of a release that was replaced in the meantime.
    fn of(folder: &Path) -> io::Result<Self> {
        let mut text = manifest(folder)?;
        let mut before = None;
        for _ in 0..ATTEMPTS {
            let contents = Self::by(text.as_deref(), folder);
            let now = manifest(folder)?;
            let strangers = contents.as_ref().ok().map(|contents| contents.strangers.clone());
            let is_sure = strangers.as_ref().is_none_or(BTreeSet::is_empty) || strangers == before;
            if now == text && is_sure {
                return contents;
            }
            (text, before) = (now, strangers);
        }
        Self::by(text.as_deref(), folder)
    }

    /// Classifies the contents of a folder by the text of its manifest. An invalid manifest names
    /// no files.
    fn by(text: Option<&[u8]>, folder: &Path) -> io::Result<Self> {
        let manifest: Option<Named> = text.and_then(|text| serde_json::from_slice(text).ok());
        let mut contents = Self {
            manifest: manifest.is_some(),
            ..Self::default()
        };
        let named: BTreeSet<PathBuf> = manifest
            .into_iter()
            .flat_map(|m| m.output.into_iter().map(|f| f.name).chain(m.report))
            .collect();
        let around = named
            .iter()
            .flat_map(|n| n.ancestors().skip(1))
            .map(Path::to_path_buf)
            .collect();
        contents.add(folder, Path::new(""), &named, &around)?;
        Ok(contents)
    }

    fn add(
        &mut self,
        folder: &Path,
        inner: &Path,
        named: &BTreeSet<PathBuf>,
        around: &BTreeSet<PathBuf>,
    ) -> io::Result<()> {
        for entry in fs::read_dir(folder.join(inner))? {
            let entry = entry?;
            let (path, kind) = (inner.join(entry.file_name()), entry.file_type()?);
            if kind.is_dir() && around.contains(&path) {
                self.folders.push(path.clone());
                self.add(folder, &path, named, around)?;
            } else if kind.is_file() && named.contains(&path) {
                self.files.push(path);
            } else if !(self.manifest && kind.is_file() && path == Path::new(MANIFEST)) {
                self.strangers.insert(path);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::time::Duration;

    /// Tests that a folder has no strangers while two releases swap places. Each listing finds the
    /// files of one of them.
    #[test]
    fn a_folder_that_is_exchanged_has_no_strangers() {
        let scratch = tempfile::tempdir().unwrap();
        let folders = ["one", "other"].map(|name| {
            let folder = scratch.path().join(name);
            fs::create_dir(&folder).unwrap();
            fs::write(folder.join(format!("{name}.parquet")), name).unwrap();
            fs::write(
                folder.join(MANIFEST),
                format!(r#"{{"output": [{{"name": "{name}.parquet"}}]}}"#),
            )
            .unwrap();
            folder
        });
        let exchanged = folders.clone();
        let exchanging = std::thread::spawn(move || {
            for _ in 0..300 {
                renameat_with(CWD, &exchanged[0], CWD, &exchanged[1], RenameFlags::EXCHANGE).unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        while !exchanging.is_finished() {
            let contents = Contents::of(&folders[0]).unwrap();
            assert!(contents.strangers.is_empty(), "{:?}", contents.strangers);
        }
        exchanging.join().unwrap();
    }
}
