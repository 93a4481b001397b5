//! Simplifies the types of released columns.

use arrow::datatypes::{DataType, Field, FieldRef};
use std::sync::Arc;

/// Returns the type without dictionaries, views and field metadata, including the types inside
/// lists and structs. A dictionary would also contain the values of rows that were filtered out.
/// With views, each sorted row would keep all buffers of its original batch in memory.
pub(crate) fn plain(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(_, values) => plain(values),
        DataType::Utf8View => DataType::Utf8,
        DataType::BinaryView => DataType::Binary,
        other => with_inner(other, plain),
    }
}

/// Returns the type without field metadata, which may contain data values.
pub(crate) fn bare(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Dictionary(code, values) => DataType::Dictionary(code.clone(), Box::new(bare(values))),
        other => with_inner(other, bare),
    }
}

/// Applies `inner` to the types of a type's items or fields, and removes field metadata.
fn with_inner(data_type: &DataType, inner: fn(&DataType) -> DataType) -> DataType {
    let of = |field: &FieldRef| {
        let data_type = inner(field.data_type());
        Arc::new(Field::new(field.name(), data_type, field.is_nullable()))
    };
    match data_type {
        DataType::List(item) => DataType::List(of(item)),
        DataType::LargeList(item) => DataType::LargeList(of(item)),
        DataType::ListView(item) => DataType::ListView(of(item)),
        DataType::LargeListView(item) => DataType::LargeListView(of(item)),
        DataType::FixedSizeList(item, length) => DataType::FixedSizeList(of(item), *length),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(of).collect()),
        DataType::Map(entries, is_sorted) => DataType::Map(of(entries), *is_sorted),
        DataType::Union(fields, mode) => DataType::Union(fields.iter().map(|(id, f)| (id, of(f))).collect(), *mode),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Manifests and errors contain the text of types, which would include field metadata.
    #[test]
    fn no_type_has_metadata_of_fields() {
        let with_metadata = |data_type| {
            let field = Field::new("inner", data_type, true);
            Arc::new(field.with_metadata([("note".to_string(), "Alice".to_string())].into()))
        };
        let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8View));
        let inner = DataType::Struct(vec![with_metadata(dictionary)].into());
        for nested in [DataType::List(with_metadata(inner.clone())), inner] {
            assert!(nested.to_string().contains("Alice"));
            assert!(!bare(&nested).to_string().contains("Alice"));
            assert!(bare(&nested).to_string().contains("Dictionary"));
            assert!(!plain(&nested).to_string().contains("Alice"));
            assert!(!plain(&nested).to_string().contains("Dictionary"));
        }
    }
}
