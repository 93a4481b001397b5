//! Runs for a table in a local folder. The files of a run stay hidden until its commit, and the
//! next run removes the files of a killed run.
//!
//! Until it commits, a run keeps its files in `_anonsql/runs/<run>`, a folder that readers of
//! tables ignore, and locks this folder. Before the commit, the files are moved in one step to
//! `run=<run>`, next to the log. The folder of the run remains until the run has ended, so a folder
//! without a lock belongs to a killed run. The next run deletes the files of a killed run. It
//! deletes files next to the log only if no log entry names them.

use super::names::{OWN, RUN, RUNS, beside_table, is_run};
use super::prefix::Prefix;
use crate::base::error::{Error, Result};
use crate::data::folder::{create_private, hold};
use crate::data::formats::{Place, may_name};
use datafusion::object_store::path::Path as ObjectPath;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// The locked folder of a run.
#[derive(Debug)]
pub(super) struct Record {
    table: PathBuf,
    folder: PathBuf,
    run: String,
    /// Whether the run created the folder of the table.
    is_new: bool,
    _held: File,
}

impl Record {
    /// Begins a run for the table in a local folder. Also deletes the files of killed runs.
    pub(super) fn begin(table: PathBuf, run: &str) -> Result<Self> {
        let failed = |e| Error::io(format!("cannot write to {}", table.display()), e);
        // The files may belong to another user and then cannot be deleted. They stay hidden.
        let _ = sweep(&table);
        let is_new = !table.exists();
        fs::create_dir_all(table.join(RUNS)).map_err(failed)?;
        let folder = table.join(RUNS).join(run);
        create_private(&folder).map_err(failed)?;
        let held = hold(&folder).map_err(failed)?;
        let held = held.ok_or_else(|| failed(io::Error::other("another run removed the new folder")))?;
        Ok(Self {
            run: run.into(),
            is_new,
            folder,
            table,
            _held: held,
        })
    }

    /// Returns the prefix below which the run keeps its files until the commit.
    pub(super) fn at(&self, prefix: &Prefix) -> Prefix {
        let place = prefix.place();
        Prefix::at(Place {
            store: place.store.clone(),
            path: prefix.inside(&format!("{RUNS}/{}", self.run)),
            url: format!("{}{RUNS}/{}/", place.url, self.run),
        })
    }

    /// Moves the files of the run to a folder next to the log, and returns their new paths.
    pub(super) fn show(&self, prefix: &Prefix, written: &BTreeSet<ObjectPath>) -> Result<BTreeSet<ObjectPath>> {
        let name = format!("{RUN}{}", self.run);
        let to = self.table.join(&name);
        let moved = fs::rename(self.folder.join(&name), &to).and_then(|()| File::open(&self.table)?.sync_all());
        moved.map_err(|e| Error::io(format!("cannot put files into {}", to.display()), e))?;
        let at = self.at(prefix);
        let new = written.iter().filter_map(|path| Some(prefix.inside(at.name(path)?)));
        Ok(new.collect())
    }

    /// Removes the folder of the run, after its files were deleted or committed.
    pub(super) fn end(&self) {
        // If the folder cannot be removed, the next run removes it.
        let _ = fs::remove_dir_all(&self.folder);
        remove_if_empty(&self.table);
        if self.is_new {
            // This removes the folder only if it is empty, which means that there was no commit.
            let _ = fs::remove_dir(&self.table);
        }
    }
}

/// Removes the folder of all runs if it is empty.
fn remove_if_empty(table: &Path) {
    let _ = fs::remove_dir(table.join(RUNS)).and_then(|()| fs::remove_dir(table.join(OWN)));
}

/// Deletes the files of killed runs.
fn sweep(table: &Path) -> io::Result<()> {
    for entry in fs::read_dir(table.join(RUNS))? {
        let folder = entry?.path();
        let Some(run) = folder
            .file_name()
            .and_then(|name| name.to_str())
            .filter(|name| is_run(name))
        else {
            continue;
        };
        let Ok(Some(_held)) = hold(&folder) else {
            continue;
        };
        let left = [format!("{RUN}{run}"), beside_table(run)].map(|name| table.join(name));
        if left.iter().any(|folder| folder.is_dir()) && !may_name(table, run)? {
            for folder in left.iter().filter(|folder| folder.is_dir()) {
                fs::remove_dir_all(folder)?;
            }
        }
        fs::remove_dir_all(&folder)?;
    }
    remove_if_empty(table);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "_delta_log";
    const FIRST: &str = "00000000000000000000.json";
    const DEAD: &str = "20260101T000000Z00000001";
    const NAMED: &str = "20260101T000000Z00000002";
    const ALIVE: &str = "20260101T000000Z00000003";

    #[test]
    fn what_killed_runs_left_goes_and_nothing_else() {
        let scratch = tempfile::tempdir().unwrap();
        let table = scratch.path().to_path_buf();
        let alive = Record::begin(table.clone(), ALIVE).unwrap();
        for run in [DEAD, NAMED] {
            for folder in [
                format!("{RUNS}/{run}/{RUN}{run}"),
                format!("{RUN}{run}"),
                beside_table(run),
            ] {
                fs::create_dir_all(table.join(&folder)).unwrap();
                fs::write(table.join(folder).join("part-0.parquet"), "x").unwrap();
            }
        }
        fs::create_dir(table.join(LOG)).unwrap();
        fs::write(
            table.join(LOG).join(FIRST),
            format!("{{\"add\": \"{RUN}{NAMED}/part-0.parquet\"}}"),
        )
        .unwrap();
        fs::create_dir(table.join(format!("{RUN}other"))).unwrap();
        let next = Record::begin(table.clone(), "20260101T000000Z00000004").unwrap();
        let shown = |run: &str| table.join(format!("{RUN}{run}")).is_dir();
        assert!(!shown(DEAD) && shown(NAMED) && shown("other"));
        let manifest = |run: &str| table.join(beside_table(run));
        assert!(!manifest(DEAD).exists() && manifest(NAMED).is_dir());
        assert!(alive.folder.is_dir() && next.folder.is_dir());
        assert_eq!(fs::read_dir(table.join(RUNS)).unwrap().count(), 2);
        // After a cleanup of the log, it is unknown which files the removed entries named.
        drop(alive);
        fs::create_dir_all(table.join(format!("{RUN}{ALIVE}"))).unwrap();
        fs::rename(
            table.join(LOG).join(FIRST),
            table.join(LOG).join("00000000000000000009.json"),
        )
        .unwrap();
        sweep(&table).unwrap();
        assert!(shown(ALIVE) && !table.join(RUNS).join(ALIVE).exists());
        fs::remove_dir_all(manifest(NAMED).parent().unwrap()).unwrap();
        next.end();
        assert!(!table.join(OWN).exists());
    }
}
