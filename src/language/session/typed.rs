//! Statements with a typed result, as an alternative to the batches of [`AnonContext::sql`].

use super::answer::Answer;
use super::context::AnonContext;
use super::statements::anonymize::Anonymized;
use super::statements::anonymize::spec::AnonymizeSpec;
use super::statements::entry::{Run, Statement};
use super::statements::pareto::{Pareto, ParetoFront};
use super::statements::verify::answered::answer;
use super::statements::verify::beside::Beside;
use super::statements::verify::spec::Verify;
use crate::base::error::{Error, Result};
use crate::release::audit::Verification;
use std::path::PathBuf;

/// The result of one statement as a value.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> anonsql::error::Result<()> {
/// use anonsql::Outcome;
/// let anon = anonsql::AnonContext::new(Default::default());
/// let verify = "VERIFY (SELECT 31 AS age) QUASI IDENTIFIERS (age) SATISFYING k_anonymity(2)";
/// for statement in anon.script(verify)? {
///     let Outcome::Verified { verification, answer } = anon.outcome(statement?).await? else { continue };
///     assert!(!verification.holds() && !answer.failed.is_empty());
/// }
/// # Ok(())
/// # }
/// ```
#[must_use = "a failed VERIFY is reported in the outcome"]
#[non_exhaustive]
pub enum Outcome {
    /// The rows of a query, or the note of a statement that returns no data.
    Rows(Answer),
    /// The release of an ANONYMIZE.
    Anonymized {
        /// The result of the request.
        anonymized: Box<Anonymized>,
        /// The path of the report; `None` if the statement wrote no report.
        report: Option<PathBuf>,
    },
    /// The checks of a VERIFY.
    Verified {
        /// The checks as values.
        verification: Verification,
        /// The checks as rows; [`Answer::verified`] fails if a check failed.
        answer: Answer,
    },
}

impl AnonContext {
    /// Runs one statement, and returns its result as a value. A failed check of VERIFY is not an
    /// error here.
    pub async fn outcome(&self, statement: Statement) -> Result<Outcome> {
        self.settle();
        let (is_deep, hidden, seen) = (statement.is_deep(), statement.hidden().clone(), self.seen());
        let context = self.on_course().hiding(&hidden);
        let shown = |e| self.seen().in_error(hidden.in_error(e));
        if let Some(asked) = statement.get::<AnonymizeSpec>() {
            let released = context.released(asked.clone(), is_deep).await.map_err(shown)?;
            let is_reported = matches!(released, Anonymized::Files { .. } | Anonymized::Rows { .. });
            let report = asked.report.as_ref().filter(|_| is_reported);
            let report = report.map(|file| PathBuf::from(&file.path));
            let anonymized = Box::new(match released {
                Anonymized::Rows { release, rows } => Anonymized::Rows {
                    release,
                    rows: rows.hiding(&hidden, seen),
                },
                released => released,
            });
            return Ok(Outcome::Anonymized { anonymized, report });
        }
        if let Some(asked) = statement.get::<Verify>() {
            let (asked, is_strict) = (asked.clone(), self.is_strict());
            let verified = self.with_room(is_deep, async move { asked.verification(&context).await });
            let verification = verified.await.map_err(shown)?.0;
            let answer = answer(verification.clone(), is_strict)?;
            return Ok(Outcome::Verified { verification, answer });
        }
        Ok(Outcome::Rows(self.execute(statement).await?))
    }

    /// Runs one ANONYMIZE in this context. `is_deep` tells whether it needs threads with larger
    /// stacks.
    async fn released(&self, asked: AnonymizeSpec, is_deep: bool) -> Result<Anonymized> {
        let context = self.clone();
        let released = self.with_room(is_deep, async move { asked.release(&context).await });
        let (anonymized, apart) = released.await?;
        Ok(match (anonymized, apart) {
            (Anonymized::Rows { release, rows }, Some(apart)) => Anonymized::Rows {
                release,
                rows: apart.pass_on(rows),
            },
            (anonymized, _) => anonymized,
        })
    }

    /// Runs one ANONYMIZE, and returns the figures of the release with its manifest or its rows.
    pub async fn anonymize(&self, statement: &str) -> Result<Anonymized> {
        let (asked, is_deep, context): (AnonymizeSpec, _, _) = self.one(statement, "ANONYMIZE")?;
        let released = context.released(asked, is_deep).await;
        released.map_err(|e| context.hidden.in_error(e))
    }

    /// Runs one VERIFY of a release, or of two releases (BESIDE). A failed check is not an error
    /// here: call [`Verification::holds`].
    pub async fn verify(&self, statement: &str) -> Result<Verification> {
        if let Some((asked, is_deep, context)) = self.only::<Beside>(statement)? {
            let hidden = context.hidden.clone();
            let verified = self.with_room(is_deep, async move { asked.verification(&context).await });
            return Ok(verified.await.map_err(|e| hidden.in_error(e))?.0);
        }
        let (asked, is_deep, context): (Verify, _, _) = self.one(statement, "VERIFY")?;
        let hidden = context.hidden.clone();
        let verified = self.with_room(is_deep, async move { asked.verification(&context).await });
        Ok(verified.await.map_err(|e| hidden.in_error(e))?.0)
    }

    /// Runs one PARETO FRONT OF, and returns the front.
    pub async fn pareto_front(&self, statement: &str) -> Result<ParetoFront> {
        let (asked, is_deep, context): (Pareto, _, _) = self.one(statement, "PARETO FRONT OF")?;
        let hidden = context.hidden.clone();
        let searched = self.with_room(is_deep, async move { asked.front(&context).await });
        Ok(searched.await.map_err(|e| hidden.in_error(e))?.0.1)
    }

    /// Parses `text`, which must be exactly one statement of type `T`. Returns the statement,
    /// whether it is deeply nested, and a context that hides its hidden values. Fails with a usage
    /// error for any other text; the error calls the expected statement `what`.
    fn one<T: Run + Clone>(&self, text: &str, what: &str) -> Result<(T, bool, Self)> {
        self.only(text)?.ok_or_else(|| {
            Error::usage(format!(
                "expected one {what} statement; a script is run by AnonContext::sql"
            ))
        })
    }

    /// Parses `text` like [`AnonContext::one`], but returns `None` if it is not exactly one
    /// statement of type `T`.
    fn only<T: Run + Clone>(&self, text: &str) -> Result<Option<(T, bool, Self)>> {
        let mut statements = self.script(text)?;
        let only = Some(statements.len() == 1)
            .filter(|only| *only)
            .and_then(|_| statements.next());
        let only = only.transpose()?;
        Ok(only.and_then(|one| {
            let context = self.on_course().hiding(one.hidden());
            Some((one.get::<T>()?.clone(), one.is_deep(), context))
        }))
    }
}
