//! Statements that go deep run on threads of their own with room for it: DataFusion's walks over a tree of thousands of
//! operators do not fit the stacks of whoever calls, or of its runtime.

use super::answer::Answer;
use crate::error::{Error, Result};
use crate::sql::ROOM;
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use futures::StreamExt;
use std::sync::Arc;
use tokio::runtime::{Builder, Runtime};

/// Batches that wait for whoever takes them.
const WAITING: usize = 2;

/// A runtime that may be dropped where nothing may block, its tasks with it.
struct Apart(Option<Runtime>);

impl Drop for Apart {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Runs one statement, and computes the rows that it answers, on so many threads apart.
pub(super) async fn run(
    threads: usize,
    statement: impl Future<Output = Result<Answer>> + Send + 'static,
) -> Result<Answer> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads.max(1))
        .thread_stack_size(ROOM)
        .enable_all()
        .build()
        .map_err(|e| Error::io("cannot start threads for a long statement", e))?;
    let handle = runtime.handle().clone();
    let apart = Apart(Some(runtime));
    let running = handle.spawn(statement);
    let answer = running.await.map_err(|e| Error::from_task("a long statement", &e))??;
    let mut passing = RecordBatchReceiverStreamBuilder::new(Arc::clone(&answer.schema), WAITING);
    let (sender, mut rows) = (passing.tx(), answer.rows);
    let pass_on = async move {
        while let Some(batch) = rows.next().await {
            if sender.send(batch).await.is_err() {
                break;
            }
        }
        Ok(())
    };
    passing.spawn_on(pass_on, &handle);
    // The runtime lives as long as the rows.
    let rows = passing.build().inspect(move |_| {
        let _ = &apart;
    });
    Ok(Answer {
        rows: Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&answer.schema), rows)),
        ..answer
    })
}
