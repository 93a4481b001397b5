//! How values are written in files: files support fewer types than memory, and CSV contains only
//! text.

use super::tables::{CHECKED, WHOLE, released_type};
use crate::base::error::Result;
use crate::method::canonical::{sql_text_of, text_of};
use crate::method::hierarchy::{is_binary, plain_type};
use arrow::datatypes::{DataType, TimeUnit};
use datafusion::dataframe::DataFrame;
use datafusion::functions::core::expr_fn::nullif;
use datafusion::functions::encoding::expr_fn::encode;
use datafusion::logical_expr::{cast, ident, lit, try_cast};
use datafusion::prelude::{Expr, SessionContext};
use std::sync::Arc;

/// The form in which texts are compared as they are.
pub(super) const TEXT: &str = "Utf8";

/// The form in which the empty text and NULL are equal, as in a CSV file.
pub(super) const CSV_TEXT: &str = "text of a CSV file";

/// Casts the sensitive columns of the source, in the table of the session, to the types in which
/// the release's files store them, so that models can compare the values of both. Returns the
/// columns that cannot be cast, because SQL formats their values differently from files. `text`
/// returns the form in which the texts of a column are compared: [`TEXT`] or [`CSV_TEXT`].
pub(super) async fn align(
    session: &SessionContext,
    sensitive: &[String],
    text: impl Fn(&str) -> &'static str,
) -> Result<Vec<String>> {
    as_in_source(session, sensitive).await?;
    let whole = session.table(WHOLE).await?;
    let (mut unlike, mut columns, mut is_changed) = (vec![], vec![], false);
    for field in &whole.schema().fields().clone() {
        let column = ident(field.name());
        if !sensitive.contains(field.name()) {
            columns.push(column);
            continue;
        }
        let released = released_type(session, field.name()).await?;
        let spelled = spelled(column.clone(), &released, field.data_type(), text(field.name()));
        is_changed |= spelled.as_ref().is_some_and(|s| *s != column);
        match spelled {
            Some(spelled) => columns.push(spelled.alias(field.name())),
            None => {
                unlike.push(field.name().clone());
                columns.push(column);
            }
        }
    }
    if is_changed {
        let aligned = whole.select(columns)?.into_view();
        session.deregister_table(WHOLE)?;
        session.register_table(WHOLE, aligned)?;
    }
    Ok(unlike)
}

/// Casts a column of released texts to integers, decimals or dates if the source has values of that
/// type in the column, and if every text is the text of a value of that type. This matters for
/// values from folder names, which are texts and would sort differently from numbers and dates.
async fn as_in_source(session: &SessionContext, columns: &[String]) -> Result<()> {
    let (released, source) = (session.table(CHECKED).await?, session.table(WHOLE).await?);
    let (mut select, mut is_changed) = (vec![], false);
    for field in released.schema().fields() {
        let column = ident(field.name());
        let known = source.schema().field_with_unqualified_name(field.name()).ok();
        let known = known.filter(|_| columns.contains(field.name()) && is_text(field.data_type()));
        let has_order = |t: &DataType| t.is_integer() || t.is_decimal() || *t == DataType::Date32;
        let ordered = known
            .map(|known| plain_type(known.data_type()).clone())
            .filter(has_order);
        select.push(match ordered {
            Some(data_type) if all_are(&released, &column, &data_type).await? => {
                is_changed = true;
                cast(column, data_type).alias(field.name())
            }
            _ => column,
        });
    }
    if is_changed {
        let rows = released.select(select)?.into_view();
        session.deregister_table(CHECKED)?;
        session.register_table(CHECKED, rows)?;
    }
    Ok(())
}

/// Returns true if every text of a column is the text of a value of type `data_type`.
async fn all_are(rows: &DataFrame, column: &Expr, data_type: &DataType) -> Result<bool> {
    let value = try_cast(column.clone(), data_type.clone());
    let is_other = value
        .clone()
        .is_null()
        .or(cast(value, DataType::Utf8).not_eq(column.clone()));
    let others = rows.clone().filter(column.clone().is_not_null().and(is_other))?;
    Ok(others.count().await? == 0)
}

/// Casts these columns of the table `name` to the time zones of the source. A Parquet file stores
/// only whether there is a zone, and the text of a time depends on its zone.
pub(super) async fn in_zones_of_source(session: &SessionContext, name: &str, columns: &[String]) -> Result<()> {
    let (released, source) = (session.table(name).await?, session.table(WHOLE).await?);
    let (mut select, mut is_changed) = (vec![], false);
    for field in released.schema().fields() {
        let known = source.schema().field_with_unqualified_name(field.name()).ok();
        let known = known.filter(|_| columns.contains(field.name()));
        let types = (field.data_type(), known.map(|known| plain_type(known.data_type())));
        select.push(match types {
            (DataType::Timestamp(unit, Some(own)), Some(DataType::Timestamp(_, Some(zone)))) if own != zone => {
                is_changed = true;
                let in_zone = DataType::Timestamp(*unit, Some(Arc::clone(zone)));
                cast(ident(field.name()), in_zone).alias(field.name())
            }
            _ => ident(field.name()),
        });
    }
    if is_changed {
        let rows = released.select(select)?.into_view();
        session.deregister_table(name)?;
        session.register_table(name, rows)?;
    }
    Ok(())
}

/// Returns a column of type `other`, cast to the form of a released column of type `released`;
/// `None` if SQL cannot cast it. The texts of both columns are compared in the form `text`.
fn spelled(column: Expr, released: &DataType, other: &DataType, text: &'static str) -> Option<Expr> {
    let (released, other) = (plain_type(released), plain_type(other));
    if !is_text(released) {
        let differs = released != other && compared(released, other, text).is_some();
        return Some(if differs {
            cast(column, released.clone())
        } else {
            column
        });
    }
    let spelled = match other {
        DataType::Duration(_) | DataType::Interval(_) => return None,
        other if other.is_nested() => return None,
        other if is_binary(other) => encode(cast(column, DataType::Binary), lit("hex")),
        other if text == TEXT && is_text(other) => return Some(column),
        // -0.0 is released as 0.0.
        other if other.is_floating() => {
            let one_zero = cast(column, DataType::Float64) + lit(0.0);
            cast(cast(one_zero, other.clone()), DataType::Utf8)
        }
        _ => text_of(column),
    };
    Some(match text {
        CSV_TEXT => nullif(spelled, lit("")),
        _ => spelled,
    })
}

fn is_text(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// Returns the form in which a column of the release and a column of another table are compared.
/// Returns `None` if values of the two types cannot be compared, for example because CSV and SQL
/// write the same value as different texts.
pub(super) fn compared(released: &DataType, other: &DataType, text: &'static str) -> Option<&'static str> {
    let (released, other) = (plain_type(released), plain_type(other));
    match (released, other) {
        // SQL formats values of these types differently from files.
        (released, DataType::Duration(_) | DataType::Interval(_)) if is_text(released) => None,
        (released, other) if is_text(released) && (is_binary(other) || other.is_nested()) => None,
        (released, _) if is_text(released) => Some(text),
        (DataType::UInt64, DataType::UInt64) => Some("UInt64"),
        (DataType::UInt64, _) | (_, DataType::UInt64) => None,
        (a, b) if a.is_integer() && (b.is_integer() || matches!(b, DataType::Duration(_))) => Some("Int64"),
        // Parquet has no unit of seconds, has only one date type, and stores only whether there is
        // a time zone.
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

/// Returns the SQL that casts `expression` to the form that [`compared`] returned.
pub(super) fn converted(expression: &str, data_type: &str) -> String {
    match data_type {
        "" => expression.to_string(),
        // -0.0 and 0.0 count as the same value.
        "Float64" => format!("arrow_cast({expression}, 'Float64') + 0.0"),
        TEXT => sql_text_of(expression),
        CSV_TEXT => format!("nullif({}, '')", sql_text_of(expression)),
        name => format!("arrow_cast({expression}, '{name}')"),
    }
}
