//! The views and tables of the session that a proposed script needs, because its source reads them.

use crate::base::error::Result;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::SourceClause;
use datafusion::common::TableReference;
use datafusion::common::config::Dialect;
use datafusion::logical_expr::TableType;
use std::collections::HashSet;

/// The tables, paths and views that a script needs.
#[derive(Debug, Default)]
pub(super) struct Needed {
    /// The names of the tables and paths that the source reads directly, in ascending order.
    pub(super) named: Vec<String>,
    /// The statements that create the views again. Each view follows the views that it reads.
    pub(super) views: Vec<String>,
    /// The tables of the session for which no CREATE statement is known.
    pub(super) tables: Vec<String>,
}

impl Needed {
    /// Finds the tables, paths and views that a script needs if it reads `source`.
    pub(super) async fn by(context: &AnonContext, source: &SourceClause) -> Result<Self> {
        let named = match source {
            SourceClause::Table(name) => vec![name.reference()],
            SourceClause::Path(_) => vec![],
            SourceClause::Query(query) => read_by(context, query)?,
        };
        let mut needed = Self {
            named: named.iter().map(|name| name.table().to_string()).collect(),
            ..Self::default()
        };
        let mut met = HashSet::new();
        for name in named {
            needed.add(context, name, &mut met).await?;
        }
        Ok(needed)
    }

    /// Adds a table or view of the session, after the tables that it reads. `met` contains the
    /// names that were already added. Does nothing if the session has no table called `name`, which
    /// is then a path.
    async fn add(&mut self, context: &AnonContext, name: TableReference, met: &mut HashSet<String>) -> Result<()> {
        let session = &context.session;
        if !session.table_exist(name.clone())? || !met.insert(name.to_string()) {
            return Ok(());
        }
        let table = session.table_provider(name.clone()).await?;
        let definition = table
            .get_table_definition()
            .filter(|_| table.table_type() == TableType::View);
        match definition.and_then(made_again) {
            Some(view) => {
                for read in read_by(context, &view)? {
                    // For a CREATE VIEW statement, `read_by` also returns the name of the view
                    // itself. The recursive call ignores it, because `met` already contains the
                    // name.
                    Box::pin(self.add(context, read, met)).await?;
                }
                self.views.push(view);
            }
            None => self.tables.push(name.to_quoted_string()),
        }
        Ok(())
    }
}

/// Returns the statement that creates a view again and replaces an existing view; `None` if
/// `definition` is not a CREATE statement.
fn made_again(definition: &str) -> Option<String> {
    let view = after("CREATE", definition)?;
    let replaced = after("OR", view).and_then(|rest| after("REPLACE", rest));
    Some(format!("CREATE OR REPLACE {}", replaced.unwrap_or(view)))
}

/// Returns the rest of a text after its first word; `None` if the first word is not `word`.
fn after<'t>(word: &str, text: &'t str) -> Option<&'t str> {
    let (first, rest) = text.trim_start().split_once(char::is_whitespace)?;
    first.eq_ignore_ascii_case(word).then(|| rest.trim_start())
}

/// Returns the names of the tables in a statement.
fn read_by(context: &AnonContext, statement: &str) -> Result<Vec<TableReference>> {
    let state = context.session.state();
    let statement = state.sql_to_statement(statement, &Dialect::Generic)?;
    Ok(state.resolve_table_references(&statement)?)
}
