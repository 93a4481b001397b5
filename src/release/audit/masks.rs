//! Checks that the values of masked columns have the form that their mask produces. The values are
//! not compared with masked values of the source, because masking them again requires the secret.

use super::check::none_of;
use super::claim::Claim;
use super::tables::CHECKED;
use crate::base::error::Result;
use crate::base::quoting::{literal, quote};
use crate::data::folder::Check;
use crate::release::recount::count;
use datafusion::prelude::SessionContext;

/// Returns one check for each column of the rows that the manifest's statement masks with a known
/// form.
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
