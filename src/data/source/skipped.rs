//! Keeps the order of rows below OFFSET.
//!
//! DataFusion sorts the input of an OFFSET without LIMIT only if the sort is the input itself. In
//! `SELECT a FROM t ORDER BY b OFFSET 5`, a projection removes `b` between them. DataFusion then
//! leaves out the sort, and OFFSET skips any five rows. This rule moves such a projection above the
//! OFFSET.

use datafusion::common::tree_node::Transformed;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{Limit, LogicalPlan};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use std::sync::Arc;

pub(super) const NAME: &str = "skip_below_projection";

/// Moves projections above an OFFSET without LIMIT.
#[derive(Debug)]
pub(super) struct SkipBelowProjection;

impl OptimizerRule for SkipBelowProjection {
    fn name(&self) -> &str {
        NAME
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> DfResult<Transformed<LogicalPlan>> {
        plan.transform_down_with_subqueries(|plan| {
            Ok(match moved(&plan) {
                Some(moved) => Transformed::yes(moved),
                None => Transformed::no(plan),
            })
        })
    }
}

/// Returns the same rows with the projection above the OFFSET; `None` for any other plan.
fn moved(plan: &LogicalPlan) -> Option<LogicalPlan> {
    let LogicalPlan::Limit(limit) = plan else {
        return None;
    };
    match limit.input.as_ref() {
        LogicalPlan::Projection(projection) if limit.fetch.is_none() => {
            let skipped = Limit {
                input: Arc::clone(&projection.input),
                ..limit.clone()
            };
            let mut projection = projection.clone();
            projection.input = Arc::new(LogicalPlan::Limit(skipped));
            Some(LogicalPlan::Projection(projection))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::data::source::forget_claims;
    use arrow::array::AsArray;
    use arrow::datatypes::Int64Type;
    use datafusion::physical_plan::displayable;
    use datafusion::prelude::{SessionConfig, SessionContext};

    #[tokio::test]
    async fn rows_are_skipped_in_their_order() {
        let config = SessionConfig::new().with_target_partitions(2).with_batch_size(64);
        let session = SessionContext::new_with_config(config);
        forget_claims(&session);
        let create = "CREATE TABLE t AS SELECT value % 7 AS a, value AS b FROM range(0, 1000)";
        session.sql(create).await.unwrap().collect().await.unwrap();
        for skipped in [
            "SELECT a FROM t ORDER BY b DESC, a OFFSET 990",
            "SELECT a + 0 AS a FROM (SELECT a, b FROM t) ORDER BY b + 1 DESC OFFSET 990",
        ] {
            let rows = session.sql(&format!("SELECT sum(a) FROM ({skipped})")).await.unwrap();
            let plan = rows.clone().create_physical_plan().await.unwrap();
            let plan = displayable(plan.as_ref()).indent(false).to_string();
            assert!(plan.contains("SortExec"), "{plan}");
            let sum = rows.collect().await.unwrap();
            assert_eq!(sum[0].column(0).as_primitive::<Int64Type>().value(0), 24, "{skipped}");
        }
    }
}
