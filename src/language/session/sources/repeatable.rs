//! Checks that a query returns the same rows each time it is executed.
//!
//! A release reads its source more than once, and applies the result of one scan to the rows of
//! another. A source is therefore rejected if its rows are random, or depend on the order in which
//! threads finish. The user can store such rows in a table first, and release the table.

use crate::base::error::{Error, Result};
use crate::data::source::checked_digits;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::SourceClause;
use crate::method::hierarchy::GENERALIZE;
use crate::method::masks::{MASKS, UNMASK};
use crate::release::job::SourceTable;
use datafusion::common::DFSchema;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::source_as_provider;
use datafusion::datasource::stream::StreamTable;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::expr::{AggregateFunction, Sort, WindowFunction};
use datafusion::logical_expr::{
    Distinct, Expr, ExprSchemable, LogicalPlan, Volatility, WindowFrameBound, WindowFrameUnits,
    WindowFunctionDefinition,
};
use std::any::Any;

/// Aggregates whose result depends on the order of rows.
const ORDERED: &[&str] = &[
    "any_value",
    "array_agg",
    "string_agg",
    "first_value",
    "last_value",
    "nth_value",
    "approx_median",
    "approx_percentile_cont",
    "approx_percentile_cont_with_weight",
];
/// Aggregates whose result does not depend on the order of rows, even if the values are
/// floating-point numbers. In contrast, the last digits of a sum or a mean depend on the order.
const EXACT: &[&str] = &[
    "approx_distinct",
    "count",
    "grouping",
    "max",
    "median",
    "min",
    "percentile_cont",
];
/// Window functions that return the same value for all rows with equal ORDER BY values.
const RANKS: &[&str] = &["rank", "dense_rank", "percent_rank", "cume_dist"];

/// Fails with a usage error if `rows` may differ each time they are read. The error calls the
/// source `name`.
pub(in crate::language::session) fn check_repeatable(name: &str, rows: &DataFrame) -> Result<()> {
    let Some(why) = of_plan(rows.logical_plan())? else {
        return Ok(());
    };
    Err(Error::usage(format!(
        "{name} may return other rows each time it is read, and a release reads it more than once: {why}; make a \
         table of it first, CREATE TABLE t AS SELECT ..., and then ANONYMIZE t"
    )))
}

impl AnonContext {
    /// Opens a source that a statement reads several times. Fails with a usage error if the rows
    /// are random, because each figure would then be about different rows. Reading the rows fails
    /// if a decimal does not fit its type, or if a time is not within a day.
    pub(in crate::language::session) async fn settled(&self, source: &SourceClause) -> Result<SourceTable> {
        let source = self.source(source).await?;
        match random(source.rows.logical_plan())? {
            None => Ok(SourceTable {
                rows: checked_digits(source.rows)?,
                ..source
            }),
            Some(function) => Err(Error::usage(format!(
                "{} has other rows each time it is read, and the statement reads it more than once: {function}() is random; make \
                 a table of it first, CREATE TABLE t AS SELECT ..., and name t",
                source.name
            ))),
        }
    }
}

/// Returns the name of a random function in a plan, its views or its subqueries; `None` if there is
/// none.
fn random(plan: &LogicalPlan) -> DfResult<Option<String>> {
    let mut found = None;
    plan.apply_with_subqueries(|plan| {
        if let LogicalPlan::TableScan(scan) = plan
            && let Some(view) = scan.source.get_logical_plan()
        {
            found = random(&view)?;
        }
        plan.apply_expressions(|expr| {
            expr.apply(|expr| {
                if let Expr::ScalarFunction(function) = expr
                    && function.func.signature().volatility == Volatility::Volatile
                {
                    found = Some(function.name().to_string());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })?;
        Ok(match found {
            Some(_) => TreeNodeRecursion::Stop,
            None => TreeNodeRecursion::Continue,
        })
    })?;
    Ok(found)
}

/// Makes sums of floating-point numbers independent of the number of threads: if a query computes
/// such a sum or a similar aggregate, its rows are computed in a single partition.
pub(in crate::language::session) fn in_one_order(rows: DataFrame) -> Result<DataFrame> {
    if !adds_up(rows.logical_plan())? {
        return Ok(rows);
    }
    let (mut state, plan) = rows.into_parts();
    state.config_mut().options_mut().execution.target_partitions = 1;
    Ok(DataFrame::new(state, plan))
}

/// Returns true if a plan, or one of its views or subqueries, computes a sum of floating-point
/// numbers, or another aggregate whose last digits depend on the order of rows.
fn adds_up(plan: &LogicalPlan) -> DfResult<bool> {
    let mut adds = false;
    plan.apply_with_subqueries(|plan| {
        if let LogicalPlan::TableScan(scan) = plan
            && let Some(view) = scan.source.get_logical_plan()
        {
            adds |= adds_up(&view)?;
        }
        let nothing = DFSchema::empty();
        let inputs = plan.inputs();
        let input = inputs.first().map_or(&nothing, |input| input.schema().as_ref());
        plan.apply_expressions(|expr| {
            adds |= expr.exists(|expr| Ok(adds_fractions(expr, input)))?;
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(match adds {
            true => TreeNodeRecursion::Stop,
            false => TreeNodeRecursion::Continue,
        })
    })?;
    Ok(adds)
}

fn adds_fractions(expr: &Expr, input: &DFSchema) -> bool {
    let is_fraction = |arg: &Expr| arg.get_type(input).is_ok_and(|data_type| data_type.is_floating());
    match expr {
        Expr::AggregateFunction(aggregate) => {
            !EXACT.contains(&aggregate.func.name()) && aggregate.params.args.iter().any(is_fraction)
        }
        Expr::WindowFunction(window) => match &window.fun {
            WindowFunctionDefinition::AggregateUDF(function) => {
                !EXACT.contains(&function.name()) && window.params.args.iter().any(is_fraction)
            }
            WindowFunctionDefinition::WindowUDF(_) => false,
        },
        _ => false,
    }
}

/// Returns the reason why a query may return different rows each time it is executed; `None` if it
/// always returns the same rows.
fn of_plan(plan: &LogicalPlan) -> DfResult<Option<String>> {
    let mut why = None;
    plan.apply_with_subqueries(|plan| {
        why = of_node(plan)?;
        Ok(match why {
            Some(_) => TreeNodeRecursion::Stop,
            None => TreeNodeRecursion::Continue,
        })
    })?;
    Ok(why)
}

fn of_node(plan: &LogicalPlan) -> DfResult<Option<String>> {
    let cut = |rows: &LogicalPlan, what: &str| {
        let why = format!("{what} takes rows without a fixed order; ORDER BY every column of its input");
        (!is_in_total_order(rows)).then_some(why)
    };
    let own = match plan {
        LogicalPlan::Limit(limit) => cut(&limit.input, "LIMIT or OFFSET"),
        LogicalPlan::Sort(sort) if sort.fetch.is_some() => cut(plan, "LIMIT"),
        LogicalPlan::Distinct(Distinct::On(_)) => Some("DISTINCT ON takes any of the rows with equal keys".into()),
        LogicalPlan::Extension(node) => Some(format!("nothing is known about {}", node.node.name())),
        LogicalPlan::TableScan(scan) => match scan.source.get_logical_plan() {
            Some(view) => of_plan(&view)?,
            None if scan.fetch.is_some() => Some("a scan that ends early may take any rows".into()),
            None => {
                let provider = source_as_provider(&scan.source)?;
                let is_stream = (provider.as_ref() as &dyn Any).is::<StreamTable>();
                is_stream.then(|| format!("{} is a stream, which is read once", scan.table_name))
            }
        },
        _ => None,
    };
    if own.is_some() {
        return Ok(own);
    }
    let nothing = DFSchema::empty();
    let inputs = plan.inputs();
    let input = inputs.first().map_or(&nothing, |input| input.schema().as_ref());
    let mut why = None;
    plan.apply_expressions(|expr| {
        expr.apply(|expr| {
            why = of_expression(expr, input);
            Ok(match why {
                Some(_) => TreeNodeRecursion::Stop,
                None => TreeNodeRecursion::Continue,
            })
        })
    })?;
    Ok(why)
}

fn of_expression(expr: &Expr, input: &DFSchema) -> Option<String> {
    let is_changing = |volatility: Volatility| volatility != Volatility::Immutable;
    match expr {
        Expr::ScalarFunction(function) => {
            let is_changing = is_changing(function.func.signature().volatility);
            is_changing.then(|| match function.name() {
                GENERALIZE => {
                    format!("{GENERALIZE}() reads a hierarchy of the session, which may change between two reads")
                }
                name if is_masking(name) => format!("{name}() reads a secret, which may change between two reads"),
                name => format!("{name}() returns different values each time"),
            })
        }
        Expr::AggregateFunction(aggregate) => {
            let is_changing = is_changing(aggregate.func.signature().volatility);
            let name = aggregate.func.name();
            (is_changing || (ORDERED.contains(&name) && !is_ordered(aggregate))).then(|| depends(name))
        }
        Expr::WindowFunction(window) => (!is_decided(window, input)).then(|| depends(window.fun.name())),
        _ => None,
    }
}

/// Returns true for a function that may read a secret: the functions of masks, and `unmask`.
fn is_masking(function: &str) -> bool {
    let mut masks = MASKS.iter().filter_map(|kind| Some(kind.function?.name));
    masks.any(|name| name == function) || function == UNMASK
}

fn depends(name: &str) -> String {
    format!("{name}() depends on an order of rows that is not total")
}

/// Returns true if an order-dependent aggregate has an ORDER BY on the values that it aggregates,
/// so that its result does not depend on the order of rows.
fn is_ordered(aggregate: &AggregateFunction) -> bool {
    let (value, order) = (aggregate.params.args.first(), &aggregate.params.order_by);
    !aggregate.func.name().starts_with("approx") && order.iter().any(|key| Some(&key.expr) == value)
}

/// Returns true if the values of a window function do not depend on the order of rows with equal
/// ORDER BY values.
fn is_decided(window: &WindowFunction, input: &DFSchema) -> bool {
    let params = &window.params;
    let keys = params.partition_by.iter().chain(expressions(&params.order_by));
    if names_all(keys, input) {
        return true;
    }
    match &window.fun {
        WindowFunctionDefinition::WindowUDF(function) => RANKS.contains(&function.name()),
        WindowFunctionDefinition::AggregateUDF(function) => {
            let frame = &params.window_frame;
            let is_unbounded = |bound: &WindowFrameBound| bound.is_unbounded();
            let is_whole = is_unbounded(&frame.start_bound) && is_unbounded(&frame.end_bound);
            let changes = function.signature().volatility != Volatility::Immutable;
            !changes && !ORDERED.contains(&function.name()) && (is_whole || frame.units != WindowFrameUnits::Rows)
        }
    }
}

/// Returns true if the rows of a plan are sorted, and only equal rows can exchange their positions.
/// In SQL, the rows of a query do not have the order of a subquery.
fn is_in_total_order(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(projection) => is_in_total_order(&projection.input),
        LogicalPlan::Sort(sort) => names_all(expressions(&sort.expr), sort.input.schema()),
        // An aggregate without GROUP BY returns one row.
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        _ => false,
    }
}

fn expressions(keys: &[Sort]) -> impl Iterator<Item = &Expr> {
    keys.iter().map(|key| &key.expr)
}

/// Returns true if each column of `schema` is one of `keys`.
fn names_all<'a>(keys: impl Iterator<Item = &'a Expr>, schema: &DFSchema) -> bool {
    let keys: Vec<&Expr> = keys.collect();
    let named = |column| keys.iter().any(|key| matches!(key, Expr::Column(c) if *c == column));
    !schema.fields().is_empty() && schema.columns().into_iter().all(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::{SessionConfig, SessionContext};

    #[tokio::test]
    async fn fractions_are_added_up_in_one_order() {
        let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(3));
        for sql in [
            "CREATE TABLE t AS SELECT * FROM (VALUES (1, 0.5e0), (1, 0.25e0)) AS v(a, x)",
            "CREATE VIEW v AS SELECT a, sum(x) AS x FROM t GROUP BY a",
        ] {
            session.sql(sql).await.unwrap().collect().await.unwrap();
        }
        for (sql, threads) in [
            ("SELECT * FROM t", 3),
            ("SELECT a, sum(a), max(x) FROM t GROUP BY a", 3),
            ("SELECT a, avg(x) FROM t GROUP BY a", 1),
            ("SELECT a, sum(x) OVER (PARTITION BY a) FROM t", 1),
            ("SELECT a FROM v", 1),
            ("SELECT a FROM t WHERE x > (SELECT stddev(x) FROM t)", 1),
        ] {
            let rows = in_one_order(session.sql(sql).await.unwrap()).unwrap();
            assert_eq!(rows.into_parts().0.config().target_partitions(), threads, "{sql}");
        }
    }
}
