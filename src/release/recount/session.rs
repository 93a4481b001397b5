//! Sessions for recounting, which report the number of rows that they have read.
//!
//! Checks are SQL text over tables of a recounting session. In every plan of DataFusion, rows enter
//! at the leaves, so they are counted there. The last optimizer rule puts a counting operator above
//! each leaf. The operator keeps all properties of its input.

use super::sql::answer_rightly;
use crate::base::error::Result;
use crate::base::operator::{Operator, OperatorExec, Rows};
use crate::data::source::{GuardReaders, forgetting, forgetting_first, source_plan};
use crate::method::canonical::text_function;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::config::{ConfigOptions, Dialect};
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::dataframe::DataFrame;
use datafusion::error::Result as DfResult;
use datafusion::execution::{SendableRecordBatchStream, SessionState, SessionStateBuilder, TaskContext};
use datafusion::optimizer::Optimizer;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use futures::{StreamExt, TryStreamExt};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Returns a new session for recounting, with the memory and object stores of `state`. The number
/// of rows that its queries read is added to `progress`. A row counts each time it is read.
pub fn recounting_session(state: &SessionState, progress: Arc<AtomicU64>) -> SessionContext {
    session_with(state, progress, Elsewhere::default())
}

/// How other machines compute a part of a session's queries.
#[derive(Default)]
pub(crate) struct Elsewhere {
    /// The optimizer rules that leave parts of plans to other machines.
    pub(crate) rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>,
    /// Returns true for sources that themselves count the rows that are read for them.
    pub(crate) counts_itself: Option<fn(&dyn ExecutionPlan) -> bool>,
}

/// Returns a session for recounting. Other machines compute the part of the session's queries that
/// `elsewhere` defines.
pub(crate) fn session_with(state: &SessionState, progress: Arc<AtomicU64>, elsewhere: Elsewhere) -> SessionContext {
    let mut config = state.config().clone().with_create_default_catalog_and_schema(true);
    // The statements of the recount quote names with ", which begins a text in some dialects.
    config.options_mut().sql_parser.dialect = Dialect::Generic;
    // A user of the library may have changed these settings after the session was created.
    answer_rightly(&mut config);
    let own = SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(Arc::clone(state.runtime_env()))
        .with_optimizer_rules(forgetting(&Optimizer::new().rules))
        .with_physical_optimizer_rules(forgetting_first(&PhysicalOptimizer::new().rules))
        .with_default_features();
    let own = elsewhere
        .rules
        .into_iter()
        .fold(own, SessionStateBuilder::with_physical_optimizer_rule);
    let state = own
        .with_physical_optimizer_rule(Arc::new(GuardReaders))
        .with_physical_optimizer_rule(Arc::new(CountLeaves {
            rows: CountRows(progress),
            counts_itself: elsewhere.counts_itself,
        }))
        .build();
    let session = SessionContext::new_with_state(state);
    session.register_udf(text_function());
    session
}

/// Plans a query of a session for recounting, in `partitions` partitions. The plan reads columns of
/// text as dictionaries if the files store them as dictionaries. The rows that the plan reads are
/// not counted for the progress bar.
pub(crate) async fn coded_plan(
    session: &SessionContext,
    partitions: usize,
    sql: &str,
) -> Result<Arc<dyn ExecutionPlan>> {
    let (state, plan) = session.sql(sql).await?.into_parts();
    let is_left = |rule: &&Arc<dyn PhysicalOptimizerRule + Send + Sync>| {
        rule.name() != GuardReaders.name() && rule.name() != COUNT_ROWS
    };
    let rules = state.physical_optimizers().iter().filter(is_left).cloned().collect();
    let config = state.config().clone().with_target_partitions(partitions);
    // The plan must keep the tables of the session. A new default catalog would replace them.
    let config = config.with_create_default_catalog_and_schema(false);
    let bare = SessionStateBuilder::new_from_existing(state.clone()).with_physical_optimizer_rules(rules);
    let bare = bare.with_config(config);
    source_plan(DataFrame::new(bare.build(), plan).create_physical_plan().await?).await
}

/// The name of the optimizer rule that puts a counting operator above each leaf.
const COUNT_ROWS: &str = "count_rows";

/// The optimizer rule that puts a counting operator above each leaf.
#[derive(Debug)]
struct CountLeaves {
    rows: CountRows,
    counts_itself: Option<fn(&dyn ExecutionPlan) -> bool>,
}

/// The operator that counts the rows of its input.
#[derive(Debug, Clone)]
struct CountRows(Arc<AtomicU64>);

impl PhysicalOptimizerRule for CountLeaves {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> DfResult<Arc<dyn ExecutionPlan>> {
        let counted = plan.transform_up(|plan| {
            let is_counted = self.counts_itself.is_some_and(|counts| counts(plan.as_ref()));
            Ok(match plan.children().is_empty() && !is_counted {
                true => Transformed::yes(Arc::new(OperatorExec::looking(plan, self.rows.clone())) as _),
                false => Transformed::no(plan),
            })
        });
        Ok(counted?.data)
    }

    fn name(&self) -> &str {
        COUNT_ROWS
    }

    fn schema_check(&self) -> bool {
        true
    }
}

impl fmt::Display for CountRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("for the progress bar")
    }
}

impl Operator for CountRows {
    const NAME: &'static str = "CountRowsExec";
    const ONLY_LOOKS: bool = true;

    fn run(&self, input: SendableRecordBatchStream, _: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let progress = Arc::clone(&self.0);
        let look = move |batch: &RecordBatch| {
            progress.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
        };
        Ok(input.inspect_ok(look).boxed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::CsvReadOptions;

    /// Tests that rows are counted each time they are read, whatever order a file declares.
    #[tokio::test]
    async fn rows_are_told_and_nothing_else_changes() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("t.csv");
        std::fs::write(&path, "a,b\n1,x\n2,x\n3,y\n").unwrap();
        let told = Arc::new(AtomicU64::new(0));
        let session = recounting_session(&SessionContext::new().state(), Arc::clone(&told));
        let ascending = datafusion::prelude::col("a").sort(true, false);
        let options = CsvReadOptions::new().file_sort_order(vec![vec![ascending]]);
        session
            .register_csv("t", path.display().to_string(), options)
            .await
            .unwrap();
        for (sql, rows, read) in [
            (
                "SELECT a, sum(a) OVER (ORDER BY a) FROM t ORDER BY a ASC NULLS LAST",
                3,
                3,
            ),
            ("SELECT b, count(*) FROM t GROUP BY b", 2, 6),
            ("SELECT * FROM t AS x JOIN t AS y ON x.a = y.a", 3, 12),
        ] {
            let batches = session.sql(sql).await.unwrap().collect().await.unwrap();
            let found: usize = batches.iter().map(|b| b.num_rows()).sum();
            assert_eq!((found, told.load(Ordering::Relaxed)), (rows, read), "{sql}");
        }
    }
}
