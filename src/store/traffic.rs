//! The traffic of a session with object stores: bytes, and requests that failed.

use async_trait::async_trait;
use datafusion::object_store::{self, ClientOptions};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of what was moved over the network since the session began. Stores that the caller
/// registered are not counted.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    received: AtomicU64,
    sent: AtomicU64,
    failed: AtomicU64,
}

/// The counters at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    /// The bytes of objects and answers that were received.
    pub(crate) received: u64,
    /// The bytes of objects that were sent.
    pub(crate) sent: u64,
    /// The requests that the server did not answer, or answered with a server error or a request to
    /// wait. All but the last request of a series are repeated.
    pub(crate) failed: u64,
}

impl Traffic {
    /// Returns what was moved so far.
    pub(crate) fn moved(&self) -> Moved {
        Moved {
            received: self.received.load(Ordering::Relaxed),
            sent: self.sent.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
        }
    }

    fn note(&self, sent: usize, is_head: bool, answer: &Result<HttpResponse, HttpError>) {
        self.sent.fetch_add(sent as u64, Ordering::Relaxed);
        let Ok(answer) = answer else {
            self.failed.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let status = answer.status();
        if status.is_server_error() || [408, 429].contains(&status.as_u16()) {
            self.failed.fetch_add(1, Ordering::Relaxed);
        }
        // The answer to HEAD states the length of content that the answer does not contain.
        let length = answer.headers().get("content-length").filter(|_| !is_head);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        self.received.fetch_add(length.unwrap_or(0), Ordering::Relaxed);
    }
}

impl Moved {
    /// Returns what was moved since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            received: self.received - earlier.received,
            sent: self.sent - earlier.sent,
            failed: self.failed - earlier.failed,
        }
    }
}

/// Connects as object_store does, and counts the traffic.
#[derive(Debug)]
pub(super) struct Counting(pub(super) Arc<Traffic>);

impl HttpConnector for Counting {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(Counted {
            client: ReqwestConnector::default().connect(options)?,
            traffic: Arc::clone(&self.0),
        }))
    }
}

#[derive(Debug)]
struct Counted {
    client: HttpClient,
    traffic: Arc<Traffic>,
}

#[async_trait]
impl HttpService for Counted {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (sent, is_head) = (request.body().content_length(), request.method() == "HEAD");
        let answer = self.client.execute(request).await;
        self.traffic.note(sent, is_head, &answer);
        answer
    }
}
