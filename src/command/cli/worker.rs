//! Implements the command `anonsql worker`.

use super::args::Worker;
use crate::base::error::Result;

/// Executes the plans of drivers until the process ends.
#[cfg(feature = "cluster")]
pub fn run(worker: &Worker) -> Result<()> {
    use super::serving::{ready, serve};

    let (address, certificates) = (worker.listen.clone(), worker.tls.clone());
    serve(&worker.takes, "the worker", |session| async move {
        let place = (address.as_str(), certificates.as_deref());
        crate::release::cluster::serve(&session, place, ready).await
    })
}

/// Returns the error for a build without the feature `cluster`.
#[cfg(not(feature = "cluster"))]
pub fn run(_: &Worker) -> Result<()> {
    Err(crate::base::error::Error::usage(
        "this anonsql was built without the cluster; build it with --features cluster",
    ))
}
