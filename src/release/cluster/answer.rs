//! The response of a worker: rows, progress reports, or an error.
//!
//! An error is sent as text. Therefore, a worker includes the kind of an error of this crate in the
//! text, and the driver parses the kind from the text. If a response stops in any other way, the
//! worker is considered lost.

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::operator::{Operator, Parcel, Rows, Travels};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::error::DataFusionError;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use futures::{StreamExt, stream};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The text that precedes the kind and the message of a sent error.
const MARK: &str = "anonsql-error/";
/// The text after the message of a sent error.
const END: &str = "/anonsql-end";
/// The interval at which a task reports its progress.
const BEAT: Duration = Duration::from_secs(5);

const KINDS: [(ErrorKind, &str); 11] = [
    (ErrorKind::Usage, "usage"),
    (ErrorKind::Data, "data"),
    (ErrorKind::Io, "io"),
    (ErrorKind::Infeasible, "infeasible"),
    (ErrorKind::Verification, "verification"),
    (ErrorKind::TargetExists, "target"),
    (ErrorKind::Unavailable, "unavailable"),
    (ErrorKind::Drift, "drift"),
    (ErrorKind::Interrupted, "interrupted"),
    (ErrorKind::Resources, "resources"),
    (ErrorKind::Internal, "internal"),
];

/// Returns the error that a worker reported; `None` if the text contains no such error, which means
/// that the worker was lost.
pub(super) fn told(error: &DataFusionError) -> Option<Error> {
    let text = error.to_string();
    let (_, marked) = text.split_once(MARK)?;
    let (kind, message) = marked.split_once('/')?;
    let (message, _) = message.split_once(END)?;
    let (kind, _) = KINDS.iter().find(|(_, name)| *name == kind)?;
    Some(Error::new(*kind, message))
}

/// Converts an error of this worker to the form in which it is sent. Messages of other crates are
/// sent without data values. An error that already has this form, or that reports a lost worker, is
/// returned unchanged.
fn marked(error: DataFusionError) -> DataFusionError {
    if told(&error).is_some() || is_lost(&error) {
        return error;
    }
    let error = match Error::from_data(error) {
        // The memory of the worker is exhausted, not the memory of the driver.
        error if error.kind() == ErrorKind::Resources => error.context("on a worker"),
        error => error,
    };
    let error = telling(&error);
    DataFusionError::Execution(error.message().into())
}

/// Converts an error to the form in which it is sent. Also used for errors that occur before the
/// response begins.
pub(crate) fn telling(error: &Error) -> Error {
    let name = KINDS.iter().find(|(kind, _)| *kind == error.kind());
    let name = name.map_or("internal", |(_, name)| name);
    Error::new(error.kind(), format!("{MARK}{name}/{}{END}", error.message()))
}

const LOST: &str = "anonsql-lost: a worker that others waited for";

fn is_lost(error: &DataFusionError) -> bool {
    error.to_string().contains(LOST)
}

/// Returns the error for rows that another worker did not send: the error that this worker
/// reported, or an error that says that the worker was lost. The result is an error of this crate,
/// because operators pass errors of this crate on unchanged.
pub(super) fn lost(error: &DataFusionError) -> DataFusionError {
    told(error)
        .unwrap_or_else(|| Error::new(ErrorKind::Unavailable, LOST))
        .into()
}

/// A counter of the progress of a task, in any unit. It changes whenever the task makes progress.
#[derive(Debug, Default)]
pub(crate) struct Pulse(AtomicU64);

impl Pulse {
    /// Returns the progress counter of the task that `context` belongs to, or a new counter if it
    /// has none.
    pub(crate) fn of(context: &TaskContext) -> Arc<Self> {
        context.session_config().get_extension::<Self>().unwrap_or_default()
    }

    /// Records that the task makes progress.
    pub(crate) fn beat(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn value(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// An operator that passes on the rows of a task. If the task makes progress without producing
/// rows, the operator emits empty batches.
#[derive(Debug)]
pub(crate) struct TaskOutput;

impl fmt::Display for TaskOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("to the driver")
    }
}

impl Operator for TaskOutput {
    const NAME: &'static str = "AnswerExec";
    const ONLY_LOOKS: bool = true;

    fn run(&self, input: SendableRecordBatchStream, schema: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows> {
        let pulse = Pulse::of(context);
        let beats = stream::unfold((pulse, 0), |(pulse, before)| async move {
            let mut now = before;
            while now == before {
                tokio::time::sleep(BEAT).await;
                now = pulse.value();
            }
            Some(((), (pulse, now)))
        });
        let beats = beats.map(move |()| Some(Ok(RecordBatch::new_empty(Arc::clone(&schema)))));
        let rows = input.map(|rows| Some(rows.map_err(marked)));
        // The response is complete after the last row, although the stream of progress reports is
        // endless.
        let rows = rows.chain(stream::once(async { None }));
        let all = stream::select(rows, beats).take_while(|next| futures::future::ready(next.is_some()));
        Ok(all.filter_map(futures::future::ready).boxed())
    }
}

impl Travels for TaskOutput {
    fn pack(&self) -> Result<Parcel> {
        Parcel::new(&())
    }

    fn unpack(_: Parcel) -> Result<Self> {
        Ok(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_arrives_with_its_kind_and_without_values() {
        let own = Error::new(ErrorKind::Verification, "a label does not cover");
        let sent = marked(own.into());
        let read = told(&DataFusionError::Execution(format!("at http://w: {sent}"))).unwrap();
        assert_eq!(
            (read.kind(), read.message()),
            (ErrorKind::Verification, "a label does not cover")
        );
        assert_eq!(marked(sent).to_string().matches(MARK).count(), 1, "it is marked once");
        let foreign = DataFusionError::ArrowError(
            Box::new(arrow::error::ArrowError::CastError(
                "Cannot cast 'Miller' to Int64".into(),
            )),
            None,
        );
        assert!(!marked(foreign).to_string().contains("Miller"));
        let full = marked(DataFusionError::ResourcesExhausted("2.0 MB for Sort".into()));
        let full = told(&full).unwrap();
        assert!(full.message().starts_with("on a worker: "), "{}", full.message());
    }

    #[test]
    fn all_else_is_a_lost_worker() {
        let broken = || DataFusionError::Execution("transport error".into());
        assert!(told(&broken()).is_none());
        // An operator such as a sort passes the error on as a DataFusion error.
        let sent = marked(Error::from_data(lost(&broken())).into());
        assert!(told(&sent).is_none() && is_lost(&sent));
    }
}
