//! `COMPARE ANONYMIZE` and `COMPARE POLICY`: one result row for each recoding and search, or for
//! each policy, with metrics that are measured on its release.

use super::anonymize::spec::{self, AnonymizeSpec};
use super::entry::{Entry, Run, Statement};
use crate::base::catalogue::Call;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::blocking;
use crate::base::quoting::ident;
use crate::data::metric::{self, Metric};
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::{ChoiceClause, PolicyClause, RecodingClause, SourceClause, source};
use crate::language::sql::name::{call, list};
use crate::release::engine::{self, Evaluator, detail_requests};
use crate::release::job::{Goal, Job, Purpose, Roles};
use crate::release::observe::Release;
use arrow::array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

pub(super) const ENTRY: Entry = Entry {
    name: "COMPARE",
    starts: &["COMPARE ANONYMIZE"],
    summary: "compares the releases of several searches or recodings",
    syntax: "COMPARE ANONYMIZE ... [RECODING (GLOBAL, LOCAL)] [SEARCH USING (algorithm [(option => value, ...)], ...)]",
    example: "COMPARE ANONYMIZE people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(5) SEARCH USING (flash, mondrian)",
    answers: true,
    read: |c, _| {
        let (mut anonymize, s) = spec::read(c, "COMPARE ANONYMIZE", &[], true)?;
        let mut searches = s.searches;
        if let ChoiceClause::Search(one) = std::mem::take(&mut anonymize.policy.choice) {
            searches.push(one);
        }
        let recodings = anonymize
            .policy
            .recoding
            .take()
            .into_iter()
            .chain(s.recodings)
            .collect();
        let compare = Compare {
            anonymize,
            recodings,
            searches,
        };
        if compare.choices().is_empty() {
            return Err(c.error(
                "COMPARE needs several recodings or searches; examples: RECODING (GLOBAL, LOCAL), SEARCH USING \
                 (flash, mondrian)",
            ));
        }
        Ok(Statement::new(compare))
    },
};

pub(super) const POLICIES: Entry = Entry {
    name: "COMPARE POLICY",
    starts: &["COMPARE POLICY"],
    summary: "compares the releases of two policies",
    syntax: "COMPARE POLICY a WITH b ON { table | 'path' [OPTIONS (key value, ...)] | ( query ) }",
    example: "COMPARE POLICY patients_v1 WITH patients_v2 ON people",
    answers: true,
    read: |c, _| {
        let first = c.name("a policy")?;
        c.need("WITH")?;
        let second = c.name("a policy")?;
        c.need("ON")?;
        Ok(Statement::new(ComparePolicies {
            policies: [first, second],
            source: source::read(c)?,
        }))
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
    /// Returns the alternatives to compare: first the recodings, then the searches.
    fn choices(&self) -> Vec<(Option<RecodingClause>, ChoiceClause)> {
        let recodings = self.recodings.iter().map(|r| (Some(*r), ChoiceClause::Default));
        let searches = self.searches.iter().map(|s| (None, ChoiceClause::Search(s.clone())));
        recodings.chain(searches).collect()
    }
}

/// The metrics in every result row. `cm` is NULL if the request has no CLASS, or if personal limits
/// suppressed rows.
const METRICS: [&str; 6] = ["glm", "infoloss", "dm", "c_avg", "ileft", "cm"];

/// One result row of COMPARE.
struct Row {
    named: String,
    /// The release and the values of its metrics, or the reason why nothing can be released.
    outcome: Result<(Release, Vec<Option<f64>>), String>,
    /// The names of the metrics.
    metrics: Vec<String>,
    /// The models, in the order in which the release checks them.
    models: Vec<String>,
}

impl Row {
    /// Returns the row for a job that cannot release anything. `why` is the reason.
    fn refused(named: &str, job: &Job, why: &Error) -> Self {
        Self {
            named: named.into(),
            outcome: Err(why.to_string()),
            metrics: vec![],
            models: models(job),
        }
    }

    /// Returns the same row with another name.
    fn called(self, named: &str) -> Self {
        Self {
            named: named.into(),
            ..self
        }
    }

    fn release(&self) -> Option<&Release> {
        self.outcome.as_ref().ok().map(|(release, _)| release)
    }

    fn metric(&self, name: &str) -> Option<f64> {
        let (_, values) = self.outcome.as_ref().ok()?;
        *values.get(self.metrics.iter().position(|m| m == name)?)?
    }

    fn reached(&self, model: &str) -> Option<f64> {
        let at = self.models.iter().position(|m| m == model)?;
        self.release()?.checks.get(at)?.reached
    }
}

impl Run for Compare {
    fn kind(&self) -> &'static str {
        "compare"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let mut jobs: Vec<Arc<Job>> = vec![];
            for (recoding, choice) in self.choices() {
                let mut anonymize = self.anonymize.clone();
                anonymize.policy.recoding = recoding;
                anonymize.policy.choice = choice;
                let job = context.bind(&anonymize, Purpose::Decide).await?;
                jobs.push(Arc::new(job));
            }
            let Some(first) = jobs.first() else {
                return Answer::done("nothing is compared");
            };
            // All jobs have the same table, models and metrics, so a single scan serves all of
            // them.
            let candidates = Candidates::of(context, first).await?;
            let mut rows = vec![];
            let recodings = self.recodings.iter().map(|r| format!("RECODING {r}"));
            let searches = self.searches.iter().map(ToString::to_string);
            for (job, named) in jobs.iter().zip(recodings.chain(searches)) {
                rows.push(candidates.row(context, job, named).await?);
            }
            answer("search", &rows)
        })
    }
}

/// `COMPARE POLICY a WITH b ON table`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ComparePolicies {
    /// The policies that are compared.
    pub(super) policies: [String; 2],
    /// The source on which both policies are tried.
    pub(super) source: SourceClause,
}

impl fmt::Display for ComparePolicies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = self.policies.each_ref().map(|name| ident(name));
        write!(f, "COMPARE POLICY {first} WITH {second} ON {}", self.source)
    }
}

impl Run for ComparePolicies {
    fn kind(&self) -> &'static str {
        "compare policies"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let mut rows = vec![];
            for name in &self.policies {
                let anonymize = AnonymizeSpec {
                    source: self.source.clone(),
                    target: None,
                    using: Some(name.clone()),
                    policy: PolicyClause::default(),
                    report: None,
                };
                let job = context.bind(&anonymize, Purpose::Decide).await;
                let job = Arc::new(job.map_err(|e| e.context(format!("policy {name}")))?);
                let candidates = Candidates::of(context, &job).await;
                rows.push(match candidates {
                    Ok(candidates) => candidates.row(context, &job, name.clone()).await?.called(name),
                    Err(e) if e.kind() == ErrorKind::Infeasible => Row::refused(name, &job, &e),
                    Err(e) => return Err(e),
                });
            }
            answer("policy", &rows)
        })
    }
}

/// A scanned table, on which jobs are tried, and the metrics that are measured on their releases.
struct Candidates {
    first: Arc<Job>,
    evaluator: Arc<Evaluator>,
    metrics: Arc<Vec<(String, Box<dyn Metric>)>>,
}

impl Candidates {
    async fn of(context: &AnonContext, first: &Arc<Job>) -> Result<Self> {
        let metrics = Arc::new(measured(&first.roles)?);
        let objectives = objectives(&first.goal, &metrics);
        let scanned = engine::scan(first, &detail_requests(first, &objectives), context.observer.as_ref()).await?;
        let (job, own) = (Arc::clone(first), Arc::clone(&metrics));
        let prepare = move || Evaluator::new(&job, scanned, &self::objectives(&job.goal, &own));
        let evaluator = Arc::new(blocking("preparing the search", prepare).await?);
        Ok(Self {
            first: Arc::clone(first),
            evaluator,
            metrics,
        })
    }

    /// Returns the row for a job that has the same table, models and metrics as the first job.
    async fn row(&self, context: &AnonContext, job: &Arc<Job>, named: String) -> Result<Row> {
        let objectives = objectives(&self.first.goal, &self.metrics);
        let outcome = engine::measure(job, &self.evaluator, &objectives, &context.observer).await;
        let outcome = match outcome {
            Err(e) if e.kind() != ErrorKind::Infeasible => return Err(e),
            Err(e) => Err(e.to_string()),
            // The first value is the metric that the job minimizes, which is not part of the
            // result.
            Ok((release, values)) => Ok((release, values.into_iter().skip(1).collect())),
        };
        // The name of the search that a recoding chose is appended to the name of the recoding.
        let named = match outcome.as_ref().ok().and_then(|(release, _)| release.search.clone()) {
            Some(search) if search != named => format!("{named}: {search}"),
            _ => named,
        };
        Ok(Row {
            named,
            outcome,
            metrics: self.metrics.iter().map(|(name, _)| name.clone()).collect(),
            models: models(job),
        })
    }
}

/// Returns the models of a job as SQL text.
fn models(job: &Job) -> Vec<String> {
    let models = job.guarantees.constraints.iter();
    models.map(|c| c.describe(&job.roles.quasi_identifiers)).collect()
}

/// Returns the metrics of the result with their column names. Metrics that need a class label are
/// omitted if the request has none.
fn measured(roles: &Roles) -> Result<Vec<(String, Box<dyn Metric>)>> {
    let mut metrics = vec![];
    for name in METRICS {
        let metric = metric::build(&Call::bare(name))?;
        if !metric.reads().class_label || roles.class_label.is_some() {
            metrics.push((name.to_string(), metric));
        }
    }
    Ok(metrics)
}

/// Returns the metric that the job minimizes, followed by the metrics of the result.
fn objectives<'a>(goal: &'a Goal, metrics: &'a [(String, Box<dyn Metric>)]) -> Vec<&'a dyn Metric> {
    let metrics = metrics.iter().map(|(_, metric)| metric.as_ref());
    std::iter::once(goal.metric.as_ref()).chain(metrics).collect()
}

/// Returns the result of COMPARE. `first` is the name of the first column, which contains the names
/// of the rows.
fn answer(first: &str, rows: &[Row]) -> Result<Answer> {
    let count = |f: fn(&Release) -> Option<u64>| {
        let counts: UInt64Array = rows.iter().map(|r| r.release().and_then(f)).collect();
        Arc::new(counts) as ArrayRef
    };
    let named: StringArray = rows.iter().map(|r| Some(r.named.as_str())).collect();
    let outcome = rows
        .iter()
        .map(|r| Some(r.outcome.as_ref().map_or_else(String::as_str, |_| "released")));
    let mut columns: Vec<(String, ArrayRef)> = vec![
        (first.into(), Arc::new(named)),
        ("outcome".into(), Arc::new(outcome.collect::<StringArray>())),
        ("classes".into(), count(|r| Some(r.classes))),
        ("suppressed".into(), count(|r| r.rows_suppressed)),
        ("k".into(), count(|r| r.reached_k)),
    ];
    for name in METRICS {
        let values: Float64Array = rows.iter().map(|r| r.metric(name)).collect();
        columns.push((name.into(), Arc::new(values)));
    }
    let mut models: Vec<&String> = vec![];
    for model in rows.iter().flat_map(|r| &r.models) {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    for model in models {
        let reached: Float64Array = rows.iter().map(|r| r.reached(model)).collect();
        columns.push((model.clone(), Arc::new(reached)));
    }
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    Answer::of(RecordBatch::try_from_iter_with_nullable(columns)?)
}
