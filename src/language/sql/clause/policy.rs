//! The clauses that a policy can have: the roles, the models, the limits and the search. An
//! ANONYMIZE either has these clauses itself, or names a policy that has them. A policy without
//! roles is a rule for any table: the statement gives the roles, and may add requirements.

use super::choice::{ChoiceClause, RecodingClause};
use super::constraint::{self, ConstraintClause};
use super::goal::GoalClause;
use super::options;
use super::roles::{self, ColumnClause, QuasiIdentifierClause, SensitiveClause};
use super::source::SourceClause;
use super::suppression::LimitClause;
use crate::base::catalogue::Value;
use crate::base::error::{Error, Result};
use crate::base::quoting::ident;
use crate::language::sql::name::{list, names};
use crate::method::masks::MaskClause;
use std::fmt::{self, Display};

/// The clauses that a policy can have.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PolicyClause {
    /// IDENTIFIERS: the columns that are dropped or masked.
    pub identifiers: Vec<ColumnClause>,
    /// QUASI IDENTIFIERS: the columns that are generalized.
    pub quasi_identifiers: Vec<QuasiIdentifierClause>,
    /// SENSITIVE: the sensitive attributes.
    pub sensitive: Vec<SensitiveClause>,
    /// CLASS: the class label.
    pub class: Option<String>,
    /// KEEP: the columns that are released unchanged or masked.
    pub keep: Vec<ColumnClause>,
    /// ENTITY: the column that identifies a person.
    pub entity: Option<String>,
    /// POPULATION: the table in which models such as k_map count people.
    pub population: Option<SourceClause>,
    /// SATISFYING: the constraints.
    pub satisfying: Vec<ConstraintClause>,
    /// FOLLOWING: the names of the standards that the release follows.
    pub following: Vec<String>,
    /// SUPPRESSING AT MOST: the suppression limit.
    pub limit: Option<LimitClause>,
    /// SUPPRESSED ROWS: `Some(true)` for STARRED, `Some(false)` for DROPPED, `None` if it is not
    /// given.
    pub starred: Option<bool>,
    /// MINIMIZING: one metric, or the terms of a weighted sum; empty if it is not given.
    pub minimizing: Vec<GoalClause>,
    /// RECODING: whether equal values have equal labels in all rows.
    pub recoding: Option<RecodingClause>,
    /// SEARCH USING, AT NODE or USING MANIFEST.
    pub choice: ChoiceClause,
    /// WITH: the options of the run.
    pub options: Vec<(String, Value)>,
    /// ACCEPTING WARNINGS ON: the columns whose warnings are accepted.
    pub accepting: Vec<String>,
}

/// Returns the items of `own`, followed by the items of `more` that `own` does not contain.
fn added<T: Clone + PartialEq>(own: &[T], more: &[T]) -> Vec<T> {
    let more = more.iter().filter(|item| !own.contains(item));
    own.iter().chain(more).cloned().collect()
}

/// The common name of the clauses SEARCH USING, AT NODE and USING MANIFEST, in the lists below and
/// in errors.
const CHOICE: &str = "the search or the node";

/// The clauses that a statement may add to any policy, because the release satisfies the models of
/// the policy whatever these clauses contain.
const OPEN: &[&str] = &["MINIMIZING", "RECODING", CHOICE];

/// The clauses that determine how columns are treated. A policy either has at least one of these
/// clauses, or leaves all of them to the statement.
const ROLES: &[&str] = &[
    "IDENTIFIERS",
    "QUASI IDENTIFIERS",
    "SENSITIVE",
    "CLASS",
    "KEEP",
    "ENTITY",
    "POPULATION",
    "ACCEPTING",
];

/// The clauses with which a statement may add requirements to a policy without roles.
const ADDED: &[&str] = &["SATISFYING", "FOLLOWING"];

/// The options of WITH that a statement may add to any policy, because the release satisfies the
/// models of the policy whatever the values of these options are.
const OF_A_RUN: &[&str] = &["seed", "time_limit", "node_limit"];

impl PolicyClause {
    /// Returns the first keywords of the clauses that are given.
    fn given(&self) -> Vec<&'static str> {
        let given = [
            ("IDENTIFIERS", !self.identifiers.is_empty()),
            ("QUASI IDENTIFIERS", !self.quasi_identifiers.is_empty()),
            ("SENSITIVE", !self.sensitive.is_empty()),
            ("CLASS", self.class.is_some()),
            ("KEEP", !self.keep.is_empty()),
            ("ENTITY", self.entity.is_some()),
            ("POPULATION", self.population.is_some()),
            ("SATISFYING", !self.satisfying.is_empty()),
            ("FOLLOWING", !self.following.is_empty()),
            ("SUPPRESSING", self.limit.is_some()),
            ("SUPPRESSED ROWS", self.starred.is_some()),
            ("ACCEPTING", !self.accepting.is_empty()),
            ("MINIMIZING", !self.minimizing.is_empty()),
            ("RECODING", self.recoding.is_some()),
            (CHOICE, self.choice != ChoiceClause::Default),
        ];
        let given = given.iter().filter(|(_, is_given)| *is_given);
        given.map(|(start, _)| *start).collect()
    }

    /// Returns true if the policy determines how columns are treated.
    pub(crate) fn has_roles(&self) -> bool {
        self.given().iter().any(|clause| ROLES.contains(clause))
    }

    /// Fails with a usage error if `statement`, which uses this policy, has a clause or an option
    /// that only a policy may have, or options for a search, because the release could otherwise be
    /// weaker than the policy requires. The error calls the policy `name`.
    fn is_kept_by(&self, statement: &Self, name: &str) -> Result<()> {
        let has_roles = self.has_roles();
        // Under a policy with the option strict, a statement may not accept warnings.
        let is_strict = self.options.iter().any(|(option, _)| option == "strict");
        let is_left = |clause: &str| {
            OPEN.contains(&clause)
                || !has_roles
                    && (ROLES.contains(&clause) || ADDED.contains(&clause))
                    && !(is_strict && clause == "ACCEPTING")
        };
        if let Some(clause) = statement.given().into_iter().find(|clause| !is_left(clause)) {
            return Err(Error::usage(format!(
                "{clause} belongs to policy {name}; leave {clause} out, or change the policy (CREATE OR REPLACE POLICY)"
            )));
        }
        if let ChoiceClause::Search(search) = &statement.choice
            && !search.args.is_empty()
        {
            return Err(Error::usage(format!(
                "options of a search can change how values are released, and belong to policy {name}; write SEARCH \
                 USING {}",
                search.name
            )));
        }
        match statement
            .options
            .iter()
            .find(|(option, _)| !OF_A_RUN.contains(&option.as_str()))
        {
            Some((option, _)) => Err(Error::usage(format!(
                "WITH ({option} = ...) belongs to policy {name}; a statement that uses the policy gives only {}",
                OF_A_RUN.join(", ")
            ))),
            None => Ok(()),
        }
    }

    /// Combines the clauses of this policy with the clauses of a statement that uses it. Errors
    /// call the policy `name`. Fails with a usage error if the statement has a clause that only a
    /// policy may have, if both have the same clause or option (except the clauses that add
    /// requirements), or if a clause that a release needs is missing from both.
    pub(crate) fn with(&self, statement: &Self, name: &str) -> Result<Self> {
        self.is_kept_by(statement, name)?;
        let (own, more) = (self.given(), statement.given());
        let is_twice = |clause: &&&str| own.contains(*clause) && !ADDED.contains(*clause);
        let clause = more.iter().find(is_twice).map(ToString::to_string);
        let is_own = |option: &str| self.options.iter().any(|(own, _)| own == option);
        let option = statement.options.iter().find(|(option, _)| is_own(option));
        let option = option.map(|(option, _)| format!("WITH ({option} = ...)"));
        if let Some(clause) = clause.or(option) {
            return Err(Error::usage(format!(
                "policy {name} has {clause}; leave it out, or change the policy (CREATE OR REPLACE POLICY)"
            )));
        }
        if let Some(clause) = ["QUASI IDENTIFIERS", "SATISFYING"]
            .iter()
            .find(|clause| !own.contains(clause) && !more.contains(clause))
        {
            return Err(Error::usage(format!(
                "policy {name} does not have {clause}, so the statement needs it"
            )));
        }
        let statement = statement.clone();
        let roles = if self.has_roles() { self } else { &statement };
        Ok(Self {
            identifiers: roles.identifiers.clone(),
            quasi_identifiers: roles.quasi_identifiers.clone(),
            sensitive: roles.sensitive.clone(),
            class: roles.class.clone(),
            keep: roles.keep.clone(),
            entity: roles.entity.clone(),
            population: roles.population.clone(),
            accepting: roles.accepting.clone(),
            satisfying: added(&self.satisfying, &statement.satisfying),
            following: added(&self.following, &statement.following),
            limit: self.limit,
            starred: self.starred,
            minimizing: [self.minimizing.clone(), statement.minimizing.clone()].concat(),
            recoding: self.recoding.or(statement.recoding),
            choice: match &self.choice {
                ChoiceClause::Default => statement.choice.clone(),
                own => own.clone(),
            },
            options: [self.options.clone(), statement.options.clone()].concat(),
        })
    }

    /// Fails with a usage error if a column has a mask. `statement` is the name of a statement that
    /// releases nothing, for the error.
    pub(crate) fn without_masks(&self, statement: &str) -> Result<()> {
        self.masks().next().map_or(Ok(()), |(column, mask)| {
            Err(Error::usage(format!(
                "column {}: {statement} reads a table as it is and masks nothing; leave {} out",
                ident(column),
                mask.kind.clause.start
            )))
        })
    }

    /// Returns the masked columns with their masks.
    pub(crate) fn masks(&self) -> impl Iterator<Item = (&String, &MaskClause)> {
        let named = self.identifiers.iter().chain(&self.keep);
        let named = named.filter_map(|c| Some((&c.column, c.mask.as_ref()?)));
        let sensitive = self.sensitive.iter();
        named.chain(sensitive.filter_map(|s| Some((&s.column, s.mask.as_ref()?))))
    }

    /// Returns the names of the hierarchies that the columns use.
    pub(crate) fn hierarchies(&self) -> Vec<&str> {
        let quasi = self.quasi_identifiers.iter().filter_map(|q| q.hierarchy.as_deref());
        let sensitive = self.sensitive.iter().filter_map(|s| s.hierarchy.as_deref());
        let mut all: Vec<&str> = quasi.chain(sensitive).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Returns the same clauses without the literals in their queries.
    pub(crate) fn redacted(&self) -> Self {
        Self {
            population: self.population.as_ref().map(SourceClause::redacted),
            ..self.clone()
        }
    }

    /// Prints the clauses, each after `gap`.
    pub(crate) fn written<'a>(&'a self, gap: &'a str) -> impl Display + 'a {
        fmt::from_fn(move |f| self.write(f, gap))
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, gap: &str) -> fmt::Result {
        // This is one function because it prints all clauses, in the order of the syntax.
        if !self.identifiers.is_empty() {
            write!(f, "{gap}IDENTIFIERS ({})", list(&self.identifiers, Display::fmt))?;
        }
        if !self.quasi_identifiers.is_empty() {
            write!(f, "{gap}{}", roles::quasi_identifiers(&self.quasi_identifiers))?;
        }
        write!(f, "{}", roles::sensitives(&self.sensitive, gap))?;
        if let Some(class) = &self.class {
            write!(f, "{gap}CLASS ({})", ident(class))?;
        }
        if !self.keep.is_empty() {
            write!(f, "{gap}KEEP ({})", list(&self.keep, Display::fmt))?;
        }
        if let Some(entity) = &self.entity {
            write!(f, "{gap}ENTITY ({})", ident(entity))?;
        }
        if let Some(population) = &self.population {
            write!(f, "{gap}POPULATION {population}")?;
        }
        if !self.satisfying.is_empty() {
            write!(f, "{gap}{}", constraint::written(&self.satisfying))?;
        }
        if !self.following.is_empty() {
            write!(f, "{gap}FOLLOWING {}", names(&self.following))?;
        }
        if let Some(limit) = &self.limit {
            write!(f, "{gap}SUPPRESSING AT MOST {limit}")?;
        }
        if let Some(starred) = self.starred {
            let fate = if starred { "STARRED" } else { "DROPPED" };
            write!(f, "{gap}SUPPRESSED ROWS {fate}")?;
        }
        for (i, goal) in self.minimizing.iter().enumerate() {
            f.write_str(if i == 0 { gap } else { " + " })?;
            write!(f, "{}{goal}", if i == 0 { "MINIMIZING " } else { "" })?;
        }
        if let Some(recoding) = self.recoding {
            write!(f, "{gap}RECODING {recoding}")?;
        }
        if self.choice != ChoiceClause::Default {
            write!(f, "{gap}{}", self.choice)?;
        }
        write!(f, "{}", options::written_with(&self.options, gap))?;
        match self.accepting.is_empty() {
            true => Ok(()),
            false => write!(f, "{gap}ACCEPTING WARNINGS ON ({})", names(&self.accepting)),
        }
    }
}
