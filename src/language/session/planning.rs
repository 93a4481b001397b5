//! Plans DataFusion statements from their text. Records which of the created tables have rows that
//! depend on other rows, and which definitions contain hidden values.

use super::context::AnonContext;
use super::numbers::planned;
use crate::base::error::{Error, Result};
use crate::data::source::{keyless, without_keys};
use crate::language::sql::paths::write_paths;
use crate::language::sql::{state_frames, with_versions};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::common::config::Dialect;
use datafusion::dataframe::DataFrame;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{CreateMemoryTable, DdlStatement, LogicalPlan};
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::sqlparser::ast::Statement;
use std::sync::Arc;

impl AnonContext {
    /// Parses a text that this crate's parser has accepted. Always uses that parser's dialect and
    /// not the session's dialect, so that exactly the checked statement is executed: in another
    /// dialect, a quoted string may end elsewhere.
    pub(super) fn parsed(&self, sql: &str) -> DfResult<DfStatement> {
        let state = self.session.state();
        let mut statement = state.sql_to_statement(&with_versions(sql), &Dialect::Generic)?;
        write_paths(&mut statement);
        Ok(statement)
    }

    /// Returns true if a statement contains a value that must not be shown, or reads a table whose
    /// definition contains such a value.
    pub(super) fn hides(&self, statement: &DfStatement) -> bool {
        !self.hidden.is_empty() || self.hiding_tables.are_read_by(statement)
    }

    /// Plans a statement, after adding the window frames that SQL defines and removing declared
    /// keys. Unnamed columns get names that contain no hidden value. Fails with a usage error if
    /// EXPLAIN or the name of a struct field would show a hidden value.
    pub(super) async fn planned(&self, mut statement: DfStatement) -> DfResult<LogicalPlan> {
        self.check_explain(&statement)?;
        self.hidden.name_columns(&mut statement);
        state_frames(&mut statement);
        self.forget_keys(&statement).await?;
        let plan = planned(&self.session.state(), statement).await?;
        self.check_names(&plan)?;
        Ok(without_keys(plan))
    }

    /// Fails with a usage error if the name of a struct field contains a value that must not be
    /// shown. Such names appear in the files of a release, and in the column types of its manifest.
    fn check_names(&self, plan: &LogicalPlan) -> Result<()> {
        if self.hidden.is_empty() {
            return Ok(());
        }
        let secrets = self.hidden.secrets();
        let shows = |name: &str| secrets.hidden_in(name) != name;
        let schemas = std::iter::once(plan.schema()).chain(plan.inputs().into_iter().map(LogicalPlan::schema));
        let mut columns = schemas.flat_map(|schema| schema.fields());
        match columns.any(|column| names_within(column.data_type()).into_iter().any(shows)) {
            true => Err(Error::usage(
                "a field of a struct would have a value of getenv as its name, and the type of the struct would show \
                 it; write another name for the field",
            )),
            false => Ok(()),
        }
    }

    /// Registers the tables of a statement again without their declared keys, because the planner
    /// would extend GROUP BY by the columns that a declared key determines.
    async fn forget_keys(&self, statement: &DfStatement) -> DfResult<()> {
        let state = self.session.state();
        for table in state.resolve_table_references(statement)? {
            let Some(again) = self.there(&table).await.as_ref().and_then(keyless) else {
                continue;
            };
            self.session.deregister_table(table.clone())?;
            self.session.register_table(table, again)?;
        }
        Ok(())
    }

    /// Parses and plans a text, and executes the statement unless it is a query.
    pub(super) async fn frame(&self, sql: &str) -> DfResult<DataFrame> {
        let statement = self.parsed(sql)?;
        let hides = self.hides(&statement);
        let plan = self.planned(statement).await?;
        self.executed(plan, hides).await
    }

    /// Executes a plan. If the plan is a query, returns its data frame without executing it.
    /// Records a new table if its rows depend on other rows of a source. Also records whether the
    /// definition of a new view or external table contains a hidden value (`hides`).
    pub(super) async fn executed(&self, plan: LogicalPlan, hides: bool) -> DfResult<DataFrame> {
        let (mut made, mut defined) = (None, None);
        match &plan {
            LogicalPlan::Ddl(DdlStatement::CreateMemoryTable(CreateMemoryTable { name, input, .. })) => {
                let why = self.made.depends(input)?;
                made = why.map(|why| (name.clone(), why));
            }
            LogicalPlan::Ddl(DdlStatement::CreateView(view)) => defined = Some(view.name.clone()),
            // With IF NOT EXISTS, a table may already exist, and its definition may contain a
            // hidden value.
            LogicalPlan::Ddl(DdlStatement::CreateExternalTable(table)) if hides || !table.if_not_exists => {
                defined = Some(table.name.clone());
            }
            _ => {}
        }
        let before = match &made {
            Some((name, _)) => self.there(name).await,
            None => None,
        };
        let rows = self.session.execute_logical_plan(plan).await?;
        self.made.note_written(rows.logical_plan())?;
        if let Some(name) = defined {
            let config = self.session.copied_config();
            let catalog = &config.options().catalog;
            self.hiding_tables
                .note(name.resolve(&catalog.default_catalog, &catalog.default_schema), hides);
        }
        if let Some((name, why)) = made
            && let Some(table) = self.there(&name).await
            // With IF NOT EXISTS, an existing table is kept.
            && before.is_none_or(|before| !Arc::ptr_eq(&before, &table))
        {
            self.made.add(&table, why);
        }
        Ok(rows)
    }

    async fn there(&self, name: &TableReference) -> Option<Arc<dyn TableProvider>> {
        self.session.table_provider(name.clone()).await.ok()
    }

    fn check_explain(&self, statement: &DfStatement) -> Result<()> {
        let is_explain = match statement {
            DfStatement::Explain(_) => true,
            DfStatement::Statement(statement) => matches!(**statement, Statement::Explain { .. }),
            _ => false,
        };
        match is_explain && self.hides(statement) {
            true => Err(Error::usage(
                "EXPLAIN would show a value of getenv in the statement or in one of its tables, or a result of that \
                 value; write another value in its place",
            )),
            false => Ok(()),
        }
    }
}

/// Returns the names of the fields within a type, at any depth.
fn names_within(data_type: &DataType) -> Vec<&str> {
    let within: Vec<&FieldRef> = match data_type {
        DataType::Struct(fields) => fields.iter().collect(),
        DataType::Union(fields, _) => fields.iter().map(|(_, field)| field).collect(),
        DataType::Dictionary(_, values) => return names_within(values),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::RunEndEncoded(_, item)
        | DataType::Map(item, _) => vec![item],
        _ => vec![],
    };
    let names = within.into_iter();
    names
        .flat_map(|field| [vec![field.name().as_str()], names_within(field.data_type())].concat())
        .collect()
}
