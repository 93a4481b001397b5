//! Describing and applying a decision: written, recounted, and only then published.

use super::decide::{Decision, decide};
use super::job::{Constraint, Existing, Format, Job, Target};
use super::manifest::{Check, PersonalSummary, RandomizedColumn};
use super::observe::{Observer, Phase};
use super::personal::Personal;
use super::pin::forget_files;
use super::prepare::{Prepared, prepare, same_types, select_columns};
use super::recount::recounting_session;
use super::report_file::StagedReport;
use super::spool::{ReleaseTable, Spool};
use super::stage::Stage;
use super::table::{self, PlanTable};
use super::target::{check_target, read_back, summarise_inputs, summarise_outputs};
use super::verify::{Answers, Promise, ReleasedTable, steady};
use super::write;
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::Scratch;
use crate::hierarchy::Hierarchy;
use crate::metric::Metric;
use crate::recode::randomize::{Drawn, Measured, RandomizeExec};
use crate::recode::{Classes, Recipe, Released, SUPPRESSED, Treatment};
use crate::search::{Counters, Oracle};
use arrow::datatypes::{DataType, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::datasource::ViewTable;
use datafusion::execution::SessionState;
use datafusion::logical_expr::{cast, ident};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SessionContext;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A release that was recounted, and what is said of it.
#[derive(Debug)]
pub struct Release {
    /// Rows read.
    pub rows_in: u64,
    /// Rows released.
    pub rows_out: u64,
    /// Rows suppressed.
    pub rows_suppressed: u64,
    /// Equivalence classes released.
    pub classes: u64,
    /// The smallest class, recounted on what was released; in entities where the request names them.
    pub reached_k: Option<u64>,
    /// The node by column, or the number of labels by column.
    pub node: String,
    /// The metric that was minimised.
    pub metric: String,
    /// Its value.
    pub value: f64,
    /// What the search proved.
    pub proof: String,
    /// Distinct nodes assessed.
    pub nodes: u64,
    /// What the evaluator did.
    pub counters: Counters,
    /// What was recounted.
    pub checks: Vec<Check>,
    /// The columns that were put into random order.
    pub randomized: Vec<RandomizedColumn>,
    /// What became of the sensitive column whose rows have limits of their own.
    pub personal: Option<PersonalSummary>,
    /// The report of rows that are to be answered, until they are.
    report: Option<StagedReport>,
}

/// A decided job.
pub struct Decided {
    /// The job.
    pub job: Arc<Job>,
    /// The table.
    pub prepared: Arc<Prepared>,
    /// The choice.
    pub decision: Decision,
    /// The randomized columns, once they are drawn.
    pub(super) drawn: Arc<Vec<Arc<Drawn>>>,
    /// The promise to each row, once it is readied.
    pub(super) personal: Option<Personal>,
}

/// Reads, searches and decides.
pub async fn decide_job(job: Job, observer: &Arc<dyn Observer>) -> Result<Decided> {
    let terms = job.terms.iter().map(|(_, metric)| metric.as_ref());
    let metrics: Vec<&dyn Metric> = std::iter::once(job.metric.as_ref()).chain(terms).collect();
    let prepared = Arc::new(prepare(&job, &metrics, observer.as_ref()).await?);
    let job = Arc::new(job);
    let decision = decide(Arc::clone(&job), Arc::clone(&prepared), Arc::clone(observer)).await?;
    // The rewriting scan needs the memory that the search worked with.
    prepared.evaluator.sets().clear();
    Ok(Decided::new(job, prepared, decision))
}

/// Anonymizes to a target. `None` when the target was there and is to be kept.
pub async fn release_to(job: Job, target: &Target, observer: Arc<dyn Observer>) -> Result<Option<Release>> {
    if let Some(report) = &job.report {
        report.check(&job, Some(&target.path))?;
    }
    if !check_target(&job, target)? {
        return Ok(None);
    }
    let stage = Stage::open(&target.path)?;
    let files = job.source.files.clone();
    let inputs = tokio::task::spawn_blocking(move || summarise_inputs(&files));
    let mut decided = decide_job(job, &observer).await?;
    decided.draw(&target.partitioned_by, true).await?;
    decided.personalize(&target.partitioned_by).await?;
    let measured = Measured::default();
    let plan = decided
        .plan(&target.partitioned_by, Some(Arc::clone(&measured)))
        .await?;
    let schema = plan.schema();
    let state = decided.state();
    let spool = decided.spool_beside(target, &plan)?;
    let context = table::sorting_context(&state, plan.as_ref());
    let rows = execute_stream(plan, context).map_err(Error::from_data)?;
    let progress = observer.begin(Phase::Write);
    let (folder, to, hidden) = (stage.folder().to_path_buf(), target.clone(), decided.hidden());
    // A task of the runtime's threads, so that no more of them work at once than were asked for.
    let written = SpawnedTask::spawn(async move {
        let mut spool = spool;
        let told = |rows: &RecordBatch| {
            progress.fetch_add(rows.num_rows() as u64, Ordering::Relaxed);
            spool.as_mut().map_or(Ok(()), |spool| spool.add(rows))
        };
        let written = write::write(rows, &folder, &to, &hidden, told).await?;
        Ok((written, spool.map(Spool::closed)))
    });
    let (written, spool) = written
        .join()
        .await
        .map_err(|e| Error::from_task("writing", &e))?
        .map_err(|e: Error| e.context("writing the release"))?;
    observer.end(Phase::Write);

    let session = recounting_session(&state, observer.begin(Phase::Verify));
    read_back(&session, RELEASED, stage.folder(), target, &schema).await?;
    let files = Recounted::Files {
        format: target.format,
        tell: spool.is_none(),
    };
    let mut release = decided.verify(&session, files).await?;
    if let Some(spool) = spool {
        register_rewritten(&session, &Arc::new(spool))?;
        let rewritten = decided.verify(&session, Recounted::Rows).await?;
        (release.checks, release.reached_k) = (rewritten.checks, rewritten.reached_k);
    }
    release.require()?;
    release.randomized = decided.randomized(&measured);
    observer.end(Phase::Verify);

    let inputs = inputs
        .await
        .map_err(|e| Error::from_task("summing up the input", &e))??;
    let outputs = summarise_outputs(stage.folder(), &written)?;
    let manifest = decided.manifest(&release, (target, &schema), inputs, outputs)?;
    manifest.write(stage.folder())?;
    release.report = decided
        .staged_report(&session, &release, Some((target, &stage, &manifest)))
        .await?;
    decided.job.check_unchanged().await?;
    stage.publish(target.existing == Existing::Overwrite)?;
    // What the session remembers of the files that stood there is of no use to whoever reads the target next.
    forget_files(state.runtime_env());
    release.publish_report()?;
    Ok(Some(release))
}

/// Anonymizes to rows: the same release, recounted, as a table to query.
pub async fn release_rows(job: Job, observer: Arc<dyn Observer>) -> Result<(Release, ReleaseTable)> {
    if let Some(report) = &job.report {
        report.check(&job, None)?;
    }
    let mut decided = decide_job(job, &observer).await?;
    let (mut release, session, rows) = decided.recount(&observer).await?;
    release.report = decided.staged_report(&session, &release, None).await?;
    decided.job.check_unchanged().await?;
    Ok((release, rows))
}

/// Registers spooled rows as table [`REWRITTEN`].
fn register_rewritten(session: &SessionContext, rows: &Arc<Spool>) -> Result<()> {
    let table = ReleaseTable::try_new(Arc::clone(rows), |_| true)?;
    session.deregister_table(REWRITTEN)?;
    session.register_table(REWRITTEN, Arc::new(table))?;
    Ok(())
}

/// The name of the released rows in the session that recounts them.
pub(super) const RELEASED: &str = "released";
/// The name there of the rows as they leave, with the columns that are only recounted.
pub(super) const REWRITTEN: &str = "rewritten";
/// The name of the source's rows there.
pub(super) const WHOLE: &str = "whole";
/// The name of the population's rows there.
const POPULATION: &str = "population";

/// The rows that are recounted.
#[derive(Debug, Clone, Copy)]
enum Recounted {
    /// Those of the files, which `tell` what the promises read, or only how many rows and classes there are.
    Files { format: Format, tell: bool },
    /// The spooled ones.
    Rows,
}

impl Release {
    /// Puts the report of a release in its place, once the release is where it belongs.
    pub fn publish_report(&mut self) -> Result<()> {
        self.report.take().map_or(Ok(()), StagedReport::publish)
    }

    /// An error when a promise is not held by what was released.
    fn require(&self) -> Result<()> {
        let broken: Vec<&str> = self.checks.iter().filter(|c| !c.ok).map(|c| c.check.as_str()).collect();
        if broken.is_empty() {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::Verification,
            format!(
                "recounting the release found that it does not hold {}; nothing was published",
                broken.join(", ")
            ),
        ))
    }
}

impl Decided {
    /// The decided job, nothing of which is readied for release.
    pub fn new(job: Arc<Job>, prepared: Arc<Prepared>, decision: Decision) -> Self {
        Self {
            job,
            prepared,
            decision,
            drawn: Arc::default(),
            personal: None,
        }
    }

    /// The session that the source is read in.
    fn state(&self) -> SessionState {
        self.job.source.rows.clone().into_parts().0
    }

    /// The columns that are recounted and do not leave: the entity, where it is not released.
    pub(super) fn hidden(&self) -> Vec<String> {
        let entity = self.job.entity.iter().filter(|e| !self.job.releases(e));
        entity.cloned().collect()
    }

    /// The released rows in order, with the hidden columns: from the classes alone where those tell them, and else from a
    /// second scan.
    async fn plan(&self, first: &[String], measured: Option<Measured>) -> Result<Arc<dyn ExecutionPlan>> {
        let recipe = Arc::new(self.recipe(&self.hidden())?);
        let plan = self.ordered(Arc::clone(&recipe), first).await?;
        let plan = match self.drawn.is_empty() {
            true => self.protected(plan)?,
            false => self.randomize(plan, &recipe, measured),
        };
        self.in_order(plan, first)
    }

    fn randomize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        recipe: &Recipe,
        measured: Option<Measured>,
    ) -> Arc<dyn ExecutionPlan> {
        let source = self.job.source.rows.schema().as_arrow();
        let (drawn, numbering) = (Arc::clone(&self.drawn), Arc::new(self.numbering(recipe)));
        Arc::new(RandomizeExec::over_ordered(plan, source, drawn, numbering, measured))
    }

    async fn ordered(&self, recipe: Arc<Recipe>, first: &[String]) -> Result<Arc<dyn ExecutionPlan>> {
        let rows = &self.job.source.rows;
        let (classes, kept) = (&self.decision.classes, &self.decision.verdict.kept);
        let (source, keys) = (rows.schema().as_arrow(), !self.drawn.is_empty());
        match Classes::try_new(Arc::clone(&recipe), source, classes, kept, first, keys)? {
            Some(classes) => classes.into_plan(),
            None => table::plan(rows, recipe, first, &self.hidden()).await,
        }
    }

    /// Whether classes count an entity that is not in the release, so that files alone cannot prove the models.
    pub(super) fn entity_is_not_released(&self) -> bool {
        self.job
            .entity
            .as_ref()
            .is_some_and(|e| !self.job.releases(e) || self.job.identifiers.iter().any(|i| i.column == *e))
    }

    /// Whether the files alone cannot prove the models: the entity is not in them, they do not tell whose rows are
    /// suppressed, or values are text there that cannot be compared with those of the source or the population.
    fn files_do_not_tell(&self, format: Format) -> bool {
        let compares = self.promises().iter().any(|p| p.attribute.is_some());
        let reads_types = compares || !self.drawn.is_empty() || self.job.population.is_some();
        self.entity_is_not_released() || self.marks_suppressed() || (format == Format::Csv && reads_types)
    }

    /// Whether a recount needs to know which rows are suppressed ones that stay: they look like a class that is `*` in every
    /// quasi-identifier, and have entities of their own.
    fn marks_suppressed(&self) -> bool {
        self.job.entity.is_some() && self.starred_rows() > 0
    }

    /// The columns that are recounted beside the released ones.
    fn recounted_beside(&self) -> Vec<String> {
        let mut columns = self.hidden();
        columns.extend(self.marks_suppressed().then(|| SUPPRESSED.to_string()));
        columns
    }

    /// A spool for what is written to `target`, with what its files do not tell of `plan`.
    fn spool_beside(&self, target: &Target, plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Spool>> {
        let reports = self.job.report.is_some() && target.format == Format::Csv;
        if !(reports || self.files_do_not_tell(target.format)) {
            return Ok(None);
        }
        let (job, schema) = (&self.job, plan.schema());
        let is_recounted = |i: &usize| {
            let name = schema.field(*i).name();
            let is_entity = job.entity.as_ref() == Some(name);
            is_entity
                || name == SUPPRESSED && self.marks_suppressed()
                || job.quasi_identifier(name).is_some()
                || job.sensitive.iter().any(|s| s.column == *name)
        };
        let columns: Vec<usize> = (0..schema.fields().len()).filter(is_recounted).collect();
        Ok(Some(self.spool(Arc::new(schema.project(&columns)?))))
    }

    fn spool(&self, schema: SchemaRef) -> Spool {
        Spool::open(schema, Scratch::of(&self.state().task_ctx()))
    }

    /// Registers the population's rows, generalized to the chosen node, as a table to recount in.
    async fn generalized_population(&self, session: &SessionContext) -> Result<Option<String>> {
        let Some(population) = &self.job.population else {
            return Ok(None);
        };
        let columns = self.job.quasi_identifiers.iter().enumerate();
        let columns = columns.map(|(i, q)| Released {
            name: q.column.clone(),
            treatment: Treatment::Generalize(i),
        });
        let everything = vec![true; self.decision.classes.len()];
        let recipe = self.recipe_of(&everything, false, columns.collect())?;
        let names: Vec<&str> = self.job.quasi_identifiers.iter().map(|q| q.column.as_str()).collect();
        let rows = same_types(&self.job.source.rows, select_columns(&population.rows, &names)?, &names)?;
        let plan = table::plan(&rows, Arc::new(recipe), &[], &[]).await?;
        session.deregister_table(POPULATION)?;
        let rows = session.read_table(Arc::new(PlanTable::try_new(plan, self.state())?))?;
        // Beside suppressed rows that stay, every released quasi-identifier is text.
        let texts = names.iter().map(|name| cast(ident(*name), DataType::Utf8).alias(*name));
        let rows = match self.job.starred {
            true => rows.select(texts.collect::<Vec<_>>())?,
            false => rows,
        };
        session.register_table(POPULATION, rows.into_view())?;
        Ok(Some(POPULATION.into()))
    }

    /// Released rows as table `name` of `session`, to be recounted.
    pub(super) async fn released(&self, session: &SessionContext, name: &str) -> Result<ReleasedTable> {
        let job = &self.job;
        Ok(ReleasedTable {
            name: name.into(),
            quasi_identifiers: job.quasi_identifiers.iter().map(|q| q.column.clone()).collect(),
            sensitive: job.sensitive.iter().map(|s| s.column.clone()).collect(),
            entity: job
                .entity
                .clone()
                .filter(|_| name != RELEASED || !self.entity_is_not_released()),
            starred: self.starred_rows(),
            suppressed: Some(SUPPRESSED.into()).filter(|_| name == REWRITTEN && self.marks_suppressed()),
            whole: Some(WHOLE.into()),
            population: self.generalized_population(session).await?,
            answers: Answers::default(),
        })
    }

    /// Suppressed rows that are written.
    fn starred_rows(&self) -> u64 {
        if self.job.starred {
            self.decision.verdict.suppressed
        } else {
            0
        }
    }

    /// Recounts rows of `session`.
    async fn verify(&self, session: &SessionContext, rows: Recounted) -> Result<Release> {
        let (job, decision) = (&self.job, &self.decision);
        let (name, is_csv, tell) = match rows {
            Recounted::Files { format, tell } => (RELEASED, format == Format::Csv, tell),
            Recounted::Rows => (REWRITTEN, false, true),
        };
        let released = self.released(session, name).await?;
        let (_, source) = job.source.rows.clone().into_parts();
        session.deregister_table(WHOLE)?;
        session.register_table(WHOLE, Arc::new(ViewTable::new(source, None)))?;
        let (rows, reached_k) = released.count(session).await?;
        // What the rows' own limits suppressed is known once rows were handed out.
        let outcome = self.outcome();
        self.check_suppressed()?;
        let expected = decision.verdict.released + self.starred_rows() - outcome.suppressed;
        if rows != expected {
            return Err(Error::new(
                ErrorKind::Verification,
                format!("{rows} rows were written where {expected} were to be; nothing was published"),
            ));
        }
        self.check_classes(session, &released, is_csv).await?;
        let promises = if tell { self.promises() } else { vec![] };
        let mut checks = released.check(session, &promises).await?;
        checks.iter_mut().for_each(|c| c.reached = c.reached.map(steady));
        let classes = decision.verdict.classes - outcome.classes;
        if classes > 0 && (reached_k.is_none() || checks.iter().any(|c| c.reached.is_none())) {
            return Err(Error::new(
                ErrorKind::Verification,
                format!("{classes} classes were written, and a recount found none; nothing was published"),
            ));
        }
        // Checks are in the order of the models.
        if let Some(check) = self.check_personal() {
            let place = job.constraints.iter().position(|c| c.model.limit_column().is_some());
            // Where files do not tell of the models, there are no checks before it.
            checks.insert(place.unwrap_or(checks.len()).min(checks.len()), check);
        }
        if tell {
            checks.extend(self.check_marginals(session, name, self.starred_rows()).await?);
        }
        Ok(Release {
            rows_in: self.prepared.rows,
            rows_out: rows,
            rows_suppressed: decision.verdict.suppressed + outcome.suppressed,
            classes,
            reached_k,
            node: decision.describe(job),
            metric: job.metric_name.clone(),
            value: self.value()?,
            proof: self.proof(),
            nodes: decision.nodes,
            counters: self.prepared.evaluator.counters(),
            checks,
            randomized: vec![],
            personal: self.personal_summary(),
            report: None,
        })
    }

    /// Makes the rows of the release, recounts them, and answers them with the session that recounted them; an error when
    /// they do not hold a promise.
    pub async fn recount(&mut self, observer: &Arc<dyn Observer>) -> Result<(Release, SessionContext, ReleaseTable)> {
        self.draw(&[], false).await?;
        self.personalize(&[]).await?;
        let beside = self.recounted_beside();
        let plan = table::without_order_key(self.plan(&[], None).await?, &beside)?;
        let (state, spool) = (self.state(), self.spool(plan.schema()));
        let context = table::sorting_context(&state, plan.as_ref());
        let progress = observer.begin(Phase::Write);
        let told = |rows| {
            progress.fetch_add(rows, Ordering::Relaxed);
        };
        let rows = execute_stream(plan, context).map_err(Error::from_data)?;
        let rows = Arc::new(spool.fill(rows, told).await?);
        observer.end(Phase::Write);

        let session = recounting_session(&state, observer.begin(Phase::Verify));
        register_rewritten(&session, &rows)?;
        let release = self.verify(&session, Recounted::Rows).await?;
        release.require()?;
        observer.end(Phase::Verify);
        let shown = ReleaseTable::try_new(rows, |column| !beside.iter().any(|b| b == column))?;
        Ok((release, session, shown))
    }

    /// The hierarchy of a constraint's attribute, where its model reads one.
    fn attribute_hierarchy(&self, constraint: &Constraint) -> Option<Arc<Hierarchy>> {
        let named = constraint
            .attribute
            .as_deref()
            .filter(|_| constraint.model.reads().hierarchy)?;
        self.job.sensitive.iter().find(|s| s.column == named)?.hierarchy.clone()
    }

    fn promises(&self) -> Vec<Promise<'_>> {
        let quasi_identifiers = &self.job.quasi_identifiers;
        let promise = |c: &'_ Constraint| {
            let columns = |subset: &Vec<usize>| subset.iter().map(|i| quasi_identifiers[*i].column.clone()).collect();
            let all = || quasi_identifiers.iter().map(|q| q.column.clone()).collect();
            (
                c.describe(quasi_identifiers),
                c.subset.as_ref().map_or_else(all, columns),
            )
        };
        // A promise to each row is recounted while rows are handed out: the files hold neither limits nor own values.
        let constraints = self.job.constraints.iter().filter(|c| c.model.limit_column().is_none());
        constraints
            .map(|c| {
                let (name, group) = promise(c);
                Promise {
                    name,
                    model: c.model.as_ref(),
                    group,
                    attribute: c.attribute.clone(),
                    hierarchy: self.attribute_hierarchy(c),
                }
            })
            .collect()
    }
}
