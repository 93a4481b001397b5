//! The engine of `anonsql worker`. The driver assigns the tasks and uses the protocol of
//! `datafusion-distributed`.

use super::answer::{TaskOutput, told};
use super::channels::{Channels, Connect};
use super::codec::Codec;
use super::engine::{Engine, MemberRows, PATIENCE, Shuffle};
use super::fetch::{Fetch, Fetched};
use super::greet::{Member, found, greet};
use super::key::{TaskIdentifier, headers, partition_of};
use super::stores::headers_of;
use super::tls::Tls;
use crate::base::error::{Error, Result};
use crate::base::operator::OperatorExec;
use crate::base::settings::{Addresses, Settings};
use arrow::record_batch::RecordBatch;
use datafusion::error::{DataFusionError, Result as DfResult};
use datafusion::execution::{SessionState, SessionStateBuilder, TaskContext};
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, Partitioning};
use datafusion_distributed::{
    CoordinatorToWorkerMsg, DistributedExt, MaybeEncoded, SetPlanRequest, WorkerToCoordinatorMsg,
};
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use http::HeaderMap;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::time::timeout;
use url::Url;
use uuid::Uuid;

/// A task on a worker. Dropping this value cancels the task.
struct Known {
    _ends: tokio::sync::oneshot::Sender<()>,
    _answers: BoxStream<'static, DfResult<WorkerToCoordinatorMsg>>,
}

/// The workers of a cluster.
#[derive(Clone)]
pub(super) struct ClusterWorkers {
    addresses: Addresses,
    channels: Arc<Connect>,
    context: Arc<TaskContext>,
    /// The headers of requests that send plans.
    headers: HeaderMap,
}

impl ClusterWorkers {
    /// Returns the workers at `addresses`. Fails with `ErrorKind::Usage` if an address needs a
    /// certificate and the session has none.
    pub(super) fn of(state: &SessionState, addresses: Addresses, codec: Codec) -> Result<Self> {
        let settings = Settings::of(state.config().options());
        let tls = settings
            .cluster_tls
            .as_deref()
            .map(Path::new)
            .map(Tls::read)
            .transpose()?;
        if tls.is_none() && addresses.are_encrypted() {
            return Err(Error::usage(
                "workers at https:// need a certificate of this side; write --cluster-tls FOLDER, or SET \
                anonsql.cluster_tls = 'folder', for a folder with ca.crt, tls.crt and tls.key",
            ));
        }
        let channels: Arc<Connect> = Arc::new(Channels::new(tls));
        let own = SessionStateBuilder::new_from_existing(state.clone())
            .with_distributed_user_codec(codec)
            .with_distributed_channel_resolver(Arc::clone(&channels))
            .build();
        Ok(Self {
            addresses,
            channels,
            context: own.task_ctx(),
            headers: headers_of(&settings.s3)?,
        })
    }

    /// Sends a plan to a worker as the task `key`.
    async fn give(&self, url: &Url, key: &TaskIdentifier, plan: Arc<dyn ExecutionPlan>) -> DfResult<Known> {
        let (ends, ended) = tokio::sync::oneshot::channel::<()>();
        // The request stream stays open, without messages, until the task is dropped.
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

    /// Requests the rows of a task from its worker.
    async fn take(&self, url: &Url, key: TaskIdentifier) -> DfResult<BoxStream<'static, DfResult<RecordBatch>>> {
        let mut client = self.channels.get_worker_client_for_url(url).await?;
        let request = partition_of(key, 0)?;
        let metrics = ExecutionPlanMetricsSet::new();
        let rows = client.execute_task(headers(), request, metrics, &self.context).await?;
        Ok(stream::iter(rows).flatten().boxed())
    }
}

impl Engine for ClusterWorkers {
    fn greet(&self) -> BoxFuture<'_, Result<Vec<Member>>> {
        Box::pin(async move { greet(self.channels.as_ref(), &found(&self.addresses).await?).await })
    }

    fn living<'a>(&'a self, members: &'a [Member]) -> BoxFuture<'a, Result<Vec<Member>>> {
        Box::pin(async move {
            let urls: Vec<Url> = members.iter().map(|member| member.url.clone()).collect();
            greet(self.channels.as_ref(), &urls).await
        })
    }

    fn parts(&self, members: &[Member]) -> usize {
        members.len()
    }

    fn rows<'a>(
        &'a self,
        member: &'a Member,
        plan: Arc<dyn ExecutionPlan>,
        _: usize,
    ) -> BoxFuture<'a, Result<MemberRows, Option<Error>>> {
        Box::pin(async move {
            let key = TaskIdentifier {
                run: Uuid::new_v4().to_string(),
                number: 0,
            };
            let failed = |e: DataFusionError| told(&e);
            let known = self.give(&member.url, &key, plan).await.map_err(failed)?;
            let rows = self.take(&member.url, key).await.map_err(failed)?;
            Ok(MemberRows::new(rows, known))
        })
    }

    /// Sends one of the plans that produce rows to each worker. Then sends each worker the plan for
    /// its part of the shuffle, whose source fetches rows from all workers.
    fn shuffle<'a>(
        &'a self,
        members: &'a [Member],
        shuffle: Shuffle<'a>,
        _: usize,
    ) -> BoxFuture<'a, Result<MemberRows, Option<Error>>> {
        Box::pin(async move {
            let failed = |e: DataFusionError| told(&e);
            let run = Uuid::new_v4().to_string();
            let key = |number: usize| TaskIdentifier {
                run: run.clone(),
                number,
            };
            let (mut known, mut from, mut schema) = (vec![], vec![], None);
            for (number, (make, member)) in shuffle.makes.into_iter().zip(members).enumerate() {
                schema = Some(make.schema());
                let by = Partitioning::Hash(vec![Arc::clone(&shuffle.by)], shuffle.parts);
                let dealt = RepartitionExec::try_new(make, by).map_err(failed)?;
                // The protocol would mistake a repartition at the root of a task for its own
                // repartition, and remove it.
                let plan = Arc::new(OperatorExec::looking(Arc::new(dealt), TaskOutput));
                known.push(self.give(&member.url, &key(number), plan).await.map_err(failed)?);
                from.push((member.url.clone(), key(number)));
            }
            let schema = schema.ok_or_else(|| Some(Error::internal("a shuffle of nothing")))?;
            let mut answers = vec![];
            for (partition, member) in members.iter().enumerate() {
                let fetch = Fetch {
                    from: from.clone(),
                    partition,
                    fetched: Fetched::default(),
                };
                let rows = Arc::new(OperatorExec::source(Arc::new(fetch), Arc::clone(&schema)));
                let plan = (shuffle.take)(Some(partition), rows).map_err(Some)?;
                if plan.output_partitioning().partition_count() != 1 {
                    return Err(Some(Error::internal("a part of a shuffle with several partitions")));
                }
                let key = key(from.len() + partition);
                known.push(self.give(&member.url, &key, plan).await.map_err(failed)?);
                let (own, url) = (self.clone(), member.url.clone());
                let rows = async move { own.take(&url, key).await };
                answers.push(stream::once(rows).try_flatten().boxed());
            }
            Ok(MemberRows::new(stream::select_all(answers).boxed(), known))
        })
    }
}
