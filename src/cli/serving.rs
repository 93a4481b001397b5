//! Processes that execute the plans of other processes.

use super::args::Takes;
use super::environment::{Limits, session_with};
use super::workers::Workers;
use crate::engine::enable_executors;
use crate::error::{Error, Result};
use datafusion::prelude::SessionContext;
use std::io::Write;
use std::net::SocketAddr;

/// Runs a server, within the memory and threads that it may take, until it ends. `what` names the
/// server in errors.
pub fn serve<F>(takes: &Takes, what: &str, run: impl FnOnce(SessionContext) -> F) -> Result<()>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let limits = Limits {
        threads: takes.threads,
        memory: takes.memory_limit,
        temporary: takes.temp_dir.clone(),
    };
    let threads = Workers::start(limits.threads())?;
    let session = threads.inside(|| session_with(&limits))?;
    enable_executors(session.state_ref().write().config_mut());
    let serving = threads.spawn(run(session));
    let ended = threads.handle().block_on(serving);
    ended.map_err(|e| Error::from_task(what, &e))?
}

/// Prints the address on which a process listens. A caller that chose port 0 reads the port here. A
/// failed write is ignored.
pub fn ready(address: SocketAddr) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "anonsql {} listens on {address}", env!("CARGO_PKG_VERSION"));
    let _ = out.flush();
}
