//! Serializes plans for Ballista. The codec of this crate serializes operators of this crate, and
//! Ballista's own codec serializes Ballista's operators.
//!
//! The scheduler divides a plan into stages and passes them to executors. It does not decode
//! operators of this crate, but passes on their bytes. It therefore needs neither the secrets of
//! hashes nor the memory of large recodings.

use crate::base::error::Error;
use crate::base::operator::{Operator, OperatorExec, Rows};
use crate::method::canonical::function;
use crate::release::cluster::codec::{Codec, UndecodedOperator, seen};
use arrow::datatypes::SchemaRef;
use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::ScalarUDF;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use std::fmt;
use std::sync::Arc;

/// The first byte of an encoded operator of this crate.
const OURS: u8 = 1;
const THEIRS: u8 = 0;

/// Serializes and restores operators of this crate and of Ballista.
#[derive(Debug)]
pub(super) struct BallistaCodec {
    /// The codec for operators of this crate; `None` if these operators are passed on as bytes.
    own: Option<Codec>,
    theirs: BallistaPhysicalExtensionCodec,
}

impl BallistaCodec {
    /// Returns the codec for processes that create or execute plans.
    pub(super) fn reading(own: Codec) -> Self {
        Self {
            own: Some(own),
            theirs: BallistaPhysicalExtensionCodec::default(),
        }
    }

    /// Returns the codec for the scheduler, which does not decode operators of this crate.
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
        if let Some(sealed) = node.downcast_ref::<OperatorExec<Sealed>>() {
            bytes.push(OURS);
            bytes.extend_from_slice(&sealed.operator().bytes);
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
            (OURS, None) => {
                let UndecodedOperator { name, schema } = seen(bytes)?;
                let bytes = bytes.to_vec();
                let sealed = Sealed { name, bytes };
                Ok(Arc::new(OperatorExec::restored(
                    inputs.first().cloned(),
                    sealed,
                    schema,
                )))
            }
            _ => self.theirs.try_decode(bytes, inputs, context, converter),
        }
    }

    fn try_decode_udf(&self, name: &str, bytes: &[u8]) -> Result<Arc<ScalarUDF>> {
        // The scheduler decodes the expressions in plans, even though it does not execute the
        // plans.
        match function(name) {
            Some(function) => Ok(function),
            None => self.theirs.try_decode_udf(name, bytes),
        }
    }
}

/// An operator of this crate whose bytes are passed on without decoding. In the scheduler's plan,
/// it has the same partitions as its input.
#[derive(Debug)]
struct Sealed {
    name: String,
    bytes: Vec<u8>,
}

impl fmt::Display for Sealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl Operator for Sealed {
    const NAME: &'static str = "SealedExec";

    fn run(
        &self,
        _: SendableRecordBatchStream,
        _: SchemaRef,
        _: &Arc<TaskContext>,
    ) -> crate::base::error::Result<Rows> {
        Err(Error::internal("a scheduler executes no plan"))
    }
}
