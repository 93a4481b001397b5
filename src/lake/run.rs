//! One run for a prefix, from its lease to its end.

use super::keeper::{Ending, Keeper, keep};
use super::lease::Lease;
use super::names::{Layout, RUN, new_run};
use super::outbox::Outbox;
use super::prefix::Prefix;
use super::record::Record;
use super::shared::{Outcome, Shared};
use super::vacuum;
use crate::error::Result;
use crate::pool::blocking;
use chrono::Utc;
use parking_lot::Mutex;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, watch};

/// A run for a prefix. Dropping this value ends the run: its files are deleted unless they were
/// committed.
#[derive(Debug)]
pub(crate) struct Run {
    pub(super) shared: Arc<Shared>,
    /// The lease; `None` for a Delta table in a local folder, because a file system has no put on
    /// condition of an e_tag.
    pub(super) lease: Option<Arc<tokio::sync::Mutex<Lease>>>,
    end: Option<oneshot::Sender<Ending>>,
    /// Counts this run from its end until it is cleaned up.
    own: Keeper,
    /// Counts all runs of the session that have ended and are not cleaned up yet.
    session: Keeper,
    /// Dropping this sender stops the uploads.
    stop: watch::Sender<()>,
    busy: mpsc::Sender<()>,
}

impl Run {
    /// Begins a run of a session for a prefix: takes its lease, and deletes what killed runs left
    /// there long ago.
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
        let shared = Arc::new(Shared {
            at: record
                .as_ref()
                .map_or_else(|| prefix.clone(), |record| record.at(prefix)),
            record,
            prefix: prefix.clone(),
            run,
            layout,
            written: Mutex::default(),
            outcome: Mutex::new(Outcome::Open),
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
            // A user that may write to a prefix may not be allowed to delete. The run itself does
            // not need this to succeed.
            let _ = vacuum::sweep(prefix).await;
        }
        Ok(run)
    }

    /// Returns the keeper with which a caller waits until this run, once it has ended, is cleaned
    /// up.
    pub(crate) fn keeper(&self) -> Keeper {
        self.own.clone()
    }

    /// Returns the outbox that uploads files to the store.
    pub(crate) fn outbox(&self) -> Outbox {
        Outbox {
            shared: Arc::clone(&self.shared),
            stop: self.stop.subscribe(),
            _busy: self.busy.clone(),
        }
    }

    /// Returns the id of the run if its files are in a folder of their own.
    pub(crate) fn id(&self) -> Option<&str> {
        (self.shared.layout != Layout::Plain).then_some(self.shared.run.as_str())
    }

    /// Returns the URL of a file of the run, before it is committed, by its name relative to the
    /// prefix.
    pub(crate) fn url(&self, name: &str) -> String {
        format!("{}{name}", self.shared.at.url())
    }

    /// Returns the URL of a file of the existing release, by its name relative to the prefix.
    pub(crate) fn url_of_standing(&self, name: &str) -> String {
        format!("{}{name}", self.shared.prefix.url())
    }

    /// Returns the URL of the folder with the files, which ends in a slash.
    pub(crate) fn folder(&self) -> String {
        match self.id() {
            Some(run) => format!("{}{}{run}/", self.shared.at.url(), RUN),
            None => self.shared.at.url().to_string(),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            // Without a runtime there is no keeper, and the run is like one that was killed.
            let _ = end.send(Ending::begin([self.own.clone(), self.session.clone()]));
        }
    }
}
