//! Applies policies to statements. A statement cannot weaken its policy. Under a policy with roles,
//! a statement has no roles, models or limits of its own. It uses the hierarchies with which the
//! policy was created, and its query can only omit rows and columns.

use super::context::AnonContext;
use super::policy::Policy;
use crate::base::error::{Error, Result};
use crate::data::source::has_columns_of_its_own;
use crate::language::session::statements::anonymize::spec::AnonymizeSpec;
use crate::method::hierarchy::Hierarchy;
use datafusion::common::Column;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::source_as_provider;
use datafusion::logical_expr::{Expr, LogicalPlan, UNNAMED_TABLE};
use std::sync::Arc;

impl AnonContext {
    /// Returns the policy called `name`, or an error that suggests similar names.
    pub(super) fn policy(&self, name: &str) -> Result<Arc<Policy>> {
        let policies = self.policies.read();
        let found = policies.get(name).cloned();
        found.ok_or_else(|| Error::unknown("policy", name, policies.keys().map(String::as_str)))
    }

    /// Fails with a usage error if the session has no hierarchy with the same name as `hierarchy`,
    /// which belongs to a policy, or if the two hierarchies differ.
    pub(super) fn is_unchanged(&self, hierarchy: &Arc<Hierarchy>) -> Result<()> {
        let today = self.hierarchy(hierarchy.name())?;
        match Arc::ptr_eq(&today, hierarchy) || today.digest(&[])? == hierarchy.digest(&[])? {
            true => Ok(()),
            false => Err(Error::usage(format!(
                "hierarchy {} differs from the hierarchy with which the policy was created; restore the hierarchy, or \
                 create the policy again (CREATE OR REPLACE POLICY)",
                hierarchy.name()
            ))),
        }
    }

    /// Returns the statement with the clauses of its policy added, and the policy. If the statement
    /// names no policy, returns it unchanged, with `None`. Fails with a usage error if the policy
    /// does not exist, if its clauses cannot be combined with those of the statement, or if a
    /// hierarchy of the policy has changed since the policy was created.
    pub(super) fn under_policy(&self, statement: &AnonymizeSpec) -> Result<(AnonymizeSpec, Option<Arc<Policy>>)> {
        let Some(name) = &statement.using else {
            return Ok((statement.clone(), None));
        };
        let policy = self.policy(name)?;
        for hierarchy in &policy.hierarchies {
            self.is_unchanged(hierarchy)
                .map_err(|e| e.context(format!("policy {name}")))?;
        }
        let statement = AnonymizeSpec {
            using: None,
            policy: policy.clauses.with(&statement.policy, name)?,
            ..statement.clone()
        };
        Ok((statement, Some(policy)))
    }
}

/// Fails with a usage error if the source of a statement under the policy `name` does more than
/// omit rows and columns: computed, joined or repeated rows can change the meaning of the roles and
/// the models of the policy.
pub(super) fn check_selects(plan: &LogicalPlan, name: &str) -> Result<()> {
    let Some(does) = more_than_selects(plan) else {
        return Ok(());
    };
    Err(Error::usage(format!(
        "policy {name}: the query or view {does}, which can change the meaning of the policy; under a policy, a query \
         may only leave out rows and columns: (SELECT a, b FROM t WHERE c > 1). Write its rows to files first, and \
         anonymize the files"
    )))
}

/// Fails with a usage error if a statement under the policy `name` reads a file, and declares
/// columns that differ from those in the file.
pub(super) fn check_reads(plan: &LogicalPlan, name: &str) -> Result<()> {
    let mut found = None;
    plan.apply(|plan| {
        if let LogicalPlan::TableScan(scan) = plan {
            let provider = source_as_provider(&scan.source).ok();
            found = found.or(provider.and_then(|provider| has_columns_of_its_own(provider.as_ref())));
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    match found {
        None => Ok(()),
        Some(does) => Err(Error::usage(format!(
            "policy {name}: the statement {does}, which can change the meaning of the policy; write the rows to files \
             with those names first, and anonymize the files"
        ))),
    }
}

/// Describes what a plan does besides omitting rows and columns; `None` if it does nothing else.
fn more_than_selects(plan: &LogicalPlan) -> Option<String> {
    let input = match plan {
        LogicalPlan::TableScan(scan) => {
            if let Some(view) = scan.source.get_logical_plan() {
                return more_than_selects(&view);
            }
            let provider = source_as_provider(&scan.source).ok();
            return provider.and_then(|provider| has_columns_of_its_own(provider.as_ref()).map(Into::into));
        }
        LogicalPlan::Projection(projection) => {
            let is_read = is_of_files(&projection.input);
            let computed = projection.expr.iter().find(|expr| !is_column(expr, is_read));
            if let Some(computed) = computed {
                return Some(match computed {
                    Expr::Alias(alias) if matches!(alias.expr.as_ref(), Expr::Column(_)) => {
                        format!("calls a column {}", alias.name)
                    }
                    _ => "computes values".into(),
                });
            }
            &projection.input
        }
        LogicalPlan::Filter(filter) => &filter.input,
        LogicalPlan::Sort(sort) => &sort.input,
        LogicalPlan::Limit(limit) => &limit.input,
        LogicalPlan::SubqueryAlias(alias) => &alias.input,
        LogicalPlan::Aggregate(_) | LogicalPlan::Distinct(_) => return Some("groups rows".into()),
        LogicalPlan::Join(_) => return Some("joins tables".into()),
        LogicalPlan::Union(_) => return Some("puts tables together".into()),
        LogicalPlan::Window(_) => return Some("computes values".into()),
        _ => return Some("does more than select rows".into()),
    };
    more_than_selects(input)
}

/// The functions that file readers apply to a column without changing its values. Statements cannot
/// call these functions.
const OF_READERS: [&str; 2] = ["one_spelling", "typed"];

/// Returns true if a plan scans files that are not registered as a table in the session. The
/// operators above the scan then belong to the file reader.
fn is_of_files(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::TableScan(scan) => scan.table_name.table() == UNNAMED_TABLE,
        LogicalPlan::Projection(projection) => is_of_files(&projection.input),
        _ => false,
    }
}

/// Returns true if the expression is a column that keeps its name and its values. `is_read` is true
/// if the expression belongs to a file reader.
fn is_column(expr: &Expr, is_read: bool) -> bool {
    match expr {
        Expr::Column(_) => true,
        Expr::Alias(alias) => column(&alias.expr, is_read).is_some_and(|column| column.name == alias.name),
        _ => false,
    }
}

/// Returns the column whose values the expression returns unchanged; `None` if the expression
/// computes other values. `is_read` is true if the expression belongs to a file reader.
fn column(expr: &Expr, is_read: bool) -> Option<&Column> {
    match expr {
        Expr::Column(column) => Some(column),
        Expr::ScalarFunction(call) if OF_READERS.contains(&call.name()) => column(call.args.first()?, is_read),
        // A file reader casts partition columns, whose values are encoded in folder names, to their
        // types.
        Expr::Cast(cast) if is_read => column(&cast.expr, is_read),
        _ => None,
    }
}
