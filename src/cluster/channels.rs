//! Connections to workers.

use async_trait::async_trait;
use datafusion::error::{DataFusionError, Result};
use datafusion_distributed::grpc::{BoxCloneSyncChannel, create_worker_client};
use datafusion_distributed::{ChannelResolver, WorkerChannel};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::time::Duration;
use tonic::transport::{Channel, Endpoint};
use url::Url;

/// How long a connection may take, and how long a ping may go unanswered before the connection counts as lost.
pub(crate) const SILENCE: Duration = Duration::from_secs(10);
/// How often a connection is pinged.
const PING: Duration = Duration::from_secs(5);

/// What connects to workers.
pub(super) type Connect = dyn ChannelResolver + Send + Sync;

/// The connections of a process, each opened when it is first needed. A connection that was lost is opened anew.
#[derive(Debug, Default)]
pub(super) struct Channels(Mutex<HashMap<Url, Channel>>);

impl Channels {
    fn channel(&self, url: &Url) -> Result<Channel> {
        if let Some(open) = self.0.lock().get(url) {
            return Ok(open.clone());
        }
        let endpoint = Endpoint::from_shared(url.to_string()).map_err(|e| DataFusionError::External(Box::new(e)))?;
        let channel = endpoint
            .connect_timeout(SILENCE)
            .http2_keep_alive_interval(PING)
            .keep_alive_timeout(SILENCE)
            .keep_alive_while_idle(true)
            .tcp_nodelay(true)
            .connect_lazy();
        self.0.lock().insert(url.clone(), channel.clone());
        Ok(channel)
    }
}

#[async_trait]
impl ChannelResolver for Channels {
    async fn get_worker_client_for_url(&self, url: &Url) -> Result<Box<dyn WorkerChannel>> {
        Ok(create_worker_client(BoxCloneSyncChannel::new(self.channel(url)?)))
    }
}
