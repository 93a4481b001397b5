//! The command `anonsql worker`.

use super::args::Worker;
use crate::error::Result;

/// Executes plans of others until the process is ended.
#[cfg(feature = "cluster")]
pub fn run(worker: &Worker) -> Result<()> {
    use super::environment::{Limits, session_with};
    use super::workers::Workers;
    use std::io::Write;
    use std::net::SocketAddr;

    let limits = Limits {
        threads: worker.threads,
        memory: worker.memory_limit,
        temporary: worker.temp_dir.clone(),
    };
    let threads = Workers::start(limits.threads())?;
    let session = threads.inside(|| session_with(&limits))?;
    let (address, certificates) = (worker.listen.clone(), worker.tls.clone());
    let ready = |address: SocketAddr| {
        // Whoever started the worker with port 0 reads the port here. Nobody may listen.
        let mut out = std::io::stdout();
        let _ = writeln!(out, "anonsql {} listens on {address}", env!("CARGO_PKG_VERSION"));
        let _ = out.flush();
    };
    let serving = threads.spawn(async move {
        let place = (address.as_str(), certificates.as_deref());
        crate::cluster::serve(&session, place, crate::engine::CODEC, ready).await
    });
    let ended = threads.handle().block_on(serving);
    ended.map_err(|e| crate::error::Error::from_task("the worker", &e))?
}

/// Says that this build has no cluster.
#[cfg(not(feature = "cluster"))]
pub fn run(_: &Worker) -> Result<()> {
    Err(crate::error::Error::usage(
        "this anonsql was built without the cluster; build it with --features cluster",
    ))
}
