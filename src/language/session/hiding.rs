//! Tracks the tables of a session whose definition contains a value that must not be shown. A user
//! may query such a table without knowing about the value. EXPLAIN would then print the value as a
//! part of the plan, even if the statement itself contains no hidden value.

use crate::language::sql::visit::{StatementPart, visit};
use datafusion::common::ResolvedTableReference;
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::sqlparser::ast::{ObjectName, SetExpr};
use parking_lot::RwLock;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The full names of the tables whose definition contains a value that must not be shown. A name is
/// kept after its table is dropped, until a new table with the same full name is created.
#[derive(Debug, Clone, Default)]
pub(super) struct HidingTables(Arc<RwLock<BTreeSet<ResolvedTableReference>>>);

impl HidingTables {
    /// Returns true if the statement names one of these tables. Catalogs and schemas are not
    /// compared, so a table of the same name in another schema counts as one of them.
    pub(super) fn are_read_by(&self, statement: &DfStatement) -> bool {
        let known = self.0.read();
        let named = |names: &BTreeSet<String>| known.iter().any(|table| names.contains(table.table.as_ref()));
        !known.is_empty() && named(&relations(statement))
    }

    /// Records whether the definition of the table `name` contains a hidden value (`hides`).
    pub(super) fn note(&self, name: ResolvedTableReference, hides: bool) {
        let mut known = self.0.write();
        match hides {
            true => known.insert(name),
            false => known.remove(&name),
        };
    }
}

/// Returns the names of the tables in a statement, without catalog and schema names.
fn relations(statement: &DfStatement) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let visited = visit(statement, &mut |part| {
        match part {
            StatementPart::Relation(name) => found.extend(last_name(name)),
            StatementPart::Query(query) => {
                // The name of the table in the query `TABLE t` is not visited as a relation. The
                // parser does not keep whether it was quoted.
                if let SetExpr::Table(table) = query.body.as_ref() {
                    let name = table.table_name.iter();
                    found.extend(name.flat_map(|name| [name.clone(), name.to_lowercase()]));
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    });
    debug_assert!(visited.is_continue());
    found
}

fn last_name(name: &ObjectName) -> Option<String> {
    let last = name.0.last().and_then(|part| part.as_ident());
    // An unquoted name is folded to lower case.
    last.map(|name| match name.quote_style {
        Some(_) => name.value.clone(),
        None => name.value.to_lowercase(),
    })
}
