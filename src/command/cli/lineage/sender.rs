//! Sends the events of a process on a separate thread, in the order in which they were emitted.

use crate::base::error::{Error, Result};
use client::{HttpClient, HttpConnector, ReqwestConnector};
use datafusion::object_store::{ClientOptions, client};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use url::Url;

/// The default path to which events are sent on a server.
const API: &str = "api/v1/lineage";
/// The maximum number of attempts to send an event.
const ATTEMPTS: u32 = 3;

/// A handle to the thread that sends events.
#[derive(Debug)]
pub(super) struct Sender(mpsc::UnboundedSender<Parcel>);

enum Parcel {
    Event(Value),
    /// A request for the first failure since the last request, to be answered after all earlier
    /// events have been sent.
    Flush(oneshot::Sender<Option<String>>),
}

/// The destination to which events are sent.
enum Place {
    File(File),
    Server { client: HttpClient, url: Url },
}

impl Sender {
    /// Opens a destination, which is a file or the URL of a server. Fails with `ErrorKind::Usage`
    /// if a URL contains credentials, because the key of a server belongs in OPENLINEAGE_API_KEY.
    pub(super) fn open(place: &str) -> Result<Self> {
        let place = Place::open(place).map_err(|e| e.context("--lineage"))?;
        let (sender, parcels) = mpsc::unbounded_channel();
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Error::io("cannot send events", e))?;
        // Events are sent on a separate thread, so that they are sent even if the statement is
        // cancelled.
        std::thread::spawn(move || runtime.block_on(place.serve(parcels)));
        Ok(Self(sender))
    }

    pub(super) fn send(&self, event: Value) {
        // The receiving thread lives as long as the sender.
        let _ = self.0.send(Parcel::Event(event));
    }

    /// Waits until all events have been sent. Returns the first failure since the last call.
    pub(super) async fn flushed(&self) -> Option<String> {
        let (ask, answer) = oneshot::channel();
        let _ = self.0.send(Parcel::Flush(ask));
        answer.await.ok().flatten()
    }
}

impl Place {
    fn open(place: &str) -> Result<Self> {
        let path = place.strip_prefix("file://").unwrap_or(place);
        if !path.contains("://") {
            let file = OpenOptions::new().create(true).append(true).open(path);
            return Ok(Self::File(
                file.map_err(|e| Error::io(format!("cannot write {path}"), e))?,
            ));
        }
        let mut url = Url::parse(place).map_err(|e| Error::usage(format!("{place:?} is not a URL: {e}")))?;
        if !["http", "https"].contains(&url.scheme()) {
            return Err(Error::usage(format!(
                "events cannot be sent to {}://; write a file, or http(s)://host",
                url.scheme()
            )));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Error::usage(
                "this URL must not contain credentials; put the key of the server in the environment, \
                as OPENLINEAGE_API_KEY",
            ));
        }
        if url.path() == "/" {
            url.set_path(API);
        }
        let options = ClientOptions::new()
            .with_allow_http(url.scheme() == "http")
            .with_timeout(Duration::from_secs(5));
        let client = ReqwestConnector::default().connect(&options);
        let client = client.map_err(|e| Error::of_store("it cannot be reached", &e))?;
        Ok(Self::Server { client, url })
    }

    async fn serve(mut self, mut parcels: mpsc::UnboundedReceiver<Parcel>) {
        let mut failure = None;
        while let Some(parcel) = parcels.recv().await {
            match parcel {
                Parcel::Event(event) => {
                    let sent = self.send(&event).await;
                    failure = failure.or(sent.err());
                }
                Parcel::Flush(asked) => {
                    let _ = asked.send(failure.take());
                }
            }
        }
    }

    /// Sends an event. If all attempts fail, the error describes the last failure.
    async fn send(&mut self, event: &Value) -> std::result::Result<(), String> {
        match self {
            Self::File(file) => writeln!(file, "{event}").map_err(|e| e.to_string()),
            Self::Server { client, url } => {
                let mut tried = Ok(());
                for attempt in 0..ATTEMPTS {
                    tokio::time::sleep(Duration::from_millis(500) * attempt).await;
                    tried = post(client, url, event).await;
                    if tried.is_ok() {
                        break;
                    }
                }
                tried
            }
        }
    }
}

async fn post(client: &HttpClient, url: &Url, event: &Value) -> std::result::Result<(), String> {
    let mut request = http::Request::post(url.as_str()).header("content-type", "application/json");
    if let Some(key) = std::env::var("OPENLINEAGE_API_KEY").ok().filter(|key| !key.is_empty()) {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let request = request.body(event.to_string().into()).map_err(|e| e.to_string())?;
    let answer = client.execute(request).await.map_err(|e| e.to_string())?;
    match answer.status() {
        status if status.is_success() => Ok(()),
        status => Err(format!("the server answers {status}")),
    }
}
