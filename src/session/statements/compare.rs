//! `COMPARE ANONYMIZE`: one row per recoding and search, with metrics measured on the release of
//! each.

use super::anonymize::spec::{self, AnonymizeSpec};
use super::entry::{Entry, Run, Statement};
use crate::catalogue::Call;
use crate::engine::{self, Evaluator, detail_requests};
use crate::error::{ErrorKind, Result};
use crate::job::{Job, Purpose};
use crate::metric::{self, Metric};
use crate::observe::Release;
use crate::pool::blocking;
use crate::session::answer::Answer;
use crate::session::context::AnonContext;
use crate::sql::clause::{ChoiceClause, RecodingClause};
use crate::sql::name::{call, list};
use arrow::array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "COMPARE",
    starts: &["COMPARE ANONYMIZE"],
    summary: "sets the releases of several searches or recodings side by side",
    syntax: "COMPARE ANONYMIZE ... [RECODING (GLOBAL, LOCAL)] [SEARCH USING (algorithm [(option => value, ...)], ...)]",
    example: "COMPARE ANONYMIZE people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(5) SEARCH USING (flash, mondrian)",
    answers: true,
    read: |c, _| {
        let (mut anonymize, s) = spec::read(c, "COMPARE ANONYMIZE", &[], true)?;
        let mut searches = s.searches;
        if let ChoiceClause::Search(one) = std::mem::take(&mut anonymize.choice) {
            searches.push(one);
        }
        let recodings = anonymize.recoding.take().into_iter().chain(s.recodings).collect();
        let compare = Compare {
            anonymize,
            recodings,
            searches,
        };
        if compare.choices().is_empty() {
            return Err(c.error(
                "COMPARE needs what to compare; examples: RECODING (GLOBAL, LOCAL), SEARCH USING (flash, mondrian)",
            ));
        }
        Ok(Statement::new(compare))
    },
};

/// `COMPARE ANONYMIZE ... RECODING (a, b, ...) SEARCH USING (c, d, ...)`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Compare {
    /// The request without a recoding and without a search.
    pub(super) anonymize: AnonymizeSpec,
    /// The recodings that are compared.
    pub(super) recodings: Vec<RecodingClause>,
    /// The searches that are compared.
    pub(super) searches: Vec<Call>,
}

impl fmt::Display for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "COMPARE {}", self.anonymize)?;
        if !self.recodings.is_empty() {
            write!(f, " RECODING ({})", list(&self.recodings, fmt::Display::fmt))?;
        }
        if !self.searches.is_empty() {
            let searches = list(&self.searches, |s, f| write!(f, "{}", call(s)));
            write!(f, " SEARCH USING ({searches})")?;
        }
        Ok(())
    }
}

impl Compare {
    /// Returns what is compared: the recodings, then the searches.
    fn choices(&self) -> Vec<(Option<RecodingClause>, ChoiceClause)> {
        let recodings = self.recodings.iter().map(|r| (Some(*r), ChoiceClause::Default));
        let searches = self.searches.iter().map(|s| (None, ChoiceClause::Search(s.clone())));
        recodings.chain(searches).collect()
    }
}

/// The metrics of every row. `cm` is NULL without CLASS, and where rows were suppressed for their
/// own limits.
const METRICS: [&str; 6] = ["glm", "infoloss", "dm", "c_avg", "ileft", "cm"];

/// One row of the answer of COMPARE.
struct Row {
    search: String,
    /// The release with the values of its metrics, or the message why nothing can be released.
    outcome: Result<(Release, Vec<Option<f64>>), String>,
}

impl Run for Compare {
    fn kind(&self) -> &'static str {
        "compare"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let mut jobs: Vec<Arc<Job>> = vec![];
            for (recoding, choice) in self.choices() {
                let anonymize = AnonymizeSpec {
                    recoding,
                    choice,
                    ..self.anonymize.clone()
                };
                let job = context.bind(&anonymize, Purpose::Decide).await?;
                jobs.push(Arc::new(job));
            }
            let Some(first) = jobs.first().cloned() else {
                return Answer::done("nothing is compared");
            };
            let metrics = Arc::new(measured(&first)?);
            let names: Vec<String> = metrics.iter().map(|(name, _)| name.clone()).collect();
            let objectives = objectives(&first, &metrics);
            // All jobs have the same table, models and metrics: one scan serves them.
            let scanned =
                engine::scan(&first, &detail_requests(&first, &objectives), context.observer.as_ref()).await?;
            let (job, own) = (Arc::clone(&first), Arc::clone(&metrics));
            let prepare = move || Evaluator::new(&job, scanned, &self::objectives(&job, &own));
            let evaluator = Arc::new(blocking("preparing the search", prepare).await?);
            let models: Vec<String> = first
                .constraints
                .iter()
                .map(|c| c.describe(&first.quasi_identifiers))
                .collect();
            let mut rows = vec![];
            let recodings = self.recodings.iter().map(|r| format!("RECODING {r}"));
            let searches = self.searches.iter().map(ToString::to_string);
            for (job, named) in jobs.into_iter().zip(recodings.chain(searches)) {
                let outcome = engine::measure(&job, &evaluator, &objectives, &context.observer).await;
                let outcome = match outcome {
                    Err(e) if e.kind() != ErrorKind::Infeasible => return Err(e),
                    Err(e) => Err(e.to_string()),
                    // The first value is the job's own metric, which the answer does not contain.
                    Ok((release, mut values)) => Ok((release, values.split_off(1))),
                };
                // What a recoding runs by itself is named with it.
                let search = match outcome.as_ref().ok().and_then(|(release, _)| release.search.clone()) {
                    Some(search) if search != named => format!("{named}: {search}"),
                    _ => named,
                };
                rows.push(Row { search, outcome });
            }
            answer(&rows, &names, &models)
        })
    }
}

/// Returns the metrics of the answer that the job has the columns for, by column name.
fn measured(job: &Job) -> Result<Vec<(String, Box<dyn Metric>)>> {
    let mut metrics = vec![];
    for name in METRICS {
        let metric = metric::build(&Call::bare(name))?;
        if !metric.reads().class_label || job.class_label.is_some() {
            metrics.push((name.to_string(), metric));
        }
    }
    Ok(metrics)
}

/// Returns the metric that the job minimises, followed by the metrics of the answer.
fn objectives<'a>(job: &'a Job, metrics: &'a [(String, Box<dyn Metric>)]) -> Vec<&'a dyn Metric> {
    let metrics = metrics.iter().map(|(_, metric)| metric.as_ref());
    std::iter::once(job.metric.as_ref()).chain(metrics).collect()
}

fn answer(rows: &[Row], metrics: &[String], models: &[String]) -> Result<Answer> {
    let released = || rows.iter().map(|r| r.outcome.as_ref().ok());
    let count = |f: fn(&Release) -> Option<u64>| {
        let counts: UInt64Array = released().map(|r| r.and_then(|(release, _)| f(release))).collect();
        Arc::new(counts) as ArrayRef
    };
    let search: StringArray = rows.iter().map(|r| Some(r.search.as_str())).collect();
    let outcome = rows
        .iter()
        .map(|r| Some(r.outcome.as_ref().map_or_else(String::as_str, |_| "released")));
    let mut columns: Vec<(String, ArrayRef)> = vec![
        ("search".into(), Arc::new(search)),
        ("outcome".into(), Arc::new(outcome.collect::<StringArray>())),
        ("classes".into(), count(|r| Some(r.classes))),
        ("suppressed".into(), count(|r| r.rows_suppressed)),
        ("k".into(), count(|r| r.reached_k)),
    ];
    for name in METRICS {
        let at = metrics.iter().position(|m| m == name);
        let values: Float64Array = released().map(|r| r?.1[at?]).collect();
        columns.push((name.into(), Arc::new(values)));
    }
    for (i, model) in models.iter().enumerate().filter(|(i, m)| !models[..*i].contains(m)) {
        let reached: Float64Array = released().map(|r| r?.0.checks[i].reached).collect();
        columns.push((model.clone(), Arc::new(reached)));
    }
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    Answer::of(RecordBatch::try_from_iter_with_nullable(columns)?)
}
