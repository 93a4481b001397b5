//! Operators that can be sent to another machine: they are encoded in a plan, and decoded from the
//! plan on the other machine.
//!
//! An operator is sent as a [`Parcel`], which consists of a header in JSON and arrays in Arrow's
//! IPC format, so that millions of keys are not written as text.

use super::bytes::{damaged, next, put, stream, unpackable};
use super::frame::Operator;
use crate::base::error::Result;
use arrow::array::{ArrayRef, RecordBatch};
use arrow::datatypes::{Field, Schema};
use arrow::ipc::reader::StreamReader;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::VecDeque;
use std::io::Cursor;
use std::sync::Arc;

/// The parts of an operator that are sent.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Parcel {
    header: Vec<u8>,
    arrays: VecDeque<ArrayRef>,
}

impl Parcel {
    /// Creates a parcel without arrays. Fails if the header cannot be written as JSON.
    pub(crate) fn new(header: &impl Serialize) -> Result<Self> {
        Ok(Self {
            header: serde_json::to_vec(header).map_err(unpackable)?,
            arrays: VecDeque::new(),
        })
    }

    /// Adds an array after the arrays that the parcel already has.
    pub(crate) fn push(&mut self, array: ArrayRef) {
        self.arrays.push_back(array);
    }

    /// Adds the arrays of another parcel, without its header.
    pub(crate) fn append(&mut self, mut other: Self) {
        self.arrays.append(&mut other.arrays);
    }

    /// Decodes the header. Fails if the header does not have the type `T`.
    pub(crate) fn header<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.header).map_err(unpackable)
    }

    /// Removes and returns the array that was added first.
    pub(crate) fn take(&mut self) -> Result<ArrayRef> {
        self.arrays.pop_front().ok_or_else(damaged)
    }

    /// Returns the parcel as bytes, which [`Self::from_bytes`] decodes.
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

    /// Decodes a parcel from its bytes. Fails if the bytes are incomplete.
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

/// An operator that may be part of a plan for another machine.
pub(crate) trait Travels: Operator + Sized {
    /// Packs the operator into a parcel, without its input.
    fn pack(&self) -> Result<Parcel>;

    /// Restores the operator from a parcel that [`Self::pack`] made.
    fn unpack(parcel: Parcel) -> Result<Self>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int64Array, StringArray};

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
