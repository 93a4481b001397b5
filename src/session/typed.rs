//! Statements with a typed result, besides the batches of [`AnonContext::sql`].

use super::context::AnonContext;
use super::statements::anonymize::Anonymized;
use super::statements::anonymize::spec::AnonymizeSpec;
use super::statements::entry::Run;
use super::statements::pareto::{Pareto, ParetoFront};
use super::statements::verify::beside::Beside;
use super::statements::verify::spec::Verify;
use crate::audit::Verification;
use crate::error::{Error, Result};

impl AnonContext {
    /// Runs one ANONYMIZE, and returns its figures with the manifest or the rows.
    pub async fn anonymize(&self, statement: &str) -> Result<Anonymized> {
        let (asked, is_deep, context): (AnonymizeSpec, _, _) = self.one(statement, "ANONYMIZE")?;
        let hidden = context.hidden.clone();
        let released = self.with_room(is_deep, async move { asked.release(&context).await });
        let (anonymized, apart) = released.await.map_err(|e| hidden.in_error(e))?;
        Ok(match (anonymized, apart) {
            (Anonymized::Rows { release, rows }, Some(apart)) => Anonymized::Rows {
                release,
                rows: apart.pass_on(rows),
            },
            (anonymized, _) => anonymized,
        })
    }

    /// Runs one VERIFY, of a release or of two side by side. A check that does not hold is not an error here: call
    /// [`Verification::holds`].
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

    /// Parses `text` as exactly one statement of type `T`, and returns it with whether it is deep
    /// and the context that it runs in. Fails with a usage error if it is anything else.
    fn one<T: Run + Clone>(&self, text: &str, what: &str) -> Result<(T, bool, Self)> {
        self.only(text)?.ok_or_else(|| {
            Error::usage(format!(
                "expected one {what} statement; a script is run by AnonContext::sql"
            ))
        })
    }

    /// Parses `text` like [`AnonContext::one`]; `None` if it is anything else.
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
