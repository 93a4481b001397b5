//! Tests the protocol on a store in memory: which run wins, which files are left, and which stores
//! are refused.

use super::vacuum::{ALIVE, Why, clear, left, remove};
use super::{Keeper, Layout, Prefix, PrefixRun, Standing};
use crate::base::error::{Error, ErrorKind, Result};
use crate::data::folder::{FileSummary, MANIFEST};
use async_trait::async_trait;
use chrono::TimeDelta;
use datafusion::object_store::local::LocalFileSystem;
use datafusion::object_store::memory::InMemory;
use datafusion::object_store::path::Path;
use datafusion::object_store::{
    self, CopyOptions, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutOptions, PutPayload, PutResult,
};
use datafusion::prelude::SessionContext;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt, TryStreamExt};
use std::fmt;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use url::Url;

const NOW: Duration = Duration::ZERO;

fn prefix(store: Arc<dyn ObjectStore>) -> Prefix {
    let session = SessionContext::new();
    session.register_object_store(&Url::parse("s3://lake").unwrap(), store);
    Prefix::open(&session.state(), "s3://lake/out").unwrap()
}

async fn names(prefix: &Prefix) -> Vec<String> {
    let listed = prefix
        .store()
        .list(None)
        .try_collect::<Vec<ObjectMeta>>()
        .await
        .unwrap();
    let mut names: Vec<String> = listed.iter().map(|meta| meta.location.to_string()).collect();
    names.sort();
    names
}

fn file(content: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    file
}

/// Returns the text of a manifest with all required fields.
fn manifest(run: Option<&str>, files: &[FileSummary]) -> String {
    serde_json::json!({
        "version": "0", "sha256": "", "statement": "", "statement_sha256": "", "seed": 0, "node": {}, "columns": [],
        "rows_in": 1, "rows_out": 1, "rows_suppressed": 0, "suppressed_rows": "dropped", "classes": 1, "reached_k": 1,
        "checks": [], "metrics": {}, "search": {"algorithm": "", "nodes_assessed": 0, "proof": ""}, "input": [],
        "output": files, "run": run,
    })
    .to_string()
}

/// The maximum time to wait until a run is cleaned up.
const PATIENCE: Duration = Duration::from_secs(10);

async fn begin(prefix: &Prefix, layout: Layout) -> Result<PrefixRun> {
    PrefixRun::begin(prefix, layout, &Keeper::default()).await
}

/// Writes a file as a release, and commits it.
async fn release(prefix: &Prefix, standing: Option<&Standing>, content: &[u8]) -> Result<()> {
    let run = begin(prefix, Layout::Runs).await?;
    let keeper = run.keeper();
    let released = async move {
        let sent = run.outbox().send(file(content), ("", 0), "parquet", 1);
        let sent = sent.arrived().await?;
        run.outbox().confirm(std::slice::from_ref(&sent)).await?;
        let text = manifest(run.id(), &[sent]);
        let late = Error::new(ErrorKind::TargetExists, "another run was first");
        run.commit(&text, standing, late).await
    };
    let released = released.await;
    keeper.cleaned_up(PATIENCE).await;
    released
}

/// Tests that a run waits only until its own files are deleted, but the session waits for all of
/// its runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_waits_for_its_own_cleaning_alone() {
    let (session, stuck, other) = (
        Keeper::default(),
        prefix(Arc::new(InMemory::new())),
        prefix(Arc::new(InMemory::new())),
    );
    let is_clean = |keeper: &Keeper| keeper.cleaned_up(PATIENCE).now_or_never().is_some();
    let run = PrefixRun::begin(&stuck, Layout::Runs, &session).await.unwrap();
    let (writes, keeper) = (run.outbox(), run.keeper());
    drop(run);
    let run = PrefixRun::begin(&other, Layout::Runs, &session).await.unwrap();
    let own = run.keeper();
    drop(run);
    own.cleaned_up(PATIENCE).await;
    assert!(is_clean(&own) && names(&other).await.is_empty());
    assert!(!is_clean(&keeper) && !is_clean(&session));
    drop(writes);
    session.cleaned_up(PATIENCE).await;
    assert!(is_clean(&keeper) && names(&stuck).await.is_empty());
}

/// Tests that exactly one of several simultaneous runs wins, both for an empty prefix and for a
/// prefix with a release. The other runs leave no files.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_of_many_runs_wins() {
    let prefix = prefix(Arc::new(InMemory::new()));
    for round in 0..3 {
        let standing = prefix.standing().await.unwrap();
        let runs = (0..8u8).map(|number| {
            let (prefix, standing) = (prefix.clone(), standing.clone());
            tokio::spawn(async move { release(&prefix, standing.as_ref(), &[number, round]).await })
        });
        let ended = futures::future::join_all(runs).await;
        let ended: Vec<Result<()>> = ended.into_iter().map(|ended| ended.unwrap()).collect();
        let lost: Vec<&Error> = ended.iter().filter_map(|ended| ended.as_ref().err()).collect();
        assert_eq!(lost.len(), 7);
        for e in lost {
            assert_eq!((e.kind(), e.exit_code()), (ErrorKind::TargetExists, 5), "{e}");
        }
        let standing = prefix.standing().await.unwrap().unwrap();
        for old in left(&prefix, NOW, NOW).await.unwrap() {
            assert_eq!(old.why, Why::Replaced);
            assert!(remove(&prefix, old).await.unwrap());
        }
        let [file] = &standing.manifest.output[..] else {
            panic!("one file")
        };
        let run = standing.manifest.run.unwrap();
        let own = format!("out/run={run}/{MANIFEST}");
        let expected = [format!("out/{MANIFEST}"), own, format!("out/{}", file.name)];
        assert_eq!(names(&prefix).await, expected);
    }
}

/// Tests that a dropped run deletes its files, and that a run which is considered dead cannot
/// commit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_run_leaves_is_deleted() {
    let prefix = prefix(Arc::new(InMemory::new()));
    let run = begin(&prefix, Layout::Runs).await.unwrap();
    let large = vec![7; (20 << 20) + 1];
    let sent = run
        .outbox()
        .send(file(&large), ("zip=a%2Fb/", 3), "csv", 9)
        .arrived()
        .await;
    let sent = sent.unwrap();
    assert!(
        sent.name.contains("/zip=a%2Fb/part-00003-") && sent.name.ends_with(".csv"),
        "{}",
        sent.name
    );
    let path = Path::parse(format!("out/{}", sent.name)).unwrap();
    let stored = prefix.store().get(&path).await.unwrap().bytes().await.unwrap();
    assert_eq!((stored.len() as u64, sent.bytes), (sent.bytes, large.len() as u64));
    assert!(
        left(&prefix, NOW, Duration::from_secs(60)).await.unwrap().is_empty(),
        "it is alive"
    );
    // The upload of this file is still running when the run ends.
    let _on_way = run.outbox().send(file(&large), ("", 4), "csv", 9);
    let keeper = run.keeper();
    drop(run);
    keeper.cleaned_up(PATIENCE).await;
    assert!(names(&prefix).await.is_empty());

    let run = begin(&prefix, Layout::Runs).await.unwrap();
    let sent = run
        .outbox()
        .send(file(b"a"), ("", 0), "csv", 1)
        .arrived()
        .await
        .unwrap();
    let [dead] = <[_; 1]>::try_from(left(&prefix, NOW, NOW).await.unwrap()).unwrap();
    assert_eq!((dead.why, dead.files, dead.bytes), (Why::Orphan, 1, 1));
    assert!(remove(&prefix, dead).await.unwrap());
    let text = manifest(run.id(), &[sent]);
    let e = run
        .commit(
            &text,
            None,
            Error::new(ErrorKind::TargetExists, "another run was first"),
        )
        .await
        .unwrap_err();
    assert!(
        e.kind() == ErrorKind::Unavailable && e.message().contains("dead, because"),
        "{e}"
    );
    assert!(prefix.standing().await.unwrap().is_none());
}

/// Tests that neither the current release nor a recently replaced release is deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_release_that_stands_is_kept() {
    let prefix = prefix(Arc::new(InMemory::new()));
    release(&prefix, None, b"first").await.unwrap();
    assert!(left(&prefix, NOW, NOW).await.unwrap().is_empty());
    let first = prefix.standing().await.unwrap().unwrap();
    release(&prefix, Some(&first), b"second").await.unwrap();
    assert!(left(&prefix, Duration::from_secs(60), NOW).await.unwrap().is_empty());
    let [old] = <[_; 1]>::try_from(left(&prefix, NOW, NOW).await.unwrap()).unwrap();
    assert_eq!(
        (old.run.as_str(), old.why),
        (first.manifest.run.as_deref().unwrap(), Why::Replaced)
    );
    let e = release(&prefix, Some(&first), b"third").await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::TargetExists);
    assert!(prefix.check_strangers(Layout::Runs).await.is_ok());
    let e = prefix.check_strangers(Layout::Plain).await.unwrap_err();
    assert_eq!(e.kind(), ErrorKind::TargetExists);
}

/// Tests that a store is refused before the first write if it has no conditional puts, or ignores
/// their conditions.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_without_conditions_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = LocalFileSystem::new_with_prefix(folder.path()).unwrap();
    let stores: [Arc<dyn ObjectStore>; 2] = [Arc::new(files), Arc::new(Odd::careless())];
    for store in stores {
        let prefix = prefix(store);
        let e = release(&prefix, None, b"a").await.unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Usage, "{e}");
        assert!(
            e.message().contains("has no conditional puts") && e.message().contains("use a store"),
            "{e}"
        );
        assert!(names(&prefix).await.is_empty());
    }
}

/// Tests the failure of each request, before or after the store executes it. The run ends with a
/// complete release or without a release, and every file that a manifest names exists.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_that_fails_publishes_nothing_by_halves() {
    for is_done in [false, true] {
        let (mut failed, mut request) = (0, 0);
        loop {
            let store = Arc::new(Odd {
                inner: InMemory::new(),
                heeds: true,
                fails: AtomicI64::new(i64::MAX),
                is_done,
                behind: TimeDelta::zero(),
            });
            let prefix = prefix(Arc::clone(&store) as _);
            release(&prefix, None, b"first").await.unwrap();
            let first = prefix.standing().await.unwrap().unwrap();
            store.fails.store(request, Ordering::SeqCst);
            let ended = release(&prefix, Some(&first), b"second").await;
            let is_over = store.fails.swap(i64::MAX, Ordering::SeqCst) >= 0;
            let standing = prefix.standing().await.unwrap().unwrap();
            let is_new = standing.manifest.run != first.manifest.run;
            assert!(
                ended.is_err() || is_new,
                "request {request}: it said that it was published"
            );
            for file in &standing.manifest.output {
                let path = Path::parse(format!("out/{}", file.name)).unwrap();
                assert!(prefix.store().head(&path).await.is_ok(), "request {request}");
            }
            failed += i64::from(ended.is_err());
            request += 1;
            if is_over {
                break;
            }
        }
        assert!(
            failed > 3 && request > 10,
            "{failed} of {request} requests failed a run"
        );
    }
}

/// Tests that ages are measured by the clock of the store: a run is alive even if the clock of this
/// machine is wrong by hours.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_clock_of_the_store_counts() {
    for hours in [-5, 0, 5] {
        let store = Odd {
            heeds: true,
            behind: TimeDelta::hours(hours),
            ..Odd::careless()
        };
        let prefix = prefix(Arc::new(store));
        let run = begin(&prefix, Layout::Plain).await.unwrap();
        let way = run.outbox().send(file(b"x"), ("", 0), "parquet", 1);
        way.arrived().await.unwrap();
        assert!(left(&prefix, NOW, ALIVE).await.unwrap().is_empty(), "{hours}");
        assert_eq!(left(&prefix, NOW, NOW).await.unwrap().len(), 1, "{hours}");
        let day = Duration::from_secs(24 * 60 * 60);
        assert!(left(&prefix, day, NOW).await.unwrap().is_empty(), "{hours}");
        // With layout plain, the next run deletes the files of a dead run, but not those of a run
        // that may be alive.
        assert_eq!(clear(&prefix, ALIVE).await.unwrap(), 1, "{hours}");
        assert_eq!(names(&prefix).await.len(), 2, "{hours}");
        assert_eq!(clear(&prefix, NOW).await.unwrap(), 0, "{hours}");
        assert!(names(&prefix).await.is_empty(), "{hours}");
    }
}

/// A store in memory that can ignore conditions, fail one request, and have a wrong clock.
#[derive(Debug)]
struct Odd {
    inner: InMemory,
    /// Whether the store obeys the conditions of a put.
    heeds: bool,
    /// The number of requests that succeed before one request fails.
    fails: AtomicI64,
    /// Whether the store executes the failing request anyway.
    is_done: bool,
    /// The time by which the store's clock is behind the clock of this machine.
    behind: TimeDelta,
}

impl Odd {
    fn careless() -> Self {
        Self {
            inner: InMemory::new(),
            heeds: false,
            fails: AtomicI64::new(i64::MAX),
            is_done: false,
            behind: TimeDelta::zero(),
        }
    }

    fn dated(&self, meta: ObjectMeta) -> ObjectMeta {
        ObjectMeta {
            last_modified: meta.last_modified - self.behind,
            ..meta
        }
    }

    async fn ask<T: Send>(
        &self,
        request: impl Future<Output = object_store::Result<T>> + Send,
    ) -> object_store::Result<T> {
        let failed = || object_store::Error::Generic {
            store: "odd",
            source: "the network is down".into(),
        };
        match self.fails.fetch_sub(1, Ordering::SeqCst) {
            0 if !self.is_done => Err(failed()),
            0 => request.await.and(Err(failed())),
            _ => request.await,
        }
    }
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("odd")
    }
}

#[async_trait]
impl ObjectStore for Odd {
    async fn put_opts(&self, path: &Path, payload: PutPayload, options: PutOptions) -> object_store::Result<PutResult> {
        let options = if self.heeds { options } else { PutOptions::default() };
        self.ask(self.inner.put_opts(path, payload, options)).await
    }

    async fn put_multipart_opts(
        &self,
        path: &Path,
        options: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        self.ask(self.inner.put_multipart_opts(path, options)).await
    }

    async fn get_opts(&self, path: &Path, options: GetOptions) -> object_store::Result<GetResult> {
        let got = self.ask(self.inner.get_opts(path, options)).await?;
        Ok(GetResult {
            meta: self.dated(got.meta.clone()),
            ..got
        })
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, object_store::Result<Path>>,
    ) -> BoxStream<'static, object_store::Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        let listed = self.inner.list(prefix);
        let behind = self.behind;
        let dated = move |meta: ObjectMeta| ObjectMeta {
            last_modified: meta.last_modified - behind,
            ..meta
        };
        listed.map_ok(dated).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> object_store::Result<ListResult> {
        self.ask(self.inner.list_with_delimiter(prefix)).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> object_store::Result<()> {
        self.ask(self.inner.copy_opts(from, to, options)).await
    }
}
