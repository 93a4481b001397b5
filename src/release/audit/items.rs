//! Checks that lists are sets. The order of the items in a row, and repeated items, would reveal
//! more than which items the row has.

use super::check::none_of;
use super::claim::Claim;
use super::tables::CHECKED;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::data::folder::{Check, Role};
use crate::release::recount::count;
use datafusion::prelude::SessionContext;

/// Returns one check for each column of lists that is a column of sets of items according to the
/// manifest or a model in the statement.
pub(super) async fn check(session: &SessionContext, claim: &Claim) -> Result<Vec<Check>> {
    let mut columns = claim
        .evidence
        .as_ref()
        .map_or(vec![], |e| e.manifest.columns_of(Role::ItemSet));
    let about = claim.constraints.iter().filter(|c| c.is_about_items());
    for column in about.filter_map(|c| c.attribute.as_ref()) {
        if !columns.contains(column) {
            columns.push(column.clone());
        }
    }
    let mut checks = vec![];
    for column in columns {
        let (items, table) = (quote(&column), quote(CHECKED));
        let sql = format!(
            "SELECT count(*) FROM {table} WHERE ({items} IS DISTINCT FROM array_sort(array_distinct({items}))) \
             OR array_position({items}, NULL) IS NOT NULL"
        );
        checks.push(none_of(
            format!("lists of {column} that are not ascending sets"),
            count(session, &sql).await?,
        ));
    }
    Ok(checks)
}
