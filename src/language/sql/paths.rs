//! Table names in single quotes that are interpreted as paths.
//!
//! A name with a slash or a dot is always a path. A single word is a path only if it is written in
//! single quotes, and there is a file or a folder with this name; otherwise, it is the name of a
//! table. DataFusion does not keep the quotes, so such a word is replaced by a path, such as
//! `./people`, before the statement is planned.

use super::visit::{StatementPartMut, visit_mut};
use datafusion::sql::parser::{CopyToSource, Statement as DfStatement};
use datafusion::sql::sqlparser::ast::{Ident, ObjectName, ObjectNamePart, Statement, TableAlias, TableFactor};
use std::path::Path;

/// Returns true if a name can be the name of a table: it contains no slash, no dot and no wildcard,
/// so it is not a path.
pub(crate) fn is_word(name: &str) -> bool {
    !name.contains(['/', '.', '*', '?', '[', '{'])
}

/// Replaces each table name that is a word in single quotes by a path, if there is a file or a
/// folder with this name.
pub(crate) fn write_paths(statement: &mut DfStatement) {
    match statement {
        DfStatement::Statement(statement) => {
            if let Statement::ExplainTable { table_name, .. } = statement.as_mut() {
                write_path(table_name);
            }
        }
        DfStatement::Explain(explain) => return write_paths(&mut explain.statement),
        DfStatement::CopyTo(copy) => {
            if let CopyToSource::Relation(name) = &mut copy.source {
                write_path(name);
            }
        }
        DfStatement::CreateExternalTable(_) | DfStatement::Reset(_) => {}
    }
    visit_mut(statement, &mut |part| {
        if let StatementPartMut::TableFactor(TableFactor::Table { name, alias, .. }) = part
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
    });
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
