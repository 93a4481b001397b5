//! The state shared by every search: the budget, the incumbent, the memory of assessed nodes and
//! the random numbers. The incumbent is the best anonymous node so far.

use super::front::Front;
use super::oracle::{Assessment, Oracle};
use crate::base::error::Error;
use crate::base::pool::is_cancelled;
use crate::method::lattice::Node;
use rand::SeedableRng;
use rand_chacha::ChaCha12Rng;
use std::cmp::Ordering as Order;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The reason why a search stopped before it finished.
///
/// ```
/// use anonsql::extend::search::{Context, Stop};
/// /// Ends a loop without assessments when the time is up.
/// fn is_over(context: &Context) -> bool {
///     matches!(context.check(0), Err(Stop::TimeLimit | Stop::Interrupted))
/// }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Stop {
    /// The time limit was reached.
    TimeLimit,
    /// The node limit was reached.
    NodeLimit,
    /// The user pressed Ctrl-C, or no caller waits for the statement any more.
    Interrupted,
    /// The oracle failed.
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Failed(error)
    }
}

/// The limits of time and nodes at which a search stops.
#[derive(Debug, Clone, Default)]
pub struct SearchBudget {
    /// The time after which no new batch starts.
    pub deadline: Option<Instant>,
    /// The maximum number of distinct nodes that may be assessed.
    pub max_nodes: Option<u64>,
    /// A flag that is set when the user presses Ctrl-C.
    pub interrupt: Arc<AtomicBool>,
}

/// The progress of a search, reported at its start and after every batch.
///
/// ```
/// # use anonsql::Progress;
/// fn line(progress: Progress) -> String {
///     let best = progress.best.map_or("none yet".into(), |cost| format!("{cost:.3}"));
///     format!("{} nodes, best {best}", progress.nodes)
/// }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Progress {
    /// The number of distinct nodes assessed so far.
    pub nodes: u64,
    /// The number of nodes in the lattice; `None` if the algorithm divides the table instead of
    /// searching for a node.
    pub of: Option<u128>,
    /// The best value of the metric so far; `None` before the first anonymous node.
    pub best: Option<f64>,
    /// The proven bound on the metric: no anonymous node has a better value; `None` if nothing is
    /// proven.
    pub bound: Option<f64>,
    /// Whether the search has a time limit or a node limit.
    pub limited: bool,
}

/// The state of one run of a search.
///
/// ```
/// use anonsql::extend::search::{Context, Node, Oracle, Stop};
/// /// Assesses a node. The context remembers it and keeps the best anonymous node.
/// fn cost(oracle: &dyn Oracle, context: &mut Context, node: &Node) -> Result<f64, Stop> {
///     Ok(context.assess_one(oracle, node)?.cost())
/// }
/// ```
pub struct Context {
    /// The generator of all random numbers in the search, seeded once per run.
    pub rng: ChaCha12Rng,
    budget: SearchBudget,
    memory: HashMap<Node, Assessment>,
    incumbent: Option<(Node, Assessment)>,
    front: Option<Front>,
    assessed: u64,
    proven: f64,
    on_progress: Option<Box<dyn Fn(Progress) + Send>>,
}

/// The maximum number of nodes passed to the oracle together. The budget is checked between
/// batches.
const BATCH: usize = 64;

impl Context {
    /// Returns the context of a new run.
    #[doc(hidden)]
    pub fn new(seed: u64, budget: SearchBudget) -> Self {
        Self {
            rng: ChaCha12Rng::seed_from_u64(seed),
            budget,
            memory: HashMap::new(),
            incumbent: None,
            front: None,
            assessed: 0,
            proven: f64::NEG_INFINITY,
            on_progress: None,
        }
    }

    /// Sets the function that receives the progress after every batch.
    pub(crate) fn on_progress(mut self, f: impl Fn(Progress) + Send + 'static) -> Self {
        self.on_progress = Some(Box::new(f));
        self
    }

    /// Assesses `nodes`, and returns the assessments in the same order. Assessments of known nodes
    /// come from memory. Anonymous nodes compete to become the incumbent. Fails with [`Stop`] if
    /// the budget runs out, if the search is interrupted, or if the oracle fails.
    pub fn assess(&mut self, oracle: &dyn Oracle, nodes: &[Node]) -> Result<Vec<Assessment>, Stop> {
        let mut seen: HashSet<&Node> = HashSet::new();
        let fresh: Vec<Node> = nodes
            .iter()
            .filter(|n| !self.memory.contains_key(n) && seen.insert(n))
            .cloned()
            .collect();
        for batch in fresh.chunks(BATCH) {
            for (node, assessment) in batch.iter().zip(self.assess_batch(oracle, batch)?) {
                self.memory.insert(node.clone(), assessment);
            }
        }
        Ok(nodes.iter().map(|n| self.memory[n].clone()).collect())
    }

    /// Assesses one node.
    pub fn assess_one(&mut self, oracle: &dyn Oracle, node: &Node) -> Result<Assessment, Stop> {
        Ok(self.assess(oracle, std::slice::from_ref(node))?.swap_remove(0))
    }

    /// Assesses a batch without remembering it, for a search that visits every node once. If the
    /// node limit allows only a part of the batch, this part still competes to become the incumbent
    /// before the search ends.
    pub(crate) fn assess_batch(&mut self, oracle: &dyn Oracle, batch: &[Node]) -> Result<Vec<Assessment>, Stop> {
        self.check(0)?;
        let left = self.budget.max_nodes.map_or(u64::MAX, |max| max - self.assessed);
        let allowed = &batch[..batch.len().min(usize::try_from(left).unwrap_or(usize::MAX))];
        let found = oracle.assess(allowed)?;
        self.assessed += allowed.len() as u64;
        for (node, assessment) in allowed.iter().zip(&found) {
            self.offer(node, assessment);
            if let Some(front) = &mut self.front {
                front.offer(node, assessment);
            }
        }
        self.tell(Some(oracle));
        if allowed.len() < batch.len() {
            return Err(Stop::NodeLimit);
        }
        Ok(found)
    }

    /// Reports the progress of a search over the lattice of `oracle`. Without an oracle, reports
    /// the progress of an algorithm that divides the table. The reported values are costs. The
    /// caller converts them into values of the metric.
    pub(crate) fn tell(&self, oracle: Option<&dyn Oracle>) {
        let Some(f) = &self.on_progress else {
            return;
        };
        // The bound of the lattice's bottom is a bound for every node, and is known without an
        // assessment.
        let bottom = oracle.map_or(f64::NEG_INFINITY, |o| o.bound(o.lattice().bottom(), 0));
        f(Progress {
            nodes: self.assessed,
            of: oracle.map(|o| o.lattice().size()),
            best: self.incumbent.as_ref().map(|(_, a)| a.cost()),
            bound: Some(self.proven.max(bottom)).filter(|bound| bound.is_finite()),
            limited: self.budget.deadline.is_some() || self.budget.max_nodes.is_some(),
        });
    }

    /// Fails with [`Stop`] if the search is interrupted, if its time is up, or if the budget does
    /// not allow `more` further nodes. A search calls this function in loops without assessments.
    pub fn check(&self, more: u64) -> Result<(), Stop> {
        if self.budget.interrupt.load(Ordering::Relaxed) || is_cancelled() {
            return Err(Stop::Interrupted);
        }
        if self.budget.deadline.is_some_and(|d| Instant::now() >= d) {
            return Err(Stop::TimeLimit);
        }
        if self.budget.max_nodes.is_some_and(|max| self.assessed + more > max) {
            return Err(Stop::NodeLimit);
        }
        Ok(())
    }

    fn offer(&mut self, node: &Node, assessment: &Assessment) {
        if !assessment.anonymous {
            return;
        }
        let is_first = match &self.incumbent {
            None => assessment.cost() != f64::INFINITY,
            Some((best, found)) => by_cost((assessment, node), (found, best)) == Order::Less,
        };
        if is_first {
            self.incumbent = Some((node.clone(), assessment.clone()));
        }
    }

    /// Returns true if no node that costs at least `bound` and does not precede `node` can replace
    /// the incumbent. If `bound` is a bound on the cost of `node`, then `node` itself cannot win.
    /// If `bound` also bounds all nodes above, they cannot win either, because they come later. An
    /// incumbent that releases no row is replaced by any node of equal cost that releases a row.
    pub fn cannot_win(&self, bound: f64, node: &Node) -> bool {
        match &self.incumbent {
            None => bound == f64::INFINITY,
            Some((best, assessment)) => match bound.total_cmp(&assessment.cost()) {
                Order::Less => false,
                Order::Equal => best <= node && !keeps_nothing(assessment),
                Order::Greater => true,
            },
        }
    }

    /// Records that no anonymous node costs less than `bound`. A stopped search reports this bound.
    pub fn prove(&mut self, bound: f64) {
        self.proven = self.proven.max(bound);
    }

    /// Returns the highest recorded lower bound on the optimum. `f64::NEG_INFINITY` if none was
    /// recorded.
    pub(crate) fn proven(&self) -> f64 {
        self.proven
    }

    /// Returns the assessment of a node; `None` if the node was not assessed.
    pub(crate) fn recall(&self, node: &Node) -> Option<&Assessment> {
        self.memory.get(node)
    }

    /// Returns the number of remembered assessments.
    pub(crate) fn remembered(&self) -> usize {
        self.memory.len()
    }

    /// Makes `node` the result. This method is for algorithms that choose by a rule other than the
    /// minimum cost (Datafly and MA-Datafly).
    pub(crate) fn settle(&mut self, node: Node, assessment: Assessment) {
        self.incumbent = Some((node, assessment));
    }

    /// Returns the best anonymous node so far.
    pub fn incumbent(&self) -> Option<&(Node, Assessment)> {
        self.incumbent.as_ref()
    }

    /// Returns the number of distinct nodes assessed so far.
    #[doc(hidden)]
    pub fn assessed(&self) -> u64 {
        self.assessed
    }

    /// Makes the context keep the Pareto front of all nodes assessed from now on, in boxes of size
    /// `epsilon` (see [`Front`]). Any search can compute a front in this way. `exhaustive` computes
    /// the true front.
    #[doc(hidden)]
    pub fn with_front(mut self, epsilon: Vec<f64>) -> Self {
        self.front = Some(Front::new(epsilon));
        self
    }

    /// Makes the context keep a front without boxes if it does not keep a front yet. This method is
    /// for searches that read the front.
    pub(crate) fn require_front(&mut self) {
        self.front.get_or_insert_with(|| Front::new(vec![]));
    }

    /// Returns the members of the front; empty if the context keeps no front.
    #[doc(hidden)]
    pub fn archive(&self) -> &[(Node, Assessment)] {
        self.front.as_ref().map_or(&[], Front::members)
    }
}

/// Compares anonymous nodes by cost. The node that suppresses every row may cost as much as the
/// node that releases every row as `*`. The latter then comes first, because it keeps more. Other
/// ties: the order of nodes.
pub(super) fn by_cost((a, node): (&Assessment, &Node), (b, other): (&Assessment, &Node)) -> Order {
    let order = a.cost().total_cmp(&b.cost());
    order
        .then(keeps_nothing(a).cmp(&keeps_nothing(b)))
        .then_with(|| node.cmp(other))
}

fn keeps_nothing(assessment: &Assessment) -> bool {
    assessment.classes == 0
}
