//! The background task of a run. While the run works, the task renews its lease. After a run
//! without a commit, the task deletes the files of the run.
//!
//! A failed run is dropped, and `drop` cannot wait for requests. Therefore, a separate task does
//! the remaining work. A statement waits for the task of its own run. Before a command ends, it
//! waits for the tasks of all runs in its session ([`Keeper::cleaned_up`]).

use super::lease::Lease;
use super::record::Record;
use super::shared::{RunOutcome, SharedRun};
use crate::base::pool::blocking;
use datafusion::object_store::ObjectStoreExt;
use datafusion::object_store::path::Path;
use datafusion::prelude::SessionConfig;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::time::{MissedTickBehavior, interval, timeout};

/// The interval at which a lease is renewed.
pub(super) const RENEWAL: Duration = Duration::from_secs(20);

/// A counter of runs that have ended, but are not cleaned up yet. It counts either all runs of a
/// session or a single run. The keeper of a session is an extension of the session's configuration.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keeper(Arc<watch::Sender<usize>>);

impl Keeper {
    /// Adds a keeper to a session's configuration, unless it already has one.
    pub(crate) fn set(config: &mut SessionConfig) {
        if config.get_extension::<Self>().is_none() {
            config.set_extension(Arc::new(Self::default()));
        }
    }

    /// Returns the keeper of a session, or a new keeper if the session has none.
    pub(crate) fn of(config: &SessionConfig) -> Self {
        let own = config.get_extension::<Self>();
        own.map_or_else(Self::default, |own| own.as_ref().clone())
    }

    /// Waits until all objects that the ended runs left in stores are deleted, or until `patience`
    /// has passed. A later run or VACUUM deletes the rest.
    pub(crate) async fn cleaned_up(&self, patience: Duration) {
        let mut ending = self.0.subscribe();
        let none = ending.wait_for(|n| *n == 0);
        // Files that are not deleted in time are treated like those of a killed run.
        let _ = timeout(patience, none).await;
    }
}

/// A run that has ended, but is not cleaned up yet. It is counted by its own keeper and by the
/// keeper of the session.
#[derive(Debug)]
pub(super) struct Ending([Keeper; 2]);

impl Ending {
    /// Records the end of a run. Each keeper counts the run until this value is dropped.
    pub(super) fn begin(keepers: [Keeper; 2]) -> Self {
        keepers
            .iter()
            .for_each(|Keeper(ending)| ending.send_modify(|n| *n += 1));
        Self(keepers)
    }
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.iter().for_each(|Keeper(ending)| ending.send_modify(|n| *n -= 1));
    }
}

/// Renews the lease of a run until the run ends. Then deletes the files of the run if it was not
/// committed, and deletes the lease. If it is unknown whether the run was committed, deletes
/// neither. `busy` closes when no part of the run writes to the store any more.
pub(super) async fn keep(
    shared: Arc<SharedRun>,
    lease: Option<Arc<Mutex<Lease>>>,
    mut ended: oneshot::Receiver<Ending>,
    mut busy: mpsc::Receiver<()>,
) {
    let mut ticks = interval(RENEWAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let ending = loop {
        tokio::select! {
            ending = &mut ended => break ending,
            _ = ticks.tick() => {
                if let Some(lease) = &lease {
                    // An error needs no handling here: if another process has taken over the lease,
                    // the run cannot seal it, and therefore cannot commit.
                    let _ = lease.lock().await.renew().await;
                }
            }
        }
    };
    while busy.recv().await.is_some() {}
    let outcome = *shared.outcome.lock();
    if outcome == RunOutcome::Unknown {
        return;
    }
    let written: Vec<Path> = match outcome {
        RunOutcome::Open => written(&shared).await,
        _ => vec![],
    };
    let mut is_clean = true;
    for path in &written {
        is_clean &= !matches!(
            shared.prefix.store().delete(path).await,
            Err(e) if !matches!(e, datafusion::object_store::Error::NotFound { .. })
        );
    }
    if let Some(root) = shared.prefix.place().local() {
        let shared = Arc::clone(&shared);
        let remove = move || {
            remove_folders(&root, &written);
            shared.record.iter().for_each(Record::end);
            Ok(())
        };
        // An empty folder that cannot be removed does no harm.
        let _ = blocking("removing empty folders", remove).await;
    }
    if let (true, Some(lease)) = (is_clean, &lease) {
        // The lease is deleted last, because it records that the run may have left files.
        let _ = shared.prefix.store().delete(lease.lock().await.path()).await;
    }
    drop(ending);
}

/// Returns the paths of all objects that the run has put, or may have put.
async fn written(shared: &SharedRun) -> Vec<Path> {
    let own: Vec<Path> = shared.written.lock().iter().cloned().collect();
    if shared.is_lent.load(std::sync::atomic::Ordering::Relaxed) {
        // VACUUM finds the files that cannot be listed now.
        let others = shared.landed().await;
        return own.into_iter().chain(others.unwrap_or_default()).collect();
    }
    own
}

/// Removes the folders below `root` that became empty when `files` were deleted. Only file systems
/// have folders; object stores do not.
fn remove_folders(root: &std::path::Path, files: &[Path]) {
    for file in files {
        let file = PathBuf::from(format!("/{file}"));
        let folders = file.ancestors().skip(1);
        for folder in folders.take_while(|folder| *folder != root && folder.starts_with(root)) {
            if std::fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
}
