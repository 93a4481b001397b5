//! Checks that values can be counted. This is not possible for types in which the same value has
//! several representations that cannot be normalized.

use crate::base::error::{Error, Result};
use arrow::datatypes::{DataType, IntervalUnit};
use datafusion::common::DFSchema;

/// Fails for columns in which a model would count several values where a reader sees one. A column
/// that does not exist is ignored here, because another check fails for it.
pub(crate) fn check_counted<'a>(rows: &DFSchema, columns: impl IntoIterator<Item = &'a String>) -> Result<()> {
    for column in columns {
        let field = rows.field_with_unqualified_name(column).ok();
        if let Some(why) = field.and_then(|field| spellings(field.data_type())) {
            return Err(Error::usage(format!(
                "column {column:?} has values that cannot be counted: {why}; give the column another role, or select what is \
                 to be counted in a query"
            )));
        }
    }
    Ok(())
}

/// Returns why values of this type, or values inside them, have several representations; `None` if
/// each value has one representation.
fn spellings(data_type: &DataType) -> Option<&'static str> {
    use DataType::{
        Dictionary, FixedSizeList, Interval, LargeList, LargeListView, List, ListView, Map, RunEndEncoded, Struct,
        Union,
    };
    match data_type {
        Interval(IntervalUnit::DayTime | IntervalUnit::MonthDayNano) => Some(
            "an interval says one length in several ways, as 1 day and 24 hours or 1 month and 30 days, and \
             date_part('epoch', ...) says it in one",
        ),
        Map(..) => Some("a map has its entries in any order, as {a: 1, b: 2} and {b: 2, a: 1}"),
        Union(..) => Some("a union holds one value in several types, as 1 and 1.0"),
        Dictionary(_, values) => spellings(values),
        List(item)
        | LargeList(item)
        | ListView(item)
        | LargeListView(item)
        | FixedSizeList(item, _)
        | RunEndEncoded(_, item) => spellings(item.data_type()),
        Struct(fields) => fields.iter().find_map(|field| spellings(field.data_type())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::{Field, Schema, UnionFields, UnionMode};
    use std::sync::Arc;

    fn check(data_type: DataType) -> Result<()> {
        let schema = Schema::new(vec![Field::new("c", data_type, true)]);
        check_counted(
            &DFSchema::try_from(schema).unwrap(),
            [&"c".to_string(), &"gone".to_string()],
        )
    }

    #[test]
    fn a_value_without_one_spelling_is_refused_wherever_it_stands() {
        let interval = DataType::Interval(IntervalUnit::DayTime);
        let field = |data_type: DataType| Arc::new(Field::new("x", data_type, true));
        let union = UnionFields::from_fields(vec![Field::new("x", DataType::Int64, true)]);
        let entries = DataType::Struct(vec![field(DataType::Utf8), field(DataType::Utf8)].into());
        for data_type in [
            interval.clone(),
            DataType::Interval(IntervalUnit::MonthDayNano),
            DataType::Dictionary(Box::new(DataType::Int8), Box::new(interval.clone())),
            DataType::RunEndEncoded(field(DataType::Int32), field(interval.clone())),
            DataType::List(field(interval.clone())),
            DataType::Struct(vec![field(DataType::Int8), field(interval)].into()),
            DataType::Union(union, UnionMode::Sparse),
            DataType::Map(field(entries), false),
        ] {
            let e = check(data_type.clone()).unwrap_err().to_string();
            assert!(
                e.starts_with("column \"c\" has values that cannot be counted: "),
                "{data_type}: {e}"
            );
        }
        for data_type in [
            DataType::Interval(IntervalUnit::YearMonth),
            DataType::Float64,
            DataType::Struct(vec![field(DataType::Int8)].into()),
            DataType::List(field(DataType::Utf8)),
        ] {
            assert!(check(data_type.clone()).is_ok(), "{data_type}");
        }
    }
}
