//! Byte strings that consist of parts, each preceded by its length: a header in JSON, and arrays in
//! Arrow's IPC format.

use crate::base::error::{Error, Result};
use arrow::array::RecordBatch;
use arrow::ipc::CompressionType;
use arrow::ipc::writer::{IpcWriteOptions, StreamWriter};

/// Returns a batch encoded as a stream in Arrow's IPC format.
pub(crate) fn stream(batch: &RecordBatch) -> Result<Vec<u8>> {
    let options = IpcWriteOptions::default().try_with_compression(Some(CompressionType::LZ4_FRAME))?;
    let mut writer = StreamWriter::try_new_with_options(vec![], &batch.schema(), options)?;
    writer.write(batch)?;
    Ok(writer.into_inner()?)
}

/// Appends a part to `bytes`, preceded by its length in 8 bytes.
pub(crate) fn put(bytes: &mut Vec<u8>, part: &[u8]) {
    bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
    bytes.extend_from_slice(part);
}

/// Removes the first part from `bytes` and returns it.
pub(crate) fn next<'a>(bytes: &mut &'a [u8]) -> Result<&'a [u8]> {
    let (length, rest) = bytes.split_first_chunk::<8>().ok_or_else(damaged)?;
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged())?;
    let part = rest.get(..length).ok_or_else(damaged)?;
    *bytes = &rest[length..];
    Ok(part)
}

/// Returns the error for bytes that end within a part.
pub(super) fn damaged() -> Error {
    Error::internal("an operator from another machine is incomplete")
}

/// Returns the error for a header that cannot be written or read as JSON.
pub(crate) fn unpackable(e: serde_json::Error) -> Error {
    // The text of such an error may quote a value.
    Error::internal(format!(
        "an operator from another machine cannot be read: {:?}",
        e.classify()
    ))
}
