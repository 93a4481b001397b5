//! Tracks the tables of a session whose definition contains a value that must not be shown. A user
//! may query such a table without knowing about the value. EXPLAIN would then print the value as a
//! part of the plan, even if the statement itself contains no hidden value.

use datafusion::common::ResolvedTableReference;
use datafusion::sql::parser::{CopyToSource, Statement as DfStatement};
use datafusion::sql::sqlparser::ast::{ObjectName, Query, SetExpr, Visit, Visitor};
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
    #[derive(Default)]
    struct Relations(BTreeSet<String>);
    impl Relations {
        fn add(&mut self, name: &ObjectName) {
            let last = name.0.last().and_then(|part| part.as_ident());
            // An unquoted name is folded to lower case.
            self.0.extend(last.map(|name| match name.quote_style {
                Some(_) => name.value.clone(),
                None => name.value.to_lowercase(),
            }));
        }
    }
    impl Visitor for Relations {
        type Break = ();

        fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
            self.add(name);
            ControlFlow::Continue(())
        }

        fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
            // The name of the table in the query `TABLE t` is not visited as a relation. The parser
            // does not keep whether it was quoted.
            if let SetExpr::Table(table) = query.body.as_ref() {
                let name = table.table_name.iter();
                self.0.extend(name.flat_map(|name| [name.clone(), name.to_lowercase()]));
            }
            ControlFlow::Continue(())
        }
    }
    let mut found = Relations::default();
    let mut open = Some(statement);
    while let Some(statement) = open.take() {
        let visited = match statement {
            DfStatement::Statement(statement) => statement.visit(&mut found),
            DfStatement::Explain(explain) => {
                open = Some(&explain.statement);
                ControlFlow::Continue(())
            }
            DfStatement::CopyTo(copy) => match &copy.source {
                CopyToSource::Query(query) => query.visit(&mut found),
                CopyToSource::Relation(name) => {
                    found.add(name);
                    ControlFlow::Continue(())
                }
            },
            _ => ControlFlow::Continue(()),
        };
        debug_assert!(visited.is_continue());
    }
    found.0
}
