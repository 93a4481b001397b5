//! An operator that executes a single-partition plan over each partition of its input.

use super::answer::lost;
use super::codec::Codec;
use super::fetch::FETCHED_ONCE;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::operator::{Operator, OperatorExec, Parcel, Rows, Travels};
use arrow::array::{Array, AsArray, BinaryArray};
use arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion_proto::physical_plan::AsExecutionPlan;
use datafusion_proto::protobuf::PhysicalPlanNode;
use futures::{StreamExt, TryStreamExt};
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;

/// An operator that executes a plan over each partition of its input.
#[derive(Debug)]
pub(crate) struct Each {
    /// The plan, whose source is a [`Rest`].
    plan: Arc<dyn ExecutionPlan>,
    codec: Codec,
}

impl Each {
    /// Returns a plan that executes `plan` over each partition of `input`. The source of `plan`
    /// must be [`Rest::of`] the schema of `input`.
    pub(super) fn over(
        input: Arc<dyn ExecutionPlan>,
        plan: Arc<dyn ExecutionPlan>,
        codec: Codec,
    ) -> Arc<dyn ExecutionPlan> {
        let schema = plan.schema();
        Arc::new(OperatorExec::over(input, Self { plan, codec }, schema))
    }

    /// Restores the operator from its serialized form.
    pub(crate) fn restored(mut parcel: Parcel, codec: Codec) -> Result<Self> {
        let otherwise = || Error::internal("a plan of a part that cannot be read");
        let bytes = parcel.take()?;
        let bytes = bytes
            .as_binary_opt::<i32>()
            .filter(|bytes| bytes.len() == 1)
            .ok_or_else(otherwise)?;
        let node = PhysicalPlanNode::try_decode(bytes.value(0))?;
        let plan = node.try_into_physical_plan(&TaskContext::default(), &codec)?;
        Ok(Self { plan, codec })
    }
}

impl fmt::Display for Each {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.plan.name())
    }
}

impl Travels for Each {
    fn pack(&self) -> Result<Parcel> {
        let node = PhysicalPlanNode::try_from_physical_plan(Arc::clone(&self.plan), &self.codec)?;
        let mut bytes = vec![];
        node.try_encode(&mut bytes)?;
        let mut parcel = Parcel::new(&())?;
        parcel.push(Arc::new(BinaryArray::from_vec(vec![&bytes])));
        Ok(parcel)
    }

    fn unpack(_: Parcel) -> Result<Self> {
        Err(Error::internal("a plan of a part that is restored without a codec"))
    }
}

impl Operator for Each {
    const NAME: &'static str = "EachExec";

    fn run(&self, input: SendableRecordBatchStream, _: SchemaRef, context: &Arc<TaskContext>) -> Result<Rows> {
        // An error of `input` means that another executor was lost, not that the data is invalid.
        let schema = input.schema();
        let input = RecordBatchStreamAdapter::new(schema, input.map_err(|e| lost(&e)));
        let rest = Rest(Mutex::new(Some(Box::pin(input))));
        let mut rest = Some(rest);
        let plan = Arc::clone(&self.plan).transform_up(|node| {
            let is_rest = node.is::<OperatorExec<Rest>>();
            Ok(match rest.take_if(|_| is_rest) {
                Some(rest) => Transformed::yes(Arc::new(OperatorExec::source(Arc::new(rest), node.schema())) as _),
                None => Transformed::no(node),
            })
        });
        Ok(plan.data()?.execute(0, Arc::clone(context))?.boxed())
    }
}

/// A source that returns the rows of one partition. The rows can be read only once.
pub(crate) struct Rest(Mutex<Option<SendableRecordBatchStream>>);

impl Rest {
    /// Returns a placeholder for the rows, for use in a plan.
    pub(super) fn of(schema: SchemaRef) -> Arc<dyn ExecutionPlan> {
        Arc::new(OperatorExec::source(Arc::new(Self(Mutex::new(None))), schema))
    }
}

impl fmt::Debug for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rest")
    }
}

impl fmt::Display for Rest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("of a part")
    }
}

impl Travels for Rest {
    fn pack(&self) -> Result<Parcel> {
        Parcel::new(&())
    }

    fn unpack(_: Parcel) -> Result<Self> {
        Ok(Self(Mutex::new(None)))
    }
}

impl Operator for Rest {
    const NAME: &'static str = "RestExec";

    fn run(&self, _: SendableRecordBatchStream, _: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let rows = self.0.lock().take();
        Ok(rows
            .ok_or_else(|| Error::new(ErrorKind::Resources, FETCHED_ONCE))?
            .boxed())
    }
}
