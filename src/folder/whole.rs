//! Decides whether a folder contains a whole release, which IF NOT EXISTS keeps.
//!
//! A folder without entries is not a release: a scheduler or a person made it for a release.
//! Anything else that is not a whole release may still be needed. It is neither kept as if it were
//! the release, nor overwritten.

use super::contents::{Replacing, check as check_replaceable, named, read_by_others};
use super::manifest::{MANIFEST, Manifest};
use crate::error::{Error, ErrorKind, Result};
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::Path;

/// Returns the error for a place that contains something other than a whole release.
pub(crate) fn not_whole(place: impl Display, found: impl Display) -> Error {
    Error::new(
        ErrorKind::TargetExists,
        format!(
            "{place} exists and is not a whole release: {found}; look at it, and move it away or choose another target"
        ),
    )
}

/// Returns true if there is nothing at this path, or a folder without entries.
pub(crate) fn is_free(folder: &Path) -> Result<bool> {
    match fs::read_dir(folder) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(true),
        entries => match entries.and_then(|mut entries| entries.next().transpose()) {
            Ok(first) => Ok(first.is_none()),
            Err(e) => Err(Error::io(format!("cannot read {}", folder.display()), e)),
        },
    }
}

/// Returns the manifest of the whole release in `folder`; `None` if the folder is empty or missing.
/// Fails with `ErrorKind::TargetExists` and a description if there is anything else.
pub(crate) fn whole(folder: &Path) -> Result<Option<Manifest>> {
    if is_free(folder)? {
        // For a file or a link, the error is that it is not a folder.
        return check_replaceable(folder, Replacing::Overwrite).map(|()| None);
    }
    let refused = |found: String| Err(not_whole(folder.display(), found));
    let unreadable = |e| Error::io(format!("cannot read {}", folder.display()), e);
    let found = match Manifest::read_sealed(folder) {
        Err(e) if e.kind() == ErrorKind::Data => return refused(e.message().into()),
        found => found?,
    };
    let Some((manifest, is_sealed)) = found else {
        let entries = fs::read_dir(folder).map_err(unreadable)?;
        let names: io::Result<Vec<_>> = entries.map(|entry| Ok(entry?.file_name().into())).collect();
        return refused(format!(
            "it has no {MANIFEST}, and holds {}",
            named(names.map_err(unreadable)?)
        ));
    };
    if !is_sealed {
        return refused(format!("its {MANIFEST} was changed since it was written"));
    }
    for file in &manifest.output {
        let name = &file.name;
        match fs::symlink_metadata(folder.join(name)) {
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return refused(format!("{name:?}, which its {MANIFEST} names, is gone"));
            }
            Err(e) => return Err(Error::io(format!("cannot read {}", folder.join(name).display()), e)),
            Ok(there) if !there.is_file() => return refused(format!("{name:?} is not a file")),
            Ok(there) if there.len() != file.bytes => {
                let (has, said) = (there.len(), file.bytes);
                return refused(format!("{name:?} has {has} bytes, and its {MANIFEST} says {said}"));
            }
            Ok(_) => {}
        }
    }
    let strangers = read_by_others(folder).map_err(unreadable)?;
    match strangers.is_empty() {
        true => Ok(Some(manifest)),
        false => refused(format!(
            "its {MANIFEST} does not name {}, which readers of the folder take for rows of it",
            named(strangers)
        )),
    }
}
