//! What is known of a released quasi-identifier, and other rows generalized as it is.

use super::CHECKED;
use crate::engine::quote;
use crate::error::{Error, Result};
use crate::hierarchy::{Hierarchy, Lookup};
use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::{cast, concat_batches, take};
use arrow::datatypes::{DataType, TimeUnit};
use arrow::record_batch::RecordBatch;
use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// A released quasi-identifier.
pub(super) struct Known {
    pub(super) column: String,
    /// The hierarchy that it was generalized by.
    pub(super) hierarchy: Option<Arc<Hierarchy>>,
    /// The levels that its labels may be of.
    pub(super) levels: Option<(u8, u8)>,
    /// Whether its values are the names of folders.
    pub(super) is_folder: bool,
    /// How texts of the release are compared with others: [`TEXT`] or [`CSV_TEXT`].
    pub(super) text: &'static str,
}

/// Texts are compared as they are.
pub(super) const TEXT: &str = "Utf8";

/// The empty text and NULL are one, as in a CSV file.
pub(super) const CSV_TEXT: &str = "text of a CSV file";

impl Known {
    pub(super) fn try_new(
        column: &str,
        hierarchy: Option<Arc<Hierarchy>>,
        levels: Option<(u8, u8)>,
        is_folder: bool,
        text: &'static str,
    ) -> Result<Self> {
        if let (Some(hierarchy), Some((_, high))) = (&hierarchy, levels)
            && high > hierarchy.height()
        {
            return Err(Error::usage(format!(
                "column {column}: hierarchy {} has the levels 0 to {}, not {high}; VERIFY needs the one that the column \
                 was released with",
                hierarchy.name(),
                hierarchy.height()
            )));
        }
        Ok(Self {
            column: column.into(),
            hierarchy,
            levels,
            is_folder,
            text,
        })
    }

    /// The level, where there is only one that it may be.
    pub(super) fn level(&self) -> Option<u8> {
        self.levels.filter(|(low, high)| low == high).map(|(low, _)| low)
    }
}

/// The distinct values of a column of `table`, bound to the hierarchy.
pub(super) async fn bind(
    session: &SessionContext,
    table: &str,
    column: &str,
    hierarchy: &Hierarchy,
) -> Result<(ArrayRef, Lookup)> {
    let sql = format!(
        "SELECT DISTINCT {} FROM {} ORDER BY 1 ASC NULLS LAST",
        quote(column),
        quote(table)
    );
    let frame = session.sql(&sql).await?;
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let batches = frame.collect().await.map_err(Error::from_data)?;
    let values = Arc::clone(concat_batches(&schema, &batches)?.column(0));
    let values = match values.data_type() {
        DataType::Dictionary(_, inner) => cast(&values, inner)?,
        _ => values,
    };
    let lookup = hierarchy
        .bind(Arc::clone(&values))
        .map_err(|e| e.context(format!("column {column}")))?;
    Ok((values, lookup))
}

/// The rows of `table` with each of these columns as it was released, as a relation to select from.
pub(super) async fn generalized(session: &SessionContext, table: &str, columns: &[&Known]) -> Result<String> {
    let (mut selected, mut joins) = (vec![], String::new());
    for (i, known) in columns.iter().enumerate() {
        let column = quote(&known.column);
        let unknown = |what: &str| {
            Error::usage(format!(
                "column {}: {what} is not known; write QUASI IDENTIFIERS ({} USING hierarchy LEVELS 2 TO 2) with the \
                 hierarchy and the level that it was released with",
                known.column, known.column
            ))
        };
        let level = known.level().ok_or_else(|| unknown("its level"))?;
        if level == 0 {
            selected.push(format!("r.{column}"));
            continue;
        }
        let hierarchy = known.hierarchy.as_ref().ok_or_else(|| unknown("its hierarchy"))?;
        let (values, lookup) = bind(session, table, &known.column, hierarchy).await?;
        let level = lookup.level(level);
        let labels = take(&level.labels, &UInt32Array::from(level.codes.clone()), None)?;
        let labels = cast(&labels, &DataType::Utf8)?;
        let batch = RecordBatch::try_from_iter_with_nullable([("value", values, true), ("label", labels, true)])?;
        let name = format!("{table}_{i}");
        session.deregister_table(&name)?;
        session.register_table(&name, Arc::new(MemTable::try_new(batch.schema(), vec![vec![batch]])?))?;
        selected.push(format!("l{i}.label AS {column}"));
        joins += &format!(" LEFT JOIN {name} AS l{i} ON r.{column} IS NOT DISTINCT FROM l{i}.value");
    }
    let generalized = |c: &String| columns.iter().any(|k| k.column == *c);
    let schema = session.table(table).await?.schema().clone();
    let others = schema.fields().iter().map(|f| f.name()).filter(|c| !generalized(c));
    selected.extend(others.map(|c| format!("r.{}", quote(c))));
    Ok(format!(
        "(SELECT {} FROM {} AS r{joins})",
        selected.join(", "),
        quote(table)
    ))
}

/// How a column of the release and one of another table are written to be compared; `None` when their types say
/// different things of the same value, as after a detour over CSV.
pub(super) fn compared(released: &DataType, other: &DataType, text: &'static str) -> Option<&'static str> {
    fn plain(data_type: &DataType) -> &DataType {
        match data_type {
            DataType::Dictionary(_, values) => values,
            other => other,
        }
    }
    let is_text = |t: &DataType| matches!(t, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let (released, other) = (plain(released), plain(other));
    match (released, other) {
        // Text that SQL writes otherwise than files do.
        (released, DataType::Duration(_) | DataType::Interval(_)) if is_text(released) => None,
        (released, other) if is_text(released) && (other.is_binary() || other.is_nested()) => None,
        (released, _) if is_text(released) => Some(text),
        (DataType::UInt64, DataType::UInt64) => Some("UInt64"),
        (DataType::UInt64, _) | (_, DataType::UInt64) => None,
        (a, b) if a.is_integer() && (b.is_integer() || matches!(b, DataType::Duration(_))) => Some("Int64"),
        // Parquet has no seconds and one date, and says of a time zone only that there is one.
        (DataType::Timestamp(a, Some(_)), DataType::Timestamp(b, Some(_))) => Some(match a.max(b) {
            TimeUnit::Second | TimeUnit::Millisecond => "Timestamp(Millisecond, Some(\"UTC\"))",
            TimeUnit::Microsecond => "Timestamp(Microsecond, Some(\"UTC\"))",
            TimeUnit::Nanosecond => "Timestamp(Nanosecond, Some(\"UTC\"))",
        }),
        (DataType::Timestamp(TimeUnit::Millisecond, None), DataType::Timestamp(TimeUnit::Second, None)) => {
            Some("Timestamp(Millisecond, None)")
        }
        (DataType::Timestamp(TimeUnit::Millisecond, None), DataType::Date64) => Some("Timestamp(Millisecond, None)"),
        (DataType::Time32(_), DataType::Time32(_)) => Some("Time32(Millisecond)"),
        (a, b) if a.is_floating() && b.is_floating() => Some("Float64"),
        (a, b) if a == b && !a.is_nested() => Some(""),
        _ => None,
    }
}

/// `expression` in the type that [`compared`] names.
pub(super) fn converted(expression: &str, data_type: &str) -> String {
    match data_type {
        "" => expression.to_string(),
        CSV_TEXT => format!("nullif(arrow_cast({expression}, 'Utf8'), '')"),
        name => format!("arrow_cast({expression}, '{name}')"),
    }
}

/// The type of a column of the checked rows.
pub(super) async fn released_type(session: &SessionContext, column: &str) -> Result<DataType> {
    let table = session.table(CHECKED).await?;
    let (_, field) = table.schema().qualified_field_with_unqualified_name(column)?;
    Ok(field.data_type().clone())
}
