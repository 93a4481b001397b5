//! The types that released columns are made in.

use arrow::datatypes::DataType;

/// The type without a dictionary, whose values outlive the rows they were filtered with, and without views: sorted rows
/// would each hold on to the whole buffers of the batches that they came in.
pub(super) fn plain(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        other => other.clone(),
    }
}
