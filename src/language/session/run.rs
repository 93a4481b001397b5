//! The entry point of the session: parses scripts and runs their statements one after the other.

use super::answer::Answer;
use super::context::{AnonContext, NamedHierarchies, SharedRegistry};
use super::deep::{self, Apart};
use super::functions;
use super::sources::lakes::enable_lakes;
use super::statements::entry::Statement;
use super::statements::parse::expected;
use crate::base::error::Result;
use crate::base::operator::stop_joins;
use crate::base::pool::SessionPool;
use crate::base::settings::Settings;
use crate::base::store::Stores;
use crate::data::lake::Keeper;
use crate::data::source::{Noted, forget_claims, guard_readers, read_in_microseconds};
use crate::language::sql::Expectation;
use crate::release::engine::enable_executors;
use crate::release::observe::{Course, Silent};
use crate::release::recount::answer_rightly;
use arrow::record_batch::RecordBatch;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

impl AnonContext {
    /// Creates a context for this session. Clones of the context share its hierarchies.
    pub fn new(session: SessionContext) -> Self {
        let hierarchies = NamedHierarchies::default();
        answer_rightly(session.state_ref().write().config_mut());
        read_in_microseconds(session.state_ref().write().config_mut());
        Settings::extend(session.state_ref().write().config_mut().options_mut());
        SessionPool::set(session.state_ref().write().config_mut());
        Stores::set(session.state_ref().write().config_mut());
        Noted::set(session.state_ref().write().config_mut());
        Keeper::set(session.state_ref().write().config_mut());
        enable_executors(session.state_ref().write().config_mut());
        forget_claims(&session);
        guard_readers(&session);
        stop_joins(&session);
        let registry = SharedRegistry::default();
        enable_lakes(&session);
        functions::register(&session, &hierarchies, &registry);
        Self::sharing(session, hierarchies, registry, Arc::new(Silent))
    }

    /// Runs the statements of `text` until one fails, and returns the batches of the last
    /// statement. Fails with [`crate::base::error::ErrorKind::Verification`] if a check of VERIFY
    /// failed.
    pub async fn sql(&self, text: &str) -> Result<Vec<RecordBatch>> {
        let mut batches = vec![];
        for statement in self.script(text)? {
            batches = self.execute(statement?).await?.collect().await?;
        }
        Ok(batches)
    }

    /// Parses a text into statements, each with its own parse result. CREATE HIERARCHY accepts
    /// every registered kind. All statements are parsed with the current variables, so a variable
    /// that the text itself sets is not known yet. In contrast, [`AnonContext::sql`] parses each
    /// statement after the statements before it have run.
    pub fn parse(&self, text: &str) -> Result<Vec<Result<Statement>>> {
        Ok(self.script(text)?.collect())
    }

    /// Returns the possible continuations at the end of the last statement in `text`, for
    /// completion.
    pub(crate) fn expected(&self, text: &str) -> Vec<Expectation> {
        expected(text, self.registry().hierarchy_kinds.entries(), &self.variables.read())
    }

    /// Runs one statement. A VERIFY with failed checks succeeds here: call [`Answer::verified`] on
    /// its result.
    pub async fn execute(&self, statement: Statement) -> Result<Answer> {
        self.settle();
        let (is_deep, context) = (statement.is_deep(), self.on_course());
        let (answer, apart) = self
            .with_room(is_deep, async move { statement.run(&context).await })
            .await?;
        Ok(match apart {
            Some(apart) => apart.pass_on(answer),
            None => answer,
        })
    }

    /// Restores the settings that every statement relies on, because a program with access to the
    /// session may have changed them.
    pub(super) fn settle(&self) {
        answer_rightly(self.session.state_ref().write().config_mut());
        read_in_microseconds(self.session.state_ref().write().config_mut());
        forget_claims(&self.session);
        Stores::follow(&self.session.copied_config());
    }

    /// Returns the context for one statement. Its observer receives phases that follow each other
    /// without a gap.
    pub(super) fn on_course(&self) -> Self {
        let course = Course::new(Arc::clone(&self.observer));
        self.clone().with_observer(Arc::new(course))
    }

    /// Runs `work` for a statement, on separate threads with larger stacks if `is_deep` is true. In
    /// this case, the runtime of these threads is returned with the result. Passes the notes about
    /// the statement's sources to the observer.
    pub(super) async fn with_room<T: Send + 'static>(
        &self,
        is_deep: bool,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<(T, Option<Apart>)> {
        let config = self.session.copied_config();
        let done = match is_deep {
            false => work.await.map(|done| (done, None)),
            true => {
                let deep = deep::run(config.target_partitions(), work).await;
                deep.map(|(done, apart)| (done, Some(apart)))
            }
        };
        let notes = Noted::take(&config);
        notes.iter().for_each(|note| self.observer.advised(note));
        done
    }
}
