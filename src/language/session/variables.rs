//! The variables of a context, and scripts whose statements use them.

use super::context::AnonContext;
use super::statements::entry::Statement;
use super::statements::parse::{read, words};
use crate::base::error::Result;
use crate::language::sql::variable::{Literal, Variable};
use crate::language::sql::{self, Hidden, Script};
use datafusion::common::ScalarValue;
use std::collections::VecDeque;
use std::ops::Range;

impl AnonContext {
    /// Sets a variable. Statements can use `$name` in place of a literal or a path. A value is
    /// never parsed as SQL, whatever it contains. Fails with
    /// [`ErrorKind::Usage`](crate::base::error::ErrorKind::Usage) if the value is not a number, a
    /// text, a date, a time, a boolean or NULL.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> anonsql::error::Result<()> {
    /// let anon = anonsql::AnonContext::new(Default::default());
    /// anon.set_variable("name", "Ann'; DROP TABLE people")?;
    /// let rows = anon.sql("SELECT 1 WHERE 'Bob' = $name").await?;
    /// assert_eq!(rows[0].num_rows(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_variable(&self, name: &str, value: impl Into<ScalarValue>) -> Result<()> {
        self.keep(name, Literal::of(&value.into())?)
    }

    /// Sets a variable to a text that comes from outside SQL. A text in the form of a number
    /// becomes a number.
    pub(crate) fn set_variable_text(&self, name: &str, text: &str) -> Result<()> {
        self.keep(&name.to_lowercase(), Literal::read(text))
    }

    /// Allows statements to read environment variables of the process with `getenv`.
    pub(crate) fn allow_environment(&self) {
        self.variables.write().environment = true;
    }

    /// Sets a variable on behalf of the running statement. The value is hidden if the statement
    /// contains a hidden value.
    pub(super) fn keep(&self, name: &str, value: Literal) -> Result<()> {
        let hidden = !self.hidden.is_empty();
        self.variables.write().set(name, Variable { value, hidden })
    }

    /// Splits a text into its statements. Each statement is parsed when the iterator reaches it,
    /// with the variables that earlier statements have set by then.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> anonsql::error::Result<()> {
    /// use anonsql::Outcome;
    /// let anon = anonsql::AnonContext::new(Default::default());
    /// for statement in anon.script("SET VARIABLE k = 5; SELECT $k AS k")? {
    ///     let Outcome::Rows(answer) = anon.outcome(statement?).await? else { continue };
    ///     assert_eq!(answer.collect().await?[0].num_rows(), 1);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn script(&self, text: &str) -> Result<Statements> {
        let script = Script::new(text, words(self.registry().hierarchy_kinds.entries()))?;
        Ok(Statements {
            statements: script.places_of_statements().collect(),
            script,
            context: self.clone(),
        })
    }

    /// Returns a context for a statement that contains the values `hidden`. Also adds these values
    /// to the hidden values of all statements.
    pub(super) fn hiding(&self, hidden: &Hidden) -> Self {
        if !hidden.is_empty() {
            let mut seen = self.seen.write();
            *seen = seen.and(hidden);
        }
        Self {
            hidden: hidden.clone(),
            ..self.clone()
        }
    }
}

/// The statements of a script that have not been parsed yet.
///
/// ```
/// let anon = anonsql::AnonContext::new(Default::default());
/// assert_eq!(anon.script("SELECT 1; SELECT 2")?.len(), 2);
/// # Ok::<(), anonsql::error::Error>(())
/// ```
pub struct Statements {
    context: AnonContext,
    script: Script,
    statements: VecDeque<Range<usize>>,
}

impl Iterator for Statements {
    type Item = Result<Statement>;

    fn next(&mut self) -> Option<Result<Statement>> {
        let tokens = self.script.tokens_at(self.statements.pop_front()?);
        // The variables are not copied for each statement, because a script may set as many
        // variables as it has statements.
        let variables = self.context.variables.read();
        let statement = sql::read(&self.script, tokens, &variables, |c| read(&c));
        Some(statement.map(Statement::of))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.statements.len(), Some(self.statements.len()))
    }
}

impl ExactSizeIterator for Statements {}
