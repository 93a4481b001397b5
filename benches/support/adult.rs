//! The Adult table of 30,162 rows with nine quasi-identifiers. Its lattice has 12,960 nodes.

use super::columns::COLUMNS;
use super::request;
use anonsql::internal::catalogue::Call;
use anonsql::internal::engine::{Evaluator, Scanned, detail_requests, scan};
use anonsql::internal::frequency::{Base, FrequencySets};
use anonsql::internal::job::{Job, SourceTable, SuppressionLimit};
use anonsql::internal::lattice::Lattice;
use anonsql::internal::metric::{self, Metric};
use anonsql::internal::observe::Silent;
use anonsql::internal::source::Pins;
use datafusion::execution::TaskContext;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The size in bytes of the frequency sets that are kept for roll-up, as in the product.
pub const CACHE_BYTES: usize = 512 << 20;

/// The table, scanned once.
pub struct Adult {
    /// The base frequency set of the table.
    pub base: Arc<Base>,
    /// The lattice of all nodes.
    pub lattice: Lattice,
    /// The task context in which plans are executed.
    pub context: Arc<TaskContext>,
    session: SessionContext,
    folder: PathBuf,
    runtime: tokio::runtime::Runtime,
}

/// Returns the folder with the shared data. If the folder does not exist, prints a message and
/// returns `None`.
pub fn shared() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("ANONSQL_SHARED").unwrap_or_else(|| "../shared".into()));
    if folder.join("data/adult_arx.parquet").exists() {
        return Some(folder);
    }
    eprintln!("skipped: there is no data/adult_arx.parquet in ANONSQL_SHARED (or ../shared)");
    None
}

impl Adult {
    /// Reads the table. Returns `None` if the shared data are missing.
    pub fn read() -> Option<Self> {
        let folder = shared()?.join("data");
        let runtime = super::run::runtime(1);
        let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
        let job = runtime.block_on(job(&session, &folder, "dm", 2, 0));
        let details = detail_requests(&job, &job.goal.metrics());
        let scanned = runtime
            .block_on(scan(&job, &details, &Silent))
            .expect("the table can be read");
        Some(Self {
            base: Arc::clone(scanned.sets.base()),
            lattice: scanned.lattice,
            context: session.task_ctx(),
            session,
            folder,
            runtime,
        })
    }

    /// Returns frequency sets of the table that cache at most `limit` bytes of evaluated nodes.
    pub fn sets(&self, limit: usize) -> FrequencySets {
        FrequencySets::new(Arc::clone(&self.base), Arc::clone(&self.context), limit).expect("memory is not limited")
    }

    /// Returns an evaluator that runs on one thread and has not evaluated any node yet. Searches
    /// minimize the first metric.
    pub fn evaluator(&self, metrics: &[&str], k: i64, percent: u64) -> Evaluator {
        let job = self
            .runtime
            .block_on(job(&self.session, &self.folder, metrics[0], k, percent));
        let metrics: Vec<Box<dyn Metric>> = metrics
            .iter()
            .map(|m| metric::build(&Call::bare(*m)).expect(m))
            .collect();
        let metrics: Vec<&dyn Metric> = metrics.iter().map(AsRef::as_ref).collect();
        let scanned = Scanned {
            sets: self.sets(CACHE_BYTES),
            lattice: self.lattice.clone(),
            drift: vec![],
        };
        Evaluator::new(&job, scanned, &metrics).expect("the metrics fit the job")
    }
}

async fn job(session: &SessionContext, data: &Path, metric: &str, k: i64, percent: u64) -> Job {
    let path = data.join("adult_arx.parquet").display().to_string();
    let rows = session.read_parquet(path.as_str(), ParquetReadOptions::default()).await;
    let source = SourceTable {
        name: "adult".into(),
        rows: rows.expect("the Adult table"),
        files: vec![],
        depends: None,
        pins: Pins::default(),
    };
    let limit = SuppressionLimit::Share {
        over: percent,
        under: 100,
    };
    request::job(source, &COLUMNS, &data.join("adult_arx_hier"), k, limit, metric)
}
