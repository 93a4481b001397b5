//! Counts the traffic between a session and its object stores: bytes and failed requests.

use async_trait::async_trait;
use datafusion::object_store::{self, ClientOptions};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of network traffic since the session began. Traffic of stores that the caller
/// registered is not counted.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    received: AtomicU64,
    sent: AtomicU64,
    failed: AtomicU64,
}

/// The values of the traffic counters at one moment.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Moved {
    /// The number of bytes received in objects and other responses.
    pub(crate) received: u64,
    /// The number of bytes sent in the bodies of requests.
    pub(crate) sent: u64,
    /// The number of requests that failed: without a response, with a server error, or with a
    /// response that tells the client to slow down. The client retries such a request until it
    /// gives up.
    pub(crate) failed: u64,
}

impl Traffic {
    /// Returns the current values of the counters.
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
        // A response to HEAD states the length of the object, but does not contain the object.
        let length = answer.headers().get("content-length").filter(|_| !is_head);
        let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
        self.received.fetch_add(length.unwrap_or(0), Ordering::Relaxed);
    }
}

impl Moved {
    /// Returns the traffic since `earlier`.
    pub(crate) fn since(self, earlier: Self) -> Self {
        Self {
            received: self.received - earlier.received,
            sent: self.sent - earlier.sent,
            failed: self.failed - earlier.failed,
        }
    }
}

/// Opens connections like the default connector in `object_store`, and counts their traffic.
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
