//! Blocking work, which runs apart from the workers of a tokio runtime.

use crate::error::{Error, Result};
use tokio::task::spawn_blocking;

/// Starts `work` at once on a blocking thread, and returns its result. `what` names the work in the error if it
/// panics. Work that has started runs to its end, even if the future is dropped.
pub(crate) fn blocking<T: Send + 'static>(
    what: &'static str,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> impl Future<Output = Result<T>> + Send + 'static {
    let begun = spawn_blocking(work);
    async move { begun.await.map_err(|e| Error::from_task(what, &e))? }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    #[tokio::test(flavor = "current_thread")]
    async fn work_runs_beside_the_only_worker_and_a_panic_keeps_its_text() {
        let worker = std::thread::current().id();
        let apart = blocking("a test", || Ok(std::thread::current().id()));
        assert_ne!(apart.await.unwrap(), worker);
        let e = blocking::<()>("a test", || panic!("Alice")).await.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Internal);
        assert!(
            e.to_string().contains("a test ended by a panic") && !e.to_string().contains("Alice"),
            "{e}"
        );
    }
}
