//! The recount of the written rows, and its result.

use super::classes::check_classes;
use super::levels::generalized;
use super::population::generalized_population;
use super::read_back::read_back;
use crate::base::error::{Error, ErrorKind, Result};
use crate::data::folder::Check;
use crate::data::recode::SUPPRESSED;
use crate::method::search::Oracle;
use crate::release::engine::decide::Decision;
use crate::release::engine::executor::executor;
use crate::release::engine::write::{ReleaseTable, Spool, Staging, Written};
use crate::release::job::{Constraint, Format, Guarantees, Job};
use crate::release::observe::{Observer, Phase};
use crate::release::recount::{
    Answers, Promise, ReleasedTable, Remaining, bounds_as_text, check_codes, check_marginals, promises, session_with,
    steady,
};
use datafusion::datasource::ViewTable;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The table name of the source's rows in the recounting session.
pub(in crate::release::engine) const WHOLE: &str = "whole";
/// The table name of the rows of the written files.
pub(super) const RELEASED: &str = "released";
/// The table name of the rewritten rows, with the columns that are only recounted.
const REWRITTEN: &str = "rewritten";

/// The result of a recount.
pub(in crate::release::engine) struct Recounted {
    /// The number of rows that were written or kept.
    pub(in crate::release::engine) rows: u64,
    /// The size of the smallest class, counted in entities if the request names an entity.
    pub(in crate::release::engine) reached_k: Option<u64>,
    /// The check of each promise, in the order of the models.
    pub(in crate::release::engine) checks: Vec<Check>,
    /// The recounting session, in which a report runs further queries.
    pub(in crate::release::engine) session: SessionContext,
    /// The recounted table with the most information: the files, or the rows kept in addition to
    /// the files if the files lack columns.
    pub(in crate::release::engine) released: ReleasedTable,
}

impl Recounted {
    /// Returns the recount unchanged if every promise is kept. Fails with `ErrorKind::Verification`
    /// if a promise is broken.
    pub(in crate::release::engine) fn require(self) -> Result<Self> {
        let broken: Vec<&str> = self.checks.iter().filter(|c| !c.ok).map(|c| c.check.as_str()).collect();
        if broken.is_empty() {
            return Ok(self);
        }
        Err(Error::new(
            ErrorKind::Verification,
            format!(
                "recounting the release found that it does not hold {}; nothing was published",
                broken.join(", ")
            ),
        )
        .with_detail(self.checks.clone()))
    }
}

/// The rows that a recount reads: the rows in the files, or the rows in the spool.
#[derive(Clone, Copy)]
enum Rows {
    /// The rows of the files. If `tell` is true, the files contain everything that is needed to
    /// recount the promises. Otherwise only rows and classes are counted.
    Files { format: Format, tell: bool },
    /// The rows that were kept in the spool.
    Kept,
}

/// Recounts the files of `stage`, and the rows that were kept instead of the files or in addition
/// to them. Fails with `ErrorKind::Data` if a count differs because the source changed in the
/// meantime.
pub(in crate::release::engine) async fn recount(
    job: &Job,
    decision: &Decision,
    written: &Written,
    stage: Option<&Staging>,
    observer: &Arc<dyn Observer>,
) -> Result<Recounted> {
    let prepared = PreparedRecount::of(job, decision, written, stage, observer).await?;
    prepared.run().await
}

/// A recount whose tables are registered in its session, so that the same rows can be read for
/// another purpose while they are recounted.
pub(in crate::release::engine) struct PreparedRecount<'a> {
    recount: Recount<'a>,
    /// The table of the files, if other rows were kept in addition to the files.
    files: Option<(Rows, ReleasedTable)>,
    /// The table with the most information.
    last: (Rows, ReleasedTable),
}

impl<'a> PreparedRecount<'a> {
    /// Begins the recounting session, and registers the files of `stage` and the rows that were
    /// kept. Fails like [`recount`].
    pub(in crate::release::engine) async fn of(
        job: &'a Job,
        decision: &'a Decision,
        written: &'a Written,
        stage: Option<&Staging>,
        observer: &Arc<dyn Observer>,
    ) -> Result<Self> {
        let prepared = prepared(job, decision, written, stage, observer).await;
        of_unchanged(job, prepared).await
    }

    /// Returns the recounting session.
    pub(in crate::release::engine) fn session(&self) -> &SessionContext {
        &self.recount.session
    }

    /// Returns the recounted table with the most information.
    pub(in crate::release::engine) fn released(&self) -> &ReleasedTable {
        &self.last.1
    }

    /// Recounts the rows. Fails like [`recount`].
    pub(in crate::release::engine) async fn run(&self) -> Result<Recounted> {
        of_unchanged(self.recount.job, self.counted().await).await
    }

    async fn counted(&self) -> Result<Recounted> {
        if let Some((rows, table)) = &self.files {
            self.recount.of(*rows, table).await?;
        }
        let (rows, table) = &self.last;
        self.recount.of(*rows, table).await
    }
}

/// Returns the result unchanged, unless it is an error of the verification and the source changed
/// in the meantime. Then the change is the error.
async fn of_unchanged<T>(job: &Job, found: Result<T>) -> Result<T> {
    match found {
        Err(e) if e.kind() == ErrorKind::Verification => {
            job.input.check_unchanged().await?;
            Err(e)
        }
        found => found,
    }
}

async fn prepared<'a>(
    job: &'a Job,
    decision: &'a Decision,
    written: &'a Written,
    stage: Option<&Staging>,
    observer: &Arc<dyn Observer>,
) -> Result<PreparedRecount<'a>> {
    let (state, progress) = (job.input.source.state(), observer.begin(Phase::Verify));
    let recounting = executor(&state)?.recount(written).await?;
    let elsewhere = Arc::clone(&recounting).elsewhere(&progress);
    let session = session_with(&state, progress, elsewhere);
    observer.expects(Phase::Verify, rows_to_read(&job.guarantees, decision));
    let (_, source) = job.input.source.rows.clone().into_parts();
    session.register_table(WHOLE, Arc::new(ViewTable::new(source, None)))?;
    let recount = Recount {
        job,
        decision,
        written,
        session,
    };
    let session = &recount.session;
    let (mut files, mut last) = (None, None);
    if let (Some(target), Some(stage)) = (&job.output.target, stage) {
        read_back(session, RELEASED, stage, target, written).await?;
        recounting.check_order(session, RELEASED, &job.roles, written).await?;
        let rows = Rows::Files {
            format: target.format,
            tell: written.rows.is_none(),
        };
        bounds_as_text(session, RELEASED, &job.roles.computed_columns()).await?;
        last = Some((rows, recount.table(rows).await?));
    }
    if let Some(rows) = &written.rows {
        register(session, rows)?;
        bounds_as_text(session, REWRITTEN, &job.roles.computed_columns()).await?;
        let kept = recount.table(Rows::Kept).await?;
        files = last.replace((Rows::Kept, kept));
    }
    let last = last.ok_or_else(|| Error::internal("nothing was written that could be recounted"))?;
    Ok(PreparedRecount { recount, files, last })
}

/// Estimates how many rows a recount reads. The classes are counted twice. Each promise beyond
/// class sizes reads the released rows again, and some promises also read the whole table.
fn rows_to_read(guarantees: &Guarantees, decision: &Decision) -> u64 {
    let released = decision.verdict.released + decision.starred_rows(guarantees);
    let reads = |c: &&Constraint| c.attribute.is_some() || !c.is_of_classes() || c.model.reads().population;
    let promises = guarantees.constraints.iter().filter(reads).count() as u64;
    let whole = guarantees.constraints.iter().filter(|c| c.model.reads().whole).count() as u64;
    (2 + promises) * released + whole * decision.evaluator.rows()
}

fn register(session: &SessionContext, rows: &Arc<Spool>) -> Result<()> {
    let table = ReleaseTable::try_new(Arc::clone(rows), |_| true)?;
    session.register_table(REWRITTEN, Arc::new(table))?;
    Ok(())
}

/// The inputs of a recount.
struct Recount<'a> {
    job: &'a Job,
    decision: &'a Decision,
    written: &'a Written,
    session: SessionContext,
}

impl Recount<'_> {
    /// Recounts the rows of a table, which [`Recount::table`] returned for `rows`.
    async fn of(&self, rows: Rows, released: &ReleasedTable) -> Result<Recounted> {
        let (job, session, settled) = (self.job, &self.session, &self.written.settled);
        let (is_csv, tell) = match rows {
            Rows::Files { format, tell } => (format == Format::Csv, tell),
            Rows::Kept => (false, true),
        };
        let (rows, reached_k) = released.count(session).await?;
        self.check_suppressed()?;
        let expected = settled.verdict.released + self.decision.starred_rows(&job.guarantees);
        if rows != expected {
            return Err(Error::new(
                ErrorKind::Verification,
                format!("{rows} rows were written instead of {expected}; nothing was published"),
            ));
        }
        let key_schema = &self.decision.evaluator.sets().base().key_schema;
        check_classes(session, self.written, key_schema, released, is_csv).await?;
        let promises = if tell { promises(job)? } else { vec![] };
        let mut checks = released.check(session, &promises).await?;
        checks.iter_mut().for_each(|c| c.reached = c.reached.map(steady));
        let classes = settled.verdict.classes;
        let is_missing = |(promise, check): (&Promise, &Check)| {
            promise.model.about().kind().counts_every_class && check.reached.is_none()
        };
        if classes > 0 && (reached_k.is_none() || promises.iter().zip(&checks).any(is_missing)) {
            return Err(Error::new(
                ErrorKind::Verification,
                format!("{classes} classes were written, and a recount found none; nothing was published"),
            ));
        }
        // The checks are in the order of the models.
        if let Some(check) = self.check_limits() {
            let place = job.guarantees.constraints.iter().position(|c| c.is_of_rows());
            // If the files lack columns that the models read, there are no checks of other models.
            checks.insert(place.unwrap_or(checks.len()).min(checks.len()), check);
        }
        if tell {
            let starred = self.decision.starred_rows(&job.guarantees);
            checks.extend(check_marginals(session, &self.written.permutations, &released.name, starred).await?);
        }
        checks.extend(check_codes(session, released, job).await?);
        Ok(Recounted {
            rows,
            reached_k,
            checks,
            session: session.clone(),
            released: released.clone(),
        })
    }

    /// Registers the population if the job has one, and returns the table to recount.
    async fn table(&self, rows: Rows) -> Result<ReleasedTable> {
        let (job, decision) = (self.job, self.decision);
        let is_kept = matches!(rows, Rows::Kept);
        let is_csv = matches!(
            rows,
            Rows::Files {
                format: Format::Csv,
                ..
            }
        );
        let folders = job
            .output
            .target
            .as_ref()
            .map_or(&[][..], |target| &target.partitioned_by);
        let in_csv = job.roles.quasi_identifiers.iter().map(|q| q.column.clone());
        let empty_is_null = in_csv.filter(|c| is_csv && !folders.contains(c)).collect();
        Ok(ReleasedTable {
            name: if is_kept { REWRITTEN } else { RELEASED }.into(),
            quasi_identifiers: job.roles.quasi_identifiers.iter().map(|q| q.column.clone()).collect(),
            sensitive: job.roles.sensitive.iter().map(|s| s.column.clone()).collect(),
            item_sets: job.roles.item_sets.iter().map(|s| s.column.clone()).collect(),
            entity: job.input.entity.clone().filter(|_| is_kept || !job.hides_entity()),
            starred: decision.starred_rows(&job.guarantees),
            null_labels: job.roles.computed_columns(),
            suppressed: Some(SUPPRESSED.into()).filter(|_| is_kept && decision.marks_suppressed(job)),
            remaining: Remaining::default(),
            whole: Some(WHOLE.into()),
            population: generalized_population(&self.session, job, decision).await?,
            generalized: generalized(&job.roles, decision),
            empty_is_null,
            answers: Answers::default(),
        })
    }

    /// Fails with `ErrorKind::Infeasible` if there are personal limits and more rows are suppressed
    /// than the suppression limit allows.
    fn check_suppressed(&self) -> Result<()> {
        let (job, limit) = (self.job, self.decision.evaluator.suppression_limit());
        let suppressed = self.written.settled.verdict.suppressed;
        let (Some(constraint), Some(outcome)) = (job.guarantees.of_rows(), &self.written.outcome) else {
            return Ok(());
        };
        if suppressed <= limit {
            return Ok(());
        }
        Err(Error::infeasible(format!(
            "{} does not hold: no generalization of their class meets the limits of {} rows; {suppressed} rows would \
             have to be suppressed, more than the limit of {limit}",
            constraint.describe(&job.roles.quasi_identifiers),
            outcome.unmet
        )))
    }

    /// Returns the check of the personal limits, which were counted while the rows were written.
    fn check_limits(&self) -> Option<Check> {
        let constraint = self.job.guarantees.of_rows()?;
        let above = self.written.outcome.as_ref().map(|o| o.above);
        Some(Check {
            check: format!(
                "rows above their limit, {}",
                constraint.describe(&self.job.roles.quasi_identifiers)
            ),
            required: 0.0,
            reached: above.map(|n| n as f64),
            ok: above == Some(0),
        })
    }
}
