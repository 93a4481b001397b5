//! The source in memory, for a report of few rows: its figures read the same columns many times, and
//! to parse a file of text takes longer than to count what is in it.

use super::facts::Facts;
use super::utility::MOST_ROWS;
use crate::engine::verify::WHOLE;
use crate::error::{Error, Result};
use crate::quoting::quote;
use crate::search::Oracle;
use datafusion::datasource::MemTable;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use futures::StreamExt;
use std::sync::Arc;

impl Facts<'_> {
    /// Puts the columns of the source that the report reads in place of the source. Returns the
    /// memory that they take; `None` if they stay where they are, because they are too many.
    pub(super) async fn hold_source(&self) -> Result<Option<MemoryReservation>> {
        let (job, session) = (self.job, &self.recounted.session);
        if self.decision.evaluator.rows() > MOST_ROWS {
            return Ok(None);
        }
        let whole = session.table(WHOLE).await?;
        let is_read = |column: &str| job.releases(column) || job.entity.as_deref() == Some(column);
        let fields = whole.schema().fields().iter().map(|field| field.name());
        let columns: Vec<String> = fields.filter(|name| is_read(name)).map(|name| quote(name)).collect();
        let rows = session
            .sql(&format!("SELECT {} FROM {}", columns.join(", "), quote(WHOLE)))
            .await?;
        let held = MemoryConsumer::new("anonsql report").register(session.task_ctx().memory_pool());
        let mut parts = vec![vec![]; session.copied_config().target_partitions().max(1)];
        let mut stream = rows.execute_stream().await?;
        let (schema, mut number) = (stream.schema(), 0);
        while let Some(batch) = stream.next().await.transpose().map_err(Error::from_data)? {
            if held.try_grow(batch.get_array_memory_size()).is_err() {
                return Ok(None);
            }
            let part = number % parts.len();
            parts[part].push(batch);
            number += 1;
        }
        let table = MemTable::try_new(schema, parts)?;
        session.deregister_table(WHOLE)?;
        session.register_table(WHOLE, Arc::new(table))?;
        Ok(Some(held))
    }
}
