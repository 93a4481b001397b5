//! The entry point: what a text says is read, and run one statement after the other.

use super::answer::{self, Answer};
use super::context::{AnonContext, Catalog};
use super::functions;
use super::statements::output;
use crate::engine::{self, ReleasedRows, Silent, Stage, StagedReport, answer_maxima_rightly, keep_files_unnamed};
use crate::error::{Error, Result};
use crate::job::Purpose;
use crate::settings::Settings;
use crate::source::{SOURCE, check_arrow_files, guard_readers, reading};
use crate::sql::ast::{Anonymize, Wrapped};
use crate::sql::{self, Statement};
use arrow::record_batch::RecordBatch;
use datafusion::catalog::TableProvider;
use datafusion::prelude::SessionContext;
use datafusion::sql::parser::Statement as DfStatement;
use datafusion::sql::sqlparser::ast;
use futures::TryStreamExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

impl AnonContext {
    /// anonsql over this session. Clones share their hierarchies.
    pub fn new(session: SessionContext) -> Self {
        let hierarchies = Catalog::default();
        answer_maxima_rightly(session.state_ref().write().config_mut());
        Settings::extend(session.state_ref().write().config_mut().options_mut());
        guard_readers(&session);
        functions::register(&session, &hierarchies);
        Self::sharing(session, hierarchies, Arc::new(Silent))
    }

    /// Runs all statements of `text`, up to the first that fails, and answers the batches of the last. A VERIFY one of
    /// whose checks does not hold is an error of kind [`crate::error::ErrorKind::Verification`].
    pub async fn sql(&self, text: &str) -> Result<Vec<RecordBatch>> {
        let mut batches = vec![];
        for statement in sql::parse_each(text)? {
            batches = self.execute(statement?).await?.collect().await?;
        }
        Ok(batches)
    }

    /// Runs one statement. Whether the checks of a VERIFY hold is in its answer: [`Answer::verified`].
    pub async fn execute(&self, statement: Statement) -> Result<Answer> {
        match sql::is_deep(&statement.to_string()) {
            true => self.execute_deep(statement).await,
            false => self.execute_here(statement).await,
        }
    }

    /// Runs one statement on the threads at hand.
    pub(super) async fn execute_here(&self, statement: Statement) -> Result<Answer> {
        match statement {
            Statement::CreateHierarchy(create) => self.create_hierarchy(create).await,
            Statement::DropHierarchy { name, if_exists } => self.drop_hierarchy(&name, if_exists),
            Statement::ShowHierarchies => self.show_hierarchies(),
            Statement::DescribeHierarchy(name) => Answer::of(self.hierarchy(&name)?.describe()?),
            Statement::CheckHierarchy { name, table, column } => self.check_hierarchy(&name, &table, &column).await,
            Statement::Anonymize(anonymize) => self.anonymize(*anonymize).await,
            Statement::Wrapped(wrapped) => self.wrapped(wrapped).await,
            Statement::Explain { analyze, anonymize } => self.explain(*anonymize, analyze).await,
            Statement::Lattice(anonymize) => self.lattice_of(*anonymize).await,
            Statement::Verify(verify) => self.verify(verify).await,
            Statement::DataFusion(statement, text) => {
                let is_query =
                    matches!(&*statement, DfStatement::Statement(s) if matches!(**s, ast::Statement::Query(_)));
                if let DfStatement::CreateExternalTable(table) = &*statement
                    && table.file_type.eq_ignore_ascii_case("arrow")
                {
                    table.locations.iter().try_for_each(|l| check_arrow_files(l))?;
                }
                let planned = async {
                    self.session.sql(&text).await.map_err(match is_query {
                        true => Error::from,
                        false => Error::from_statement,
                    })
                };
                let rows = reading(SOURCE, planned).await?;
                keep_files_unnamed(&self.session)?;
                Answer::query(rows).await
            }
            Statement::Pareto {
                anonymize,
                objectives,
                epsilon,
            } => self.pareto(*anonymize, objectives, epsilon).await,
            Statement::Compare { anonymize, searches } => self.compare(*anonymize, searches).await,
            Statement::Risk(risk) => self.risk(&risk).await,
            Statement::SuggestRoles(source) => self.suggest_roles(source).await,
        }
    }

    async fn anonymize(&self, anonymize: Anonymize) -> Result<Answer> {
        let job = Arc::new(self.bind(&anonymize, Purpose::Release).await?);
        let Some(target) = &job.target else {
            let released = engine::release_rows(&job, &self.observer).await?;
            let answer = Answer::query(self.session.read_table(Arc::new(released.table))?).await?;
            released.report.map_or(Ok(()), StagedReport::publish)?;
            return Ok(answer);
        };
        let release = engine::release_to(&job, &self.observer).await?;
        answer::summary(&target.path, release.as_ref())
    }

    /// CREATE TABLE AS, COPY and INSERT INTO: DataFusion's statement over the released rows under a passing name.
    async fn wrapped(&self, wrapped: Wrapped) -> Result<Answer> {
        let job = Arc::new(self.bind(&wrapped.anonymize, Purpose::Release).await?);
        let ReleasedRows { table, report, .. } = engine::release_rows(&job, &self.observer).await?;
        let name = format!("__anonsql_release_{}", self.releases.fetch_add(1, Ordering::Relaxed));
        let table = Arc::new(table);
        self.session
            .register_table(name.as_str(), Arc::clone(&table) as Arc<dyn TableProvider>)?;
        let statement = wrapped.with_query(&format!("SELECT * FROM {name}"));
        let done = async {
            let frame = self.session.sql(&statement).await.map_err(Error::from_statement)?;
            table
                .check_told_apart(output::cannot_tell_apart(frame.logical_plan())?)
                .await?;
            let (frame, stage) = output::staged(frame)?;
            let schema = Arc::new(frame.schema().as_arrow().clone());
            let batches: Vec<_> = frame
                .execute_stream()
                .await?
                .try_collect()
                .await
                .map_err(Error::from_data)?;
            stage.map_or(Ok(()), Stage::publish_output)?;
            Ok::<_, Error>((schema, batches))
        }
        .await;
        self.session.deregister_table(name.as_str())?;
        let (schema, batches) = done?;
        report.map_or(Ok(()), StagedReport::publish)?;
        Answer::batches(schema, batches)
    }
}
