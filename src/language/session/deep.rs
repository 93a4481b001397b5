//! Runs statements with deeply nested plans on separate threads with larger stacks. DataFusion
//! traverses plans recursively, and a tree of thousands of operators would overflow the stack of
//! the caller or of its runtime.

use super::answer::Answer;
use crate::base::error::{Error, Result};
use crate::language::sql::ROOM;
use datafusion::physical_plan::stream::{RecordBatchReceiverStreamBuilder, RecordBatchStreamAdapter};
use futures::StreamExt;
use std::sync::Arc;
use tokio::runtime::{Builder, Handle, Runtime};

/// The number of result batches that are buffered before the consumer of the stream requests them.
const WAITING: usize = 2;

/// A separate tokio runtime. It may be dropped in an async context, because dropping it aborts its
/// tasks without blocking.
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

/// Runs `work` on a new runtime with `threads` threads. The threads run until the returned
/// [`Apart`] is dropped.
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
    /// Returns `answer` with its row stream driven by a task on this runtime. The returned stream
    /// owns the runtime.
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
        // The closure owns the runtime, so that the runtime lives as long as the stream.
        let rows = passing.build().inspect(move |_| {
            let _ = &self;
        });
        Answer {
            rows: Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&answer.schema), rows)),
            ..answer
        }
    }
}
