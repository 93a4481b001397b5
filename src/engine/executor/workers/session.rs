//! The workers of a session.

use crate::cluster::Cluster;
use datafusion::execution::SessionState;

/// The workers of a session (`anonsql.cluster`).
pub(super) struct Workers {
    pub(super) cluster: Cluster,
    pub(super) state: SessionState,
}
