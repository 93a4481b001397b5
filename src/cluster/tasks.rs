//! Tasks: plans that other machines execute for the driver.

use super::codec::Codec;
use super::engine::{Answers, Engine, Shuffle};
use super::greet::Member;
use super::told::{Told, Trouble};
use super::workers::Workers;
use crate::error::{Error, ErrorKind, Result};
use crate::settings::{Addresses, Settings};
use arrow::record_batch::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::SessionState;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::SessionConfig;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// How many times a task is given to a worker, the first time included, before the statement fails.
pub(crate) const ATTEMPTS: usize = 4;

/// The cluster of a session.
#[derive(Clone)]
pub(crate) struct Cluster {
    engine: Arc<dyn Engine>,
    memory: Arc<dyn MemoryPool>,
    told: Option<Arc<Told>>,
}

impl Cluster {
    /// Sets the codec with which the plans of a session are written for workers.
    pub(crate) fn enable(config: &mut SessionConfig, codec: Codec) {
        config.set_extension(Arc::new(codec));
    }

    /// Returns the cluster of a session (`anonsql.cluster`), if it has one.
    pub(crate) fn of(state: &SessionState) -> Result<Option<Self>> {
        let Some(addresses) = Settings::of(state.config().options()).cluster else {
            return Ok(None);
        };
        let addresses: Addresses = addresses.parse()?;
        let codec = Codec::of(state.config())?;
        let told = state.config().get_extension::<Told>();
        if let Some(told) = told.as_ref().filter(|_| addresses.scheduler().is_none()) {
            let named = addresses.all().iter().filter(|address| !address.is_looked_up);
            told.expect(named.map(|address| address.url.clone()));
        }
        let engine: Arc<dyn Engine> = match addresses.scheduler() {
            Some(scheduler) => super::ballista::engine(state, scheduler, codec)?,
            None => Arc::new(Workers::of(state, addresses, codec)?),
        };
        Ok(Some(Self {
            engine,
            memory: Arc::clone(&state.runtime_env().memory_pool),
            told,
        }))
    }

    /// Tells the observer of the statement about the trouble of a worker, once.
    pub(crate) fn tell(&self, worker: &str, trouble: Trouble) {
        if let Some(told) = &self.told {
            told.tell(worker, trouble);
        }
    }

    /// Tells the observer about the members of `before` that are not in `now`. One of the members
    /// of `before` was lost.
    pub(crate) fn tell_lost(&self, before: &[Member], now: &[Member]) {
        let gone = |member: &&Member| !now.iter().any(|other| other.url == member.url);
        let mut gone = before.iter().filter(gone).peekable();
        if gone.peek().is_none() {
            self.tell("a worker", Trouble::Lost);
        }
        gone.for_each(|member| self.tell(member.url.as_str(), Trouble::Lost));
    }

    /// Returns the members that answer, and tells the observer about the expected workers that do
    /// not answer.
    pub(crate) async fn greet(&self) -> Result<Vec<Member>> {
        let members = self.engine.greet().await?;
        if let Some(told) = &self.told {
            told.answered(&members);
        }
        Ok(members)
    }

    /// Returns those of these members that still answer. If none of them answers, returns all
    /// workers that answer.
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

    /// Returns the number of parts into which rows are dealt out for these members.
    pub(crate) fn parts(&self, members: &[Member]) -> usize {
        self.engine.parts(members)
    }

    /// Returns the rows of a shuffle. Fails with `None` if a machine was lost.
    pub(crate) async fn shuffle(
        &self,
        members: &[Member],
        shuffle: Shuffle<'_>,
        attempts: usize,
    ) -> Result<Answers, Option<Error>> {
        self.engine.shuffle(members, shuffle, attempts).await
    }

    /// Executes a plan of one partition, and returns all of its rows. The error `None` means that a
    /// machine was lost.
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

    /// Executes plans of one partition each on workers. The rows of a plan are received together
    /// once they are complete; the plans may come in any order. If a worker is lost, its plan is
    /// given to another worker.
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
                let member = member.clone();
                tasks.spawn(async move { own.work(&member, &queue, &complete).await });
            }
        }
        let done = SpawnedTask::spawn(async move {
            // The first error drops the remaining tasks, so nothing more is received.
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

    /// Gives waiting plans to a worker, one after the other, until all plans are done or the worker
    /// is lost.
    async fn work(&self, member: &Member, queue: &Queue, complete: &mpsc::Sender<Vec<RecordBatch>>) -> Result<()> {
        let held = MemoryConsumer::new("anonsql rows of workers").register(&self.memory);
        while let Some(next) = queue.next().await {
            let (plan, attempts) = next;
            held.free();
            match self.execute(member, (Arc::clone(&plan), attempts), &held).await {
                Ok(batches) => {
                    queue.done();
                    if complete.send(batches).await.is_err() {
                        return Ok(());
                    }
                }
                Err(Some(told)) => return Err(told),
                Err(None) => {
                    self.tell(member.url.as_str(), Trouble::Lost);
                    queue.again(plan, attempts + 1)?;
                    if self.engine.living(std::slice::from_ref(member)).await.is_err() {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }
}

/// The rows of plans that workers execute.
pub(crate) struct Gathered {
    received: mpsc::Receiver<Vec<RecordBatch>>,
    done: Option<SpawnedTask<Result<()>>>,
}

impl Gathered {
    /// Returns the rows of the next plan; `None` after the rows of the last plan.
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
    /// The number of plans that are not done, including those that a worker is executing.
    left: Mutex<usize>,
}

/// How often a worker without a plan checks whether another worker lost its plan.
const LOOK: Duration = Duration::from_millis(20);

impl Queue {
    /// Returns the next plan, with the number of its earlier attempts; `None` once all plans are
    /// done.
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
            return Err(left_undone());
        }
        self.waiting.lock().push_back((plan, attempts));
        Ok(())
    }
}

/// Returns the error for a part of the statement that no worker completed as requested.
pub(crate) fn left_undone() -> Error {
    Error::new(
        ErrorKind::Unavailable,
        "a part of the statement is not done: the workers that had it were lost, could not read it, or did something else than \
         they were asked",
    )
    .advised("nothing was released; look at what the workers said, and at their memory")
}
