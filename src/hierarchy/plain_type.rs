//! The type of values, whatever their encoding.

use arrow::datatypes::DataType;

/// Returns the type of the values without dictionary or run-end encoding.
pub(crate) fn plain_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain_type(values),
        DataType::RunEndEncoded(_, values) => plain_type(values.data_type()),
        other => other,
    }
}
