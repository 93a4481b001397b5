//! The source in memory, for a report on few rows. The figures of the report need the same columns
//! many times, and parsing a text file takes longer than counting its contents.

use super::facts::ReleaseToMeasure;
use super::utility::{MOST_ROWS, readings};
use crate::base::error::{Error, Result};
use crate::base::quoting::quote;
use crate::method::search::Oracle;
use crate::release::engine::verify::WHOLE;
use crate::release::recount::{KnownSource, are_read_together, coded_plan};
use datafusion::datasource::MemTable;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::execute_stream_partitioned;
use futures::StreamExt;
use std::sync::Arc;
use tokio::task::JoinSet;

impl ReleaseToMeasure<'_> {
    /// Replaces the source with an in-memory table of the columns that the report reads. Returns
    /// the memory reservation for these columns. Returns `None`, and leaves the source unchanged,
    /// if the source is not to be held, or if the columns do not fit in memory. `known` are the
    /// columns that were read while the release was written.
    pub(super) async fn hold_source(&self, known: Option<&KnownSource>) -> Result<Option<Arc<MemoryReservation>>> {
        let session = self.session;
        if !self.is_to_be_held(known).await? {
            return Ok(None);
        }
        let whole = session.table(WHOLE).await?;
        let fields = whole.schema().fields().iter().map(|field| field.name());
        let columns: Vec<String> = fields
            .filter(|name| self.is_read(name))
            .map(|name| quote(name))
            .collect();
        if columns.is_empty() {
            return Ok(None);
        }
        let sql = format!("SELECT {} FROM {}", columns.join(", "), quote(WHOLE));
        let plan = coded_plan(session, session.copied_config().target_partitions(), &sql).await?;
        let context = session.task_ctx();
        let held = Arc::new(MemoryConsumer::new("anonsql report").register(context.memory_pool()));
        let schema = plan.schema();
        let mut tasks = JoinSet::new();
        for mut stream in execute_stream_partitioned(plan, context).map_err(Error::from_data)? {
            let held = Arc::clone(&held);
            tasks.spawn(async move {
                let mut part = vec![];
                while let Some(batch) = stream.next().await.transpose().map_err(Error::from_data)? {
                    if held.try_grow(batch.get_array_memory_size()).is_err() {
                        return Ok(None);
                    }
                    part.push(batch);
                }
                Ok::<_, Error>(Some(part))
            });
        }
        let mut parts = vec![];
        while let Some(done) = tasks.join_next().await {
            match done.map_err(|e| Error::from_task("a scan task", &e))?? {
                Some(part) => parts.push(part),
                None => return Ok(None),
            }
        }
        // A file of one row group fills only one partition. The batches are dealt out, so that
        // every thread gets some.
        let number = parts.len().max(1);
        let mut dealt = vec![vec![]; number];
        for (at, batch) in parts.into_iter().flatten().enumerate() {
            dealt[at % number].push(batch);
        }
        let table = MemTable::try_new(schema, dealt)?;
        session.deregister_table(WHOLE)?;
        session.register_table(WHOLE, Arc::new(table))?;
        Ok(Some(held))
    }

    /// Returns true if the source is to be held in memory: it has few rows, and the columns that
    /// were read while the release was written are not enough for the comparison with the release.
    pub(super) async fn is_to_be_held(&self, known: Option<&KnownSource>) -> Result<bool> {
        if self.decision.evaluator.rows() > MOST_ROWS {
            return Ok(false);
        }
        let tables = (self.released.name.as_str(), WHOLE);
        match known {
            Some(_) => Ok(!are_read_together(self.session, tables, &readings(self.job)).await?),
            None => Ok(true),
        }
    }

    /// Returns true if a figure of the report is measured on this column of the source. Columns
    /// that are only kept or removed are not measured.
    fn is_read(&self, column: &str) -> bool {
        let roles = &self.job.roles;
        roles.quasi_identifier(column).is_some()
            || roles.item_set(column).is_some()
            || roles.sensitive.iter().any(|s| s.column == column)
            || roles.class_label.as_deref() == Some(column)
            || roles.mask(column).is_some_and(|of| of.clause.kind.is_drawn())
            || self.job.input.entity.as_deref() == Some(column)
    }
}
