//! `CREATE POLICY`: stores the roles, the models and the limits for releases under a name.

use super::anonymize::spec::OF_A_POLICY;
use super::entry::{Entry, Run, Statement};
use crate::base::catalogue::Arguments;
use crate::base::error::{Error, Result};
use crate::base::quoting::ident;
use crate::language::session::answer::Answer;
use crate::language::session::bind::RUN_OPTIONS;
use crate::language::session::context::AnonContext;
use crate::language::session::policy::{Policy, written};
use crate::language::sql::clause::list as clause;
use crate::language::sql::clause::{ChoiceClause, PolicyClause, RandomizeClause, SensitiveClause};
use crate::language::sql::cursor::Cursor;
use crate::method::hierarchy::Hierarchy;
use crate::method::standard;
use datafusion::sql::sqlparser::tokenizer::Token;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

/// `CREATE [OR REPLACE] POLICY [IF NOT EXISTS] name AS (clause ...)`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CreatePolicy {
    /// Whether OR REPLACE is given.
    pub(super) or_replace: bool,
    /// Whether IF NOT EXISTS is given.
    pub(super) if_not_exists: bool,
    /// The name of the policy.
    pub(super) name: String,
    /// The clauses of the policy.
    pub(super) clauses: PolicyClause,
}

pub(super) const ENTRY: Entry = Entry {
    name: "CREATE POLICY",
    starts: &["CREATE POLICY", "CREATE OR REPLACE POLICY"],
    summary: "names the roles, the models and the limits that a release must keep to; without roles, a rule for any table",
    syntax: "CREATE [OR REPLACE] POLICY [IF NOT EXISTS] name AS (
  [[IDENTIFIERS (...)] QUASI IDENTIFIERS (...) [SENSITIVE (...)] [CLASS (c)] [KEEP (...)] [ENTITY (c)]]
  [SATISFYING model ...] [FOLLOWING standard, ...] [SUPPRESSING AT MOST ...] [SUPPRESSED ROWS ...] [MINIMIZING metric] [RECODING GLOBAL | LOCAL]
  [SEARCH USING ... | AT NODE ... | USING MANIFEST ...] [WITH (...)] [ACCEPTING WARNINGS ON (c, ...)])",
    example: "CREATE POLICY patients_v1 AS (IDENTIFIERS (name) QUASI IDENTIFIERS (age USING age, zip) SATISFYING k_anonymity(5))",
    answers: false,
    read: |c, form| {
        let if_not_exists = c.take("IF NOT EXISTS");
        let name = c.name("the name of the policy")?;
        c.need("AS")?;
        Ok(Statement::new(CreatePolicy {
            or_replace: form == 1,
            if_not_exists,
            name,
            clauses: clauses(c)?,
        }))
    },
};

/// Parses `(clause ...)`.
fn clauses(c: &mut Cursor) -> Result<PolicyClause> {
    let open = c.position();
    if !c.looks_at_token(&Token::LParen) {
        return Err(c.expected("the clauses of the policy in parentheses", []));
    }
    let close = c.closing(open).ok_or_else(|| c.error("this \"(\" is not closed"))?;
    let mut inner = c.within(open + 1..close);
    let allowed = OF_A_POLICY.iter().filter(|of| of.start != clause::POPULATION.start);
    let allowed: Vec<&clause::StatementClause> = allowed.collect();
    let mut read = clause::read(&mut inner, "CREATE POLICY", &allowed, &[])?;
    let own = &read.policy;
    let missing = match own.has_roles() {
        true if own.quasi_identifiers.is_empty() => Some(&clause::QUASI),
        true if own.satisfying.is_empty() => Some(&clause::SATISFYING),
        false if own.satisfying.is_empty() && own.following.is_empty() => Some(&clause::SATISFYING),
        _ => None,
    };
    if let Some(missing) = missing {
        let (start, example) = (missing.start, missing.example);
        return Err(inner.error(format_args!("CREATE POLICY needs {start}; example: {example}")));
    }
    if !read.recodings.is_empty() || !read.searches.is_empty() {
        return Err(inner.error("only COMPARE ANONYMIZE takes a list of recodings or searches; name one"));
    }
    c.skip_to(close + 1);
    Ok(std::mem::take(&mut read.policy))
}

impl fmt::Display for CreatePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let replace = if self.or_replace { "OR REPLACE " } else { "" };
        let exists = if self.if_not_exists { "IF NOT EXISTS " } else { "" };
        let (name, clauses) = (ident(&self.name), written(&self.clauses));
        write!(f, "CREATE {replace}POLICY {exists}{name} AS ({clauses})")
    }
}

impl CreatePolicy {
    /// Creates the policy from its clauses. Fails with a usage error if a standard, hierarchy,
    /// model, metric, search or option is unknown or has wrong arguments; if the policy or one of
    /// its hierarchies contains a value from the environment; if another table decides what the
    /// policy promises (RANDOMIZED WITH MATRIX, or a model that counts in a population); or if a
    /// policy without roles has a clause that depends on roles.
    fn made(&self, context: &AnonContext) -> Result<Policy> {
        if !context.hidden.is_empty() {
            return Err(Error::usage(
                "a policy is printed and stored, and cannot contain a value from the environment; write the value, or \
                 for the secret of a mask the name of the variable: WITH SECRET 'env:NAME'",
            ));
        }
        let (clauses, registry) = (&self.clauses, context.registry());
        for name in &clauses.following {
            standard::named(name)?;
        }
        let is_matrix = |s: &&SensitiveClause| matches!(s.randomized, Some(RandomizeClause::Matrix(_)));
        if let Some(s) = clauses.sensitive.iter().find(is_matrix) {
            return Err(Error::usage(format!(
                "column {}: the table of RANDOMIZED WITH MATRIX decides how far values are permuted, and others can \
                 change it, so a policy cannot contain it",
                s.column
            )));
        }
        let hierarchies = clauses.hierarchies().into_iter().map(|name| context.hierarchy(name));
        let hierarchies = hierarchies.collect::<Result<Vec<_>>>()?;
        let seen = context.seen();
        let hides = |hierarchy: &&Arc<Hierarchy>| {
            let definition = hierarchy.definition();
            seen.in_statement(definition.clone()) != definition
        };
        if let Some(hiding) = hierarchies.iter().find(hides) {
            return Err(Error::usage(format!(
                "hierarchy {} has a value from the environment, and a policy is printed and stored; write the value in the \
                 hierarchy",
                hiding.name()
            )));
        }
        for constraint in &clauses.satisfying {
            let (model, _) = registry.model(&constraint.model)?;
            if model.reads().population {
                return Err(Error::usage(format!(
                    "{} counts in a population, and others can change that table and with it the promise of the \
                     model, so a policy cannot contain it",
                    constraint.model
                )));
            }
        }
        if !clauses.has_roles() {
            self.is_for_any_table(context)?;
        }
        for goal in &clauses.minimizing {
            registry.metric(&goal.metric)?;
        }
        if let ChoiceClause::Search(call) = &clauses.choice {
            registry.search(call)?;
        }
        Arguments::of_options(&RUN_OPTIONS, &clauses.options)?;
        Policy::new(self.name.clone(), clauses.clone(), hierarchies)
    }
}

impl CreatePolicy {
    /// Fails with a usage error if a policy without roles has a clause that depends on roles. The
    /// roles are not known, because the statements under the policy choose them.
    fn is_for_any_table(&self, context: &AnonContext) -> Result<()> {
        let (clauses, registry) = (&self.clauses, context.registry());
        for constraint in &clauses.satisfying {
            let (model, _) = registry.model(&constraint.model)?;
            let reads = model.reads();
            let column = match model.about().limit() {
                _ if reads.hierarchy || reads.labels => Some("a hierarchy"),
                Some(_) => Some("a column of limits"),
                None => None,
            };
            if let Some(column) = column {
                return Err(Error::usage(format!(
                    "{} depends on {column}, which a policy without roles leaves to the statement; give the policy its roles",
                    constraint.model
                )));
            }
            if reads.attribute && constraint.sensitive.is_none() {
                return Err(Error::usage(format!(
                    "{} needs the sensitive attribute that it is about: {} ON column",
                    constraint.model, constraint.model
                )));
            }
        }
        match clauses.choice {
            ChoiceClause::Default | ChoiceClause::Search(_) => Ok(()),
            _ => Err(Error::usage(
                "a policy without roles leaves the quasi-identifiers to the statement, and their levels, too; leave AT NODE and \
                 USING MANIFEST out",
            )),
        }
    }
}

impl Run for CreatePolicy {
    fn kind(&self) -> &'static str {
        "create policy"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let name = &self.name;
            let exists = context.policies.read().contains_key(name);
            if exists && self.if_not_exists {
                return Answer::done(format!("policy {name} already exists"));
            }
            if exists && !self.or_replace {
                return Err(Error::usage(format!(
                    "policy {name} already exists; use CREATE OR REPLACE POLICY or IF NOT EXISTS"
                )));
            }
            let policy = self.made(context).map_err(|e| e.context(format!("policy {name}")))?;
            let sha256 = policy.summary().sha256;
            context.policies.write().insert(name.clone(), Arc::new(policy));
            Answer::done(format!("policy {name} created: SHA-256 {sha256}"))
        })
    }
}
