//! Tries a proposed release on the sampled rows, once with a search of the lattice and once with
//! local recoding, and adds the better of these two to the proposal. The number of nodes and the
//! time are limited.

use super::draft::Draft;
use super::survey::TableSurvey;
use crate::base::catalogue::Value;
use crate::base::error::{Error, ErrorKind, Result};
use crate::language::session::context::AnonContext;
use crate::language::session::statements::anonymize::spec::AnonymizeSpec;
use crate::language::sql::clause::SourceClause;
use crate::language::sql::name::TableName;
use crate::release::engine::{column_loss, decide_job};
use crate::release::job::Purpose;
use crate::release::recount::recounting_session;
use arrow::array::RecordBatch;
use datafusion::datasource::MemTable;
use parking_lot::RwLock;
use std::sync::Arc;

/// The name of the table that contains the sampled rows.
const TABLE: &str = "sampled";
/// The fastest algorithm of RECODING LOCAL. RECODING LOCAL tries several algorithms including this
/// one, so the loss of RECODING LOCAL is not higher. The running time of this algorithm does not
/// grow with the number of lattice nodes.
const LOCAL: &str = "mondrian";
/// The search that finds a single level for each column. Its releases are easier to analyze.
const GLOBAL: &str = "auto";
/// The maximum additional loss for which a single level for each column is still preferred to local
/// recoding.
const WORTH: f64 = 0.05;
/// The maximum number of nodes that a search may assess.
const NODES: i64 = 300;
/// The time limit of a search. Only the search of a table with very many columns reaches this
/// limit. For all other tables, the result is the same every time.
const TIME_LIMIT: &str = "5s";

/// The loss and the other figures of a proposed release.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    /// The loss according to the general loss metric, from 0 to 1.
    pub(super) loss: f64,
    /// For each quasi-identifier, the loss that generalization causes.
    pub(super) columns: Vec<f64>,
    /// The number of quasi-identifiers that are `*` in every row.
    pub(super) at_top: usize,
    /// The number of released rows.
    pub(super) released: u64,
    /// The number of suppressed rows.
    pub(super) suppressed: u64,
    /// The number of classes.
    pub(super) classes: u64,
    /// The limit that stopped the search; `None` if the search was completed.
    pub(super) stopped: Option<&'static str>,
}

impl Trial {
    /// Returns true if at most half of the quasi-identifiers are `*` in every row.
    fn is_useful(&self) -> bool {
        2 * self.at_top <= self.columns.len()
    }
}

/// The outcome of trying a draft on the sampled rows.
pub(super) struct Outcome {
    /// The figures of the release with the chosen search.
    pub(super) trial: Trial,
    /// The search that was chosen.
    pub(super) search: &'static str,
    /// The search that was not chosen, and its loss; `None` if that search found no release.
    pub(super) other: Option<(&'static str, f64)>,
    /// Whether the models of sensitive columns were removed, because no release satisfied them.
    pub(super) is_without_diversity: bool,
}

impl Outcome {
    /// Describes the outcome for the user. `rows` is the number of rows in the whole table.
    pub(super) fn told(&self, rows: u64) -> String {
        let trial = &self.trial;
        if rows == 0 {
            return "the table has no rows for a trial".into();
        }
        let tried = match trial.released + trial.suppressed {
            all if all == rows => format!("tried on all {rows} rows"),
            some => format!("tried on {some} of {rows} rows; all rows lose less"),
        };
        let mut told = format!(
            "{tried}: {} released in {} classes, {} suppressed, {} of {} quasi-identifiers * in every row, loss {:.2} \
             by {}",
            trial.released,
            trial.classes,
            trial.suppressed,
            trial.at_top,
            trial.columns.len(),
            trial.loss,
            self.search
        );
        if let Some((search, loss)) = self.other {
            told += &format!(" ({loss:.2} by {search})");
        }
        if self.search == LOCAL {
            told += "; RECODING LOCAL tries more algorithms, and does not lose more";
        }
        if self.is_without_diversity {
            told += "; no release has different sensitive values in every class, so l_diversity is not requested";
        }
        if trial.stopped.is_some() {
            told += "; the trial ended before the search; the whole search will lose less";
        }
        told
    }
}

/// Tries a draft, and adds the better search to it. If no release satisfies the models of the
/// sensitive columns, removes these models from the draft. Fails with `ErrorKind::Infeasible` if
/// there is no quasi-identifier, or if nothing can be released.
pub(super) async fn choose(context: &AnonContext, survey: &TableSurvey, draft: &mut Draft) -> Result<Outcome> {
    if draft.anonymize.policy.quasi_identifiers.is_empty() {
        return Err(Error::infeasible(
            "no column is proposed as a quasi-identifier, and a release without one protects nobody",
        ));
    }
    let own = apart(context, &survey.sample)?;
    for hierarchy in draft.hierarchies.iter().flatten().filter(|h| !h.is_there) {
        own.sql(&hierarchy.statement).await?;
    }
    let mut is_without_diversity = false;
    let local = match attempt(&own, &survey.sample, draft, LOCAL).await {
        Err(e) if e.kind() == ErrorKind::Infeasible && draft.anonymize.policy.satisfying.len() > 1 => {
            draft.without_diversity();
            is_without_diversity = true;
            attempt(&own, &survey.sample, draft, LOCAL).await?
        }
        tried => tried?,
    };
    let global = match attempt(&own, &survey.sample, draft, GLOBAL).await {
        Err(e) if e.kind() == ErrorKind::Infeasible => None,
        tried => Some(tried?),
    };
    let preferred = global
        .as_ref()
        .filter(|g| g.is_useful() && g.loss <= local.loss + WORTH);
    let (search, trial, other) = match preferred {
        Some(global) => (GLOBAL, global.clone(), Some((LOCAL, local.loss))),
        None => (LOCAL, local, global.map(|g| (GLOBAL, g.loss))),
    };
    draft.anonymize = match search {
        LOCAL => draft.recoded_locally(),
        search => draft.searching(search),
    };
    Ok(Outcome {
        trial,
        search,
        other,
        is_without_diversity,
    })
}

/// Returns a separate context that contains the sampled rows and a copy of the hierarchies in
/// `context`.
fn apart(context: &AnonContext, sample: &RecordBatch) -> Result<AnonContext> {
    let session = recounting_session(&context.session.state(), Arc::default());
    let table = MemTable::try_new(sample.schema(), vec![vec![sample.clone()]])?;
    session.register_table(TABLE, Arc::new(table))?;
    let hierarchies = context.hierarchies.read().clone();
    Ok(AnonContext::sharing(
        session,
        Arc::new(RwLock::new(hierarchies)),
        Arc::clone(&context.registry),
        Arc::clone(&context.observer),
    ))
}

/// Searches for a release of the sampled rows, and returns the figures of the release.
async fn attempt(own: &AnonContext, sample: &RecordBatch, draft: &Draft, search: &str) -> Result<Trial> {
    let mut spec = AnonymizeSpec {
        source: SourceClause::Table(TableName(vec![TABLE.into()])),
        target: None,
        ..draft.searching(search)
    };
    // The sample does not contain columns that cannot be generalized.
    let is_sampled = |column: &str| sample.column_by_name(column).is_some();
    spec.policy.identifiers.retain(|i| is_sampled(&i.column));
    spec.policy.options = std::iter::once(("time_limit", Value::Text(TIME_LIMIT.into())))
        // Only a search of the lattice assesses nodes.
        .chain((search == GLOBAL).then_some(("node_limit", Value::Integer(NODES))))
        .map(|(name, value)| (name.to_string(), value))
        .collect();
    let job = Arc::new(own.bind(&spec, Purpose::Decide).await?);
    let decision = decide_job(&job, &own.observer).await?;
    let (evaluator, classes, verdict) = (&decision.evaluator, &decision.classes, &decision.verdict);
    let columns: Vec<_> = (0..job.roles.quasi_identifiers.len())
        .map(|column| column_loss(evaluator, classes, verdict, column))
        .collect();
    Ok(Trial {
        loss: decision.value,
        columns: columns.iter().map(|c| c.by_generalization).collect(),
        at_top: columns.iter().filter(|c| c.is_total).count(),
        released: verdict.released,
        suppressed: verdict.suppressed,
        classes: verdict.classes,
        stopped: decision.stopped,
    })
}
