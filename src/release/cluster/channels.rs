//! Opens and keeps connections to workers.

use super::tls::Tls;
use async_trait::async_trait;
use datafusion::error::{DataFusionError, Result};
use datafusion_distributed::grpc::{BoxCloneSyncChannel, create_worker_client};
use datafusion_distributed::{ChannelResolver, WorkerChannel};
use http::Uri;
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;
use tonic::transport::{Channel, Endpoint};
use tower::service_fn;
use url::Url;

/// The maximum time for opening a connection, and for the response to a ping. After this time, the
/// connection is considered lost.
pub(crate) const SILENCE: Duration = Duration::from_secs(10);
/// The interval between two pings of a connection.
const PING: Duration = Duration::from_secs(5);

/// The interface for connecting to workers.
pub(super) type Connect = dyn ChannelResolver + Send + Sync;

/// The connections of a process to workers. A connection is opened when it is first needed, and
/// reopened after it was lost.
#[derive(Default)]
pub(super) struct Channels {
    open: Mutex<HashMap<Url, Channel>>,
    tls: Option<Tls>,
}

impl Channels {
    /// Creates an empty set of connections. Encrypted connections present the certificate of `tls`;
    /// they cannot be opened if `tls` is `None`.
    pub(super) fn new(tls: Option<Tls>) -> Self {
        Self { tls, ..Self::default() }
    }

    fn channel(&self, url: &Url) -> Result<Channel> {
        if let Some(open) = self.open.lock().get(url) {
            return Ok(open.clone());
        }
        let failed = |e: Box<dyn std::error::Error + Send + Sync>| DataFusionError::External(e);
        let is_encrypted = url.scheme() == "https";
        // The HTTP client gets an http:// URL; the connector encrypts the connection.
        let inside = url.as_str().replacen("https:", "http:", 1);
        let inside = inside.split('#').next().unwrap_or_default().to_string();
        let endpoint = Endpoint::from_shared(inside).map_err(|e| failed(Box::new(e)))?;
        let endpoint = endpoint
            .connect_timeout(SILENCE)
            .http2_keep_alive_interval(PING)
            .keep_alive_timeout(SILENCE)
            .keep_alive_while_idle(true)
            .tcp_nodelay(true);
        let channel = match (is_encrypted, self.tls.clone()) {
            (false, _) => endpoint.connect_lazy(),
            (true, None) => return Err(failed("this side has no certificate".into())),
            (true, Some(tls)) => {
                let url = url.clone();
                endpoint.connect_with_connector_lazy(service_fn(move |_: Uri| tls.clone().connect(url.clone())))
            }
        };
        self.open.lock().insert(url.clone(), channel.clone());
        Ok(channel)
    }
}

#[async_trait]
impl ChannelResolver for Channels {
    async fn get_worker_client_for_url(&self, url: &Url) -> Result<Box<dyn WorkerChannel>> {
        Ok(create_worker_client(BoxCloneSyncChannel::new(self.channel(url)?)))
    }
}
