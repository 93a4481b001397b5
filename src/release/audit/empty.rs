//! Empty fields of CSV files. Each empty field stands for the empty text or for NULL, and a reader
//! gets NULL for both. A model that compares a class with the whole table distinguishes the two:
//! NULL is last in an order, and a hierarchy has its own clause that determines the label of NULL.

use super::tables::{CHECKED, WHOLE, released_type};
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::method::hierarchy::{is_binary, plain_type};
use crate::release::recount::ReleasedTable;
use crate::release::recount::count;
use datafusion::functions::core::expr_fn::coalesce;
use datafusion::logical_expr::{ident, lit};
use datafusion::prelude::SessionContext;

/// The meaning of the empty fields of the sensitive columns.
#[derive(Debug, Default)]
pub(super) struct Empty {
    /// The columns whose empty fields are empty texts. The session's table then has empty texts in
    /// these columns, too.
    pub(super) texts: Vec<String>,
    /// The columns in which the meaning of empty fields cannot be determined.
    pub(super) untold: Vec<String>,
}

impl Empty {
    /// Determines the meaning of the empty fields in the columns `of_csv`. The source decides if it
    /// is given: if it has no empty texts, the fields are NULL. If it has empty texts and no NULL,
    /// and the release has no starred rows, the fields are empty texts, and the release's table in
    /// the session gets empty texts, too.
    pub(super) async fn of(session: &SessionContext, released: &ReleasedTable, of_csv: &[String]) -> Result<Self> {
        let mut empty = Self::default();
        for column in of_csv {
            if !released_type(session, column).await?.is_string() {
                continue;
            }
            let name = quote(column);
            let is_null = format!("{name} IS NULL");
            if count(session, &format!("SELECT count(*) FROM {CHECKED} WHERE {is_null}")).await? == 0 {
                continue;
            }
            let Some(is_empty) = is_empty(session, released, column).await? else {
                empty.untold.push(column.clone());
                continue;
            };
            let whole = quote(WHOLE);
            let texts = count(session, &format!("SELECT count(*) FROM {whole} WHERE {is_empty}")).await?;
            let nulls = count(session, &format!("SELECT count(*) FROM {whole} WHERE {is_null}")).await?;
            match (texts > 0, nulls > 0 || released.starred > 0) {
                (false, _) => {}
                (true, false) => empty.texts.push(column.clone()),
                (true, true) => empty.untold.push(column.clone()),
            }
        }
        if !empty.texts.is_empty() {
            let rows = session.table(CHECKED).await?;
            let select = rows
                .schema()
                .fields()
                .iter()
                .map(|field| match empty.texts.contains(field.name()) {
                    true => coalesce(vec![ident(field.name()), lit("")]).alias(field.name()),
                    false => ident(field.name()),
                });
            let select: Vec<_> = select.collect();
            let rows = rows.select(select)?.into_view();
            session.deregister_table(CHECKED)?;
            session.register_table(CHECKED, rows)?;
        }
        Ok(empty)
    }
}

/// Returns the columns among `of_csv` in which a table has both the empty text and NULL. Classes
/// that differ only by these two values cannot be distinguished.
pub(super) async fn mixed(
    session: &SessionContext,
    table: &str,
    of_csv: impl Iterator<Item = &String>,
) -> Result<Vec<String>> {
    let mut mixed = vec![];
    let rows = session.table(table).await?;
    for column in of_csv {
        let field = rows.schema().field_with_unqualified_name(column).ok();
        if field.is_none_or(|field| !plain_type(field.data_type()).is_string()) {
            continue;
        }
        let (name, table) = (quote(column), quote(table));
        let texts = count(session, &format!("SELECT count(*) FROM {table} WHERE {name} = ''")).await?;
        let nulls = count(session, &format!("SELECT count(*) FROM {table} WHERE {name} IS NULL")).await?;
        if texts > 0 && nulls > 0 {
            mixed.push(column.clone());
        }
    }
    Ok(mixed)
}

/// Returns the SQL condition for a value of the source to be the empty text; `None` if there is no
/// source, or if the source does not have the column.
async fn is_empty(session: &SessionContext, released: &ReleasedTable, column: &str) -> Result<Option<String>> {
    let name = quote(column);
    let whole = match &released.whole {
        Some(_) => session.table(WHOLE).await?,
        None => return Ok(None),
    };
    let field = whole.schema().field_with_unqualified_name(column).ok();
    Ok(field.map(|field| match plain_type(field.data_type()) {
        other if is_binary(other) => format!("encode(arrow_cast({name}, 'Binary'), 'hex') = ''"),
        other if other.is_string() => format!("{name} = ''"),
        _ => "false".into(),
    }))
}
