//! The task beside a run: it renews the lease while the run works, and deletes what the run leaves.
//!
//! A run that fails is dropped, and dropping cannot wait. So a separate task does the remaining
//! work. A statement waits for the task of its own run, and a command that ends waits for all tasks
//! of its session ([`Keeper::cleaned_up`]).

use super::lease::Lease;
use super::record::Record;
use super::shared::{Outcome, Shared};
use crate::pool::blocking;
use datafusion::object_store::ObjectStoreExt;
use datafusion::object_store::path::Path;
use datafusion::prelude::SessionConfig;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Mutex, mpsc, oneshot, watch};
use tokio::time::{MissedTickBehavior, interval, timeout};

/// How often a lease is renewed.
pub(super) const RENEWAL: Duration = Duration::from_secs(20);

/// The number of runs that have ended and are not cleaned up yet. It counts either all runs of a
/// session, whose configuration contains the keeper, or a single run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keeper(Arc<watch::Sender<usize>>);

impl Keeper {
    /// Gives a session a keeper, unless it has one.
    pub(crate) fn set(config: &mut SessionConfig) {
        if config.get_extension::<Self>().is_none() {
            config.set_extension(Arc::new(Self::default()));
        }
    }

    /// Returns the keeper of a session; a new one if the session has none.
    pub(crate) fn of(config: &SessionConfig) -> Self {
        let own = config.get_extension::<Self>();
        own.map_or_else(Self::default, |own| own.as_ref().clone())
    }

    /// Waits until everything that the ended runs left in stores is deleted, but not longer than
    /// `patience`. What is left then is deleted by a later run or by VACUUM.
    pub(crate) async fn cleaned_up(&self, patience: Duration) {
        let mut ending = self.0.subscribe();
        let none = ending.wait_for(|n| *n == 0);
        // A run whose files are not deleted in time is like one that was killed.
        let _ = timeout(patience, none).await;
    }
}

/// A run that has ended and is not cleaned up yet, with the keepers that count it.
#[derive(Debug)]
pub(super) struct Ending([Keeper; 2]);

impl Ending {
    /// Records that a run has ended. Each of these keepers counts it until it is cleaned up.
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

/// Keeps a run alive until it ends. Then deletes its lease, and also its files unless the run was
/// committed. `busy` ends when nothing writes to the store any more.
pub(super) async fn keep(
    shared: Arc<Shared>,
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
                    // A lease that cannot be renewed is noticed when it is sealed: nothing is
                    // committed without it.
                    let _ = lease.lock().await.renew().await;
                }
            }
        }
    };
    while busy.recv().await.is_some() {}
    let outcome = *shared.outcome.lock();
    if outcome == Outcome::Unknown {
        return;
    }
    let written: Vec<Path> = match outcome {
        Outcome::Open => written(&shared).await,
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
        // An empty folder that is left behind does no harm.
        let _ = blocking("removing empty folders", remove).await;
    }
    if let (true, Some(lease)) = (is_clean, &lease) {
        // The lease records that there may be files, so it is deleted last.
        let _ = shared.prefix.store().delete(lease.lock().await.path()).await;
    }
    drop(ending);
}

/// Returns all objects that were put, or may have been put.
async fn written(shared: &Shared) -> Vec<Path> {
    let own: Vec<Path> = shared.written.lock().iter().cloned().collect();
    if shared.is_lent.load(std::sync::atomic::Ordering::Relaxed) {
        // Files that cannot be listed now are found by VACUUM.
        let others = shared.landed().await;
        return own.into_iter().chain(others.unwrap_or_default()).collect();
    }
    own
}

/// Removes the folders below `root` that are empty without these files. A store has no folders, but
/// a file system does.
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
