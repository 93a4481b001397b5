//! Lineage for data catalogues: OpenLineage events of every release, without data values.
//!
//! A release emits START once its target is open, and COMPLETE once it is in place. COMPLETE
//! contains the columns, the models and the figures. A statement that fails or is cancelled in
//! between emits FAIL. Events are appended to a file, one JSON object per line, or sent to a server
//! by POST. An unreachable server never fails a release; the problem is reported at the end.

mod event;
mod sender;

use crate::error::Result;
use crate::folder::Manifest;
use crate::observe::Release;
use event::{LineageRun, RunState};
use parking_lot::Mutex;
use sender::Sender;
use std::path::Path;
use std::time::Duration;

/// The maximum time at the end of a statement for sending its events.
const PATIENCE: Duration = Duration::from_secs(15);

/// The destination of a process's events. Without a destination, no events are emitted.
#[derive(Debug, Default)]
pub struct Lineage {
    sender: Option<Sender>,
    run: Mutex<Option<LineageRun>>,
}

impl Lineage {
    /// Opens the destination of `--lineage`: a file, or a server by its URL. `None` is no
    /// destination.
    pub fn open(place: Option<&str>) -> Result<Self> {
        Ok(Self {
            sender: place.map(Sender::open).transpose()?,
            run: Mutex::default(),
        })
    }

    /// Emits the event START for a new release.
    pub fn start(&self, target: &Path, sources: &[String]) {
        if let Some(sender) = &self.sender {
            let run = LineageRun::new(target, sources);
            sender.send(run.event(RunState::Start));
            *self.run.lock() = Some(run);
        }
    }

    /// Emits the event COMPLETE for the current release.
    pub fn complete(&self, release: &Release, manifest: &Manifest) {
        if let (Some(sender), Some(run)) = (&self.sender, self.run.lock().take()) {
            sender.send(run.event(RunState::Complete(release, manifest)));
        }
    }

    /// Emits the event FAIL if the current release has not completed. `outcome` is the outcome of
    /// the statement. Waits until all events are sent; returns a message if they cannot be sent.
    pub async fn finish(&self, outcome: &str) -> Option<String> {
        let sender = self.sender.as_ref()?;
        if let Some(run) = self.run.lock().take() {
            sender.send(run.event(RunState::Fail(outcome)));
        }
        let flushed = tokio::time::timeout(PATIENCE, sender.flushed()).await;
        flushed.unwrap_or_else(|_| Some("its server does not answer".into()))
    }
}
