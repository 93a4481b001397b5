//! Finds rows that depend on all rows of a source although no operator of the query shows this
//! dependence. There are three cases: rows whose types were inferred from all rows, rows of a
//! release that a query reads, and rows of tables in the session that were made from such rows.
//!
//! For a table that existed before the session, it is not known how its rows were made. These rows
//! are treated as independent.

use crate::data::source::{Inferred, inferred};
use datafusion::catalog::TableProvider;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::{TableType, source_as_provider};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::LogicalPlan;

use parking_lot::RwLock;
use std::sync::{Arc, Weak};

/// The reason why a row may depend on other rows if its types were inferred from CSV files. Like
/// the reasons below, it says what to write instead.
const CSV: &str = "the columns and types of CSV files are inferred from their rows, so that a row that is not \
                   released may change the type of a column; give them in CREATE EXTERNAL TABLE people (age BIGINT, \
                   zip VARCHAR) STORED AS CSV \
                   LOCATION 'people.csv', or read every column as text, with the format of the file in the statement: \
                   OPTIONS (types \
                   'text', has_header true, delimiter ',', quote '\"') after the path";
const JSON: &str = "the columns and types of JSON files are inferred from their rows, so that a row that is not \
                    released may \
                    change the type of a column; give them in CREATE EXTERNAL TABLE people (age BIGINT, zip VARCHAR) STORED AS \
                    JSON LOCATION 'people.ndjson'";
const FOLDERS: &str = "the types of columns that are folder names are inferred from all names, so that a row that is \
                       not \
                       released may change them; give each such column a type with OPTIONS (hive_types 'year BIGINT') after \
                       the path, or take them all as text with OPTIONS (hive_types_autocast false)";
pub(in crate::language::session) const COMPUTED: &str = "a view over an ANONYMIZE, or over a function that counts a table, has \
                                               rows that depend on all rows of that table; name the table itself";

/// The reason why the result rows of a statement such as RISK OF depend on other rows.
pub(in crate::language::session) const ANSWERED: &str = "an answer such as that of RISK OF depends on all rows of its table, \
                                               and so does a table made from the answer; name the table itself";

/// A table, and the reason why its rows depend on other rows.
type Dependent = (Weak<dyn TableProvider>, &'static str);

/// The tables of a session whose rows depend on other rows of a source, each with the reason.
#[derive(Debug, Clone, Default)]
pub(in crate::language::session) struct DependentTables(Arc<RwLock<Vec<Dependent>>>);

impl DependentTables {
    /// Records a table, and the reason why its rows depend on other rows.
    pub(in crate::language::session) fn add(&self, table: &Arc<dyn TableProvider>, why: &'static str) {
        let mut made = self.0.write();
        made.retain(|(table, _)| table.strong_count() > 0);
        made.push((Arc::downgrade(table), why));
    }

    fn why(&self, table: &Arc<dyn TableProvider>) -> Option<&'static str> {
        let made = self.0.read();
        let is_it = |one: &&(Weak<dyn TableProvider>, _)| one.0.upgrade().is_some_and(|one| Arc::ptr_eq(&one, table));
        made.iter().find(is_it).map(|(_, why)| *why)
    }

    /// Returns the reason why the rows of a plan may depend on other rows of a source; `None` if
    /// the plan reads no table whose rows are known to depend on other rows.
    pub(in crate::language::session) fn depends(&self, plan: &LogicalPlan) -> DfResult<Option<&'static str>> {
        let mut found = None;
        plan.apply_with_subqueries(|node| {
            if let LogicalPlan::TableScan(scan) = node {
                found = match scan.source.get_logical_plan() {
                    Some(view) => self.depends(&view)?,
                    // A view that was defined by a query would have a logical plan.
                    None if scan.source.table_type() == TableType::View => Some(COMPUTED),
                    None => {
                        let provider = source_as_provider(&scan.source)?;
                        let of_files = inferred(provider.as_ref()).map(|what| match what {
                            Inferred::Csv => CSV,
                            Inferred::Json => JSON,
                            Inferred::Folders => FOLDERS,
                        });
                        of_files.or_else(|| self.why(&provider))
                    }
                };
            }
            Ok(match found {
                Some(_) => TreeNodeRecursion::Stop,
                None => TreeNodeRecursion::Continue,
            })
        })?;
        Ok(found)
    }

    /// If a plan inserts rows that depend on other rows, records the target tables.
    pub(in crate::language::session) fn note_written(&self, plan: &LogicalPlan) -> DfResult<()> {
        plan.apply(|node| {
            if let LogicalPlan::Dml(written) = node
                && let Some(why) = self.depends(&written.input)?
            {
                self.add(&source_as_provider(&written.target)?, why);
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
        Ok(())
    }
}
