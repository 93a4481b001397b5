//! Checks that the values of masked columns have the form of their mask. The values are not
//! compared with the masks of the source's values, because the comparison requires the secret.

use super::check::none_of;
use super::claim::Claim;
use super::tables::CHECKED;
use crate::error::Result;
use crate::folder::Check;
use crate::quoting::{literal, quote};
use crate::recount::count;
use datafusion::prelude::SessionContext;

/// Returns one check for every masked column that the manifest names and that the rows have.
pub(super) async fn check(session: &SessionContext, claim: &Claim) -> Result<Vec<Check>> {
    let (mut checks, columns) = (vec![], claim.columns());
    for (column, form) in claim.evidence.as_ref().map_or(&[][..], |e| e.forms()) {
        if !columns.contains(&column.as_str()) {
            continue;
        }
        let (values, table, form) = (quote(column), quote(CHECKED), literal(&format!("^(?:{form})$")));
        let sql = format!("SELECT count(*) FROM {table} WHERE NOT regexp_like(CAST({values} AS VARCHAR), {form})");
        checks.push(none_of(
            format!("values of {column} that are not of the form of its mask"),
            count(session, &sql).await?,
        ));
    }
    Ok(checks)
}
