//! Tests that a statement stops when its future is dropped. The work of every phase ends, and no
//! file is left.

use crate::common::{collect, context};
use anonsql::{AnonContext, Observer, Phase, Progress};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

/// An observer that stops a run at the beginning of a phase until a test lets it continue. It also
/// counts the run's rows and batches.
struct Follows {
    at: Phase,
    reached: Notify,
    go_on: Mutex<Receiver<()>>,
    rows: Arc<AtomicU64>,
    batches: AtomicU64,
}

impl Follows {
    fn until(at: Phase) -> (Arc<Self>, Sender<()>) {
        let (sender, go_on) = channel();
        let follows = Self {
            at,
            reached: Notify::new(),
            go_on: Mutex::new(go_on),
            rows: Arc::default(),
            batches: AtomicU64::new(0),
        };
        (Arc::new(follows), sender)
    }

    /// Waits until no part of a run refers to this observer or counts rows.
    async fn ended(self: &Arc<Self>) {
        for _ in 0..6000 {
            if Arc::strong_count(self) == 1 && Arc::strong_count(&self.rows) == 1 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the run goes on for a minute");
    }
}

impl Observer for Follows {
    fn begin(&self, phase: Phase) -> Arc<AtomicU64> {
        if phase == self.at {
            self.reached.notify_one();
            // The sender is dropped after the statement is dropped.
            let _ = self.go_on.lock().map(|go_on| go_on.recv());
        }
        Arc::clone(&self.rows)
    }

    fn searched(&self, _: Progress) {
        self.batches.fetch_add(1, Ordering::Relaxed);
    }
}

fn start(context: AnonContext, sql: String) -> JoinHandle<()> {
    tokio::spawn(async move {
        let ended = context.sql(&sql).await;
        panic!("the statement was to be dropped: {:?}", ended.map(|_| ()));
    })
}

/// Waits until a folder is empty. A blocking step that has already begun, such as creating the
/// staging folder, runs to its end.
async fn nothing_left(folder: &Path, at: Phase) {
    let left = || -> Vec<_> {
        folder
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect()
    };
    for _ in 0..1000 {
        if left().is_empty() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{at:?}: {:?} is left", left());
}

/// The statement is dropped at the beginning of every phase. No staging folder, temporary file or
/// report is left. The target does not exist, or is complete if the last step had begun.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_statement_leaves_nothing() {
    for at in [
        Phase::Prepare,
        Phase::Scan,
        Phase::Search,
        Phase::Write,
        Phase::Verify,
        Phase::Publish,
        Phase::Report,
    ] {
        let scratch = tempfile::tempdir().unwrap();
        let (follows, held) = Follows::until(at);
        let context = context(2).with_observer(Arc::clone(&follows) as _);
        let setup = "CREATE TABLE t AS SELECT value AS id, value % 50 AS age FROM generate_series(1, 20000);
            CREATE HIERARCHY age AS INTERVALS (5, 10)";
        collect(&context, setup).await;
        let folder = scratch.path().display();
        let sql = format!(
            "ANONYMIZE t TO '{folder}/out/' QUASI IDENTIFIERS (age USING age) KEEP (id) SATISFYING k_anonymity(5) \
             REPORT TO '{folder}/report.md'"
        );
        let running = start(context, sql);
        follows.reached.notified().await;
        running.abort();
        drop(held);
        let ended = running.await.unwrap_err();
        assert!(ended.is_cancelled(), "{at:?}: {ended}");
        follows.ended().await;
        nothing_left(scratch.path(), at).await;
    }
}

/// A scan of an extremely long source is dropped. Its tasks end within their current batches.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_scan_reads_no_further() {
    let (follows, held) = Follows::until(Phase::Measure);
    let context = context(2).with_observer(Arc::clone(&follows) as _);
    let endless = "ANONYMIZE (SELECT value % 7 AS n FROM generate_series(1, 1000000000000)) \
                   QUASI IDENTIFIERS (n) SATISFYING k_anonymity(5)";
    let running = start(context, endless.into());
    while follows.rows.load(Ordering::Relaxed) == 0 {
        tokio::task::yield_now().await;
    }
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    let before = follows.rows.load(Ordering::Relaxed);
    follows.ended().await;
    let after = follows.rows.load(Ordering::Relaxed) - before;
    assert!(
        after <= 4 * 8192,
        "{after} rows were read after the statement was dropped"
    );
    drop(held);
}

/// Searches that would take years are dropped. None of them continues beyond its current nodes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dropped_search_looks_no_further() {
    for threads in [1, 2] {
        for search in ["exhaustive", "auto", "flash", "incognito", "tabu", "genetic"] {
            let (follows, held) = Follows::until(Phase::Measure);
            let context = context(threads).with_observer(Arc::clone(&follows) as _);
            let columns: Vec<String> = (2..14).map(|m| format!("value % {m} AS c{m}")).collect();
            let setup = format!(
                "CREATE TABLE t AS SELECT {} FROM generate_series(1, 3000); CREATE HIERARCHY h AS INTERVALS (2, 4, 8, 16)",
                columns.join(", ")
            );
            collect(&context, &setup).await;
            let columns: Vec<String> = (2..14).map(|m| format!("c{m} USING h")).collect();
            let sql = format!(
                "ANONYMIZE t QUASI IDENTIFIERS ({}) SATISFYING k_anonymity(5) SUPPRESSING AT MOST 10 PERCENT \
                 SEARCH USING {search}",
                columns.join(", ")
            );
            let running = start(context, sql);
            while follows.batches.load(Ordering::Relaxed) < 3 {
                tokio::task::yield_now().await;
            }
            running.abort();
            assert!(running.await.unwrap_err().is_cancelled(), "{search}");
            let before = follows.batches.load(Ordering::Relaxed);
            follows.ended().await;
            let after = follows.batches.load(Ordering::Relaxed) - before;
            assert!(
                after <= 1,
                "{search}: {after} batches were assessed after the statement was dropped"
            );
            drop(held);
        }
    }
}
