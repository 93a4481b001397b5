//! `EXPLAIN [ANALYZE] [FORMAT JSON] ANONYMIZE`: shows the plan of a request. With ANALYZE, also
//! runs its search, and shows the figures of the search.

mod json;
mod plan;
mod ran;

use super::anonymize::spec::{self, AnonymizeSpec};
use super::entry::{Entry, Run, Statement};
use crate::base::error::Result;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::list as clause;
use crate::release::engine;
use crate::release::job::Purpose;
use crate::release::observe::{Course, Observer};
use arrow::array::{ArrayRef, StringArray};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "EXPLAIN ANONYMIZE",
    starts: &[
        "EXPLAIN ANONYMIZE",
        "EXPLAIN ANALYZE ANONYMIZE",
        "EXPLAIN FORMAT JSON ANONYMIZE",
        "EXPLAIN ANALYZE FORMAT JSON ANONYMIZE",
    ],
    summary: "shows the roles, the lattice, the pruning and the queries; ANALYZE adds the figures of the search; \
              FORMAT JSON is for programs",
    syntax: "EXPLAIN [ANALYZE] [FORMAT JSON] ANONYMIZE ...",
    example: "EXPLAIN ANALYZE ANONYMIZE people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(5)",
    answers: true,
    read: |c, form| {
        let (anonymize, clauses) = spec::read(c, "EXPLAIN ANONYMIZE", &[clause::TO, clause::REPORT], true)?;
        spec::single(c, &clauses)?;
        Ok(Statement::new(Explain {
            analyze: form % 2 == 1,
            json: form >= 2,
            anonymize,
        }))
    },
};

/// `EXPLAIN [ANALYZE] [FORMAT JSON] ANONYMIZE ...`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Explain {
    /// Whether the search is run (ANALYZE).
    pub(super) analyze: bool,
    /// Whether the result is one JSON value (FORMAT JSON).
    pub(super) json: bool,
    /// The request that is explained.
    pub(super) anonymize: AnonymizeSpec,
}

impl fmt::Display for Explain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let analyze = if self.analyze { "ANALYZE " } else { "" };
        let format = if self.json { "FORMAT JSON " } else { "" };
        write!(f, "EXPLAIN {analyze}{format}")?;
        self.anonymize.fmt(f)
    }
}

impl Run for Explain {
    fn kind(&self) -> &'static str {
        match self.analyze {
            false => "explain anonymize",
            true => "explain analyze anonymize",
        }
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let course = Arc::new(Course::new(Arc::clone(&context.observer)));
            let observer: Arc<dyn Observer> = Arc::clone(&course) as _;
            let context = context.clone().with_observer(Arc::clone(&observer));
            let job = Arc::new(context.bind(&self.anonymize, Purpose::Decide).await?);
            let decision = match self.analyze {
                true => Some(engine::decide_job(&job, &observer).await?),
                false => None,
            };
            let found = match &decision {
                Some(decision) => Some(engine::findings(&job, decision, &observer).await?),
                None => None,
            };
            let ran = decision
                .as_ref()
                .zip(found)
                .map(|(decision, found)| (decision, found, course.times()));
            if self.json {
                let mut value = json::plan(&job);
                if let Some((decision, found, times)) = &ran {
                    value["ran"] = json::ran(&job, decision, found, times);
                }
                let plan = context.seen().secrets().hidden_in(&value.to_string());
                return Answer::of(RecordBatch::try_from_iter([column("plan", vec![plan])])?);
            }
            let mut rows = plan::plan(&job);
            if let Some((decision, found, times)) = &ran {
                // The finished search has more detailed rows about warnings and drift.
                rows.retain(|(item, _)| item != plan::WARNING && item != plan::DRIFT);
                rows.extend(ran::ran(&job, decision, times));
                rows.extend(
                    found
                        .warnings
                        .iter()
                        .map(|w| (plan::WARNING.to_string(), w.text.clone())),
                );
                rows.extend(found.advice.iter().map(|advice| ("advice".to_string(), advice.clone())));
            }
            let seen = context.seen();
            let shown = |(item, detail): (String, String)| (item, seen.secrets().hidden_in(&detail));
            let (items, details) = rows.into_iter().map(shown).unzip();
            let rows = RecordBatch::try_from_iter([column("item", items), column("detail", details)])?;
            Answer::of(rows)
        })
    }
}

fn column(name: &'static str, texts: Vec<String>) -> (&'static str, ArrayRef) {
    (name, Arc::new(StringArray::from(texts)))
}
