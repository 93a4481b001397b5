//! The function that is called for workers that fail: the statement goes on without them, and
//! somebody has to look at them.

use datafusion::prelude::SessionConfig;
use std::sync::Arc;

/// The trouble with a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Trouble {
    /// It does not answer, or did not send all of its rows.
    Lost,
    /// It reported something other than what it was asked for.
    Distrusted,
}

/// A function of the address of a worker and its trouble.
type Tell = dyn Fn(&str, Trouble) + Send + Sync;

/// The function that is called with the address of a worker and its trouble.
pub(crate) struct Told(Box<Tell>);

impl Told {
    /// Makes the clusters of a session call `tell`.
    pub(crate) fn enable(config: &mut SessionConfig, tell: impl Fn(&str, Trouble) + Send + Sync + 'static) {
        config.set_extension(Arc::new(Self(Box::new(tell))));
    }

    /// Calls the function for a worker.
    pub(super) fn tell(&self, worker: &str, trouble: Trouble) {
        (self.0)(worker, trouble);
    }
}
