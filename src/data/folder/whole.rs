//! Decides whether a folder contains a complete release, which IF NOT EXISTS keeps.
//!
//! An empty folder is not a release; a scheduler or a person may have created it in advance. Any
//! other content that is not a complete release may still be needed. It is neither accepted as the
//! release nor overwritten.

use super::contents::{Replacing, check as check_replaceable, named, read_by_others};
use super::manifest::{MANIFEST, Manifest};
use crate::base::error::{Error, ErrorKind, Result};
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::Path;

/// Returns the error for a path that contains something other than a complete release. `found`
/// describes the content.
pub(crate) fn not_whole(place: impl Display, found: impl Display) -> Error {
    Error::new(
        ErrorKind::TargetExists,
        format!(
            "{place} exists and is not a whole release: {found}; examine it, and move it to another folder or choose \
             another target"
        ),
    )
}

/// Returns true if the path does not exist, is a file, or is an empty folder.
pub(crate) fn is_free(folder: &Path) -> Result<bool> {
    match fs::read_dir(folder) {
        Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(true),
        entries => match entries.and_then(|mut entries| entries.next().transpose()) {
            Ok(first) => Ok(first.is_none()),
            Err(e) => Err(Error::io(format!("cannot read {}", folder.display()), e)),
        },
    }
}

/// Returns the manifest of the complete release in `folder`; `None` if the folder is empty or
/// missing. Fails with `ErrorKind::TargetExists` for any other content, which the error describes.
pub(crate) fn whole(folder: &Path) -> Result<Option<Manifest>> {
    if is_free(folder)? {
        // A file or a symbolic link is an error here.
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
            "it has no {MANIFEST}, but contains {}",
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
                return refused(format!("{name:?}, which its {MANIFEST} names, is missing"));
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
            "its {MANIFEST} does not name {}, which readers of the folder would include",
            named(strangers)
        )),
    }
}
