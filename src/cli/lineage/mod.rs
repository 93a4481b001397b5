//! Lineage for catalogues of data: OpenLineage events of every release, without data values.
//!
//! A release emits START once its target is open, and COMPLETE with the columns, the models and the
//! figures once it is in place. A statement that fails in between, or is cancelled, emits FAIL.
//! Events go to a file, one JSON object a line, or to a server by POST. A server that cannot be
//! reached never fails a release; the failure is reported at the end.

mod event;
mod sender;

use crate::error::Result;
use crate::folder::Manifest;
use crate::observe::Release;
use event::{Outcome, Run};
use parking_lot::Mutex;
use sender::Sender;
use std::path::Path;
use std::time::Duration;

/// The longest wait at the end of a statement for its events to be sent.
const PATIENCE: Duration = Duration::from_secs(15);

/// The destination of the events of a process. Without a destination, no events are emitted.
#[derive(Debug, Default)]
pub struct Lineage {
    sender: Option<Sender>,
    run: Mutex<Option<Run>>,
}

impl Lineage {
    /// Opens the place of `--lineage`: a file, or the URL of a server.
    pub fn open(place: Option<&str>) -> Result<Self> {
        Ok(Self {
            sender: place.map(Sender::open).transpose()?,
            run: Mutex::default(),
        })
    }

    /// Emits the event START for a release.
    pub fn start(&self, target: &Path, sources: &[String]) {
        if let Some(sender) = &self.sender {
            let run = Run::new(target, sources);
            sender.send(run.event(Outcome::Start));
            *self.run.lock() = Some(run);
        }
    }

    /// Emits the event COMPLETE for the release that began.
    pub fn complete(&self, release: &Release, manifest: &Manifest) {
        if let (Some(sender), Some(run)) = (&self.sender, self.run.lock().take()) {
            sender.send(run.event(Outcome::Complete(release, manifest)));
        }
    }

    /// Emits the event FAIL, with the outcome of the statement, for a release that began and did
    /// not complete. Waits until all events are sent, and returns a message if they cannot be sent.
    pub async fn finish(&self, outcome: &str) -> Option<String> {
        let sender = self.sender.as_ref()?;
        if let Some(run) = self.run.lock().take() {
            sender.send(run.event(Outcome::Fail(outcome)));
        }
        let flushed = tokio::time::timeout(PATIENCE, sender.flushed()).await;
        flushed.unwrap_or_else(|_| Some("its server does not answer".into()))
    }
}
