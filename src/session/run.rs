//! The entry point: what a text says is read, and run one statement after the other.

use super::answer::Answer;
use super::context::{AnonContext, Catalog, SharedRegistry};
use super::deep::{self, Apart};
use super::functions;
use super::statements::entry::Statement;
use super::statements::parse::parse_each_with;
use crate::engine::{Silent, answer_maxima_rightly};
use crate::error::Result;
use crate::pool::SessionPool;
use crate::settings::Settings;
use crate::source::guard_readers;
use crate::sql::is_deep;
use arrow::record_batch::RecordBatch;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

impl AnonContext {
    /// anonsql over this session. Clones share their hierarchies.
    pub fn new(session: SessionContext) -> Self {
        let hierarchies = Catalog::default();
        answer_maxima_rightly(session.state_ref().write().config_mut());
        Settings::extend(session.state_ref().write().config_mut().options_mut());
        SessionPool::set(session.state_ref().write().config_mut());
        guard_readers(&session);
        let registry = SharedRegistry::default();
        functions::register(&session, &hierarchies, &registry);
        Self::sharing(session, hierarchies, registry, Arc::new(Silent))
    }

    /// Runs all statements of `text`, up to the first that fails, and answers the batches of the last. A VERIFY one of
    /// whose checks does not hold is an error of kind [`crate::error::ErrorKind::Verification`].
    pub async fn sql(&self, text: &str) -> Result<Vec<RecordBatch>> {
        let mut batches = vec![];
        for statement in self.parse(text)? {
            batches = self.execute(statement?).await?.collect().await?;
        }
        Ok(batches)
    }

    /// Each statement of a text with its own outcome. CREATE HIERARCHY may name the kinds that are registered.
    pub fn parse(&self, text: &str) -> Result<Vec<Result<Statement>>> {
        parse_each_with(text, self.registry().hierarchy_kinds.entries())
    }

    /// Runs one statement. Whether the checks of a VERIFY hold is in its answer: [`Answer::verified`].
    pub async fn execute(&self, statement: Statement) -> Result<Answer> {
        let (text, context) = (statement.to_string(), self.clone());
        let (answer, apart) = self
            .with_room(&text, async move { statement.run(&context).await })
            .await?;
        Ok(match apart {
            Some(apart) => apart.pass_on(answer),
            None => answer,
        })
    }

    /// Runs what a statement asks for, on threads apart where the statement goes deep.
    pub(super) async fn with_room<T: Send + 'static>(
        &self,
        statement: &str,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<(T, Option<Apart>)> {
        if !is_deep(statement) {
            return Ok((work.await?, None));
        }
        let threads = self.session.copied_config().target_partitions();
        let (done, apart) = deep::run(threads, work).await?;
        Ok((done, Some(apart)))
    }
}
