//! The types of released columns.

use arrow::datatypes::DataType;

/// Returns the type without dictionaries and views. The values of a dictionary outlive the rows
/// that were filtered out, and with views each sorted row would hold the whole buffers of its
/// original batch.
pub(crate) fn plain(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        other => other.clone(),
    }
}
