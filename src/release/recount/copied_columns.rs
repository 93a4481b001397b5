//! Copies of columns that a plan reads anyway. They are made while the plan is executed, so that
//! the columns are not read once more.

use crate::base::error::Result;
use crate::base::operator::{Operator, OperatorExec, Rows};
use crate::data::recode::RecodeExec;
use crate::method::hierarchy::plain_type;
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::error::Result as DfResult;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use futures::{StreamExt, stream};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The maximum number of batches of a partition that wait for the reader of the copies. If the
/// reader is slower than the plan, the plan waits for it.
const WAITING: usize = 2;

/// Copies of columns of a plan.
pub(crate) struct CopiedColumns {
    pub(super) schema: SchemaRef,
    /// The copies of each partition. They have no rows before the plan is executed.
    pub(super) streams: Vec<SendableRecordBatchStream>,
    pub(crate) copying: Arc<Copying>,
}

/// A plan that makes copies, and the copies.
type Copied = (Arc<dyn ExecutionPlan>, CopiedColumns);

impl CopiedColumns {
    /// Returns `plan` with an operator that copies the columns with these names and types before
    /// they are recoded. Returns `None` if the plan does not recode them, or reads other rows, too.
    pub(crate) fn before_recoding(
        plan: &Arc<dyn ExecutionPlan>,
        columns: &[(String, DataType)],
    ) -> Result<Option<Copied>> {
        let children = plan.children();
        let [input] = children.as_slice() else {
            return Ok(None);
        };
        let below = match plan.downcast_ref::<RecodeExec>().is_some() {
            true => Self::of(input, columns)?,
            false => Self::before_recoding(input, columns)?,
        };
        let Some((below, copied)) = below else {
            return Ok(None);
        };
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        let plan = Arc::clone(plan).replace_children(vec![below], options)?;
        Ok(Some((plan, copied)))
    }

    /// Returns a plan with the rows of `input` that copies the columns with these names and types.
    /// Returns `None` if the input does not have them.
    pub(super) fn of(input: &Arc<dyn ExecutionPlan>, columns: &[(String, DataType)]) -> Result<Option<Copied>> {
        let read = input.schema();
        let place = |(name, data_type): &(String, DataType)| {
            let (place, field) = read.column_with_name(name)?;
            (plain_type(field.data_type()) == data_type).then_some(place)
        };
        let Some(columns) = columns.iter().map(place).collect::<Option<Vec<usize>>>() else {
            return Ok(None);
        };
        let schema: SchemaRef = Arc::new(read.project(&columns)?);
        let partitions = input.output_partitioning().partition_count();
        let (senders, receivers): (VecDeque<_>, Vec<_>) = (0..partitions).map(|_| channel(WAITING)).unzip();
        let copies = |mut receiver: Receiver<RecordBatch>| -> SendableRecordBatchStream {
            let rows = stream::poll_fn(move |context| {
                let batch = receiver.poll_recv(context);
                batch.map(|batch| -> Option<DfResult<RecordBatch>> { batch.map(Ok) })
            });
            Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&schema), rows))
        };
        let streams = receivers.into_iter().map(copies).collect();
        let copying = Arc::new(Copying {
            waiting: Mutex::new(senders),
            unread: AtomicUsize::new(partitions),
        });
        let operator = CopyColumns {
            columns,
            copying: Arc::clone(&copying),
        };
        let copied = Self {
            schema,
            streams,
            copying,
        };
        Ok(Some((
            Arc::new(OperatorExec::looking(Arc::clone(input), operator)),
            copied,
        )))
    }
}

/// The progress of the copies. Only the first execution of a plan makes copies.
#[derive(Debug, Default)]
pub(crate) struct Copying {
    /// The senders of the partitions that have not begun.
    waiting: Mutex<VecDeque<Sender<RecordBatch>>>,
    /// The number of partitions that were not read to their end.
    unread: AtomicUsize,
}

impl Copying {
    /// Makes no copies of partitions that have not begun, so that nobody waits for them.
    pub(crate) fn stop(&self) {
        self.waiting.lock().clear();
    }

    /// Returns true if all rows were copied.
    pub(crate) fn is_complete(&self) -> bool {
        self.unread.load(Ordering::Acquire) == 0
    }
}

/// The operator that copies columns of its input.
#[derive(Debug)]
struct CopyColumns {
    /// The indices of the columns.
    columns: Vec<usize>,
    copying: Arc<Copying>,
}

impl fmt::Display for CopyColumns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("for the report")
    }
}

impl Operator for CopyColumns {
    const NAME: &'static str = "CopyColumnsExec";
    const ONLY_LOOKS: bool = true;

    fn run(&self, input: SendableRecordBatchStream, _: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let sender = self.copying.waiting.lock().pop_front();
        if sender.is_none() {
            return Ok(input.boxed());
        }
        let partition = CopiedPartition {
            columns: self.columns.clone(),
            copying: Arc::clone(&self.copying),
            sender,
        };
        let rows = stream::unfold((input, partition), |(mut input, mut partition)| async move {
            let batch = input.next().await;
            partition.add(batch.as_ref()).await;
            batch.map(|batch| (batch, (input, partition)))
        });
        Ok(rows.fuse().boxed())
    }

    fn renewed(&self) -> Option<Self> {
        Some(Self {
            columns: self.columns.clone(),
            copying: Arc::default(),
        })
    }
}

/// A partition whose columns are copied.
struct CopiedPartition {
    columns: Vec<usize>,
    copying: Arc<Copying>,
    /// The sender of the copies; `None` after the last copy.
    sender: Option<Sender<RecordBatch>>,
}

impl CopiedPartition {
    /// Copies the next batch. `None` is the end of the partition.
    async fn add(&mut self, batch: Option<&DfResult<RecordBatch>>) {
        let Some(sender) = self.sender.take() else {
            return;
        };
        match batch {
            Some(Ok(batch)) => {
                // No more copies are needed if their reader has stopped, because they do not fit in
                // memory.
                if let Ok(copy) = batch.project(&self.columns)
                    && sender.send(copy).await.is_ok()
                {
                    self.sender = Some(sender);
                }
            }
            Some(Err(_)) => {}
            None => {
                // The reader of the copies sees their end after this, when the sender is dropped.
                self.copying.unread.fetch_sub(1, Ordering::AcqRel);
            }
        }
    }
}
