//! What OVERWRITE may replace: a folder that holds what a manifest names, and nothing else.
//!
//! Whatever else is in a folder is somebody's: a table of the session, a hierarchy, notes, `.git`. It is neither replaced
//! nor removed. What a manifest names outside its folder is nobody's business here: only what is found in the folder is
//! looked at, and links are not followed.

use super::manifest::MANIFEST;
use crate::error::{Error, ErrorKind, Result};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// How many names an error tells.
const TOLD: usize = 5;

/// Fails where there is something else than a release, and names it.
pub(crate) fn check(target: &Path) -> Result<()> {
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
        let missing = if target.exists() { "" } else { ", which is not there" };
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
    let more = match strangers.len() - strangers.len().min(TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let told: Vec<String> = strangers
        .iter()
        .take(TOLD)
        .map(|p| format!("{:?}", p.display().to_string()))
        .collect();
    refused(format!(
        "holds what its manifest does not name, and OVERWRITE would delete it: {}{more}; move it away or choose another \
         target",
        told.join(", ")
    ))
}

/// Removes a release, and its folder when nothing else is in it. Answers whether that was so.
pub(crate) fn remove(folder: &Path) -> io::Result<bool> {
    let contents = Contents::of(folder)?;
    for file in &contents.files {
        fs::remove_file(folder.join(file))?;
    }
    for inner in contents.folders.iter().rev() {
        unless_filled(fs::remove_dir(folder.join(inner)))?;
    }
    // The manifest goes last: until then it says whose the rest is.
    if !Contents::of(folder)?.strangers.is_empty() {
        return Ok(false);
    }
    if contents.manifest {
        fs::remove_file(folder.join(MANIFEST))?;
    }
    unless_filled(fs::remove_dir(folder))
}

/// Whether a folder was removed; not when there is something in it.
fn unless_filled(removed: io::Result<()>) -> io::Result<bool> {
    match removed {
        Err(e) if e.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
        removed => removed.map(|()| true),
    }
}

/// What a manifest of any version says of what is in its folder.
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

impl Named {
    /// Nothing where there is no manifest, or something else by its name.
    fn by_manifest(folder: &Path) -> io::Result<Option<Self>> {
        match fs::read(folder.join(MANIFEST)) {
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::IsADirectory) => Ok(None),
            text => Ok(serde_json::from_slice(&text?).ok()),
        }
    }
}

/// What is in a folder, by its path there.
#[derive(Debug, Default)]
struct Contents {
    manifest: bool,
    /// The files that the manifest names, without itself.
    files: Vec<PathBuf>,
    /// The folders that they are in, each before those in it.
    folders: Vec<PathBuf>,
    /// Everything else; a folder without what is in it.
    strangers: BTreeSet<PathBuf>,
}

impl Contents {
    fn of(folder: &Path) -> io::Result<Self> {
        let manifest = Named::by_manifest(folder)?;
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
