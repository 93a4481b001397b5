//! The names of objects below a prefix.

use crate::data::folder::MANIFEST;
use chrono::{DateTime, Utc};
use datafusion::object_store::path::Path;

/// The arrangement of a release's files below its prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layout {
    /// A separate folder for each run. Readers use the manifest, and a release can be replaced.
    #[default]
    Runs,
    /// Directly below the prefix, for readers that list folders. A release cannot be replaced.
    Plain,
    /// A separate folder for each run, as data files of a table. The log of the table names its
    /// files.
    Logged,
}

/// The folder of all objects that are not data, such as leases.
pub(super) const OWN: &str = "_anonsql";
/// The folder of the leases.
pub(super) const RUNS: &str = "_anonsql/runs";
/// The prefix of the name of each run's folder.
pub(super) const RUN: &str = "run=";
/// The object that marks a complete release, for readers that list folders.
pub(super) const SUCCESS: &str = "_SUCCESS";

/// The number of random hexadecimal digits in a run's id.
const RANDOM: usize = 8;
/// The format of the start time in a run's id.
const TIME: &str = "%Y%m%dT%H%M%SZ";
/// The number of characters of the start time in a run's id.
const TIME_LENGTH: usize = 16;

/// Creates the id of a run: its start time and random digits.
pub(super) fn new_run(now: DateTime<Utc>) -> String {
    format!("{}{:08x}", now.format(TIME), rand::random::<u32>())
}

/// Returns the folder that contains a run's manifest, relative to the Delta table. Delta tools
/// delete all files that the log does not name, except in hidden folders. This folder is hidden;
/// the folder of the run's data files is not.
pub(super) fn beside_table(run: &str) -> String {
    format!("{OWN}/manifests/{run}/")
}

/// Returns the possible names of a run's manifest in a Delta table: the current name, and the name
/// that earlier versions of anonsql used.
pub(super) fn manifests_in_table(run: &str) -> [String; 2] {
    [Layout::Logged, Layout::Runs].map(|layout| layout.manifest(run))
}

/// Returns true if a text has the form of a run's id.
pub(super) fn is_run(id: &str) -> bool {
    let Some((time, random)) = id.split_at_checked(TIME_LENGTH) else {
        return false;
    };
    let is_digit = |c: char| c.is_ascii_hexdigit() && !c.is_ascii_uppercase();
    chrono::NaiveDateTime::parse_from_str(time, TIME).is_ok() && random.len() == RANDOM && random.chars().all(is_digit)
}

impl Layout {
    /// Returns the name of a run's manifest, relative to the prefix.
    pub(crate) fn manifest(self, run: &str) -> String {
        match self {
            Self::Logged => format!("{}{MANIFEST}", beside_table(run)),
            Self::Runs | Self::Plain => format!("{RUN}{run}/{MANIFEST}"),
        }
    }

    /// Returns the name of a run's file, relative to the prefix. `partition` is empty or ends in a
    /// slash.
    pub(super) fn file(self, run: &str, partition: &str, number: usize, sha256: &str, extension: &str) -> String {
        let digest = &sha256[..sha256.len().min(12)];
        match self {
            Self::Runs | Self::Logged => format!("{RUN}{run}/{partition}part-{number:05}-{digest}.{extension}"),
            // The run is a part of the name, because two runs may write the same bytes, and each
            // run deletes its own files.
            Self::Plain => format!("{partition}part-{number:05}-{digest}-{run}.{extension}"),
        }
    }
}

/// Returns true if a name is the name of a run's folder.
pub(crate) fn is_folder_of_run(name: &str) -> bool {
    name.strip_prefix(RUN).is_some_and(is_run)
}

/// Returns the id of the run to which an object belongs. `name` is the name of the object relative
/// to the prefix. Returns `None` if the object belongs to no run.
pub(super) fn run_of(name: &str) -> Option<&str> {
    let first = name.split('/').next()?;
    if let Some(run) = first.strip_prefix(RUN) {
        return Some(run).filter(|run| is_run(run));
    }
    if first == OWN {
        let run = name.split('/').nth(2)?;
        return Some(run).filter(|run| is_run(run) && name.starts_with(&beside_table(run)));
    }
    let last = name.rsplit('/').next()?;
    let (stem, _) = last.split_once('.')?;
    let run = stem.strip_prefix("part-")?.rsplit('-').next()?;
    Some(run).filter(|run| is_run(run))
}

/// Returns the name of the run's folder that contains a file. `name` is the name of the file
/// relative to the prefix. The result ends in a slash. It is empty if the file is not in a run's
/// folder.
pub(crate) fn folder_of_run(name: &str) -> String {
    match name.split_once('/') {
        Some((first, _)) if is_folder_of_run(first) => format!("{first}/"),
        _ => String::new(),
    }
}

/// Returns the id of the run to which a lease belongs. `name` is the name of the object relative to
/// the prefix. Returns `None` if the object is not a lease.
pub(super) fn run_of_lease(name: &str) -> Option<&str> {
    let run = name.strip_prefix(OWN)?.strip_prefix("/runs/")?.strip_suffix("/lease")?;
    Some(run).filter(|run| is_run(run))
}

/// Returns the path of a run's lease.
pub(super) fn lease(prefix: &Path, run: &str) -> Path {
    inside(prefix, &format!("{OWN}/runs/{run}/lease"))
}

/// Returns the path of an object below a prefix. `name` must already be encoded as a path.
pub(super) fn inside(prefix: &Path, name: &str) -> Path {
    let inside = name.split('/').filter(|part| !part.is_empty());
    // `Path::from_iter` would encode the parts a second time.
    let parts: Vec<&str> = prefix
        .as_ref()
        .split('/')
        .filter(|part| !part.is_empty())
        .chain(inside)
        .collect();
    let whole = parts.join("/");
    Path::parse(&whole).unwrap_or_else(|_| Path::from(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_tells_its_run() {
        let run = new_run(Utc::now());
        assert!(is_run(&run), "{run}");
        let digest = "0123456789abcdef";
        for (layout, partition) in [(Layout::Runs, ""), (Layout::Runs, "zip=1/"), (Layout::Plain, "zip=1/")] {
            let name = layout.file(&run, partition, 7, digest, "parquet");
            assert!(name.contains("part-00007-0123456789ab"), "{name}");
            assert_eq!(run_of(&name), Some(run.as_str()), "{name}");
        }
        for prefix in ["", "lü/a b", "x%20z/[a]#?*"] {
            let path = inside(&Path::parse(prefix).unwrap(), "run=1/part.parquet");
            assert_eq!(
                path.as_ref(),
                format!("{prefix}/run=1/part.parquet").trim_start_matches('/')
            );
        }
        for layout in [Layout::Runs, Layout::Logged] {
            let name = layout.manifest(&run);
            assert_eq!(run_of(&name), Some(run.as_str()), "{name}");
            assert!(manifests_in_table(&run).contains(&name) && run_of_lease(&name).is_none());
        }
        let own = lease(&Path::from("a/b"), &run);
        assert_eq!(run_of(own.as_ref().strip_prefix("a/b/").unwrap()), None);
        assert_eq!(own.as_ref(), format!("a/b/_anonsql/runs/{run}/lease"));
        assert_eq!(
            run_of_lease(own.as_ref().strip_prefix("a/b/").unwrap()),
            Some(run.as_str())
        );
        for name in [
            "part-00000.parquet",
            "run=x/part-1.parquet",
            "year=2025/part-00001-ab-cd.csv",
            "_manifest.json",
        ] {
            assert_eq!(run_of(name), None);
        }
    }
}
