//! The frequency sets of one table: the base set, and a bounded cache of the sets of evaluated
//! nodes.

use super::base::{Base, BaseSet};
use super::cache::Cache;
use super::frequency_set::FrequencySet;
use super::node::Planned;
use super::slices::Means;
use super::spilled::{Demand, NodeGrouping, Spilled};
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::{Pool, check_cancelled, map};
use crate::base::settings::{NodeExecution, Settings};
use crate::base::spill::SpillSpace;
use crate::method::key::partitioned::bytes_to_group;
use crate::method::lattice::Node;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use parking_lot::{Condvar, Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Computes the frequency set of any node from the nearest available set.
#[derive(Debug)]
pub struct FrequencySets {
    base: Arc<Base>,
    context: Arc<TaskContext>,
    pool: Pool,
    /// The executor that computes nodes with DataFusion; `None` unless the session's settings
    /// choose it.
    planned: Option<Box<Planned>>,
    cache: RwLock<Cache>,
    evaluated: AtomicU64,
    rolled_up: AtomicU64,
    cached: AtomicU64,
    rows_read: AtomicU64,
    /// The number of nodes that are currently being grouped. `room_left` is notified when the
    /// grouping of a node is done.
    grouping: Mutex<usize>,
    room_left: Condvar,
    /// The lock is held exclusively while a node is grouped from spill files, because the grouping
    /// uses all threads and the whole memory limit.
    computing: RwLock<()>,
}

/// The result of a request for a node.
#[derive(Debug, Clone)]
pub enum NodeAnswer {
    /// The classes of the node.
    Classes(Arc<FrequencySet>),
    /// The node does not meet the demand: the number of rows in classes that are too small exceeds
    /// the limit.
    Fails {
        /// The approximate number of rows in classes that are too small, extrapolated from a part
        /// of the classes. It exceeds the limit.
        suppressed: u64,
    },
}

impl NodeAnswer {
    /// Returns the classes. Fails with `ErrorKind::Internal` if the node does not meet its demand,
    /// which cannot happen for a node that was requested without one.
    pub(crate) fn classes(self) -> Result<Arc<FrequencySet>> {
        match self {
            Self::Classes(set) => Ok(set),
            Self::Fails { .. } => Err(Error::internal("a node without a demand does not meet it")),
        }
    }
}

/// The behaviour if the memory or the threads for a node are in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Otherwise {
    /// Wait until the memory and the threads are free. Only a thread outside the pool may wait.
    Wait,
    /// Defer the node. Tasks on the pool must not wait.
    PutOff,
}

/// Counters of the work done to compute frequency sets.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct SetCounters {
    /// The number of sets computed.
    pub evaluated: u64,
    /// The number of sets that were computed from a cached set instead of the base set.
    pub rolled_up: u64,
    /// The number of sets returned from the cache.
    pub cached: u64,
    /// The number of classes that were read as input.
    pub rows_read: u64,
}

impl FrequencySets {
    /// Creates the frequency sets over `base`, with the memory and the threads of `context`.
    /// Evaluated nodes are cached in at most `limit` bytes. Fails with `ErrorKind::Resources` if
    /// the base set does not fit in the memory limit.
    pub fn new(base: Arc<Base>, context: Arc<TaskContext>, limit: usize) -> Result<Self> {
        let pool = context.memory_pool();
        let base_set = MemoryConsumer::new("anonsql base frequency set").register(pool);
        let bytes = base.held().map_or(0, |set| set.bytes());
        base_set.try_resize(bytes).map_err(|_| {
            Error::new(
                ErrorKind::Resources,
                format!(
                    "the base frequency set has {} distinct combinations and does not fit the memory limit; raise \
                     --memory-limit, name fewer quasi-identifiers, or coarsen the finest of them in a query",
                    base.combinations()
                ),
            )
        })?;
        let reservation = MemoryConsumer::new("anonsql frequency set cache").register(pool);
        // The base set lives as long as this value, so its memory is added to the reservation of
        // the cache.
        reservation.grow(base_set.free());
        let planned = match Settings::of(context.session_config().options()).node_execution {
            NodeExecution::Fused => None,
            NodeExecution::DataFusion => Some(Box::new(Planned::new(&context))),
        };
        Ok(Self {
            base,
            pool: Pool::of(context.session_config()),
            context,
            planned,
            cache: RwLock::new(Cache::new(limit, reservation)),
            evaluated: AtomicU64::new(0),
            rolled_up: AtomicU64::new(0),
            cached: AtomicU64::new(0),
            rows_read: AtomicU64::new(0),
            grouping: Mutex::new(0),
            room_left: Condvar::new(),
            computing: RwLock::new(()),
        })
    }

    /// Returns the frequency sets over a coarser base set, which has at most about `most` classes
    /// and is not above the node `top`. Returns `None` if the current base set already has at most
    /// about `most` classes. `weights` contains the factor by which the loss of each column is
    /// multiplied.
    pub fn coarsened(&self, top: &Node, weights: &[f64], most: usize) -> Result<Option<Self>> {
        let (base, spill_space) = (Base::clone(&self.base), SpillSpace::of(&self.context));
        let base = self.pool.install(|| base.coarsened(top, weights, most, &spill_space))?;
        match base.bottom() == self.base.bottom() {
            true => Ok(None),
            // Partitioning a table requests no other node, so no node is cached.
            false => Self::new(Arc::new(base), Arc::clone(&self.context), 0).map(Some),
        }
    }

    /// Returns the pool of threads on which nodes are grouped.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Returns the base frequency set of the table.
    pub fn base(&self) -> &Arc<Base> {
        &self.base
    }

    /// Returns the frequency set of `node`.
    pub fn get(&self, node: &Node) -> Result<Arc<FrequencySet>> {
        self.wait_for(node, None)?.classes()
    }

    /// Returns the frequency set of `node`. Returns [`NodeAnswer::Fails`] instead if a partial
    /// computation proves that the node does not meet the demand.
    pub fn get_if(&self, node: &Node, demand: Demand) -> Result<NodeAnswer> {
        self.wait_for(node, Some(demand))
    }

    /// Applies `f` to the result for each of `nodes`, and returns the results of `f` in the order
    /// of `nodes`. The threads of the pool process several nodes at a time, as long as these nodes
    /// fit in memory together. A node that does not fit is grouped later by all threads together.
    /// `f` runs on the pool, and must not request another node.
    pub fn each<T: Send>(
        &self,
        nodes: &[Node],
        demand: Option<Demand>,
        f: impl Fn(&Node, NodeAnswer) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let alone = |node: &Node| f(node, self.wait_for(node, demand)?);
        if self.pool.threads() < 2 {
            return nodes.iter().map(alone).collect();
        }
        let mut found: Vec<Option<Result<T>>> = nodes.iter().map(|_| None).collect();
        let mut open: Vec<usize> = (0..nodes.len()).collect();
        while let Some(first) = open.first().copied() {
            for (i, answer) in self.side_by_side(&open, nodes, demand, &f) {
                found[i] = Some(answer);
            }
            found[first].get_or_insert_with(|| alone(&nodes[first]));
            open.retain(|i| found[*i].is_none());
        }
        found.into_iter().flatten().collect()
    }

    /// Applies `f` to the results for the nodes with indices in `open`, in parallel. Nodes that
    /// have to be deferred are skipped.
    fn side_by_side<T: Send>(
        &self,
        open: &[usize],
        nodes: &[Node],
        demand: Option<Demand>,
        f: &(impl Fn(&Node, NodeAnswer) -> Result<T> + Sync),
    ) -> Vec<(usize, Result<T>)> {
        let threads = self.pool.threads().min(open.len());
        if threads < 2 {
            return vec![];
        }
        let next = AtomicUsize::new(0);
        let take = |_| {
            let mut done = vec![];
            while let Some(i) = open.get(next.fetch_add(1, Ordering::Relaxed)) {
                match self.answer(&nodes[*i], demand, Otherwise::PutOff).transpose() {
                    Some(answer) => done.push((*i, answer.and_then(|answer| f(&nodes[*i], answer)))),
                    // The other threads use all available memory, and continue with the remaining
                    // nodes.
                    None => break,
                }
            }
            done
        };
        let done = self.pool.install(|| map(threads, take));
        done.into_iter().flatten().collect()
    }

    /// Returns the result for a node. The calling thread may block until the node is computed.
    fn wait_for(&self, node: &Node, demand: Option<Demand>) -> Result<NodeAnswer> {
        let answer = self.answer(node, demand, Otherwise::Wait)?;
        answer.ok_or_else(|| Error::internal("a node that waits was put off"))
    }

    /// Returns the result for a node; `None` if the node was deferred.
    fn answer(&self, node: &Node, demand: Option<Demand>, otherwise: Otherwise) -> Result<Option<NodeAnswer>> {
        check_cancelled()?;
        let base = match &self.base.set {
            BaseSet::Held(set) if set.node() == node => return Ok(Some(NodeAnswer::Classes(Arc::clone(set)))),
            BaseSet::Held(set) => Some(set),
            BaseSet::Spilled(_) => None,
        };
        let nearest = self.cache.read().nearest(node, base);
        if let Some((source, true)) = nearest {
            self.cached.fetch_add(1, Ordering::Relaxed);
            return Ok(Some(NodeAnswer::Classes(source)));
        }
        let answer = match (nearest, &self.base.set) {
            (Some((source, _)), BaseSet::Held(_)) => self.roll_up(&source, node, otherwise)?,
            (None, BaseSet::Held(set)) => self.roll_up(set, node, otherwise)?,
            (None, BaseSet::Spilled(spilled)) => self.group_files(spilled, node, demand, otherwise)?,
            (Some((source, _)), BaseSet::Spilled(spilled)) => match self.roll_up(&source, node, otherwise) {
                // If a roll-up does not fit in memory, the node is grouped from files, in as many
                // passes as necessary.
                Err(e) if e.kind() == ErrorKind::Resources => self.group_files(spilled, node, demand, otherwise)?,
                rolled_up => rolled_up?,
            },
        };
        self.evaluated.fetch_add(u64::from(answer.is_some()), Ordering::Relaxed);
        Ok(answer)
    }

    /// Groups a node from the set of a more specific node. Returns `None` if the node was deferred.
    fn roll_up(&self, source: &Arc<FrequencySet>, node: &Node, otherwise: Otherwise) -> Result<Option<NodeAnswer>> {
        let shared = match otherwise {
            Otherwise::Wait => Some(self.computing.read()),
            Otherwise::PutOff => self.computing.try_read(),
        };
        let (Some(_shared), key_schema) = (shared, &self.base.key_schema) else {
            return Ok(None);
        };
        let set = match &self.planned {
            Some(planned) => planned.roll_up(source, key_schema, node)?,
            None => {
                let Some(_room) = self.room_to_group(source, otherwise)? else {
                    return Ok(None);
                };
                self.pool
                    .install_for(source.len(), || source.roll_up(key_schema, node).0)
            }
        };
        let set = Arc::new(set);
        self.rows_read.fetch_add(source.len() as u64, Ordering::Relaxed);
        let is_base = matches!(&self.base.set, BaseSet::Held(base) if Arc::ptr_eq(base, source));
        self.rolled_up.fetch_add(u64::from(!is_base), Ordering::Relaxed);
        self.remember(&set);
        Ok(Some(NodeAnswer::Classes(set)))
    }

    /// Groups a node from files, for the case that no set in memory can be rolled up to the node.
    /// Returns `None` if the node was deferred.
    fn group_files(
        &self,
        spilled: &Spilled,
        node: &Node,
        demand: Option<Demand>,
        otherwise: Otherwise,
    ) -> Result<Option<NodeAnswer>> {
        if otherwise == Otherwise::PutOff {
            return Ok(None);
        }
        let _alone = self.computing.write();
        self.rows_read.fetch_add(spilled.entries(), Ordering::Relaxed);
        let unmapped = self.base.unmapped_rows;
        let demand = demand.map(|d| Demand {
            limit: d.limit.saturating_sub(unmapped),
            ..d
        });
        let spill_space = SpillSpace::of(&self.context);
        let means = Means {
            spill_space: &spill_space,
            threads: self.pool.threads(),
            class_bytes: (self.base.key_schema.layout().words() + 1) * 8,
        };
        let group = || {
            self.pool
                .install(|| spilled.group(&self.base.key_schema, node, demand, means))
        };
        let mut grouping = group()?;
        if matches!(grouping, NodeGrouping::NoRoom(_)) {
            self.clear();
            grouping = group()?;
        }
        match grouping {
            NodeGrouping::Classes(set) => {
                let set = Arc::new(set);
                self.remember(&set);
                Ok(Some(NodeAnswer::Classes(set)))
            }
            NodeGrouping::Fails(rows) => Ok(Some(NodeAnswer::Fails {
                suppressed: rows + unmapped,
            })),
            NodeGrouping::NoRoom(classes) => Err(no_room(format!("grouping about {classes} classes"))),
        }
    }

    /// Caches a set for more general nodes, if memory is available.
    fn remember(&self, set: &Arc<FrequencySet>) {
        let base = match &self.base.set {
            BaseSet::Held(base) => base.bytes(),
            BaseSet::Spilled(_) => usize::MAX / 4,
        };
        self.cache.write().insert(Arc::clone(set), base);
    }

    /// Reserves the memory that grouping `source` needs in addition to `source` itself. Returns
    /// `None` if the node was deferred. If the memory is in use by other nodes, the node waits or
    /// is deferred, depending on `otherwise`. If the node does not fit alone, the cache is cleared.
    /// Fails with `ErrorKind::Resources` if that is not enough.
    fn room_to_group(&self, source: &FrequencySet, otherwise: Otherwise) -> Result<Option<Room<'_>>> {
        let reservation = MemoryConsumer::new("anonsql node").register(self.context.memory_pool());
        let bytes = bytes_to_group(source.len(), source.words()) + source.bytes();
        let mut grouping = self.grouping.lock();
        while reservation.try_grow(bytes).is_err() {
            match (*grouping, otherwise) {
                (0, _) => (),
                (_, Otherwise::PutOff) => return Ok(None),
                (_, Otherwise::Wait) => {
                    self.room_left.wait(&mut grouping);
                    continue;
                }
            }
            self.clear();
            let granted = reservation.try_grow(bytes);
            granted.map_err(|_| no_room(format!("grouping {} classes", source.len())))?;
            break;
        }
        *grouping += 1;
        Ok(Some(Room {
            sets: self,
            reservation,
        }))
    }

    /// Removes the sets of evaluated nodes from the cache and releases their memory.
    pub fn clear(&self) {
        self.cache.write().clear();
    }

    /// Returns the work done so far.
    pub fn counters(&self) -> SetCounters {
        SetCounters {
            evaluated: self.evaluated.load(Ordering::Relaxed),
            rolled_up: self.rolled_up.load(Ordering::Relaxed),
            cached: self.cached.load(Ordering::Relaxed),
            rows_read: self.rows_read.load(Ordering::Relaxed),
        }
    }
}

fn no_room(what: String) -> Error {
    Error::new(
        ErrorKind::Resources,
        format!(
            "{what} does not fit the memory limit; raise --memory-limit, name fewer quasi-identifiers, or start at coarser \
             levels of the finest of them with LEVELS"
        ),
    )
}

/// The memory reservation of one node during its grouping.
struct Room<'a> {
    sets: &'a FrequencySets,
    reservation: MemoryReservation,
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        self.reservation.free();
        *self.sets.grouping.lock() -= 1;
        self.sets.room_left.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::pool::MANY;
    use crate::data::frequency::testing::{Groups, Row, Table, table};
    use datafusion::execution::memory_pool::GreedyMemoryPool;
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use datafusion::prelude::{SessionConfig, SessionContext};
    use proptest::prelude::*;

    fn context(bytes: usize, threads: usize) -> Arc<TaskContext> {
        let pool = Arc::new(GreedyMemoryPool::new(bytes));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc().unwrap();
        let config = SessionConfig::new().with_target_partitions(threads);
        SessionContext::new_with_config_rt(config, runtime).task_ctx()
    }

    /// Returns the number of bytes that grouping the classes of `base` takes.
    fn one_node(base: &FrequencySet) -> usize {
        bytes_to_group(base.len(), base.words()) + base.bytes()
    }

    /// Checks that two concurrent requests for all of `nodes` get the right classes, even if memory
    /// can hold only one of the nodes at a time.
    fn all_are_answered(base: &Arc<Base>, nodes: &[Node], threads: usize) {
        let held = base.held().unwrap();
        let task = context(held.bytes() + one_node(held), threads);
        let sets = FrequencySets::new(Arc::clone(base), task, 0).unwrap();
        let ask = || sets.each(nodes, None, |_, answer| Ok(answer.classes()?.len())).unwrap();
        let expected: Vec<usize> = nodes
            .iter()
            .map(|n| held.roll_up(&base.key_schema, n).0.len())
            .collect();
        std::thread::scope(|scope| {
            let other = scope.spawn(ask);
            assert_eq!(ask(), expected, "{threads} threads");
            assert_eq!(other.join().unwrap(), expected, "{threads} threads");
        });
        assert_eq!(*sets.grouping.lock(), 0);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn nodes_that_do_not_fit_together_wait(table in table()) {
            let base = Arc::new(table.base());
            let nodes: Vec<Node> = table.lattice().iter().collect();
            [1, 2, 4].into_iter().for_each(|threads| all_are_answered(&base, &nodes, threads));
            let held = base.held().unwrap();
            let tight = FrequencySets::new(Arc::clone(&base), context(held.bytes() + one_node(held) / 2, 2), 0).unwrap();
            if let (Some(top), true) = (nodes.last(), nodes.len() > 1 && base.combinations() as usize > 1) {
                let e = tight.get(top).unwrap_err();
                prop_assert_eq!(e.kind(), ErrorKind::Resources);
            }
        }
    }

    /// The table is so large that the grouping of a node is divided among the threads, which then
    /// wait for each other.
    #[test]
    fn large_nodes_wait_and_are_divided_at_once() {
        let sizes = [64, 64, 32];
        let row = |i: i64| Row::of([i % 64, i / 64 % 64, i / 4096].map(Some).into());
        let table = Table {
            rows: (0..1 << 17).map(row).collect(),
            groups: sizes.map(Groups::flat).into(),
            tree: Groups::flat(2),
            population: vec![],
            per_entity: false,
            texts: false,
        };
        let nodes: Vec<Node> = table.lattice().iter().collect();
        let base = Arc::new(table.bare_base());
        assert!(base.combinations() as usize > MANY);
        [1, 2, 4]
            .into_iter()
            .for_each(|threads| all_are_answered(&base, &nodes, threads));
        let spilled = Arc::new(table.spilled_base(0));
        for threads in [1, 2, 4] {
            let sets = FrequencySets::new(Arc::clone(&spilled), context(1 << 30, threads), 1 << 30).unwrap();
            let found = sets.each(&nodes, None, |node, answer| Ok((node.clone(), answer.classes()?.len())));
            for (node, classes) in found.unwrap() {
                let expected = base.held().unwrap().roll_up(&base.key_schema, &node).0.len();
                assert_eq!(classes, expected, "{node} on {threads} threads");
            }
        }
    }
}
