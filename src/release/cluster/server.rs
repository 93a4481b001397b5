//! The worker: a server that executes the plans of drivers.

use super::answer::Pulse;
use super::channels::{Channels, Connect};
use super::codec::Codec;
use super::stores::Environments;
use super::tls::Tls;
use crate::base::error::{Error, Result};
use crate::base::pool::SessionPool;
use crate::base::settings::listening;
use crate::base::spill::TemporaryFolder;
use crate::method::canonical::functions;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionContext;
use datafusion_distributed::{DistributedExt, Worker, WorkerQueryContext};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic::transport::server::TcpIncoming;

/// The first word of a worker's description.
pub(super) const NAME: &str = "anonsql";

/// Returns the version of this worker. The driver compares it with its own version.
pub(super) const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Listens on `address` and executes plans with the memory, the threads and the temporary files of
/// `session`, until the process exits. If a folder of certificates is given, the worker accepts
/// only drivers that present a certificate. Otherwise, it listens on loopback addresses only. Calls
/// `ready` with the address once the worker accepts connections.
pub(crate) async fn serve(
    session: &SessionContext,
    (address, certificates): (&str, Option<&Path>),
    ready: impl FnOnce(SocketAddr),
) -> Result<()> {
    let listening_on = |e| Error::io(format!("cannot listen on {address}"), e);
    let tls = certificates.map(Tls::read).transpose()?;
    let listening = listening(address, tls.is_some())?;
    let listener = TcpListener::bind(listening).await.map_err(listening_on)?;
    let local = listener.local_addr().map_err(listening_on)?;
    let mut state = session.state();
    let codec = Codec::of(state.config())?;
    SessionPool::set(state.config_mut());
    let threads = state.config().target_partitions();
    let channels: Arc<Connect> = Arc::new(Channels::new(tls.clone()));
    let (runtime, state) = (Arc::clone(state.runtime_env()), Arc::new(state));
    let environments = Arc::new(Environments::over(Arc::clone(&runtime)));
    let worker = Worker::from_session_builder(move |context: WorkerQueryContext| {
        let (state, channels) = (Arc::clone(&state), Arc::clone(&channels));
        let environment = environments.of(&context.headers);
        async move {
            Ok(session_of(context, &state, codec, channels)
                .with_runtime_env(environment)
                .build())
        }
    });
    let worker = worker
        .with_runtime_env(runtime)
        .with_version(format!("{NAME} {} {threads}", version()));
    ready(local);
    let router = Server::builder().add_service(worker.into_worker_server());
    let served = match tls {
        Some(tls) => router.serve_with_incoming(tls.accepted(listener)).await,
        None => router.serve_with_incoming(TcpIncoming::from(listener)).await,
    };
    served.map_err(|e| Error::io(format!("the worker on {local} ended"), std::io::Error::other(e)))
}

/// Returns the session in which the worker executes one task.
fn session_of(
    mut context: WorkerQueryContext,
    own: &SessionState,
    codec: Codec,
    channels: Arc<Connect>,
) -> SessionStateBuilder {
    let config = context.builder.config().get_or_insert_default();
    let set = std::mem::take(config);
    // The task keeps the settings that the protocol sets. All other settings are those with which
    // the worker was started.
    let mut merged = set.with_target_partitions(own.config().target_partitions());
    if let Some(pool) = own.config().get_extension::<SessionPool>() {
        merged.set_extension(pool);
    }
    if let Some(folder) = own.config().get_extension::<TemporaryFolder>() {
        merged.set_extension(folder);
    }
    merged.set_extension(Arc::new(Pulse::default()));
    *config = merged;
    // To find a function that the session does not have, the protocol calls only its own codec,
    // never the codec of this crate.
    let known = context.builder.scalar_functions().get_or_insert_default();
    known.extend(functions());
    context
        .builder
        .with_distributed_user_codec(codec)
        .with_distributed_channel_resolver(channels)
}
