//! Serializes operators of this crate in a plan for another machine, and restores them on that
//! machine.
//!
//! A plan is sent in the format that DataFusion defines. For operators of this crate, DataFusion
//! calls a codec. The codec in this file is a list of kinds, one for each operator that can be
//! sent.

use crate::base::error::{Error, Result};
use crate::base::operator::bytes::{next, put, stream, unpackable};
use crate::base::operator::{OperatorExec, Parcel, Travels};
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use arrow::ipc::reader::StreamReader;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::ScalarUDF;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::Cursor;
use std::sync::Arc;

type Input = Option<Arc<dyn ExecutionPlan>>;

/// A kind of operator in the list of a codec.
pub(crate) struct OperatorKind {
    name: &'static str,
    pack: fn(&dyn ExecutionPlan) -> Option<Result<Parcel>>,
    unpack: fn(Parcel, SchemaRef, Input) -> Result<Arc<dyn ExecutionPlan>>,
}

impl OperatorKind {
    /// Returns the kind of the operator `O`.
    pub(crate) const fn of<O: Travels>() -> Self {
        Self {
            name: O::NAME,
            pack: |plan| plan.downcast_ref::<OperatorExec<O>>().map(|own| own.operator().pack()),
            unpack: |parcel, schema, input| {
                let operator = O::unpack(parcel)?;
                Ok(Arc::new(OperatorExec::restored(input, operator, schema)))
            },
        }
    }

    /// Returns the kind of an operator that the receiver replaces with another operator. `unpack`
    /// returns the replacement, which gets the same input.
    pub(crate) const fn becoming<O: Travels>(
        unpack: fn(Parcel, SchemaRef, Input) -> Result<Arc<dyn ExecutionPlan>>,
    ) -> Self {
        Self {
            unpack,
            ..Self::of::<O>()
        }
    }
}

/// Serializes and restores the operators and functions of this crate in plans.
#[derive(Clone, Copy)]
pub(crate) struct Codec {
    /// The operators of this crate that a plan may contain.
    pub(crate) kinds: &'static [OperatorKind],
    /// Finds a function of this crate by its name.
    pub(crate) function: fn(&str) -> Option<Arc<ScalarUDF>>,
}

impl Codec {
    /// Returns the codec of a session. Fails with `ErrorKind::Internal` if the session has no
    /// codec.
    pub(crate) fn of(config: &SessionConfig) -> Result<Self> {
        let codec = config.get_extension::<Self>();
        Ok(*codec.ok_or_else(|| Error::internal("a session without a codec"))?)
    }
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kinds.iter().map(|kind| kind.name)).finish()
    }
}

/// The label that precedes the content of a sent operator.
#[derive(Debug, Serialize, Deserialize)]
struct Label {
    name: String,
    /// The version of anonsql that wrote the operator.
    version: String,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The label and the schema of an operator whose content is not decoded.
#[cfg(feature = "ballista")]
pub(crate) struct UndecodedOperator {
    pub(crate) name: String,
    pub(crate) schema: SchemaRef,
}

/// Reads the label and the schema of an operator, but not its content. Fails with
/// `ErrorKind::Usage` if another version wrote the operator.
#[cfg(feature = "ballista")]
pub(crate) fn seen(mut bytes: &[u8]) -> Result<UndecodedOperator> {
    let (name, schema) = labelled(&mut bytes)?;
    Ok(UndecodedOperator { name, schema })
}

/// Reads the name and the schema that precede the content of an operator. Fails with
/// `ErrorKind::Usage` if another version wrote the operator.
fn labelled(bytes: &mut &[u8]) -> Result<(String, SchemaRef)> {
    let label: Label = serde_json::from_slice(next(bytes)?).map_err(unpackable)?;
    if label.version != VERSION {
        return Err(Error::usage(format!(
            "this is anonsql {VERSION}, but the plan is from anonsql {}; start all processes with the same version",
            label.version
        )));
    }
    Ok((
        label.name,
        StreamReader::try_new(Cursor::new(next(bytes)?), None)?.schema(),
    ))
}

impl Codec {
    /// Returns true if the codec can write this operator.
    #[cfg(feature = "ballista")]
    pub(crate) fn knows(&self, node: &dyn ExecutionPlan) -> bool {
        self.kinds.iter().any(|kind| kind.name == node.name())
    }
}

impl PhysicalExtensionCodec for Codec {
    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        bytes: &mut Vec<u8>,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> DfResult<()> {
        let packed = self
            .kinds
            .iter()
            .find_map(|kind| Some((kind, (kind.pack)(node.as_ref())?)));
        let Some((kind, parcel)) = packed else {
            return Err(DataFusionError::NotImplemented(format!(
                "{} on other machines",
                node.name()
            )));
        };
        let name = kind.name.to_string();
        let version = VERSION.to_string();
        let label = serde_json::to_vec(&Label { name, version }).map_err(unpackable)?;
        put(bytes, &label);
        put(bytes, &stream(&RecordBatch::new_empty(node.schema()))?);
        put(bytes, &parcel?.to_bytes()?);
        Ok(())
    }

    fn try_decode(
        &self,
        mut bytes: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        _: &TaskContext,
        _: &dyn PhysicalProtoConverterExtension,
    ) -> DfResult<Arc<dyn ExecutionPlan>> {
        let (name, schema) = labelled(&mut bytes)?;
        let parcel = Parcel::from_bytes(next(&mut bytes)?)?;
        let kind = self.kinds.iter().find(|kind| kind.name == name);
        let kind = kind.ok_or_else(|| Error::internal(format!("a worker knows no operator {name}")))?;
        Ok((kind.unpack)(parcel, schema, inputs.first().cloned())?)
    }

    fn try_decode_udf(&self, name: &str, _: &[u8]) -> DfResult<Arc<ScalarUDF>> {
        let function = (self.function)(name);
        Ok(function.ok_or_else(|| Error::internal(format!("a worker knows no function {name}")))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::Schema;

    #[test]
    fn an_operator_of_another_version_is_refused_by_both_names() {
        let written = |version: &str| {
            let (name, version) = ("SentExec".to_string(), version.to_string());
            let mut bytes = vec![];
            put(&mut bytes, &serde_json::to_vec(&Label { name, version }).unwrap());
            put(
                &mut bytes,
                &stream(&RecordBatch::new_empty(Arc::new(Schema::empty()))).unwrap(),
            );
            bytes
        };
        assert_eq!(labelled(&mut written(VERSION).as_slice()).unwrap().0, "SentExec");
        let e = labelled(&mut written("0.0.9").as_slice()).unwrap_err().to_string();
        assert!(e.contains("0.0.9") && e.contains(VERSION), "{e}");
    }
}
