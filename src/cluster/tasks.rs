//! Tasks: plans that workers execute for the driver.

use super::answer::told;
use super::channels::{Channels, Connect};
use super::fetch::{Fetch, Fetched};
use super::greet::{Member, found, greet};
use super::key::{Key, headers, partition_of};
use super::stores::headers_of;
use super::tls::Tls;
use crate::error::{Error, ErrorKind, Result};
use crate::operator::{Codec, OperatorExec};
use crate::settings::{Addresses, Settings};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SessionState, SessionStateBuilder, TaskContext};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};
use datafusion::prelude::SessionConfig;
use datafusion_distributed::{
    CoordinatorToWorkerMsg, DistributedExt, MaybeEncoded, SetPlanRequest, WorkerToCoordinatorMsg,
};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use http::HeaderMap;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;
use uuid::Uuid;

/// How often a task is given to a worker before the statement fails.
pub(crate) const ATTEMPTS: usize = 4;
/// How long a task may move nothing before it is given up.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A task that a worker knows. The worker forgets it when this is dropped.
struct Known {
    _ends: tokio::sync::oneshot::Sender<()>,
    _answers: BoxStream<'static, DfResult<WorkerToCoordinatorMsg>>,
}

/// The answers of a shuffle in any order. The tasks end when it is dropped.
pub(crate) struct Shuffle {
    answers: BoxStream<'static, DfResult<RecordBatch>>,
    _known: Vec<Known>,
}

/// What comes next of a shuffle.
impl Shuffle {
    /// Returns the next rows; `None` after the last. An error that is `None` is a lost worker.
    pub(crate) async fn next(&mut self) -> Result<Option<RecordBatch>, Option<Error>> {
        match timeout(PATIENCE, self.answers.next()).await {
            Ok(Some(Ok(batch))) => Ok(Some(batch)),
            Ok(Some(Err(e))) => Err(told(&e)),
            Ok(None) => Ok(None),
            Err(_) => Err(None),
        }
    }
}

/// The workers of a session.
#[derive(Clone)]
pub(crate) struct Cluster {
    addresses: Addresses,
    channels: Arc<Connect>,
    context: Arc<TaskContext>,
    /// What plans are sent with.
    headers: HeaderMap,
}

impl Cluster {
    /// Tells a session how its plans are written for workers.
    pub(crate) fn enable(config: &mut SessionConfig, codec: Codec) {
        config.set_extension(Arc::new(codec));
    }

    /// Returns the cluster of a session (`anonsql.cluster`), if it has one.
    pub(crate) fn of(state: &SessionState) -> Result<Option<Self>> {
        let settings = Settings::of(state.config().options());
        let Some(addresses) = settings.cluster else {
            return Ok(None);
        };
        let addresses: Addresses = addresses.parse()?;
        let tls = settings
            .cluster_tls
            .as_deref()
            .map(Path::new)
            .map(Tls::read)
            .transpose()?;
        if tls.is_none() && addresses.are_encrypted() {
            return Err(Error::usage(
                "workers that are asked by https:// are shown a certificate; say which: --cluster-tls FOLDER, or SET \
                 anonsql.cluster_tls = 'folder', with ca.crt, tls.crt and tls.key in it",
            ));
        }
        let codec = state.config().get_extension::<Codec>();
        let codec = codec.ok_or_else(|| Error::internal("a session without a codec"))?;
        let channels: Arc<Connect> = Arc::new(Channels::new(tls));
        let own = SessionStateBuilder::new_from_existing(state.clone())
            .with_distributed_user_codec(*codec)
            .with_distributed_channel_resolver(Arc::clone(&channels))
            .build();
        Ok(Some(Self {
            addresses,
            channels,
            context: own.task_ctx(),
            headers: headers_of(&settings.s3)?,
        }))
    }

    /// Returns the workers that answer.
    pub(crate) async fn greet(&self) -> Result<Vec<Member>> {
        greet(self.channels.as_ref(), &found(&self.addresses).await?).await
    }

    /// Returns those of these workers that still answer, or all that do if none of these does.
    pub(crate) async fn living(&self, members: &[Member]) -> Result<Vec<Member>> {
        let urls: Vec<Url> = members.iter().map(|member| member.url.clone()).collect();
        match greet(self.channels.as_ref(), &urls).await {
            Err(e) if e.kind() == ErrorKind::Io => self.greet().await,
            living => living,
        }
    }

    /// Gives a plan to a worker.
    async fn give(&self, url: &Url, key: &Key, plan: Arc<dyn ExecutionPlan>) -> DfResult<Known> {
        let (ends, ended) = tokio::sync::oneshot::channel::<()>();
        // The request stays open, without messages, until the task is dropped.
        let open = stream::once(async move {
            let _ = ended.await;
            None::<CoordinatorToWorkerMsg>
        });
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let request = SetPlanRequest {
            task_key: key.task()?,
            task_count: 1,
            plan: MaybeEncoded::Decoded(plan),
            work_unit_feed_declarations: vec![],
            target_worker_url: url.clone(),
            query_start_time_ns: now.map_or(0, |now| now.as_nanos() as usize),
        };
        let mut client = self.channels.get_worker_client_for_url(url).await?;
        let messages = open.filter_map(futures::future::ready).boxed();
        let metrics = ExecutionPlanMetricsSet::new();
        let given = client.coordinator_channel(self.headers.clone(), request, messages, metrics, &self.context);
        let answers = timeout(PATIENCE, given).await;
        let answers = answers.map_err(|_| DataFusionError::Execution("a worker takes no plan".into()))??;
        Ok(Known {
            _ends: ends,
            _answers: answers,
        })
    }

    /// Returns the rows of one partition of a task that a worker knows.
    async fn take(&self, url: &Url, key: Key) -> DfResult<BoxStream<'static, DfResult<RecordBatch>>> {
        let mut client = self.channels.get_worker_client_for_url(url).await?;
        let request = partition_of(key, 0)?;
        let metrics = ExecutionPlanMetricsSet::new();
        let rows = client.execute_task(headers(), request, metrics, &self.context).await?;
        Ok(stream::iter(rows).flatten().boxed())
    }

    /// Executes a plan of one partition on a worker, and returns all of its rows. An error that is `None` is a lost worker.
    async fn execute(
        &self,
        url: &Url,
        plan: Arc<dyn ExecutionPlan>,
        held: &MemoryReservation,
    ) -> Result<Vec<RecordBatch>, Option<Error>> {
        let key = Key {
            run: Uuid::new_v4().to_string(),
            number: 0,
        };
        let failed = |e: DataFusionError| told(&e);
        let _known = self.give(url, &key, plan).await.map_err(failed)?;
        let mut rows = self.take(url, key).await.map_err(failed)?;
        let mut batches = vec![];
        loop {
            match timeout(PATIENCE, rows.next()).await {
                Err(_) => return Err(None),
                Ok(None) => return Ok(batches),
                Ok(Some(Err(e))) => return Err(told(&e)),
                Ok(Some(Ok(batch))) if batch.num_rows() == 0 => {}
                Ok(Some(Ok(batch))) => {
                    let bytes = batch.get_array_memory_size();
                    held.try_grow(bytes).map_err(|e| Some(Error::from_data(e)))?;
                    batches.push(batch);
                }
            }
        }
    }

    /// Executes plans of one partition each on workers. The rows of a plan are received together once they are complete, in
    /// any order of the plans. A plan whose worker was lost is given to another.
    pub(crate) fn gather(&self, members: &[Member], plans: Vec<Arc<dyn ExecutionPlan>>) -> Gathered {
        let left = plans.len();
        let queue = Arc::new(Queue {
            waiting: Mutex::new(plans.into_iter().map(|plan| (plan, 0)).collect()),
            left: Mutex::new(left),
        });
        let (complete, received) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        for member in members {
            for _ in 0..member.threads.get() {
                let (own, queue, complete) = (self.clone(), Arc::clone(&queue), complete.clone());
                let url = member.url.clone();
                tasks.spawn(async move { own.work(&url, &queue, &complete).await });
            }
        }
        let done = SpawnedTask::spawn(async move {
            // What is left of the tasks is dropped with the first error, and so nothing more is received.
            while let Some(ended) = tasks.join_next().await {
                ended.map_err(|e| Error::from_task("a task of the cluster", &e))??;
            }
            match *queue.left.lock() {
                0 => Ok(()),
                _ => Err(lost_each_time()),
            }
        });
        Gathered {
            received,
            done: Some(done),
        }
    }

    /// Gives waiting plans to a worker, one after the other, until all plans are done or the worker is lost.
    async fn work(&self, url: &Url, queue: &Queue, complete: &mpsc::Sender<Vec<RecordBatch>>) -> Result<()> {
        let held = MemoryConsumer::new("anonsql rows of workers").register(self.context.memory_pool());
        while let Some(next) = queue.next().await {
            let (plan, attempts) = next;
            held.free();
            match self.execute(url, Arc::clone(&plan), &held).await {
                Ok(batches) => {
                    queue.done();
                    if complete.send(batches).await.is_err() {
                        return Ok(());
                    }
                }
                Err(Some(told)) => return Err(told),
                Err(None) => {
                    queue.again(plan, attempts + 1)?;
                    if greet(self.channels.as_ref(), std::slice::from_ref(url)).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Gives each worker one of the plans that make rows, and over the rows that it fetches from all of them the plan that
    /// `take` returns for its number. Fails with `None` if a worker is lost.
    pub(crate) async fn shuffle(
        &self,
        members: &[Member],
        makes: Vec<Arc<dyn ExecutionPlan>>,
        schema: &SchemaRef,
        take: impl Fn(usize, Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>>,
    ) -> Result<Shuffle, Option<Error>> {
        let failed = |e: DataFusionError| told(&e);
        let run = Uuid::new_v4().to_string();
        let key = |number: usize| Key {
            run: run.clone(),
            number,
        };
        let (mut known, mut from) = (vec![], vec![]);
        for (number, (plan, member)) in makes.into_iter().zip(members).enumerate() {
            known.push(self.give(&member.url, &key(number), plan).await.map_err(failed)?);
            from.push((member.url.clone(), key(number)));
        }
        let mut answers = vec![];
        for (partition, member) in members.iter().enumerate() {
            let fetch = Fetch {
                from: from.clone(),
                partition,
                fetched: Fetched::default(),
            };
            let rows = Arc::new(OperatorExec::source(Arc::new(fetch), Arc::clone(schema)));
            let plan = take(partition, rows).map_err(Some)?;
            if plan.output_partitioning().partition_count() != 1 {
                return Err(Some(Error::internal("a part of a shuffle with several partitions")));
            }
            let key = key(from.len() + partition);
            known.push(self.give(&member.url, &key, plan).await.map_err(failed)?);
            let (own, url) = (self.clone(), member.url.clone());
            let rows = async move { own.take(&url, key).await };
            answers.push(stream::once(rows).try_flatten().boxed());
        }
        Ok(Shuffle {
            answers: stream::select_all(answers).boxed(),
            _known: known,
        })
    }
}

/// The rows of plans that workers execute.
pub(crate) struct Gathered {
    received: mpsc::Receiver<Vec<RecordBatch>>,
    done: Option<SpawnedTask<Result<()>>>,
}

impl Gathered {
    /// Returns the rows of the next plan; `None` once those of all plans were returned.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<RecordBatch>>> {
        if let Some(batches) = self.received.recv().await {
            return Ok(Some(batches));
        }
        if let Some(done) = self.done.take() {
            done.join()
                .await
                .map_err(|e| Error::from_task("a task of the cluster", &e))??;
        }
        Ok(None)
    }
}

/// Plans that wait for a worker.
struct Queue {
    waiting: Mutex<VecDeque<(Arc<dyn ExecutionPlan>, usize)>>,
    /// The plans that are not done, those that a worker has included.
    left: Mutex<usize>,
}

/// How long a worker without a plan waits before it looks whether another worker lost one.
const LOOK: Duration = Duration::from_millis(20);

impl Queue {
    /// Returns the next plan, with the number of its attempts so far; `None` once all are done.
    async fn next(&self) -> Option<(Arc<dyn ExecutionPlan>, usize)> {
        loop {
            if let Some(next) = self.waiting.lock().pop_front() {
                return Some(next);
            }
            if *self.left.lock() == 0 {
                return None;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    fn done(&self) {
        *self.left.lock() -= 1;
    }

    fn again(&self, plan: Arc<dyn ExecutionPlan>, attempts: usize) -> Result<()> {
        if attempts >= ATTEMPTS {
            return Err(lost_each_time());
        }
        self.waiting.lock().push_back((plan, attempts));
        Ok(())
    }
}

/// Returns the error of a task whose workers were lost.
pub(crate) fn lost_each_time() -> Error {
    Error::io(
        format!("the workers that had a part of the statement were lost {ATTEMPTS} times"),
        std::io::ErrorKind::ConnectionAborted.into(),
    )
    .advised("nothing was released; look at what the workers said, and at their memory")
}
