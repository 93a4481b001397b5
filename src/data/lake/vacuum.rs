//! Finds and deletes files below a prefix: the files of killed runs and of replaced releases, which
//! no manifest names.

use super::lease::{Lease, LeaseState};
use super::names::{RUNS, run_of, run_of_lease};
use super::prefix::{Prefix, Standing};
use crate::base::error::Result;
use crate::data::formats::is_log;
use chrono::{DateTime, Utc};
use datafusion::object_store::path::Path;
use datafusion::object_store::{self, ObjectMeta, ObjectStoreExt};
use futures::{StreamExt, TryStreamExt, stream};
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::time::Duration;

/// The default time for which files that no manifest names are kept.
pub(crate) const RETAIN: Duration = Duration::from_secs(24 * 60 * 60);
/// The time after its last renewal for which a run counts as alive. A run renews its lease several
/// times within this time.
pub(crate) const ALIVE: Duration = Duration::from_secs(180);
/// The time for which a run may still commit after it has sealed its lease.
const COMMITTING: Duration = Duration::from_secs(60 * 60);
/// The maximum number of objects that are deleted at the same time.
const AT_ONCE: usize = 16;

/// The reason why the files of a run are no longer needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// The run ended without a release.
    Orphan,
    /// Another release replaced the run's release.
    Replaced,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Orphan => "orphan",
            Self::Replaced => "replaced",
        })
    }
}

/// The files of an ended run that are no longer needed.
#[derive(Debug)]
pub(crate) struct Left {
    /// The id of the run.
    pub(crate) run: String,
    /// The reason why the files are no longer needed.
    pub(crate) why: Why,
    /// The number of files.
    pub(crate) files: u64,
    /// The size of the files in bytes.
    pub(crate) bytes: u64,
    objects: Vec<Path>,
    lease: Option<Lease>,
}

impl Left {
    /// Returns true if the run has a lease and has not begun to commit.
    fn is_of_open_run(&self) -> bool {
        self.lease
            .as_ref()
            .is_some_and(|lease| lease.state() == LeaseState::Open)
    }
}

/// The objects of a run.
#[derive(Default)]
struct Found {
    files: Vec<ObjectMeta>,
    has_lease: bool,
}

/// Finds files that can be deleted: files that have not been needed for at least the time `retain`,
/// and whose runs have not renewed their leases for at least the time `alive`.
pub(crate) async fn left(prefix: &Prefix, retain: Duration, alive: Duration) -> Result<Vec<Left>> {
    let listed = prefix.store().list(Some(prefix.path())).try_collect::<Vec<_>>().await;
    let listed = listed.map_err(|e| prefix.failed("cannot list", &e))?;
    let mut runs: BTreeMap<String, Found> = BTreeMap::new();
    let is_in_log = |meta: &ObjectMeta| {
        let folder = prefix.name(&meta.location).and_then(|name| name.split('/').next());
        folder.is_some_and(is_log)
    };
    // Below a table, only runs with an open lease are considered. Any other run may have committed
    // its files to the log, and the tools of the table's format delete such files.
    let is_table = listed.iter().any(is_in_log);
    for meta in listed {
        let Some(name) = prefix.name(&meta.location) else {
            continue;
        };
        if let Some(run) = run_of_lease(name) {
            runs.entry(run.into()).or_default().has_lease = true;
        } else if let Some(run) = run_of(name) {
            runs.entry(run.into()).or_default().files.push(meta);
        }
    }
    if runs.is_empty() {
        return Ok(vec![]);
    }
    let now = prefix.clock().await?;
    // The manifest is read after the listing. A listed run without a lease has therefore committed
    // by now, or will never commit.
    let standing = prefix.standing().await?;
    let needs = Needs {
        named: standing.iter().flat_map(named).collect(),
        standing: standing.as_ref(),
        now,
        retain,
        alive,
    };
    let mut all = vec![];
    for (run, found) in runs.iter().filter(|(_, found)| found.has_lease || !is_table) {
        if let Some(left) = needs.left(prefix, run, found).await?
            // A run that has begun to commit to a log may have been committed.
            && (!is_table || left.is_of_open_run())
        {
            all.push(left);
        }
    }
    Ok(all)
}

/// Returns the ids of the runs whose files the manifest names, and of the run that wrote it.
fn named(standing: &Standing) -> impl Iterator<Item = &str> {
    let manifest = &standing.manifest;
    manifest
        .output
        .iter()
        .filter_map(|file| run_of(&file.name))
        .chain(manifest.run.as_deref())
}

/// The data that decide whether the files of a run are still needed.
struct Needs<'a> {
    /// The ids of the runs that the manifest of the current release names.
    named: HashSet<&'a str>,
    /// The current release.
    standing: Option<&'a Standing>,
    now: DateTime<Utc>,
    /// The time for which files that are not needed are kept.
    retain: Duration,
    /// The time after its last renewal for which a run counts as alive.
    alive: Duration,
}

impl Needs<'_> {
    /// Returns the files of a run; `None` if they may still be needed.
    async fn left(&self, prefix: &Prefix, run: &str, found: &Found) -> Result<Option<Left>> {
        let lease = match found.has_lease {
            true => Lease::read(prefix, run).await?,
            false => None,
        };
        let is_named = self.named.contains(run);
        if found.has_lease && lease.is_none() || is_named && lease.is_none() {
            // The run has just ended, or belongs to the current release.
            return Ok(None);
        }
        let (now, retain) = (self.now, self.retain);
        let newest = found.files.iter().map(|meta| meta.last_modified).max();
        let (since, least, why) = match (&lease, self.standing) {
            (Some(lease), _) if lease.state() == LeaseState::Open => {
                (lease.changed(), retain.max(self.alive), Why::Orphan)
            }
            // The outcome of the commit may have been unknown, and the run's release may have been
            // replaced since.
            (Some(lease), standing) => {
                let since = standing.map_or(lease.changed(), |standing| standing.since.max(lease.changed()));
                (since, retain.max(COMMITTING), Why::Orphan)
            }
            (None, Some(standing)) => (
                newest.max(Some(standing.since)).unwrap_or(standing.since),
                retain,
                Why::Replaced,
            ),
            (None, None) => (newest.unwrap_or(now), retain, Why::Orphan),
        };
        if (now - since).to_std().unwrap_or_default() < least {
            return Ok(None);
        }
        // If the run belongs to the current release, only its lease is no longer needed.
        let files: &[ObjectMeta] = if is_named { &[] } else { &found.files };
        Ok(Some(Left {
            run: run.to_string(),
            why,
            files: files.len() as u64,
            bytes: files.iter().map(|meta| meta.size).sum(),
            objects: files.iter().map(|meta| meta.location.clone()).collect(),
            lease,
        }))
    }
}

/// Deletes the files of an ended run. Returns false if the run turns out to be alive.
pub(crate) async fn remove(prefix: &Prefix, mut left: Left) -> Result<bool> {
    if let Some(lease) = &mut left.lease
        && !lease.abandon().await?
    {
        return Ok(false);
    }
    // The lease is deleted last, because it records that the run may have left files.
    for paths in [
        left.objects,
        left.lease.map(|lease| lease.path().clone()).into_iter().collect(),
    ] {
        let delete = |path: Path| async move {
            match prefix.store().delete(&path).await {
                Err(object_store::Error::NotFound { .. }) => Ok(()),
                deleted => deleted.map_err(|e| prefix.failed("cannot delete from", &e)),
            }
        };
        stream::iter(paths)
            .map(delete)
            .buffer_unordered(AT_ONCE)
            .try_collect::<Vec<()>>()
            .await?;
    }
    Ok(true)
}

/// Deletes the files of ended runs that have not been needed for at least [`RETAIN`].
pub(super) async fn sweep(prefix: &Prefix) -> Result<()> {
    for left in left(prefix, RETAIN, ALIVE).await? {
        remove(prefix, left).await?;
    }
    Ok(())
}

/// Deletes the files of dead runs below a prefix that has no release. Returns the number of runs
/// that may be alive.
pub(crate) async fn clear(prefix: &Prefix, alive: Duration) -> Result<usize> {
    for left in left(prefix, Duration::ZERO, alive).await? {
        // Files without a lease may be a copy that a user made.
        if left.lease.is_some() {
            remove(prefix, left).await?;
        }
    }
    let listed = prefix
        .store()
        .list(Some(&prefix.inside(RUNS)))
        .try_collect::<Vec<_>>()
        .await;
    let listed = listed.map_err(|e| prefix.failed("cannot list", &e))?;
    let names = listed.iter().filter_map(|meta| prefix.name(&meta.location));
    Ok(names.filter_map(run_of_lease).count())
}
