//! The frequency sets of one table: the base set, and those of nodes evaluated before, bounded in bytes.

use super::base::{Base, BaseSet};
use super::cache::Cache;
use super::frequency_set::FrequencySet;
use super::node::Planned;
use super::spilled::{Demand, Grouping, Means, Spilled};
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::key::partitioned::bytes_to_group;
use crate::frequency::spill::SpillSpace;
use crate::lattice::Node;
use crate::settings::{NodeExecution, Settings};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use parking_lot::{Condvar, Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Answers the frequency set of any node, from the smallest set at hand.
#[derive(Debug)]
pub struct FrequencySets {
    base: Arc<Base>,
    context: Arc<TaskContext>,
    /// DataFusion's execution of nodes, where the session asks for it.
    planned: Option<Box<Planned>>,
    cache: RwLock<Cache>,
    evaluated: AtomicU64,
    rolled_up: AtomicU64,
    cached: AtomicU64,
    rows_read: AtomicU64,
    /// Nodes that are being grouped, and word when one is done.
    grouping: Mutex<usize>,
    room_left: Condvar,
    /// Held exclusively while a node is grouped from spill files, because that uses every thread and the whole memory budget.
    computing: RwLock<()>,
}

/// What was asked about a node.
#[derive(Debug, Clone)]
pub enum NodeAnswer {
    /// Its classes.
    Classes(Arc<FrequencySet>),
    /// It does not meet the demand: more rows than the limit are in classes that are too small.
    Fails {
        /// About how many are: extrapolated from some of the classes, and more than the limit.
        suppressed: u64,
    },
}

/// What was done to answer frequency sets.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct SetCounters {
    /// Sets computed.
    pub evaluated: u64,
    /// Of those, sets computed from a cached set instead of the base set.
    pub rolled_up: u64,
    /// Sets answered from the cache.
    pub cached: u64,
    /// Classes read as input.
    pub rows_read: u64,
}

impl FrequencySets {
    /// The sets over `base`, executed in `context`, keeping no more than `limit` bytes of evaluated nodes.
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
        // The base set lives as long as the sets do; its share is handed to the cache's reservation.
        reservation.grow(base_set.free());
        let planned = match Settings::of(context.session_config().options()).node_execution {
            NodeExecution::Fused => None,
            NodeExecution::DataFusion => Some(Box::new(Planned::new(&context))),
        };
        Ok(Self {
            base,
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

    /// The table.
    pub fn base(&self) -> &Arc<Base> {
        &self.base
    }

    /// The frequency set of `node`.
    pub fn get(&self, node: &Node) -> Result<Arc<FrequencySet>> {
        match self.answer(node, None)? {
            NodeAnswer::Classes(set) => Ok(set),
            NodeAnswer::Fails { .. } => Err(Error::internal("a node without a demand does not meet it")),
        }
    }

    /// The frequency set of `node`; or that it does not meet the demand, where that is found out with less work.
    pub fn get_if(&self, node: &Node, demand: Demand) -> Result<NodeAnswer> {
        self.answer(node, Some(demand))
    }

    fn answer(&self, node: &Node, demand: Option<Demand>) -> Result<NodeAnswer> {
        let base = match &self.base.set {
            BaseSet::Held(set) if set.node() == node => return Ok(NodeAnswer::Classes(Arc::clone(set))),
            BaseSet::Held(set) => Some(set),
            BaseSet::Spilled(_) => None,
        };
        let nearest = self.cache.read().nearest(node, base);
        if let Some((source, true)) = nearest {
            self.cached.fetch_add(1, Ordering::Relaxed);
            return Ok(NodeAnswer::Classes(source));
        }
        self.evaluated.fetch_add(1, Ordering::Relaxed);
        match (nearest, &self.base.set) {
            (Some((source, _)), BaseSet::Held(_)) => {
                self.rolled_up.fetch_add(1, Ordering::Relaxed);
                self.roll_up(&source, node).map(NodeAnswer::Classes)
            }
            (None, BaseSet::Held(set)) => self.roll_up(set, node).map(NodeAnswer::Classes),
            (None, BaseSet::Spilled(spilled)) => self.group_files(spilled, node, demand),
            (Some((source, _)), BaseSet::Spilled(spilled)) => match self.roll_up(&source, node) {
                // Files are grouped in as many passes as it takes.
                Err(e) if e.kind() == ErrorKind::Resources => self.group_files(spilled, node, demand),
                rolled_up => {
                    self.rolled_up.fetch_add(1, Ordering::Relaxed);
                    rolled_up.map(NodeAnswer::Classes)
                }
            },
        }
    }

    /// Groups a node from the set of a more specific one.
    fn roll_up(&self, source: &Arc<FrequencySet>, node: &Node) -> Result<Arc<FrequencySet>> {
        let _shared = self.computing.read();
        let set = Arc::new(match &self.planned {
            Some(planned) => planned.roll_up(source, &self.base.key_schema, node)?,
            None => {
                let _room = self.room_to_group(source)?;
                source.roll_up(&self.base.key_schema, node).0
            }
        });
        self.rows_read.fetch_add(source.len() as u64, Ordering::Relaxed);
        self.remember(&set);
        Ok(set)
    }

    /// Groups a node from files, for want of a set in memory that it can be rolled up from.
    fn group_files(&self, spilled: &Spilled, node: &Node, demand: Option<Demand>) -> Result<NodeAnswer> {
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
            threads: rayon::current_num_threads(),
            class_bytes: (self.base.key_schema.layout().words() + 1) * 8,
        };
        let mut grouping = spilled.group(&self.base.key_schema, node, demand, means)?;
        if matches!(grouping, Grouping::NoRoom(_)) {
            self.clear();
            grouping = spilled.group(&self.base.key_schema, node, demand, means)?;
        }
        match grouping {
            Grouping::Classes(set) => {
                let set = Arc::new(set);
                self.remember(&set);
                Ok(NodeAnswer::Classes(set))
            }
            Grouping::Fails(rows) => Ok(NodeAnswer::Fails {
                suppressed: rows + unmapped,
            }),
            Grouping::NoRoom(classes) => Err(no_room(format!("grouping about {classes} classes"))),
        }
    }

    /// Keeps a set for nodes above it, if there is room.
    fn remember(&self, set: &Arc<FrequencySet>) {
        let base = match &self.base.set {
            BaseSet::Held(base) => base.bytes(),
            BaseSet::Spilled(_) => usize::MAX / 4,
        };
        self.cache.write().insert(Arc::clone(set), base);
    }

    /// Room for what grouping `source` takes beside it. Nodes that do not fit together wait for each other; one that
    /// does not fit alone takes the room of the cache, and is an error when that is not enough.
    fn room_to_group(&self, source: &FrequencySet) -> Result<Room<'_>> {
        let reservation = MemoryConsumer::new("anonsql node").register(self.context.memory_pool());
        let bytes = bytes_to_group(source.len(), source.words()) + source.bytes();
        let mut grouping = self.grouping.lock();
        while reservation.try_grow(bytes).is_err() {
            if *grouping > 0 {
                self.room_left.wait(&mut grouping);
                continue;
            }
            self.clear();
            let granted = reservation.try_grow(bytes);
            granted.map_err(|_| no_room(format!("grouping {} classes", source.len())))?;
            break;
        }
        *grouping += 1;
        Ok(Room {
            sets: self,
            reservation,
        })
    }

    /// Forgets the sets of evaluated nodes, and gives their memory back.
    pub fn clear(&self) {
        self.cache.write().clear();
    }

    /// What was done so far.
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

/// Room for one node that is being grouped.
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
    use crate::frequency::testing::table;
    use datafusion::execution::memory_pool::GreedyMemoryPool;
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use datafusion::prelude::{SessionConfig, SessionContext};
    use proptest::prelude::*;

    fn context(bytes: usize) -> Arc<TaskContext> {
        let pool = Arc::new(GreedyMemoryPool::new(bytes));
        let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc().unwrap();
        SessionContext::new_with_config_rt(SessionConfig::new(), runtime).task_ctx()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn nodes_that_do_not_fit_together_wait(table in table()) {
            let base = Arc::new(table.base());
            let one = bytes_to_group(base.combinations() as usize, base.held().unwrap().words()) + base.held().unwrap().bytes();
            let sets = FrequencySets::new(Arc::clone(&base), context(base.held().unwrap().bytes() + one), 0).unwrap();
            let nodes: Vec<Node> = table.lattice().iter().collect();
            std::thread::scope(|scope| {
                let threads: Vec<_> = (0..4)
                    .map(|_| scope.spawn(|| nodes.iter().map(|n| sets.get(n).map(|s| s.len())).collect::<Result<Vec<_>>>()))
                    .collect();
                for thread in threads {
                    let classes = thread.join().unwrap().unwrap();
                    for (node, classes) in nodes.iter().zip(classes) {
                        prop_assert_eq!(classes, base.held().unwrap().roll_up(&base.key_schema, node).0.len());
                    }
                }
                Ok(())
            })?;
            let tight = FrequencySets::new(Arc::clone(&base), context(base.held().unwrap().bytes() + one / 2), 0).unwrap();
            if let (Some(top), true) = (nodes.last(), nodes.len() > 1 && base.combinations() as usize > 1) {
                let e = tight.get(top).unwrap_err();
                prop_assert_eq!(e.kind(), ErrorKind::Resources);
            }
        }
    }
}
