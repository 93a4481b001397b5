//! The proof that a permutation did not lose, add or change values.

use super::sql::{number, register};
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::data::folder::Check;
use crate::data::recode::randomize::Permutation;
use arrow::array::{ArrayRef, Int64Array};
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// Recounts the values of each randomized column in the table called `name`, in which `starred`
/// rows have no value in these columns.
pub(crate) async fn check_marginals(
    session: &SessionContext,
    permutations: &[Arc<Permutation>],
    name: &str,
    starred: u64,
) -> Result<Vec<Check>> {
    const COUNTED: &str = "counted";
    let mut checks = vec![];
    for permutation in permutations {
        let counts: Int64Array = permutation.counts.iter().map(|n| Some(*n as i64)).collect();
        let columns = vec![
            ("v", Arc::clone(&permutation.values)),
            ("n", Arc::new(counts) as ArrayRef),
        ];
        register(session, COUNTED, columns)?;
        let (column, name) = (quote(&permutation.column), quote(name));
        let sql = format!(
            "SELECT count(*) FROM (SELECT v FROM (\
               SELECT {column} AS v, count(*) AS n FROM {name} GROUP BY {column} \
               UNION ALL SELECT v, -n FROM {COUNTED} \
               UNION ALL SELECT NULL, -{starred}) GROUP BY v HAVING sum(n) <> 0)"
        );
        let reached = number(session, &sql).await?;
        checks.push(Check {
            check: format!("values of {} whose counts changed", permutation.column),
            required: 0.0,
            reached,
            ok: reached == Some(0.0),
        });
    }
    Ok(checks)
}
