//! Tests workers that send false reports, and a worker with another version of anonsql.

use super::lost::Running;
use super::same::REQUESTS;
use super::workers::Workers;
use super::{driver, people, strangers, sums};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StringArray, UInt32Array};
use arrow::compute::{partition, take_record_batch};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::execution_plan::{ChildrenPropertiesMode, ReplaceChildrenOptions};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use datafusion_distributed::{
    DistributedExt, Worker, WorkerPlanRewriteEvent, WorkerPlanRewriteEventResponse, WorkerQueryContext,
};
use futures::{StreamExt, stream};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tonic::transport::server::{Server, TcpIncoming};

const SQL: &str = "ANONYMIZE people TO 'out' OPTIONS (rows_per_file 25000) IDENTIFIERS (person, score, name) \
    QUASI IDENTIFIERS (age USING age, zip USING zip) KEEP (note, illness) SATISFYING k_anonymity(5)";

/// The way in which a planted worker falsifies its reports.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Lie {
    /// Reports are unchanged.
    Honest,
    /// Each report is sent twice.
    Twice,
    /// The first report counts one row too many.
    RowMoreOnce,
    /// Each report counts one row too many.
    RowMore,
    /// Each file has one byte more than reported.
    OtherFile,
    /// No report is sent.
    Silent,
    /// Rows are written in the reverse order.
    Disorder,
}

/// The output of a task of a planted worker.
#[derive(Debug, Clone)]
struct Doctored {
    input: Arc<dyn ExecutionPlan>,
    lie: Lie,
    lied: Arc<AtomicUsize>,
    counted: Arc<AtomicUsize>,
    folder: Arc<std::path::PathBuf>,
}

impl Doctored {
    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Self {
        Self { input, ..self.clone() }
    }
}

impl DisplayAs for Doctored {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Doctored")
    }
}

impl ExecutionPlan for Doctored {
    fn name(&self) -> &str {
        "Doctored"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.input.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(self: Arc<Self>, _: Vec<Arc<dyn ExecutionPlan>>) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(self)
    }

    fn execute(&self, partition: usize, context: Arc<TaskContext>) -> Result<SendableRecordBatchStream> {
        let rows = self.input.execute(partition, context)?;
        let (schema, lie, lied) = (rows.schema(), self.lie, Arc::clone(&self.lied));
        let (folder, counted) = (Arc::clone(&self.folder), Arc::clone(&self.counted));
        let is_counted = schema.index_of("__anonsql_rows").is_ok();
        let rows = rows.inspect(move |batch| {
            let rows = batch.as_ref().map_or(0, RecordBatch::num_rows);
            counted.fetch_add(if is_counted { rows } else { 0 }, Ordering::Relaxed);
        });
        if lie == Lie::Disorder {
            let rows = rows.map(|batch| reversed(&batch?));
            return Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)));
        }
        let rows = rows.flat_map(move |batch| match batch {
            Ok(batch) => stream::iter(
                doctored(&batch, lie, &lied, &folder)
                    .into_iter()
                    .map(Ok)
                    .collect::<Vec<_>>(),
            ),
            Err(e) => stream::iter(vec![Err(e)]),
        });
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }
}

/// Returns the rows of a batch in reverse order if they all belong to one bucket. Otherwise,
/// returns the batch unchanged.
fn reversed(batch: &RecordBatch) -> Result<RecordBatch> {
    let buckets = batch.column_by_name("__anonsql_bucket").unwrap();
    if partition(&[Arc::clone(buckets)])?.len() > 1 {
        return Ok(batch.clone());
    }
    let backwards = UInt32Array::from_iter_values((0..batch.num_rows() as u32).rev());
    Ok(take_record_batch(batch, &backwards)?)
}

/// Returns the plan with the falsification inserted below the operator that writes the files.
fn disordered(plan: &Arc<dyn ExecutionPlan>, own: &Doctored) -> Arc<dyn ExecutionPlan> {
    let children = plan
        .children()
        .into_iter()
        .map(|child| disordered(child, own))
        .collect::<Vec<_>>();
    if children.is_empty() {
        return Arc::clone(plan);
    }
    let children = match plan.name() {
        "WriteBucketsExec" => {
            own.lied.fetch_add(1, Ordering::Relaxed);
            let input = Arc::clone(&children[0]);
            vec![Arc::new(own.over(input)) as _]
        }
        _ => children,
    };
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    Arc::clone(plan).replace_children(children, options).unwrap()
}

fn doctored(batch: &RecordBatch, lie: Lie, lied: &AtomicUsize, folder: &Path) -> Vec<RecordBatch> {
    let is_report = batch.num_rows() == 1 && batch.schema().field(0).name() == "bucket" && batch.column(1).is_valid(0);
    if !is_report || (lie == Lie::RowMoreOnce && lied.load(Ordering::Relaxed) > 0) {
        return vec![batch.clone()];
    }
    lied.fetch_add(1, Ordering::Relaxed);
    match lie {
        Lie::Honest => vec![batch.clone()],
        Lie::Twice => vec![batch.clone(), batch.clone()],
        Lie::Silent => vec![],
        Lie::Disorder => unreachable!(),
        Lie::OtherFile => {
            for entry in std::fs::read_dir(folder).unwrap() {
                let stage = entry.unwrap().path();
                if !stage.display().to_string().contains("/.anonsql-staging") {
                    continue;
                }
                for file in std::fs::read_dir(stage).unwrap() {
                    let file = std::fs::OpenOptions::new().append(true).open(file.unwrap().path());
                    std::io::Write::write_all(&mut file.unwrap(), b"!").unwrap();
                }
            }
            vec![batch.clone()]
        }
        Lie::RowMore | Lie::RowMoreOnce => {
            let report = batch.column(1).as_string::<i32>().value(0);
            let at = report.find("\"rows\":").unwrap() + 7;
            let end = at + report[at..].find(',').unwrap();
            let rows: u64 = report[at..end].parse().unwrap();
            let more = format!("{}{}{}", &report[..at], rows + 1, &report[end..]);
            let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
            columns[1] = Arc::new(StringArray::from(vec![more]));
            vec![RecordBatch::try_new(batch.schema(), columns).unwrap()]
        }
    }
}

/// A worker in this process. It counts its reports, the rows of the first scan, and the parts of
/// the recount.
struct Planted {
    url: String,
    lied: Arc<AtomicUsize>,
    counted: Arc<AtomicUsize>,
    recounted: Arc<AtomicUsize>,
    runtime: Option<tokio::runtime::Runtime>,
}

impl Planted {
    fn start(version: &str, lie: Option<Lie>, folder: &Path) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let lied = Arc::new(AtomicUsize::new(0));
        let counted = Arc::new(AtomicUsize::new(0));
        let recounted = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&recounted);
        let own = (Arc::clone(&lied), Arc::clone(&counted), Arc::new(folder.to_path_buf()));
        let worker = Worker::from_session_builder(move |context: WorkerQueryContext| {
            let (lied, counted, folder) = own.clone();
            let recounted = Arc::clone(&seen);
            let rewrite = move |event: WorkerPlanRewriteEvent<'_>| {
                let is_recount = |plan: &Arc<dyn ExecutionPlan>| plan.children()[0].name() == "AggregateExec";
                let plan = match lie {
                    Some(lie) if event.plan.name() == "AnswerExec" => {
                        recounted.fetch_add(is_recount(&event.plan).into(), Ordering::Relaxed);
                        let own = Doctored {
                            input: Arc::clone(&event.plan),
                            lie,
                            lied: Arc::clone(&lied),
                            counted: Arc::clone(&counted),
                            folder: Arc::clone(&folder),
                        };
                        match lie {
                            Lie::Disorder => disordered(&event.plan, &own),
                            _ => Arc::new(own) as _,
                        }
                    }
                    _ => event.plan,
                };
                Ok(WorkerPlanRewriteEventResponse::new(plan))
            };
            async move {
                let mut context = context;
                let known = context.builder.scalar_functions().get_or_insert_default();
                known.extend(anonsql::internal::cluster::functions());
                Ok(context
                    .builder
                    .with_distributed_user_codec(anonsql::internal::cluster::codec().unwrap())
                    .with_distributed_worker_plan_rewrite_handler(rewrite)
                    .build())
            }
        });
        let worker = worker.with_version(format!("anonsql {version} 1"));
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        runtime.spawn(async move {
            let server = Server::builder().add_service(worker.into_worker_server());
            server.serve_with_incoming(TcpIncoming::from(listener)).await
        });
        Self {
            url,
            lied,
            counted,
            recounted,
            runtime: Some(runtime),
        }
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[test]
fn a_lie_is_caught() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    assert!(driver(folder, None, SQL).status().unwrap().success());
    let expected = sums(&folder.join("out"));
    // The planted worker runs alone, or beside an honest worker, which then receives the refused
    // work.
    for (lie, is_alone, is_released) in [
        (Lie::Twice, false, true),
        (Lie::RowMoreOnce, false, true),
        (Lie::RowMore, false, true),
        (Lie::RowMore, true, false),
        (Lie::OtherFile, true, false),
        (Lie::Silent, true, false),
        (Lie::Disorder, true, false),
        (Lie::Disorder, false, false),
    ] {
        std::fs::remove_dir_all(folder.join("out")).unwrap();
        let honest = Workers::start(1, folder);
        let planted = Planted::start(VERSION, Some(lie), folder);
        let mut running = driver(folder, None, SQL);
        running.args([
            "--log",
            "json",
            "--cluster",
            &match is_alone {
                true => planted.url.clone(),
                false => format!("{},{}", honest.urls(), planted.url),
            },
        ]);
        let output = running.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(planted.lied.load(Ordering::Relaxed) > 0, "{lie:?}: {said}");
        assert_eq!(output.status.success(), is_released, "{lie:?}: {said}");
        assert!(strangers(folder, &["people", "out", "config"]).is_empty(), "{lie:?}");
        if matches!(lie, Lie::RowMoreOnce | Lie::RowMore | Lie::OtherFile) {
            // A refused worker takes no part in the recount.
            assert_eq!(planted.recounted.load(Ordering::Relaxed), 0, "{lie:?}");
            assert!(said.contains("\"state\":\"distrusted\""), "{lie:?}: {said}");
        }
        match is_released {
            true => assert_eq!(sums(&folder.join("out")), expected, "{lie:?}"),
            false => {
                assert!(!folder.join("out").exists(), "{lie:?}");
                assert!(driver(folder, None, SQL).status().unwrap().success());
            }
        }
    }
}

/// The driver does not use a refused worker again, even if no other worker is left.
#[test]
fn a_refused_worker_recounts_for_nobody() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    for part in 0..6 {
        let mut honest = Workers::start(1, folder);
        let planted = Planted::start(VERSION, Some(Lie::RowMore), folder);
        let mut command = driver(folder, None, &SQL.replace("'out'", "'out' OVERWRITE"));
        command.args(["--cluster", &format!("{},{}", honest.urls(), planted.url)]);
        let mut running = Running::of(command);
        running.until("verify", "begin");
        std::thread::sleep(Duration::from_millis(20 * part));
        honest.kill(0);
        // The honest worker may already have finished its work.
        let _ = running.end();
        assert!(planted.lied.load(Ordering::Relaxed) > 0, "{part}");
        assert_eq!(planted.recounted.load(Ordering::Relaxed), 0, "{part}");
    }
}

/// The driver assigns to workers all work that workers can do.
#[test]
fn workers_do_what_they_can() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    let salt = folder.join("salt");
    std::fs::write(&salt, "a secret in a file, long enough").unwrap();
    for (name, request, are_written) in REQUESTS {
        let planted = Planted::start(VERSION, Some(Lie::Honest), folder);
        let request = request.replace("env:SALT", &format!("file:{}", salt.display()));
        let mut running = driver(folder, None, &format!("ANONYMIZE people TO '{name}-1' {request}"));
        let output = running.args(["--cluster", &planted.url]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{name}: {said}");
        assert!(planted.counted.load(Ordering::Relaxed) > 0, "{name}");
        assert_eq!(planted.lied.load(Ordering::Relaxed) > 0, *are_written, "{name}");
        let is_recounted = planted.recounted.load(Ordering::Relaxed) > 0;
        assert_eq!(is_recounted, *name != "csv", "{name}");
    }
}

#[test]
fn a_worker_of_another_version_is_refused() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path();
    people(folder);
    let old = Planted::start("0.0.9", None, folder);
    let mut running = driver(folder, None, SQL);
    let output = running.args(["--cluster", &old.url]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1));
    assert!(said.contains("0.0.9") && said.contains(VERSION), "{said}");
    assert!(!folder.join("out").exists());
}
