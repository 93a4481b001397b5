//! Runs servers that execute the plans of other processes.

use super::args::ProcessLimits;
use super::environment::{Limits, session_with};
use super::workers::StatementRuntime;
use crate::base::error::{Error, Result};
use crate::release::engine::enable_executors;
use datafusion::prelude::SessionContext;
use std::io::Write;
use std::net::SocketAddr;

/// Runs a server until it ends, with the resource limits in `takes`. Error messages call the server
/// `what`.
pub fn serve<F>(takes: &ProcessLimits, what: &str, run: impl FnOnce(SessionContext) -> F) -> Result<()>
where
    F: Future<Output = Result<()>> + Send + 'static,
{
    let limits = Limits {
        threads: takes.threads,
        memory: takes.memory_limit,
        temporary: takes.temp_dir.clone(),
    };
    let threads = StatementRuntime::start(limits.threads())?;
    let session = threads.inside(|| session_with(&limits))?;
    enable_executors(session.state_ref().write().config_mut());
    let serving = threads.spawn(run(session));
    let ended = threads.handle().block_on(serving);
    ended.map_err(|e| Error::from_task(what, &e))?
}

/// Prints the address on which a server listens. A caller that requested port 0 learns the actual
/// port from this line. A failed write is ignored.
pub fn ready(address: SocketAddr) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "anonsql {} listens on {address}", env!("CARGO_PKG_VERSION"));
    let _ = out.flush();
}
