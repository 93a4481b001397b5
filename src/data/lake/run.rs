//! One run for a prefix, from its lease to its cleanup.

use super::keeper::{Ending, Keeper, keep};
use super::lease::Lease;
use super::names::{Layout, RUN, new_run};
use super::outbox::Outbox;
use super::prefix::Prefix;
use super::record::Record;
use super::shared::{RunOutcome, SharedRun};
use super::vacuum;
use crate::base::error::Result;
use crate::base::pool::blocking;
use chrono::Utc;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};

/// A run for a prefix. Dropping this value ends the run, and deletes its files unless they were
/// committed.
#[derive(Debug)]
pub(crate) struct PrefixRun {
    pub(super) shared: Arc<SharedRun>,
    /// The lease. It is `None` for a Delta table in a local folder, because file systems do not
    /// support conditional puts.
    pub(super) lease: Option<Arc<tokio::sync::Mutex<Lease>>>,
    end: Option<oneshot::Sender<Ending>>,
    /// The keeper of this run alone. It counts the run from its end until its files are cleaned up.
    own: Keeper,
    /// The session's keeper, which counts all runs that have ended but are not cleaned up yet.
    session: Keeper,
    /// The sender that stops the uploads when it is dropped.
    stop: watch::Sender<()>,
    busy: mpsc::Sender<()>,
}

impl PrefixRun {
    /// Begins a run of a session for a prefix. In an object store, also creates the lease of the
    /// run and deletes old files of killed runs.
    pub(crate) async fn begin(prefix: &Prefix, layout: Layout, session: &Keeper) -> Result<Self> {
        let run = new_run(Utc::now());
        let lease = match prefix.is_local() {
            true => None,
            false => Some(Arc::new(tokio::sync::Mutex::new(Lease::take(prefix, &run).await?))),
        };
        let record = match prefix.place().local() {
            Some(table) => {
                let own = run.clone();
                Some(blocking("staging the release", move || Record::begin(table, &own)).await?)
            }
            None => None,
        };
        let shared = Arc::new(SharedRun {
            at: record
                .as_ref()
                .map_or_else(|| prefix.clone(), |record| record.at(prefix)),
            record,
            prefix: prefix.clone(),
            run,
            layout,
            written: Mutex::default(),
            outcome: Mutex::new(RunOutcome::Open),
            is_lent: false.into(),
        });
        let (end, ended) = oneshot::channel();
        let (busy, still_busy) = mpsc::channel(1);
        tokio::spawn(keep(Arc::clone(&shared), lease.clone(), ended, still_busy));
        let run = Self {
            shared,
            lease,
            end: Some(end),
            own: Keeper::default(),
            session: session.clone(),
            stop: watch::Sender::new(()),
            busy,
        };
        if run.lease.is_some() {
            // A user with permission to write may lack permission to delete. The run can continue
            // without the cleanup.
            let _ = vacuum::sweep(prefix).await;
        }
        Ok(run)
    }

    /// Returns the keeper of this run. A caller uses it to wait until the ended run is cleaned up.
    pub(crate) fn keeper(&self) -> Keeper {
        self.own.clone()
    }

    /// Returns an outbox, which uploads files to the store of the run.
    pub(crate) fn outbox(&self) -> Outbox {
        Outbox {
            shared: Arc::clone(&self.shared),
            stop: self.stop.subscribe(),
            _busy: self.busy.clone(),
        }
    }

    /// Returns the id of the run; `None` if its files are not in a folder of their own.
    pub(crate) fn id(&self) -> Option<&str> {
        (self.shared.layout != Layout::Plain).then_some(self.shared.run.as_str())
    }

    /// Returns the URL that a file of the run has before the commit, by its name relative to the
    /// prefix.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("{}{name}", self.shared.at.url())
    }

    /// Returns the URL of a file of the existing release, by its name relative to the prefix.
    pub(crate) fn url_of_standing(&self, name: &str) -> String {
        format!("{}{name}", self.shared.prefix.url())
    }

    /// Returns the URL of the folder that contains the run's files before the commit. It ends in a
    /// slash.
    pub(crate) fn folder(&self) -> String {
        match self.id() {
            Some(run) => format!("{}{}{run}/", self.shared.at.url(), RUN),
            None => self.shared.at.url().to_string(),
        }
    }
}

impl Drop for PrefixRun {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            // Without a runtime, the background task does not run, and the files are left like
            // those of a killed run.
            let _ = end.send(Ending::begin([self.own.clone(), self.session.clone()]));
        }
    }
}
