//! Statements that go deep run on threads of their own with room for it: DataFusion's walks over a tree of thousands of
//! operators do not fit the stacks of whoever calls, or of its runtime.

use super::answer::Answer;
use crate::error::{Error, Result};
use crate::sql::ROOM;
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use futures::StreamExt;
use std::sync::Arc;
use tokio::runtime::{Builder, Handle, Runtime};

/// Batches that wait for whoever takes them.
const WAITING: usize = 2;

/// A runtime apart, which may be dropped where nothing may block, its tasks with it.
pub(super) struct Apart {
    handle: Handle,
    runtime: Option<Runtime>,
}

impl Drop for Apart {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Does some work on so many threads apart, which live as long as what comes with it.
pub(super) async fn run<T: Send + 'static>(
    threads: usize,
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> Result<(T, Apart)> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(threads.max(1))
        .thread_stack_size(ROOM)
        .enable_all()
        .build()
        .map_err(|e| Error::io("cannot start threads for a long statement", e))?;
    let running = runtime.spawn(work);
    let apart = Apart {
        handle: runtime.handle().clone(),
        runtime: Some(runtime),
    };
    let done = running.await.map_err(|e| Error::from_task("a long statement", &e))??;
    Ok((done, apart))
}

impl Apart {
    /// The same answer, whose rows are computed on these threads.
    pub(super) fn pass_on(self, answer: Answer) -> Answer {
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
        passing.spawn_on(pass_on, &self.handle);
        // The runtime lives as long as the rows.
        let rows = passing.build().inspect(move |_| {
            let _ = &self;
        });
        Answer {
            rows: Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&answer.schema), rows)),
            ..answer
        }
    }
}
