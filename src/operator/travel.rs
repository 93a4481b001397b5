//! Operators that travel: how they are written into a plan for another machine, and read from it there.
//!
//! A plan travels as DataFusion writes it. For an operator of ours it asks a codec: here a list of kinds, one for each
//! operator that may stand in such a plan. What an operator consists of is a [`Parcel`]: a header in JSON, and arrays in
//! Arrow's format, so that millions of keys are no text.

use super::frame::{Operator, OperatorExec};
use crate::error::{Error, Result};
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Field, Schema, SchemaRef};
use arrow::ipc::CompressionType;
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::TaskContext;
use datafusion::logical_expr::ScalarUDF;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fmt;
use std::io::Cursor;
use std::sync::Arc;

/// What an operator consists of, to be sent.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Parcel {
    header: Vec<u8>,
    arrays: VecDeque<ArrayRef>,
}

impl Parcel {
    /// Creates a parcel without arrays.
    pub(crate) fn new(header: &impl Serialize) -> Result<Self> {
        Ok(Self {
            header: serde_json::to_vec(header).map_err(unpackable)?,
            arrays: VecDeque::new(),
        })
    }

    /// Adds an array.
    pub(crate) fn push(&mut self, array: ArrayRef) {
        self.arrays.push_back(array);
    }

    /// Adds the arrays of another parcel.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.arrays.append(&mut other.arrays);
    }

    /// Reads the header.
    pub(crate) fn header<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.header).map_err(unpackable)
    }

    /// Takes the array that was added first.
    pub(crate) fn take(&mut self) -> Result<ArrayRef> {
        self.arrays.pop_front().ok_or_else(damaged)
    }

    /// Returns the parcel as bytes.
    pub(crate) fn to_bytes(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![];
        put(&mut bytes, &self.header);
        for array in &self.arrays {
            let field = Field::new("a", array.data_type().clone(), true);
            let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::clone(array)])?;
            put(&mut bytes, &stream(&batch)?);
        }
        Ok(bytes)
    }

    /// Reads a parcel.
    pub(crate) fn from_bytes(mut bytes: &[u8]) -> Result<Self> {
        let header = next(&mut bytes)?.to_vec();
        let mut arrays = VecDeque::new();
        while !bytes.is_empty() {
            let batch = StreamReader::try_new(Cursor::new(next(&mut bytes)?), None)?.next();
            arrays.push_back(Arc::clone(batch.ok_or_else(damaged)??.column(0)));
        }
        Ok(Self { header, arrays })
    }
}

/// Returns a batch as a stream of Arrow's format.
fn stream(batch: &RecordBatch) -> Result<Vec<u8>> {
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
    let mut writer = StreamWriter::try_new_with_options(vec![], &batch.schema(), options)?;
    writer.write(batch)?;
    Ok(writer.into_inner()?)
}

fn put(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
    bytes.extend_from_slice(part);
}

fn next<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(damaged)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged())?;
    let part = rest.get(..length).ok_or_else(damaged)?;
    *bytes = &rest[length..];
    Ok(part)
}

fn damaged() -> Error {
    Error::internal("an operator from another machine is incomplete")
}

fn unpackable(e: serde_json::Error) -> Error {
    // The text of such an error may quote a value.
    Error::internal(format!(
        "an operator from another machine cannot be read: {:?}",
        e.classify()
    ))
}

/// An operator that may stand in a plan for another machine.
pub(crate) trait Travels: Operator + Sized {
    /// Packs the operator.
    fn pack(&self) -> Result<Parcel>;

    /// Restores the operator.
    fn unpack(parcel: Parcel) -> Result<Self>;
}

type Input = Option<Arc<dyn ExecutionPlan>>;

/// A kind of operators, in the list of a codec.
pub(crate) struct Kind {
    name: &'static str,
    pack: fn(&dyn ExecutionPlan) -> Option<Result<Parcel>>,
    unpack: fn(Parcel, SchemaRef, Input) -> Result<Arc<dyn ExecutionPlan>>,
}

impl Kind {
    /// Returns the kind of an operator.
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

    /// Returns the kind of an operator that becomes another plan over its input where it arrives.
    pub(crate) const fn becoming<O: Travels>(
        unpack: fn(Parcel, SchemaRef, Input) -> Result<Arc<dyn ExecutionPlan>>,
    ) -> Self {
        Self {
            unpack,
            ..Self::of::<O>()
        }
    }
}

/// Writes operators and functions of ours into plans, and reads them.
#[derive(Clone, Copy)]
pub(crate) struct Codec {
    /// The operators of ours that may stand in a plan.
    pub(crate) kinds: &'static [Kind],
    /// Returns the function of ours with this name.
    pub(crate) function: fn(&str) -> Option<Arc<ScalarUDF>>,
}

impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.kinds.iter().map(|kind| kind.name)).finish()
    }
}

/// What precedes the parcel of an operator.
#[derive(Debug, Serialize, Deserialize)]
struct Label {
    name: String,
    /// The version of anonsql that has written the operator.
    version: String,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What is seen of an operator that is not read.
#[cfg(feature = "ballista")]
pub(crate) struct Seen {
    pub(crate) name: String,
    pub(crate) schema: SchemaRef,
}

/// Looks at an operator without reading it. Fails with `ErrorKind::Usage` if it is of another version.
#[cfg(feature = "ballista")]
pub(crate) fn seen(mut bytes: &[u8]) -> Result<Seen> {
    let (name, schema) = labelled(&mut bytes)?;
    Ok(Seen { name, schema })
}

/// Reads what precedes the parcel of an operator: its name and its schema. Fails with `ErrorKind::Usage` if it is of another
/// version.
fn labelled(bytes: &mut &[u8]) -> Result<(String, SchemaRef)> {
    let label: Label = serde_json::from_slice(next(bytes)?).map_err(unpackable)?;
    if label.version != VERSION {
        return Err(Error::usage(format!(
            "this is anonsql {VERSION}, and the plan is of anonsql {}; a release is made by one version: start all with the same",
            label.version
        )));
    }
    Ok((
        label.name,
        StreamReader::try_new(Cursor::new(next(bytes)?), None)?.schema(),
    ))
}

impl Codec {
    /// Returns true if this is an operator of one of these kinds.
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
    use arrow::array::{Int64Array, StringArray};

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

    #[test]
    fn a_parcel_arrives_whole_or_not_at_all() {
        let mut parcel = Parcel::new(&("node", 3)).unwrap();
        parcel.push(Arc::new(Int64Array::from(vec![Some(1), None])));
        parcel.push(Arc::new(StringArray::from(vec!["a"])));
        let bytes = parcel.to_bytes().unwrap();
        let mut read = Parcel::from_bytes(&bytes).unwrap();
        assert_eq!(read, parcel);
        assert_eq!(read.header::<(String, u32)>().unwrap(), ("node".into(), 3));
        assert_eq!(read.take().unwrap().len(), 2);
        assert_eq!(read.take().unwrap().len(), 1);
        assert!(read.take().is_err());
        for cut in [3, 9, bytes.len() - 1] {
            assert!(Parcel::from_bytes(&bytes[..cut]).is_err(), "cut at {cut}");
        }
    }
}
