//! Tasks: plans that other machines execute for the driver.

use super::codec::Codec;
use super::engine::{Engine, MemberRows, Shuffle};
use super::greet::Member;
use super::told::{Trouble, TroubleReporter};
use super::workers::ClusterWorkers;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::settings::{Addresses, Settings};
use arrow::record_batch::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::SessionState;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use url::Url;

/// The maximum number of attempts for a task before the statement fails.
pub(crate) const ATTEMPTS: usize = 4;

/// The cluster of a session: the machines that execute its tasks.
#[derive(Clone)]
pub(crate) struct Cluster {
    engine: Arc<dyn Engine>,
    memory: Arc<dyn MemoryPool>,
    told: Option<Arc<TroubleReporter>>,
}

impl Cluster {
    /// Adds the codec that serializes plans for workers to the configuration of a session.
    pub(crate) fn enable(config: &mut SessionConfig, codec: Codec) {
        config.set_extension(Arc::new(codec));
    }

    /// Returns the cluster that the setting `anonsql.cluster` names; `None` if the setting is not
    /// set.
    pub(crate) fn of(state: &SessionState) -> Result<Option<Self>> {
        let Some(addresses) = Settings::of(state.config().options()).cluster else {
            return Ok(None);
        };
        let addresses: Addresses = addresses.parse()?;
        let codec = Codec::of(state.config())?;
        let told = state.config().get_extension::<TroubleReporter>();
        if let Some(told) = told.as_ref().filter(|_| addresses.scheduler().is_none()) {
            let named = addresses.all().iter().filter(|address| !address.is_looked_up);
            told.expect(named.map(|address| address.url.clone()));
        }
        let engine: Arc<dyn Engine> = match addresses.scheduler() {
            Some(scheduler) => super::ballista::engine(state, scheduler, codec)?,
            None => Arc::new(ClusterWorkers::of(state, addresses, codec)?),
        };
        Ok(Some(Self {
            engine,
            memory: Arc::clone(&state.runtime_env().memory_pool),
            told,
        }))
    }

    /// Reports a problem of a worker to the observer of the statement. The same problem of a worker
    /// is reported only once.
    pub(crate) fn tell(&self, worker: &str, trouble: Trouble) {
        if let Some(told) = &self.told {
            told.tell(worker, trouble);
        }
    }

    /// Reports that at least one member of `before` was lost. The lost members are those that are
    /// missing from `now`. If none is missing, the report names no worker.
    pub(crate) fn tell_lost(&self, before: &[Member], now: &[Member]) {
        let gone = |member: &&Member| !now.iter().any(|other| other.url == member.url);
        let mut gone = before.iter().filter(gone).peekable();
        if gone.peek().is_none() {
            self.tell("a worker", Trouble::Lost);
        }
        gone.for_each(|member| self.tell(member.url.as_str(), Trouble::Lost));
    }

    /// Returns the members that respond. Reports the expected workers that do not respond.
    pub(crate) async fn greet(&self) -> Result<Vec<Member>> {
        let members = self.engine.greet().await?;
        if let Some(told) = &self.told {
            told.answered(&members);
        }
        Ok(members)
    }

    /// Returns those of `members` that still respond, and reports the others as lost. If no member
    /// responds, returns all workers of the cluster that respond.
    pub(crate) async fn living(&self, members: &[Member]) -> Result<Vec<Member>> {
        let living = match self.engine.living(members).await {
            Err(e) if e.kind() == ErrorKind::Unavailable => return self.greet().await,
            living => living?,
        };
        let gone = |member: &&Member| !living.iter().any(|other| other.url == member.url);
        let gone = members.iter().filter(gone);
        gone.for_each(|member| self.tell(member.url.as_str(), Trouble::Lost));
        Ok(living)
    }

    /// Returns the number of parts into which the rows of a shuffle among these members are
    /// divided.
    pub(crate) fn parts(&self, members: &[Member]) -> usize {
        self.engine.parts(members)
    }

    /// Returns the rows of a shuffle. The error `None` means that a machine was lost. `attempts` is
    /// the number of earlier attempts.
    pub(crate) async fn shuffle(
        &self,
        members: &[Member],
        shuffle: Shuffle<'_>,
        attempts: usize,
    ) -> Result<MemberRows, Option<Error>> {
        self.engine.shuffle(members, shuffle, attempts).await
    }

    /// Executes a single-partition plan on `member`, and returns all rows of the plan. `held`
    /// reserves memory for the rows. The error `None` means that a machine was lost.
    async fn execute(
        &self,
        member: &Member,
        (plan, attempts): (Arc<dyn ExecutionPlan>, usize),
        held: &MemoryReservation,
    ) -> Result<Vec<RecordBatch>, Option<Error>> {
        let mut rows = self.engine.rows(member, plan, attempts).await?;
        let mut batches = vec![];
        while let Some(batch) = rows.next().await? {
            if batch.num_rows() > 0 {
                let bytes = batch.get_array_memory_size();
                held.try_grow(bytes).map_err(|e| Some(Error::from_data(e)))?;
                batches.push(batch);
            }
        }
        Ok(batches)
    }

    /// Executes single-partition plans on workers. The rows of a plan arrive together once the plan
    /// is complete; the plans complete in any order. If a worker is lost, its plan is executed
    /// again: by another worker, or by the same one if it still responds and there is no other.
    pub(crate) fn gather(&self, members: &[Member], plans: Vec<Arc<dyn ExecutionPlan>>) -> Gathered {
        let queue = Arc::new(Queue::of(members, plans));
        let (complete, received) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        for member in members {
            for _ in 0..member.threads.get() {
                let (own, queue, complete) = (self.clone(), Arc::clone(&queue), complete.clone());
                let member = member.clone();
                tasks.spawn(async move {
                    let ended = own.work(&member, &queue, &complete).await;
                    queue.leave(&member.url);
                    ended
                });
            }
        }
        let done = SpawnedTask::spawn(async move {
            // After the first error, the remaining tasks are dropped, so no more rows arrive.
            while let Some(ended) = tasks.join_next().await {
                ended.map_err(|e| Error::from_task("a task of the cluster", &e))??;
            }
            match *queue.left.lock() {
                0 => Ok(()),
                _ => Err(left_undone()),
            }
        });
        Gathered {
            received,
            done: Some(done),
        }
    }

    /// Executes waiting plans on `member`, one after the other, until all plans are done or the
    /// worker is lost.
    async fn work(&self, member: &Member, queue: &Queue, complete: &mpsc::Sender<Vec<RecordBatch>>) -> Result<()> {
        let held = MemoryConsumer::new("anonsql rows of workers").register(&self.memory);
        while let Some(mut next) = queue.next(&member.url).await {
            held.free();
            let plan = (Arc::clone(&next.plan), next.lost_by.len());
            match self.execute(member, plan, &held).await {
                Ok(batches) => {
                    queue.done();
                    if complete.send(batches).await.is_err() {
                        return Ok(());
                    }
                }
                Err(Some(told)) => return Err(told),
                Err(None) => {
                    self.tell(member.url.as_str(), Trouble::Lost);
                    next.lost_by.push(member.url.clone());
                    queue.again(next)?;
                    if self.engine.living(std::slice::from_ref(member)).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}

/// The rows of plans that workers execute. All rows of a plan arrive together.
pub(crate) struct Gathered {
    received: mpsc::Receiver<Vec<RecordBatch>>,
    done: Option<SpawnedTask<Result<()>>>,
}

impl Gathered {
    /// Returns the rows of the next complete plan; `None` after the last plan.
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

/// A plan that waits for a worker.
struct WaitingPlan {
    plan: Arc<dyn ExecutionPlan>,
    /// The workers that were lost with the plan, one for each earlier attempt to execute it.
    lost_by: Vec<Url>,
}

/// A queue of plans that wait for a worker.
struct Queue {
    waiting: Mutex<VecDeque<WaitingPlan>>,
    /// The number of plans that are not completed, including plans that are being executed.
    left: Mutex<usize>,
    /// The workers that take plans, each with the number of its threads that do.
    working: Mutex<BTreeMap<Url, usize>>,
}

/// The interval at which an idle worker checks whether the plan of a lost worker was put back in
/// the queue.
const LOOK: Duration = Duration::from_millis(20);

impl Queue {
    /// Returns the queue of `plans` for all threads of `members`.
    fn of(members: &[Member], plans: Vec<Arc<dyn ExecutionPlan>>) -> Self {
        let left = plans.len();
        let waiting = plans.into_iter().map(|plan| WaitingPlan { plan, lost_by: vec![] });
        let working = members.iter().map(|member| (member.url.clone(), member.threads.get()));
        Self {
            waiting: Mutex::new(waiting.collect()),
            left: Mutex::new(left),
            working: Mutex::new(working.collect()),
        }
    }

    /// Waits for the next plan for `worker`, and returns it. Returns `None` once all plans are
    /// done.
    async fn next(&self, worker: &Url) -> Option<WaitingPlan> {
        loop {
            if let Some(next) = self.take(worker) {
                return Some(next);
            }
            if *self.left.lock() == 0 {
                return None;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Returns the first waiting plan for `worker`. A plan that was lost by `worker` is for another
    /// worker, as long as one takes plans that has not lost this plan as well.
    fn take(&self, worker: &Url) -> Option<WaitingPlan> {
        let (working, mut waiting) = (self.working.lock(), self.waiting.lock());
        let is_for = |plan: &WaitingPlan| {
            let has_lost = |url: &Url| plan.lost_by.contains(url);
            !has_lost(worker) || working.keys().all(has_lost)
        };
        let first = waiting.iter().position(is_for)?;
        waiting.remove(first)
    }

    /// Removes a thread of `worker`, which takes no more plans.
    fn leave(&self, worker: &Url) {
        let mut working = self.working.lock();
        let Some(threads) = working.get_mut(worker) else {
            return;
        };
        *threads -= 1;
        if *threads == 0 {
            working.remove(worker);
        }
    }

    fn done(&self) {
        *self.left.lock() -= 1;
    }

    /// Puts a plan back after an attempt that was lost. Fails after the last attempt.
    fn again(&self, plan: WaitingPlan) -> Result<()> {
        if plan.lost_by.len() >= ATTEMPTS {
            return Err(left_undone());
        }
        self.waiting.lock().push_back(plan);
        Ok(())
    }
}

/// Returns the error for a part of the statement that no worker completed correctly.
pub(crate) fn left_undone() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "a part of the statement was not completed: its workers were lost, could not read their files, or returned \
        wrong results",
    )
    .advised("nothing was released; check the messages and the memory of the workers")
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Int64Array};
    use arrow::datatypes::Schema;
    use datafusion::execution::memory_pool::UnboundedMemoryPool;
    use datafusion::physical_plan::empty::EmptyExec;
    use futures::StreamExt;
    use futures::future::BoxFuture;
    use futures::stream;
    use std::num::NonZeroUsize;

    /// A worker that is slow, and completes every plan.
    const SLOW: &str = "http://slow:1/";
    /// A worker that responds, and is lost with every plan.
    const BROKEN: &str = "http://broken:1/";
    /// A worker that responds, and is lost with every plan that it is the first to attempt.
    const ONCE: &str = "http://once:1/";
    /// A worker that is lost with its first plan, and never responds again.
    const GONE: &str = "http://gone:1/";

    /// Records each lost attempt.
    #[derive(Default)]
    struct Fallible {
        lost: Mutex<Vec<String>>,
    }

    impl Engine for Fallible {
        fn greet(&self) -> BoxFuture<'_, Result<Vec<Member>>> {
            Box::pin(async { Ok(vec![]) })
        }

        fn living<'a>(&'a self, members: &'a [Member]) -> BoxFuture<'a, Result<Vec<Member>>> {
            Box::pin(async move {
                match members.iter().any(|member| member.url.as_str() == GONE) {
                    true => Err(left_undone()),
                    false => Ok(members.to_vec()),
                }
            })
        }

        fn parts(&self, members: &[Member]) -> usize {
            members.len()
        }

        fn rows<'a>(
            &'a self,
            member: &'a Member,
            _: Arc<dyn ExecutionPlan>,
            attempts: usize,
        ) -> BoxFuture<'a, Result<MemberRows, Option<Error>>> {
            Box::pin(async move {
                let url = member.url.as_str();
                if url == BROKEN || url == GONE || url == ONCE && attempts == 0 {
                    self.lost.lock().push(url.to_string());
                    return Err(None);
                }
                tokio::time::sleep(LOOK * 3).await;
                let values: ArrayRef = Arc::new(Int64Array::from(vec![1]));
                let batch = RecordBatch::try_from_iter([("x", values)]).unwrap();
                Ok(MemberRows::new(stream::iter([Ok(batch)]).boxed(), ()))
            })
        }

        fn shuffle<'a>(
            &'a self,
            _: &'a [Member],
            _: Shuffle<'a>,
            _: usize,
        ) -> BoxFuture<'a, Result<MemberRows, Option<Error>>> {
            Box::pin(async { Err(None) })
        }
    }

    /// Executes three plans on these workers. Returns the number of plans whose rows arrived, and
    /// the workers of the lost attempts in alphabetical order.
    async fn gathered(workers: &[&str]) -> Result<(usize, Vec<String>)> {
        let members = workers.iter().map(|url| Member {
            url: Url::parse(url).unwrap(),
            threads: NonZeroUsize::MIN,
        });
        let members: Vec<Member> = members.collect();
        let engine = Arc::new(Fallible::default());
        let cluster = Cluster {
            engine: Arc::clone(&engine) as _,
            memory: Arc::new(UnboundedMemoryPool::default()),
            told: None,
        };
        let plan = || Arc::new(EmptyExec::new(Arc::new(Schema::empty()))) as Arc<dyn ExecutionPlan>;
        let mut gathered = cluster.gather(&members, vec![plan(), plan(), plan()]);
        let mut complete = 0;
        while gathered.next().await?.is_some() {
            complete += 1;
        }
        let mut lost = engine.lost.lock().clone();
        lost.sort();
        Ok((complete, lost))
    }

    /// A worker that responds may lose a plan once, and not again while another worker is busy.
    #[tokio::test]
    async fn a_lost_plan_is_for_another_worker() {
        let (complete, lost) = gathered(&[BROKEN, SLOW]).await.unwrap();
        assert_eq!(complete, 3);
        assert!(lost.len() <= 3 && lost.iter().all(|url| url == BROKEN), "{lost:?}");
    }

    /// If there is no other worker, or if it no longer responds, the same worker executes the plan
    /// again.
    #[tokio::test]
    async fn a_lost_plan_is_for_the_same_worker_if_no_other_responds() {
        assert_eq!(gathered(&[ONCE]).await.unwrap(), (3, vec![ONCE.to_string(); 3]));
        let (complete, lost) = gathered(&[ONCE, GONE]).await.unwrap();
        assert_eq!(complete, 3);
        assert!(
            lost.contains(&GONE.to_string()) && lost.contains(&ONCE.to_string()),
            "{lost:?}"
        );
        assert!(gathered(&[BROKEN]).await.is_err());
    }
}
