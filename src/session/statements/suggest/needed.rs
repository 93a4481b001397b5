//! The requirements of a proposed script: the views and tables of the session that its source
//! reads.

use crate::error::Result;
use crate::session::context::AnonContext;
use crate::sql::clause::SourceClause;
use datafusion::common::TableReference;
use datafusion::common::config::Dialect;
use datafusion::logical_expr::TableType;
use std::collections::HashSet;

/// The tables, paths and views that a script needs.
#[derive(Debug, Default)]
pub(super) struct Needed {
    /// The tables and paths that the source names, in the order of their names.
    pub(super) named: Vec<String>,
    /// The statements that create the views again, each after the views that it reads.
    pub(super) views: Vec<String>,
    /// The tables of the session for which no creating statement is known.
    pub(super) tables: Vec<String>,
}

impl Needed {
    /// Returns the tables, paths and views that a script over `source` needs.
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

    /// Adds a table of the session after the tables that it reads. Does nothing for a path.
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
                    // The tables of a definition include the view itself, which is already in
                    // `met`.
                    Box::pin(self.add(context, read, met)).await?;
                }
                self.views.push(view);
            }
            None => self.tables.push(name.to_quoted_string()),
        }
        Ok(())
    }
}

/// Returns the statement that creates a view, and replaces an existing view; `None` for any other
/// definition.
fn made_again(definition: &str) -> Option<String> {
    let view = after("CREATE", definition)?;
    let replaced = after("OR", view).and_then(|rest| after("REPLACE", rest));
    Some(format!("CREATE OR REPLACE {}", replaced.unwrap_or(view)))
}

/// Returns the text after the first word of a text; `None` if the first word is not `word`.
fn after<'t>(word: &str, text: &'t str) -> Option<&'t str> {
    let (first, rest) = text.trim_start().split_once(char::is_whitespace)?;
    first.eq_ignore_ascii_case(word).then(|| rest.trim_start())
}

/// Returns the tables that a statement reads.
fn read_by(context: &AnonContext, statement: &str) -> Result<Vec<TableReference>> {
    let state = context.session.state();
    let statement = state.sql_to_statement(statement, &Dialect::Generic)?;
    Ok(state.resolve_table_references(&statement)?)
}
