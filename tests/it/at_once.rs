//! Tests several simultaneous jobs in one process. Each job has the same result as alone, stays
//! within its own memory limit, and does no more work.

use crate::common::collect;
use anonsql::internal::generate::{BenchShape, GeneratedTable, generate};
use anonsql::{AnonContext, Observer, Phase};
use datafusion::error::Result as DfResult;
use datafusion::execution::memory_pool::{FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const JOBS: usize = 8;
const COLUMNS: [&str; 5] = ["sex", "age", "race", "marital_status", "education"];

/// A memory pool that records the peak of its reservations.
#[derive(Debug)]
struct Watched {
    pool: FairSpillPool,
    most: AtomicUsize,
}

impl Watched {
    fn look(&self) {
        self.most.fetch_max(self.pool.reserved(), Ordering::Relaxed);
    }
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pool.fmt(f)
    }
}

impl MemoryPool for Watched {
    fn name(&self) -> &str {
        self.pool.name()
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.pool.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.pool.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.pool.grow(reservation, additional);
        self.look();
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.pool.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> DfResult<()> {
        self.pool.try_grow(reservation, additional)?;
        self.look();
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.pool.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.pool.memory_limit()
    }
}

/// Counts the rows and nodes of each phase, which measure the work of a job.
#[derive(Default)]
struct Work(Mutex<BTreeMap<&'static str, Vec<Arc<AtomicU64>>>>);

impl Observer for Work {
    fn begin(&self, phase: Phase) -> Arc<AtomicU64> {
        let counter = Arc::<AtomicU64>::default();
        self.0
            .lock()
            .unwrap()
            .entry(phase.name())
            .or_default()
            .push(Arc::clone(&counter));
        counter
    }
}

impl Work {
    fn done(&self) -> BTreeMap<&'static str, u64> {
        let phases = self.0.lock().unwrap();
        let sum = |counters: &Vec<Arc<AtomicU64>>| counters.iter().map(|c| c.load(Ordering::Relaxed)).sum();
        phases.iter().map(|(name, counters)| (*name, sum(counters))).collect()
    }
}

/// The results of a job.
#[derive(Debug, PartialEq)]
struct Done {
    /// The contents of the released files.
    files: Vec<Vec<u8>>,
    /// The number of rows or nodes in each phase.
    work: BTreeMap<&'static str, u64>,
}

/// Runs a job over the table in its own session, with a memory limit of `bytes` bytes.
async fn job(source: PathBuf, target: PathBuf, k: usize, bytes: usize) -> Done {
    let pool = Arc::new(Watched {
        pool: FairSpillPool::new(bytes),
        most: AtomicUsize::new(0),
    });
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::clone(&pool) as _)
        .build_arc();
    let config = SessionConfig::new().with_target_partitions(2);
    let work = Arc::new(Work::default());
    let session = SessionContext::new_with_config_rt(config, runtime.unwrap());
    let context = AnonContext::new(session).with_observer(Arc::clone(&work) as _);
    for column in COLUMNS {
        collect(&context, &format!("CREATE HIERARCHY {column} AS SUPPRESSION")).await;
    }
    let listed = COLUMNS.map(|c| format!("{c} USING {c}")).join(", ");
    let statement = format!(
        "ANONYMIZE '{}' TO '{}' QUASI IDENTIFIERS ({listed}) SATISFYING k_anonymity({k}) \
         SUPPRESSING AT MOST 30 PERCENT MINIMIZING dm",
        source.display(),
        target.display()
    );
    collect(&context, &statement).await;
    let most = pool.most.load(Ordering::Relaxed);
    assert!(0 < most && most <= bytes, "{most} of {bytes} bytes were taken");
    assert_eq!(pool.reserved(), 0);
    let mut files: Vec<PathBuf> = std::fs::read_dir(&target)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "parquet"));
    files.sort();
    Done {
        files: files.iter().map(|path| std::fs::read(path).unwrap()).collect(),
        work: work.done(),
    }
}

fn source(folder: &Path) -> PathBuf {
    let path = folder.join("people.parquet");
    let shape = BenchShape::new(COLUMNS.len(), Some(40_000)).unwrap();
    generate(GeneratedTable::Bench(shape), 60_000, 5, &path).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_eight_jobs_is_as_if_it_were_alone() {
    let folder = tempfile::tempdir().unwrap();
    let source = source(folder.path());
    let target = |name: &str, number: usize| folder.path().join(format!("{name}_{number}"));
    // Every second job has little memory, so that its rows spill to files.
    let bytes = |number: usize| {
        if number.is_multiple_of(2) {
            9_000 << 10
        } else {
            400 << 20
        }
    };
    let mut at_once = tokio::task::JoinSet::new();
    for number in 0..JOBS {
        let (source, target) = (source.clone(), target("at_once", number));
        at_once.spawn(async move { (number, job(source, target, 2 + number / 2, bytes(number)).await) });
    }
    let mut at_once = at_once.join_all().await;
    at_once.sort_by_key(|(number, _)| *number);
    for (number, found) in at_once {
        let alone = job(source.clone(), target("alone", number), 2 + number / 2, bytes(number)).await;
        assert!(
            !alone.files.is_empty() && alone.work["write"] > 0 && alone.work["scan"] == 60_000,
            "{:?}",
            alone.work
        );
        assert_eq!(found.work, alone.work, "job {number} reads more when others run");
        assert!(
            found.files == alone.files,
            "job {number} writes something else when others run"
        );
    }
}
