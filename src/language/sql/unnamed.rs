//! Names the unnamed columns of a query whose default names would contain a value that must not be
//! shown.

use super::hidden::Hidden;
use super::visit::{StatementPartMut, visit_mut};
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::sqlparser::ast::{Expr, Ident, Query, SelectItem, SetExpr};

impl Hidden {
    /// Names each unnamed column whose expression contains a hidden value. The name is the text of
    /// the expression, in which the original text replaces the value.
    pub(crate) fn name_columns(&self, statement: &mut DfStatement) {
        if self.is_empty() {
            return;
        }
        visit_mut(statement, &mut |part| {
            if let StatementPartMut::Query(query) = part {
                self.name_columns_of(query);
            }
        });
    }

    fn name_columns_of(&self, query: &mut Query) {
        let mut open = vec![query.body.as_mut()];
        while let Some(body) = open.pop() {
            match body {
                SetExpr::Select(select) => {
                    for item in &mut select.projection {
                        if let SelectItem::UnnamedExpr(expr) = item
                            && let Some(name) = self.written(expr)
                        {
                            let (expr, alias) = (expr.clone(), Ident::with_quote('"', name));
                            *item = SelectItem::ExprWithAlias { expr, alias };
                        }
                    }
                }
                SetExpr::SetOperation { left, right, .. } => open.extend([left.as_mut(), right.as_mut()]),
                _ => {}
            }
        }
    }

    /// Returns the text of an expression in which hidden values are replaced by their original
    /// texts; `None` if the expression contains no hidden value.
    fn written(&self, expr: &Expr) -> Option<String> {
        let text = expr.to_string();
        let written = self.in_statement(text.clone());
        let squeezed = written.split_whitespace().collect::<Vec<_>>().join(" ");
        (written != text).then(|| squeezed.replace("( ", "(").replace(" )", ")").replace(" ,", ","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::parser::DFParser;

    #[test]
    fn a_column_is_named_as_it_was_written() {
        let hidden = Hidden::new([("hunter2".to_string(), "getenv('S')".to_string())].into_iter());
        for (sql, wanted) in [
            ("SELECT 'hunter2', a", "SELECT 'hunter2' AS \"getenv('S')\", a"),
            (
                "SELECT a UNION ALL SELECT upper(E'hunter2')",
                "SELECT a UNION ALL SELECT upper(E'hunter2') AS \"upper(getenv('S'))\"",
            ),
            (
                "CREATE VIEW v AS SELECT * FROM (SELECT a = 'hunter2' FROM t)",
                "CREATE VIEW v AS SELECT * FROM (SELECT a = 'hunter2' AS \"a = getenv('S')\" FROM t)",
            ),
            ("SELECT 'hunter2' AS b, 'hunter'", "SELECT 'hunter2' AS b, 'hunter'"),
        ] {
            let mut statement = DFParser::parse_sql(sql).unwrap().pop_front().unwrap();
            hidden.name_columns(&mut statement);
            assert_eq!(statement.to_string(), wanted);
        }
    }
}
