//! Statements with a typed result, besides the batches of [`AnonContext::sql`].

use super::context::AnonContext;
use super::statements::anonymize::Anonymized;
use super::statements::anonymize::spec::AnonymizeSpec;
use super::statements::entry::Run;
use super::statements::pareto::{Pareto, ParetoFront};
use super::statements::verify::spec::Verify;
use crate::audit::Verification;
use crate::error::{Error, Result};

impl AnonContext {
    /// Runs one ANONYMIZE, and returns its figures with the manifest or the rows.
    pub async fn anonymize(&self, statement: &str) -> Result<Anonymized> {
        let asked: AnonymizeSpec = self.one(statement, "ANONYMIZE")?;
        let (text, context) = (asked.to_string(), self.clone());
        let (anonymized, apart) = self
            .with_room(&text, async move { asked.release(&context).await })
            .await?;
        Ok(match (anonymized, apart) {
            (Anonymized::Rows { release, rows }, Some(apart)) => Anonymized::Rows {
                release,
                rows: apart.pass_on(rows),
            },
            (anonymized, _) => anonymized,
        })
    }

    /// Runs one VERIFY. A check that does not hold is not an error here: call [`Verification::holds`].
    pub async fn verify(&self, statement: &str) -> Result<Verification> {
        let asked: Verify = self.one(statement, "VERIFY")?;
        let (text, context) = (asked.to_string(), self.clone());
        let verified = self.with_room(&text, async move { asked.verification(&context).await });
        Ok(verified.await?.0)
    }

    /// Runs one PARETO FRONT OF, and returns the front.
    pub async fn pareto_front(&self, statement: &str) -> Result<ParetoFront> {
        let asked: Pareto = self.one(statement, "PARETO FRONT OF")?;
        let (text, context) = (asked.to_string(), self.clone());
        let searched = self.with_room(&text, async move { asked.front(&context).await });
        Ok(searched.await?.0.1)
    }

    /// Parses `text` as exactly one statement of type `T`. Fails with a usage error if it is anything else.
    fn one<T: Run + Clone>(&self, text: &str, what: &str) -> Result<T> {
        let mut statements = self.parse(text)?;
        let only = statements.pop().filter(|_| statements.is_empty()).transpose()?;
        let asked = only.as_ref().and_then(|statement| statement.get::<T>());
        asked.cloned().ok_or_else(|| {
            Error::usage(format!(
                "expected one {what} statement; a script is run by AnonContext::sql"
            ))
        })
    }
}
