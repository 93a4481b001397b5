//! Identifiers of tasks.

use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion_distributed::{ExecuteTaskRequest, ProducerHead, TaskKey};
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The identifier of a task.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct TaskIdentifier {
    pub(super) run: String,
    pub(super) number: usize,
}

impl TaskIdentifier {
    /// Converts the identifier to the type that the protocol uses.
    pub(super) fn task(&self) -> DfResult<TaskKey> {
        let query_id = Uuid::parse_str(&self.run).map_err(|e| DataFusionError::External(Box::new(e)))?;
        Ok(TaskKey {
            query_id,
            stage_id: 1,
            task_number: self.number,
        })
    }
}

/// Returns the headers of requests for rows, which are empty.
pub(super) fn headers() -> HeaderMap {
    HeaderMap::new()
}

/// Returns the request for one partition of a task.
pub(super) fn partition_of(key: TaskIdentifier, partition: usize) -> DfResult<ExecuteTaskRequest> {
    Ok(ExecuteTaskRequest {
        task_key: key.task()?,
        target_partition_start: partition,
        target_partition_end: partition + 1,
        producer_head: ProducerHead::None,
    })
}
