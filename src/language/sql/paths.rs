//! Table names in single quotes that are interpreted as paths.
//!
//! A name with a slash or a dot is always a path. A single word is a path only if it is written in
//! single quotes, and there is a file or a folder with this name; otherwise, it is the name of a
//! table. DataFusion does not keep the quotes, so such a word is replaced by a path, such as
//! `./people`, before the statement is planned.

use datafusion::sql::parser::{CopyToSource, Statement as DfStatement};
use datafusion::sql::sqlparser::ast::{
    Ident, ObjectName, ObjectNamePart, Statement, TableAlias, TableFactor, VisitMut, VisitorMut,
};
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::path::Path;

/// Returns true if a name can be the name of a table: it contains no slash, no dot and no wildcard,
/// so it is not a path.
pub(crate) fn is_word(name: &str) -> bool {
    !name.contains(['/', '.', '*', '?', '[', '{'])
}

/// Replaces each table name that is a word in single quotes by a path, if there is a file or a
/// folder with this name.
pub(crate) fn write_paths(statement: &mut DfStatement) {
    let visited = match statement {
        DfStatement::Statement(statement) => {
            if let Statement::ExplainTable { table_name, .. } = statement.as_mut() {
                write_path(table_name);
            }
            statement.visit(&mut Paths)
        }
        DfStatement::Explain(explain) => return write_paths(&mut explain.statement),
        DfStatement::CopyTo(copy) => match &mut copy.source {
            CopyToSource::Query(query) => query.visit(&mut Paths),
            CopyToSource::Relation(name) => {
                write_path(name);
                ControlFlow::Continue(())
            }
        },
        _ => ControlFlow::Continue(()),
    };
    debug_assert!(visited.is_continue());
}

struct Paths;

impl VisitorMut for Paths {
    type Break = Infallible;

    fn pre_visit_table_factor(&mut self, table: &mut TableFactor) -> ControlFlow<Infallible> {
        if let TableFactor::Table { name, alias, .. } = table
            && let Some(word) = write_path(name)
            && alias.is_none()
        {
            *alias = Some(TableAlias {
                explicit: true,
                name: Ident::with_quote('"', word),
                columns: vec![],
                at: None,
            });
        }
        ControlFlow::Continue(())
    }
}

/// Replaces a name by a path if there is a file or a folder with this name. Returns the original
/// word if the name was replaced, and `None` otherwise.
fn write_path(name: &mut ObjectName) -> Option<String> {
    let [ObjectNamePart::Identifier(ident)] = &mut name.0[..] else {
        return None;
    };
    let is_path = ident.quote_style == Some('\'') && is_word(&ident.value) && Path::new(&ident.value).exists();
    is_path.then(|| {
        let path = format!("./{}", ident.value);
        std::mem::replace(&mut ident.value, path)
    })
}
