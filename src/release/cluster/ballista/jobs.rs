//! Jobs: plans that the scheduler distributes to executors, and whose progress the driver watches.

use super::codec::BallistaCodec;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::operator::OperatorExec;
use crate::release::cluster::answer::{TaskOutput, told};
use crate::release::cluster::channels::SILENCE;
use crate::release::cluster::codec::Codec;
use crate::release::cluster::each::{Each, Rest};
use crate::release::cluster::engine::{Engine, MemberRows, Shuffle};
use crate::release::cluster::greet::Member;
use crate::release::cluster::slices::bytes_of;
use arrow::datatypes::Schema;
use arrow::record_batch::RecordBatch;
use ballista_core::client::BallistaClient;
use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, CleanJobDataParams, ExecuteQueryParams, GetJobMetricsParams, GetJobStatusParams, KeyValuePair,
    PartitionLocation, execute_query_result,
};
use ballista_core::version::insert_version_header;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::SessionState;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
use datafusion_proto::physical_plan::AsExecutionPlan;
use datafusion_proto::protobuf::PhysicalPlanNode;
use futures::future::BoxFuture;
use futures::stream;
use futures::{StreamExt, TryStreamExt};
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use tonic::Request;
use tonic::transport::{Channel, Endpoint};
use url::Url;
use uuid::Uuid;

/// The maximum number of single-task jobs that the driver submits at once, and the number of parts
/// of a shuffle. A constant is used because the scheduler assigns tasks to executors but does not
/// report the number of executors.
const AT_ONCE: NonZeroUsize = NonZeroUsize::MIN.saturating_add(7);
/// The minimum and the maximum interval between two requests for the state of a job. The interval
/// grows with the age of the job.
const LOOK: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// The interval at which empty batches report the progress of a job.
const BEAT: Duration = Duration::from_secs(5);
/// The maximum time without progress for the first attempt of a job, in addition to the time that
/// reading its input takes at the rate [`BYTES`]. The time doubles with each further attempt.
const STILL: Duration = Duration::from_secs(20);
/// The assumed minimum rate at which a job reads its input, in bytes per second.
const BYTES: u64 = 16 << 20;
/// The maximum time until an executor responds to a greeting. The executor may be busy with another
/// task.
const THERE: Duration = Duration::from_secs(30);

/// Settings that let an executor give up soon if it cannot fetch the rows of another executor. The
/// driver then tries again.
const FETCHING: [(&str, &str); 2] = [
    ("ballista.client.io_retries_times", "1"),
    ("ballista.client.io_retry_wait_time_ms", "200"),
];

/// The executors behind a scheduler.
#[derive(Clone)]
pub(super) struct Ballista {
    scheduler: Url,
    codec: Codec,
    /// The settings that executors need to open object stores.
    settings: Vec<KeyValuePair>,
    session: String,
}

impl Ballista {
    /// Returns the engine for the executors of a scheduler, with the settings of a session.
    pub(super) fn of(state: &SessionState, scheduler: &Url, codec: Codec) -> Result<Self> {
        let settings = state.config().options().entries().into_iter();
        let settings = settings.filter(|entry| entry.key.starts_with("anonsql.s3."));
        let pair = |key: String, value| KeyValuePair { key, value };
        let once = FETCHING.map(|(key, value)| pair(key.into(), Some(value.into())));
        Ok(Self {
            scheduler: scheduler.clone(),
            codec,
            settings: settings.map(|entry| pair(entry.key, entry.value)).chain(once).collect(),
            session: Uuid::new_v4().to_string(),
        })
    }

    async fn client(&self) -> DfResult<SchedulerGrpcClient<Channel>> {
        let endpoint = Endpoint::from_shared(self.scheduler.to_string()).map_err(lost)?;
        let channel = endpoint
            .connect_timeout(SILENCE)
            .tcp_nodelay(true)
            .connect()
            .await
            .map_err(lost)?;
        let client = SchedulerGrpcClient::new(channel);
        Ok(client
            .max_encoding_message_size(usize::MAX)
            .max_decoding_message_size(usize::MAX))
    }

    /// Submits a plan to the scheduler. `still` is the maximum time without progress.
    async fn submit(&self, plan: Arc<dyn ExecutionPlan>, still: Duration) -> DfResult<Job> {
        let codec = BallistaCodec::reading(self.codec);
        let node = PhysicalPlanNode::try_from_physical_plan(plan, &codec)?;
        let mut bytes = vec![];
        node.try_encode(&mut bytes)?;
        let query = ExecuteQueryParams {
            session_id: self.session.clone(),
            settings: self.settings.clone(),
            operation_id: Uuid::new_v4().to_string(),
            query: Some(Query::PhysicalPlan(bytes)),
        };
        let mut client = self.client().await?;
        let mut request = Request::new(query);
        insert_version_header(request.metadata_mut());
        let answer = client
            .execute_query(request)
            .await
            .map_err(|status| refused(status.message()))?;
        match answer.into_inner().result {
            Some(execute_query_result::Result::Success(known)) => Ok(Job {
                client,
                id: known.job_id,
                still,
                is_over: false,
            }),
            Some(execute_query_result::Result::Failure(_)) | None => Err(refused("no job")),
        }
    }

    /// Executes a plan, and returns its rows. The stream contains empty batches while the plan is
    /// running.
    async fn answers(&self, plan: Arc<dyn ExecutionPlan>, attempts: usize) -> Result<MemberRows, Option<Error>> {
        let schema = plan.schema();
        let read = Duration::from_secs(bytes_of(&plan) / BYTES);
        let still = (STILL + read) * 2u32.saturating_pow(attempts as u32);
        let mut job = self.submit(plan, still).await.map_err(|e| told(&e))?;
        let rows = async move {
            let located = job.done().await;
            let rows = match located {
                Ok(located) => fetched(located).await,
                Err(e) => Err(e),
            };
            job.end().await;
            rows.map(|rows| stream::iter(rows.into_iter().map(Ok)))
        };
        let rows = stream::once(rows).try_flatten().map(Some);
        let rows = rows.chain(stream::once(async { None }));
        let beats = stream::unfold((), |()| async {
            sleep(BEAT).await;
            Some(((), ()))
        });
        let beats = beats.map(move |()| Some(Ok(RecordBatch::new_empty(Arc::clone(&schema)))));
        let all = stream::select(rows, beats).take_while(|next| futures::future::ready(next.is_some()));
        Ok(MemberRows::new(all.filter_map(futures::future::ready).boxed(), ()))
    }

    /// Returns a plan that fails to decode if the executor has another version than the driver.
    fn greeting() -> Arc<dyn ExecutionPlan> {
        let nothing = Arc::new(EmptyExec::new(Arc::new(Schema::empty())));
        Arc::new(OperatorExec::looking(nothing, TaskOutput))
    }
}

impl Engine for Ballista {
    fn greet(&self) -> BoxFuture<'_, Result<Vec<Member>>> {
        Box::pin(async move {
            let nobody = |why| {
                let text = format!("no executor answers through the scheduler {} ({why})", self.scheduler);
                Error::new(ErrorKind::Unavailable, text).advised(
                    "start both: anonsql cluster scheduler --listen 127.0.0.1:50050, and anonsql cluster executor --scheduler \
                     127.0.0.1:50050",
                )
            };
            let there = async {
                let mut job = self.submit(Self::greeting(), THERE).await?;
                let done = job.done().await;
                job.end().await;
                done.map(drop)
            };
            match timeout(THERE, there).await {
                Ok(Ok(())) => Ok(vec![Member {
                    url: self.scheduler.clone(),
                    threads: AT_ONCE,
                }]),
                Ok(Err(e)) => Err(told(&e).unwrap_or_else(|| nobody("it failed"))),
                Err(_) => Err(nobody("no executor took a task")),
            }
        })
    }

    fn living<'a>(&'a self, _: &'a [Member]) -> BoxFuture<'a, Result<Vec<Member>>> {
        Box::pin(async move { self.greet().await })
    }

    fn parts(&self, _: &[Member]) -> usize {
        AT_ONCE.get()
    }

    fn rows<'a>(
        &'a self,
        _: &'a Member,
        plan: Arc<dyn ExecutionPlan>,
        attempts: usize,
    ) -> BoxFuture<'a, Result<MemberRows, Option<Error>>> {
        Box::pin(async move { self.answers(plan, attempts).await })
    }

    fn shuffle<'a>(
        &'a self,
        _: &'a [Member],
        shuffle: Shuffle<'a>,
        attempts: usize,
    ) -> BoxFuture<'a, Result<MemberRows, Option<Error>>> {
        Box::pin(async move {
            let failed = |e: DataFusionError| Some(Error::from(e));
            let makes = UnionExec::try_new(shuffle.makes).map_err(failed)?;
            let makes: Arc<dyn ExecutionPlan> = Arc::new(OperatorExec::looking(makes, TaskOutput));
            let rest = Rest::of(makes.schema());
            let by = Partitioning::Hash(vec![shuffle.by], shuffle.parts);
            let dealt = RepartitionExec::try_new(makes, by).map_err(failed)?;
            let plan = (shuffle.take)(None, rest).map_err(Some)?;
            self.answers(Each::over(Arc::new(dealt), plan, self.codec), attempts)
                .await
        })
    }
}

/// A job that was submitted to the scheduler.
struct Job {
    client: SchedulerGrpcClient<Channel>,
    id: String,
    /// The maximum time without progress.
    still: Duration,
    is_over: bool,
}

impl Job {
    /// Waits until the job is done, and returns the locations of its rows. Fails if the job fails
    /// or makes no progress.
    async fn done(&mut self) -> DfResult<Vec<PartitionLocation>> {
        let begun = Instant::now();
        let (mut before, mut since) = (None, begun);
        loop {
            let [first, last] = LOOK;
            sleep((begun.elapsed() / 10).clamp(first, last)).await;
            let asked = GetJobStatusParams {
                job_id: self.id.clone(),
            };
            let status = timeout(SILENCE, self.client.get_job_status(asked))
                .await
                .map_err(lost)?;
            let status = status
                .map_err(lost)?
                .into_inner()
                .status
                .and_then(|status| status.status);
            let state = match status {
                Some(Status::Successful(done)) => return each_once(done.partition_location),
                Some(Status::Failed(e)) => return Err(refused(&e.error)),
                Some(Status::Running(_)) => 2,
                Some(Status::Queued(_)) => 1,
                None => 0,
            };
            let now = Some((state, self.stages().await));
            if now != before {
                (before, since) = (now, Instant::now());
            } else if since.elapsed() > self.still {
                return Err(DataFusionError::Execution("a job makes no progress".into()));
            }
        }
    }

    /// Returns the number of completed stages; 0 if the scheduler does not respond.
    async fn stages(&mut self) -> usize {
        let asked = GetJobMetricsParams {
            job_id: self.id.clone(),
        };
        let metrics = timeout(SILENCE, self.client.get_job_metrics(asked)).await;
        metrics
            .ok()
            .and_then(Result::ok)
            .map_or(0, |metrics| metrics.into_inner().stages.len())
    }

    /// Cancels the job, and requests the removal of its files.
    async fn end(&mut self) {
        self.is_over = true;
        ended(self.client.clone(), self.id.clone()).await;
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let (false, Ok(runtime)) = (self.is_over, tokio::runtime::Handle::try_current()) {
            runtime.spawn(ended(self.client.clone(), self.id.clone()));
        }
    }
}

async fn ended(mut client: SchedulerGrpcClient<Channel>, job: String) {
    let cancel = client.cancel_job(CancelJobParams { job_id: job.clone() });
    let _ = timeout(SILENCE, cancel).await;
    let clean = client.clean_job_data(CleanJobDataParams {
        job_id: job,
        remove_stage_ids: vec![],
    });
    let _ = timeout(SILENCE, clean).await;
}

/// Checks that each partition of a job occurs once in `places`, and returns `places`. Fails if a
/// partition occurs twice, which may happen after the scheduler repeats a stage.
fn each_once(places: Vec<PartitionLocation>) -> DfResult<Vec<PartitionLocation>> {
    let partition = |place: &PartitionLocation| place.partition_id.as_ref().map(|id| (id.stage_id, id.partition_id));
    let distinct: HashSet<_> = places.iter().map(partition).collect();
    match distinct.len() == places.len() {
        true => Ok(places),
        false => Err(refused("a partition that is there twice")),
    }
}

/// Fetches a job's rows from the executors that produced them.
async fn fetched(located: Vec<PartitionLocation>) -> DfResult<Vec<RecordBatch>> {
    let mut batches = vec![];
    for place in located {
        let layout = place.layout();
        let known = place.executor_meta.zip(place.partition_id);
        let (executor, partition) = known.ok_or_else(|| refused("rows that are nowhere"))?;
        let port = u16::try_from(executor.port).map_err(lost)?;
        let client = BallistaClient::try_new(&executor.host, port, usize::MAX, false, None, 1, 0, 0, 0);
        let mut client = timeout(SILENCE, client).await.map_err(lost)?.map_err(lost)?;
        let partition = partition.into();
        let rows = client.fetch_partition(&executor.id, &partition, place.file_id, layout, true);
        let mut rows = timeout(SILENCE, rows).await.map_err(lost)?.map_err(lost)?;
        while let Some(batch) = timeout(SILENCE, rows.next()).await.map_err(lost)? {
            batches.push(batch?);
        }
    }
    Ok(batches)
}

/// Converts an error message of the scheduler to an error. The message may contain an error of this
/// crate.
fn refused(text: &str) -> DataFusionError {
    // The scheduler formats errors with Rust's `Debug`, which escapes quotes.
    DataFusionError::Execution(text.replace("\\\"", "\""))
}

fn lost(e: impl std::error::Error + Send + Sync + 'static) -> DataFusionError {
    DataFusionError::External(Box::new(e))
}
