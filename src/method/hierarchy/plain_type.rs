//! Column types without their dictionary or run-end encoding.

use arrow::datatypes::DataType;

/// Returns true for binary types, which SQL does not cast to text. This includes fixed-size binary,
/// as in a UUID.
pub(crate) fn is_binary(data_type: &DataType) -> bool {
    data_type.is_binary() || matches!(data_type, DataType::FixedSizeBinary(_))
}

/// Returns the type of the values without dictionary or run-end encoding.
pub(crate) fn plain_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain_type(values),
        DataType::RunEndEncoded(_, values) => plain_type(values.data_type()),
        other => other,
    }
}
