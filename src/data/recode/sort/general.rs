//! Sorts rows of any type with DataFusion.

use crate::base::error::{Error, Result};
use crate::data::recode::fold::{FoldExec, RepeatExec, set_aside};
use arrow::compute::SortOptions;
use arrow::datatypes::SchemaRef;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::MemoryLimit;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use std::sync::Arc;

/// Returns a plan for the rows of `input` in the order of `columns`, the most significant column
/// first, with the types of `schema`. Equal rows are sorted only once.
pub(super) fn sorted(
    input: Arc<dyn ExecutionPlan>,
    columns: &[usize],
    schema: &SchemaRef,
) -> Result<Arc<dyn ExecutionPlan>> {
    let rows: Arc<dyn ExecutionPlan> = Arc::new(FoldExec::over_rows(input, schema));
    let options = SortOptions {
        descending: false,
        nulls_first: false,
    };
    let exprs = columns.iter().map(|i| {
        let column: Arc<dyn PhysicalExpr> = Arc::new(Column::new(schema.field(*i).name(), *i));
        PhysicalSortExpr::new(column, options)
    });
    let order = LexOrdering::new(exprs).ok_or_else(|| Error::internal("a release without columns"))?;
    let several = rows.output_partitioning().partition_count() > 1;
    let sort = SortExec::new(order.clone(), rows).with_preserve_partitioning(several);
    let sorted: Arc<dyn ExecutionPlan> = match several {
        true => Arc::new(SortPreservingMergeExec::new(order, Arc::new(sort))),
        false => Arc::new(sort),
    };
    Ok(Arc::new(RepeatExec::over_ordered(sorted, Arc::clone(schema))))
}

/// Returns the context in which a plan from [`sorted`] is executed. A sort collects rows up to its
/// share of the memory limit. To sort them, it needs the same amount of memory again, and memory
/// for the sort keys. The context reserves this memory, because the sort would fail without it.
pub(super) fn sorting_context(context: &TaskContext, plan: &dyn ExecutionPlan) -> Arc<TaskContext> {
    let mut config = context.session_config().clone();
    let pool = context.memory_pool();
    if let MemoryLimit::Finite(limit) = pool.memory_limit() {
        let left = limit.saturating_sub(pool.reserved() + set_aside(plan, pool.as_ref()));
        let sorts = config.target_partitions().max(1);
        config.options_mut().execution.sort_spill_reservation_bytes = left / 9 * 5 / sorts;
    }
    Arc::new(TaskContext::new(
        context.task_id(),
        context.session_id(),
        config,
        context.scalar_functions().clone(),
        context.higher_order_functions().clone(),
        context.aggregate_functions().clone(),
        context.window_functions().clone(),
        context.runtime_env(),
    ))
}
