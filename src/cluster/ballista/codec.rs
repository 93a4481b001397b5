//! How plans are written for Ballista: operators of ours by our codec, and those of Ballista by its own.
//!
//! The scheduler divides a plan into stages and hands them on. It does not read operators of ours: each is a sealed box to it,
//! so that it needs neither the secrets of hashes nor the memory of large recodings.

use crate::error::Error;
use crate::operator::{Codec, Seen, seen};
use arrow::datatypes::SchemaRef;
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::Partitioning;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, ExecutionPlanProperties, PlanProperties};
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use std::fmt;
use std::sync::Arc;

/// What the bytes of an operator begin with.
const OURS: u8 = 1;
const THEIRS: u8 = 0;

/// Writes and reads operators of ours and of Ballista.
#[derive(Debug)]
pub(super) struct BallistaCodec {
    /// What reads operators of ours; `None` where they stay sealed.
    own: Option<Codec>,
    theirs: BallistaPhysicalExtensionCodec,
}

impl BallistaCodec {
    /// Returns the codec of whoever executes plans or makes them.
    pub(super) fn reading(own: Codec) -> Self {
        Self {
            own: Some(own),
            theirs: BallistaPhysicalExtensionCodec::default(),
        }
    }

    /// Returns the codec of the scheduler.
    pub(super) fn sealing() -> Self {
        Self {
            own: None,
            theirs: BallistaPhysicalExtensionCodec::default(),
        }
    }
}

impl PhysicalExtensionCodec for BallistaCodec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        if let Some(sealed) = node.downcast_ref::<Sealed>() {
            bytes.push(OURS);
            bytes.extend_from_slice(&sealed.bytes);
            return Ok(());
        }
        match self.own {
            Some(own) if own.knows(node.as_ref()) => {
                bytes.push(OURS);
                own.try_encode(node, bytes, converter)
            }
            _ => {
                bytes.push(THEIRS);
                self.theirs.try_encode(node, bytes, converter)
            }
        }
    }

    fn try_decode(
        &self,
        bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        context: &TaskContext,
        converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let (whose, bytes) = bytes
            .split_first()
            .ok_or_else(|| Error::internal("an operator without bytes"))?;
        match (*whose, self.own) {
            (OURS, Some(own)) => own.try_decode(bytes, inputs, context, converter),
            (OURS, None) => Ok(Arc::new(Sealed::new(bytes, inputs.to_vec())?)),
            _ => self.theirs.try_decode(bytes, inputs, context, converter),
        }
    }
}

/// An operator of ours that is handed on unread.
#[derive(Debug, Clone)]
struct Sealed {
    name: String,
    bytes: Arc<[u8]>,
    schema: SchemaRef,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
    properties: Arc<PlanProperties>,
}

impl Sealed {
    fn new(bytes: &[u8], inputs: Vec<Arc<dyn ExecutionPlan>>) -> Result<Self> {
        let Seen { name, schema } = seen(bytes)?;
        let bytes = Arc::from(bytes);
        Ok(Self::assemble(name, bytes, schema, inputs))
    }

    /// Each operator of ours that stands in a plan for a scheduler has the partitions of its input.
    fn assemble(name: String, bytes: Arc<[u8]>, schema: SchemaRef, inputs: Vec<Arc<dyn ExecutionPlan>>) -> Self {
        let partitions = inputs
            .first()
            .map_or(1, |input| input.output_partitioning().partition_count());
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            Partitioning::UnknownPartitioning(partitions),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Self {
            name,
            bytes,
            schema,
            inputs,
            properties: Arc::new(properties),
        }
    }
}

impl DisplayAs for Sealed {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl ExecutionPlan for Sealed {
    fn name(&self) -> &str {
        "SealedExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        self.inputs.iter().collect()
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, inputs: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        let own = self.as_ref().clone();
        Ok(Arc::new(Self::assemble(own.name, own.bytes, own.schema, inputs)))
    }

    fn execute(&self, _: usize, _: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        Err(Error::internal("a scheduler executes no plan").into())
    }
}
