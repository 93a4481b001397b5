//! Joins that stop when they are cancelled. A nested loop join compares every pair of rows before
//! it yields to the runtime. This can take hours, and a task that does not yield is not cancelled.
//! The condition of the join therefore checks whether the work was cancelled.

use super::rule::add_rule;
use crate::base::pool::check_cancelled;
use arrow::datatypes::{DataType, FieldRef, Schema};
use arrow::record_batch::RecordBatch;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::NestedLoopJoinExec;
use datafusion::physical_plan::joins::utils::JoinFilter;
use datafusion::prelude::SessionContext;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Makes the nested loop joins of every later plan of the session stop when their work is
/// cancelled.
pub fn stop_joins(session: &SessionContext) {
    add_rule(session, Arc::new(StopJoins));
}

#[derive(Debug)]
struct StopJoins;

impl PhysicalOptimizerRule for StopJoins {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> DfResult<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let stopping = plan.downcast_ref::<NestedLoopJoinExec>().map(stopping).transpose()?;
            Ok(match stopping.flatten() {
                Some(join) => Transformed::yes(Arc::new(join) as _),
                None => Transformed::no(plan),
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        "stop_joins"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Returns the join with a condition that checks for cancellation. Returns `None` if the join has
/// no condition, and therefore returns rows without long waits, or if its condition already checks
/// for cancellation.
fn stopping(join: &NestedLoopJoinExec) -> DfResult<Option<NestedLoopJoinExec>> {
    let Some(filter) = join
        .filter()
        .filter(|f| f.expression().downcast_ref::<Stopping>().is_none())
    else {
        return Ok(None);
    };
    let condition = Arc::new(Stopping(Arc::clone(filter.expression())));
    let filter = JoinFilter::new(condition, filter.column_indices().to_vec(), Arc::clone(filter.schema()));
    let (left, right) = (Arc::clone(join.left()), Arc::clone(join.right()));
    let projection = join.projection().as_ref().map(|columns| columns.to_vec());
    NestedLoopJoinExec::try_new(left, right, Some(filter), join.join_type(), projection).map(Some)
}

/// An expression that fails once the work is cancelled.
#[derive(Debug, Eq)]
struct Stopping(Arc<dyn PhysicalExpr>);

impl PartialEq for Stopping {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq(&other.0)
    }
}

impl Hash for Stopping {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl fmt::Display for Stopping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PhysicalExpr for Stopping {
    fn data_type(&self, schema: &Schema) -> DfResult<DataType> {
        self.0.data_type(schema)
    }

    fn nullable(&self, schema: &Schema) -> DfResult<bool> {
        self.0.nullable(schema)
    }

    fn return_field(&self, schema: &Schema) -> DfResult<FieldRef> {
        self.0.return_field(schema)
    }

    fn evaluate(&self, batch: &RecordBatch) -> DfResult<ColumnarValue> {
        check_cancelled()?;
        self.0.evaluate(batch)
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.0]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn PhysicalExpr>>) -> DfResult<Arc<dyn PhysicalExpr>> {
        let inner = children.into_iter().next().unwrap_or_else(|| Arc::clone(&self.0));
        Ok(Arc::new(Self(inner)))
    }

    fn fmt_sql(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt_sql(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::{Error, ErrorKind};
    use crate::base::pool::Waiter;
    use std::time::{Duration, Instant};

    const JOIN: &str = "SELECT count(*) FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b \
                        WHERE a.value + b.value > 1999999";

    /// Tests that a join that would take hours ends once its work is cancelled.
    #[test]
    fn a_join_ends_once_nobody_waits() {
        let waiter = Waiter::default();
        let of_threads = waiter.clone();
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .on_thread_start(move || of_threads.clone().adopt())
            .build()
            .unwrap();
        let joining = runtime.spawn(async {
            let session = SessionContext::new();
            stop_joins(&session);
            session.sql(JOIN).await?.collect().await
        });
        std::thread::sleep(Duration::from_millis(500));
        waiter.leave();
        let (left, ended) = (Instant::now(), futures::executor::block_on(joining));
        let error = Error::from(ended.unwrap().unwrap_err());
        assert_eq!(error.kind(), ErrorKind::Interrupted);
        assert!(left.elapsed() < Duration::from_secs(60));
    }

    #[tokio::test]
    async fn a_plan_looks_as_before_and_answers_the_same() {
        let session = SessionContext::new();
        let sql = "SELECT a.value, b.value FROM generate_series(1, 9) a LEFT JOIN generate_series(1, 9) b \
                   ON a.value * b.value > 70";
        let before = (
            plan(&session, sql).await,
            session.sql(sql).await.unwrap().collect().await.unwrap(),
        );
        stop_joins(&session);
        let after = (
            plan(&session, sql).await,
            session.sql(sql).await.unwrap().collect().await.unwrap(),
        );
        assert!(before.0.contains("NestedLoopJoinExec"), "{}", before.0);
        let rows = |batches: &[RecordBatch]| batches.iter().map(RecordBatch::num_rows).sum::<usize>();
        assert_eq!((before.0, rows(&before.1)), (after.0, rows(&after.1)));
    }

    async fn plan(session: &SessionContext, sql: &str) -> String {
        let frame = session.sql(sql).await.unwrap();
        let plan = frame.create_physical_plan().await.unwrap();
        datafusion::physical_plan::displayable(plan.as_ref())
            .indent(false)
            .to_string()
    }
}
