//! The workers of a session.

use crate::release::cluster::Cluster;
use datafusion::execution::SessionState;

/// The cluster of a session (setting `anonsql.cluster`), as an executor.
pub(super) struct Workers {
    pub(super) cluster: Cluster,
    pub(super) state: SessionState,
}
