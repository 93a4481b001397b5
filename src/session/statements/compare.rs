//! `COMPARE ANONYMIZE`: one row per search, with metrics measured on the release of each.

use super::anonymize::spec::{self, AnonymizeSpec};
use super::entry::{Entry, Run, Statement};
use crate::catalogue::Call;
use crate::engine::{self, Evaluator, Release, detail_requests};
use crate::error::{ErrorKind, Result};
use crate::job::{Job, Purpose};
use crate::metric::{self, Metric};
use crate::pool::blocking;
use crate::session::answer::Answer;
use crate::session::context::AnonContext;
use crate::sql::clause::ChoiceClause;
use crate::sql::name::{call, list};
use arrow::array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use arrow::record_batch::RecordBatch;
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "COMPARE",
    starts: &["COMPARE ANONYMIZE"],
    summary: "sets the releases of several searches side by side",
    syntax: "COMPARE ANONYMIZE ... SEARCH USING (algorithm [(option => value, ...)], ...)",
    example: "COMPARE ANONYMIZE people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(5) SEARCH USING (flash, mondrian)",
    read: |c, _| {
        let (mut anonymize, s) = spec::read(c, "COMPARE ANONYMIZE", &[], true)?;
        let mut searches = s.searches;
        if let ChoiceClause::Search(one) = std::mem::take(&mut anonymize.choice) {
            searches.push(one);
        }
        if searches.is_empty() {
            return Err(c.error("COMPARE needs the searches; example: SEARCH USING (flash, mondrian)"));
        }
        Ok(Statement::new(Compare { anonymize, searches }))
    },
};

/// `COMPARE ANONYMIZE ... SEARCH USING (a, b, ...)`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Compare {
    /// The request without a search.
    pub(super) anonymize: AnonymizeSpec,
    /// The searches that are compared.
    pub(super) searches: Vec<Call>,
}

impl fmt::Display for Compare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let searches = list(&self.searches, |s, f| write!(f, "{}", call(s)));
        write!(f, "COMPARE {} SEARCH USING ({searches})", self.anonymize)
    }
}

/// The metrics of every row. `cm` is NULL without CLASS, and where rows were suppressed for their own limits.
const METRICS: [&str; 6] = ["glm", "infoloss", "dm", "c_avg", "ileft", "cm"];

/// One row of the answer of COMPARE.
struct Row {
    search: String,
    /// The release with the values of its metrics, or the message why nothing can be released.
    outcome: Result<(Release, Vec<Option<f64>>), String>,
}

#[async_trait]
impl Run for Compare {
    fn kind(&self) -> &'static str {
        "compare"
    }

    async fn run(&self, context: &AnonContext) -> Result<Answer> {
        let mut jobs: Vec<Arc<Job>> = vec![];
        for search in &self.searches {
            let choice = ChoiceClause::Search(search.clone());
            let anonymize = AnonymizeSpec {
                choice,
                ..self.anonymize.clone()
            };
            let job = context.bind(&anonymize, Purpose::Decide).await?;
            jobs.push(Arc::new(job));
        }
        let Some(first) = jobs.first().cloned() else {
            return Answer::done("no search is named");
        };
        let metrics = Arc::new(measured(&first)?);
        let names: Vec<String> = metrics.iter().map(|(name, _)| name.clone()).collect();
        let objectives = objectives(&first, &metrics);
        // All jobs have the same table, models and metrics: one scan serves them.
        let scanned = engine::scan(&first, &detail_requests(&first, &objectives), context.observer.as_ref()).await?;
        let (job, own) = (Arc::clone(&first), Arc::clone(&metrics));
        let prepare = move || Evaluator::new(&job, scanned, &self::objectives(&job, &own));
        let evaluator = Arc::new(blocking("preparing the search", prepare).await?);
        let models: Vec<String> = first
            .constraints
            .iter()
            .map(|c| c.describe(&first.quasi_identifiers))
            .collect();
        let mut rows = vec![];
        for (job, search) in jobs.into_iter().zip(&self.searches) {
            let outcome = engine::measure(&job, &evaluator, &objectives, &context.observer).await;
            let outcome = match outcome {
                Err(e) if e.kind() != ErrorKind::Infeasible => return Err(e),
                Err(e) => Err(e.to_string()),
                // The first value is the job's own metric, which the answer does not contain.
                Ok((release, mut values)) => Ok((release, values.split_off(1))),
            };
            rows.push(Row {
                search: search.to_string(),
                outcome,
            });
        }
        answer(&rows, &names, &models)
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
        ("suppressed".into(), count(|r| Some(r.rows_suppressed))),
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
