//! Removes unchecked claims about rows: keys, dependencies between columns, and sort orders.
//!
//! DataFusion trusts a declared PRIMARY KEY or UNIQUE, and keeps functional dependencies that no
//! longer hold: from `SELECT a, unnest(array_agg(b)) AS b ... GROUP BY a` it concludes that `a`
//! determines `b`. It then removes columns from GROUP BY and ORDER BY, or removes a DISTINCT or a
//! join. It also trusts WITH ORDER. It assumes that a whole Parquet file has the sort order of its
//! first row group, and confuses the name of a nested column with that of a top-level column. If an
//! aggregation assumes a wrong order, it emits several groups for the same value. Each of these
//! errors makes a count wrong, and no setting prevents them. Therefore, a session removes these
//! claims from its plans.

use super::skipped::{self, SkipBelowProjection};
use crate::base::error::Result;
use datafusion::catalog::{MemTable, TableProvider};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Constraints, DFSchemaRef, FunctionalDependencies};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::listing::ListingTable;
use datafusion::datasource::memory::{DataSourceExec, MemorySourceConfig};
use datafusion::datasource::physical_plan::{FileScanConfig, FileScanConfigBuilder};
use datafusion::error::Result as DfResult;
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::{DdlStatement, Distinct, LogicalPlan};
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

const NAME: &str = "forget_claims";

type LogicalRules = Vec<Arc<dyn OptimizerRule + Send + Sync>>;
type PhysicalRules = Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>>;

/// Adds rules to the session that remove the claims from all later plans.
pub(crate) fn forget_claims(session: &SessionContext) {
    let state = session.state();
    let has_both = state.optimizers().first().is_some_and(|rule| rule.name() == NAME)
        && state
            .physical_optimizers()
            .first()
            .is_some_and(|rule| rule.name() == NAME);
    if has_both {
        return;
    }
    let logical = forgetting(state.optimizers());
    let physical = forgetting_first(state.physical_optimizers());
    let builder = SessionStateBuilder::new_from_existing(state).with_session_id(session.session_id());
    *session.state_ref().write() = builder
        .with_optimizer_rules(logical)
        .with_physical_optimizer_rules(physical)
        .build();
}

/// Returns the rules, each preceded by a rule that removes dependencies. An optimizer rule may
/// create new nodes, which again have the dependencies that their tables declare. The last rule is
/// [`SkipBelowProjection`].
pub(crate) fn forgetting(rules: &[Arc<dyn OptimizerRule + Send + Sync>]) -> LogicalRules {
    let others = rules
        .iter()
        .filter(|rule| ![NAME, skipped::NAME].contains(&rule.name()));
    others
        .flat_map(|rule| [Arc::new(ForgetClaims) as _, Arc::clone(rule)])
        .chain([Arc::new(SkipBelowProjection) as _])
        .collect()
}

/// Returns the rules, preceded by a rule that removes the keys and the sort orders of readers.
pub(crate) fn forgetting_first(rules: &[Arc<dyn PhysicalOptimizerRule + Send + Sync>]) -> PhysicalRules {
    let others = rules.iter().filter(|rule| rule.name() != NAME);
    std::iter::once(Arc::new(ForgetClaims) as _)
        .chain(others.cloned())
        .collect()
}

/// Removes declared keys from a CREATE TABLE statement. The SQL planner already uses the keys of a
/// table, before an optimizer rule can remove them. They would affect the frame of a window, and
/// the columns that a GROUP BY may omit.
pub(crate) fn without_keys(plan: LogicalPlan) -> LogicalPlan {
    match plan {
        LogicalPlan::Ddl(DdlStatement::CreateMemoryTable(mut table)) => {
            table.constraints = Constraints::default();
            LogicalPlan::Ddl(DdlStatement::CreateMemoryTable(table))
        }
        LogicalPlan::Ddl(DdlStatement::CreateExternalTable(mut table)) => {
            table.constraints = Constraints::default();
            LogicalPlan::Ddl(DdlStatement::CreateExternalTable(table))
        }
        other => other,
    }
}

/// Returns a table with the same rows, but without keys. Returns `None` if the table declares no
/// keys, or is of a kind that cannot be created again. A program can register a table with keys
/// without a statement.
pub(crate) fn keyless(table: &Arc<dyn TableProvider>) -> Option<Arc<dyn TableProvider>> {
    if table.constraints().is_none_or(|constraints| constraints.is_empty()) {
        return None;
    }
    if let Some(files) = table.downcast_ref::<ListingTable>() {
        return Some(Arc::new(files.clone().with_constraints(Constraints::default())));
    }
    let rows = table.downcast_ref::<MemTable>()?;
    let schema = rows.schema();
    let defaults = schema.fields().iter().filter_map(|field| {
        let default = rows.get_column_default(field.name())?;
        Some((field.name().clone(), default.clone()))
    });
    let defaults = defaults.collect();
    let mut again = MemTable::try_new(schema, vec![vec![]])
        .ok()?
        .with_column_defaults(defaults);
    again.batches = rows.batches.clone();
    Some(Arc::new(again))
}

/// Returns the same rows from a plan without claims. SQL over these rows groups only by the named
/// columns, and not also by columns that a key determines.
pub(crate) fn claimless(rows: DataFrame) -> Result<DataFrame> {
    let (state, plan) = rows.into_parts();
    Ok(DataFrame::new(state, forgotten(plan)?.data))
}

#[derive(Debug)]
struct ForgetClaims;

impl OptimizerRule for ForgetClaims {
    fn name(&self) -> &str {
        NAME
    }

    fn supports_rewrite(&self) -> bool {
        true
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> DfResult<Transformed<LogicalPlan>> {
        forgotten(plan)
    }
}

/// Removes the functional dependencies from every node of a plan.
fn forgotten(plan: LogicalPlan) -> DfResult<Transformed<LogicalPlan>> {
    plan.transform_down_with_subqueries(|mut plan| {
        let forgot = match schema_of(&mut plan) {
            Some(schema) => forget(schema)?,
            None => false,
        };
        Ok(match forgot {
            true => Transformed::yes(plan),
            false => Transformed::no(plan),
        })
    })
}

/// Returns the schema of a node; `None` for a node that has the schema of its input.
fn schema_of(plan: &mut LogicalPlan) -> Option<&mut DFSchemaRef> {
    Some(match plan {
        LogicalPlan::Projection(node) => &mut node.schema,
        LogicalPlan::Window(node) => &mut node.schema,
        LogicalPlan::Aggregate(node) => &mut node.schema,
        LogicalPlan::Join(node) => &mut node.schema,
        LogicalPlan::Union(node) => &mut node.schema,
        LogicalPlan::TableScan(node) => &mut node.projected_schema,
        LogicalPlan::EmptyRelation(node) => &mut node.schema,
        LogicalPlan::SubqueryAlias(node) => &mut node.schema,
        LogicalPlan::Values(node) => &mut node.schema,
        LogicalPlan::Unnest(node) => &mut node.schema,
        LogicalPlan::Distinct(Distinct::On(node)) => &mut node.schema,
        _ => return None,
    })
}

/// Removes the functional dependencies from a schema. Returns true if the schema had any.
fn forget(schema: &mut DFSchemaRef) -> DfResult<bool> {
    if schema.functional_dependencies().is_empty() {
        return Ok(false);
    }
    let forgotten = schema.as_ref().clone();
    *schema = Arc::new(forgotten.with_functional_dependencies(FunctionalDependencies::empty())?);
    Ok(true)
}

impl PhysicalOptimizerRule for ForgetClaims {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, _: &ConfigOptions) -> DfResult<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            Ok(match unordered(&plan)? {
                Some(unordered) => Transformed::yes(unordered),
                None => Transformed::no(plan),
            })
        })
        .data()
    }

    fn name(&self) -> &str {
        NAME
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Returns a reader without its keys and sort orders; `None` if the plan is not a reader, or if the
/// reader has neither keys nor sort orders.
fn unordered(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(reader) = plan.downcast_ref::<DataSourceExec>() else {
        return Ok(None);
    };
    if let Some(files) = reader.data_source().downcast_ref::<FileScanConfig>() {
        let has_claims = !files.output_ordering.is_empty() || !files.constraints.is_empty();
        return Ok(has_claims.then(|| {
            let files = FileScanConfigBuilder::from(files.clone())
                .with_output_ordering(vec![])
                .with_constraints(Constraints::default());
            DataSourceExec::from_data_source(files.build()) as _
        }));
    }
    match reader.data_source().downcast_ref::<MemorySourceConfig>() {
        Some(rows) if !rows.sort_information().is_empty() => {
            let rows = rows.clone().try_with_sort_information(vec![])?;
            Ok(Some(DataSourceExec::from_data_source(rows)))
        }
        _ => Ok(None),
    }
}
