//! Lineage for data catalogues: emits OpenLineage events for every release. The events contain no
//! data values.
//!
//! A release emits START when its target has been opened, and COMPLETE when it has been put in
//! place. COMPLETE contains the columns, the models and the figures. If the statement fails or is
//! cancelled in between, it emits FAIL. Events are either appended to a file, with one JSON object
//! per line, or sent to a server by POST. If the server cannot be reached, the release does not
//! fail; the problem is reported at the end.

mod event;
mod sender;

use crate::base::error::Result;
use crate::data::folder::Manifest;
use crate::release::observe::Release;
use event::{LineageRun, RunState};
use parking_lot::Mutex;
use sender::Sender;
use std::path::Path;
use std::time::Duration;

/// The maximum time for sending the events of a statement at its end.
const PATIENCE: Duration = Duration::from_secs(15);

/// Emits the events of a process to a file or a server. Without a sender, no events are emitted.
#[derive(Debug, Default)]
pub struct Lineage {
    sender: Option<Sender>,
    run: Mutex<Option<LineageRun>>,
}

impl Lineage {
    /// Opens the destination given with `--lineage`, which is a file or the URL of a server. If
    /// `place` is `None`, no events are emitted.
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
    /// the statement. Waits until all events have been sent. Returns a message if they could not be
    /// sent.
    pub async fn finish(&self, outcome: &str) -> Option<String> {
        let sender = self.sender.as_ref()?;
        if let Some(run) = self.run.lock().take() {
            sender.send(run.event(RunState::Fail(outcome)));
        }
        let flushed = tokio::time::timeout(PATIENCE, sender.flushed()).await;
        flushed.unwrap_or_else(|_| Some("its server does not answer".into()))
    }
}
