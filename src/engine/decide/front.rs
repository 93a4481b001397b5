//! The Pareto front of a job: the nodes that no other node beats in every objective.
//!
//! A node must be anonymous by the job's models, where there are any. Of the rows that may be suppressed beyond that,
//! one objective makes use: k (or highest_risk) where it is among the objectives, else the first of l and t. By
//! definitions.md, "k of a node under eta", k is the greatest number such that the rows in smaller classes are within
//! the limit, and those rows are suppressed; likewise for l and t with the classes of fewer values, or farther from
//! the table. All objectives of a node are then measured on the classes that are left: s_k, glm and the rest count
//! those rows as suppressed, as the property-based generalization paper has it. Without such an objective nothing is
//! suppressed beyond what the models ask.
//!
//! **Reading**: where groups of a subset of the columns (`ON (a, b)`) would fail once those rows are gone, and that
//! takes more rows than the limit allows, they stay.
//!
//! So every row of a front is released as measured by `AT NODE`, with its k, l and t under SATISFYING.

use super::evaluator::{Evaluator, Rule, Verdict};
use super::infeasible::{found_nothing, infeasible};
use super::search::{by_costs, context, run};
use crate::engine::observe::{Observer, Phase};
use crate::engine::scan::{add_attribute, detail_requests, position, scan};
use crate::error::{Error, Result};
use crate::frequency::{DetailRequest, FrequencySet};
use crate::job::{Choice, Constraint, Job};
use crate::lattice::{Lattice, Node};
use crate::metric::Metric;
use crate::search::{self, Assessment, Context, Counters, Oracle, Progress, front::knee};
use std::sync::Arc;

/// What an objective is about.
#[derive(Debug)]
pub enum Property {
    /// k: the size of the smallest released class.
    Size,
    /// The highest prosecutor risk, 1 / k.
    Risk,
    /// What the worst released class reaches of the bound of a model: l, t.
    Bound {
        /// The model, with any bound.
        constraint: Constraint,
        /// Whether the worst class is the one that reaches least.
        least: bool,
    },
    /// s_l of a sensitive attribute.
    Spread(String),
    /// Suppressed rows.
    Suppressed,
    /// A metric.
    Metric(Box<dyn Metric>),
}

/// One term of OPTIMIZING.
#[derive(Debug)]
pub struct Objective {
    /// The column of the answer.
    pub name: String,
    /// Whether more is better.
    pub maximise: bool,
    /// What it is about.
    pub property: Property,
}

/// A node of a front.
#[derive(Debug, Clone)]
pub struct Reached {
    /// The node.
    pub node: Node,
    /// The value of each objective.
    pub values: Vec<f64>,
    /// Rows that are suppressed.
    pub suppressed: u64,
    /// Classes that are released.
    pub classes: u64,
}

/// A front.
#[derive(Debug)]
pub struct Front {
    /// Its nodes, the best in the first objective first.
    pub rows: Vec<Reached>,
    /// The row of the knee.
    pub knee: usize,
    /// Distinct nodes that were assessed.
    pub nodes: u64,
    /// Whether every node was looked at or cannot be anonymous, so that this is the true front.
    pub exact: bool,
    /// Why the search ended early, where it did.
    pub stopped: Option<&'static str>,
}

/// Reads the source, searches, and returns the front. Unless the statement named a search (`named`), one is chosen by
/// the size of the lattice: see [`search::for_front`].
pub async fn front(
    job: Job,
    objectives: Vec<Objective>,
    epsilon: Vec<f64>,
    named: bool,
    observer: Arc<dyn Observer>,
) -> Result<Front> {
    let oracle = front_oracle(&job, &objectives, observer.as_ref()).await?;
    // A search computes; it has a thread of its own so that the runtime's stay free.
    let searched = tokio::task::spawn_blocking(move || search(&job, &oracle, epsilon, named, &observer));
    searched.await.map_err(|e| Error::from_task("the search", &e))?
}

/// Reads the source and readies the assessment of its nodes by these objectives.
pub async fn front_oracle(job: &Job, objectives: &[Objective], observer: &dyn Observer) -> Result<FrontOracle> {
    let metrics: Vec<&dyn Metric> = objectives.iter().filter_map(Objective::metric).collect();
    let mut details = detail_requests(job, &metrics);
    for request in own_details(job, objectives) {
        if !details.contains(&request) {
            details.push(request);
        }
    }
    let scanned = scan(job, &details, observer).await?;
    FrontOracle::new(job, Evaluator::new(job, scanned, &metrics)?, objectives)
}

fn search(
    job: &Job,
    oracle: &FrontOracle,
    epsilon: Vec<f64>,
    named: bool,
    observer: &Arc<dyn Observer>,
) -> Result<Front> {
    let chosen = search::for_front(oracle.lattice().size())?;
    let search = match &job.choice {
        Choice::Search { search, .. } if named => search.as_ref(),
        _ => chosen.as_ref(),
    };
    observer.begin(Phase::Search);
    let told = Arc::clone(observer);
    // The first objective alone says nothing of a front.
    let mut context: Context = context(job, observer)
        .on_progress(move |p| told.searched(Progress { best: None, ..p }))
        .with_front(epsilon);
    let (finding, stopped) = run(search, oracle, &mut context)?;
    observer.end(Phase::Search);
    let mut members = context.archive().to_vec();
    members.sort_by(by_costs);
    let Some(knee) = knee(&members) else {
        return Err(match stopped {
            Some(reason) => found_nothing(reason),
            None => infeasible(job, &oracle.evaluator)?,
        });
    };
    let row = |(node, found): (Node, Assessment)| Reached {
        node,
        values: oracle.values(&found.costs),
        suppressed: found.suppressed,
        classes: found.classes,
    };
    Ok(Front {
        rows: members.into_iter().map(row).collect(),
        knee,
        nodes: context.assessed(),
        exact: stopped.is_none() && finding.bound == f64::INFINITY,
        stopped,
    })
}

impl Objective {
    fn metric(&self) -> Option<&dyn Metric> {
        match &self.property {
            Property::Metric(metric) => Some(metric.as_ref()),
            _ => None,
        }
    }
}

/// What classes must carry for the objectives that are no metrics.
fn own_details(job: &Job, objectives: &[Objective]) -> Vec<DetailRequest> {
    let mut requests = vec![];
    for objective in objectives {
        match &objective.property {
            Property::Bound { constraint, .. } => add_attribute(job, constraint, &mut |r| requests.push(r)),
            Property::Spread(attribute) => requests.push(DetailRequest::Values(attribute.clone())),
            Property::Size | Property::Risk | Property::Suppressed | Property::Metric(_) => {}
        }
    }
    requests
}

/// A property, ready for the table.
#[derive(Debug)]
enum Ready {
    Size,
    Risk,
    Bound { rule: Rule, least: bool },
    Spread(usize),
    Suppressed,
    Metric(usize),
}

/// The evaluator with the objectives of a front for costs.
///
/// It bounds no cost, so a search that claims the optimum leaves out no node but those that cannot be anonymous, and
/// what it leaves is the true front.
#[derive(Debug)]
pub struct FrontOracle {
    evaluator: Evaluator,
    objectives: Vec<(Ready, bool)>,
    /// The objective that decides which rows are suppressed beyond what the models ask.
    leader: Option<usize>,
}

impl FrontOracle {
    fn new(job: &Job, evaluator: Evaluator, objectives: &[Objective]) -> Result<Self> {
        let base = Arc::clone(evaluator.sets().base());
        let mut metrics = 0;
        let ready = objectives.iter().map(|o| {
            let ready = match &o.property {
                Property::Size => Ready::Size,
                Property::Risk => Ready::Risk,
                Property::Bound { constraint, least } => Ready::Bound {
                    rule: Evaluator::rule(job, &base, constraint)?,
                    least: *least,
                },
                Property::Spread(attribute) => {
                    let request = DetailRequest::Values(attribute.clone());
                    let detail = position(&base, &request);
                    Ready::Spread(detail.ok_or_else(|| Error::internal("s_l reads an attribute that is counted"))?)
                }
                Property::Suppressed => Ready::Suppressed,
                Property::Metric(_) => {
                    metrics += 1;
                    Ready::Metric(metrics - 1)
                }
            };
            Ok((ready, o.maximise))
        });
        let objectives: Vec<(Ready, bool)> = ready.collect::<Result<_>>()?;
        let find = |wanted: fn(&Ready) -> bool| objectives.iter().position(|(ready, _)| wanted(ready));
        let leader = find(|r| matches!(r, Ready::Size | Ready::Risk)).or(find(|r| matches!(r, Ready::Bound { .. })));
        Ok(Self {
            evaluator,
            objectives,
            leader,
        })
    }

    /// Costs as values, which is the same step as values as costs.
    fn values(&self, costs: &[f64]) -> Vec<f64> {
        let turned = costs.iter().zip(&self.objectives);
        // Adding 0 makes the negative zero that negation leaves an ordinary one.
        turned
            .map(|(cost, (_, maximise))| if *maximise { -cost + 0.0 } else { *cost })
            .collect()
    }

    fn assess_node(&self, node: &Node) -> Result<Assessment> {
        let (set, mut verdict) = match self.evaluator.judge_if_demanded(node)? {
            Ok(judged) => judged,
            Err(suppressed) => {
                let costs = self.objectives.len();
                return Ok(Assessment::excluded(suppressed, costs, f64::NEG_INFINITY));
            }
        };
        if let (Some(leader), true) = (self.leader, verdict.anonymous)
            && let Some(led) = self.suppress(&self.objectives[leader].0, &set, &verdict)?
        {
            verdict = led;
        }
        let metrics = self.evaluator.measure(&set, &verdict);
        let values: Vec<f64> = self
            .objectives
            .iter()
            .map(|(ready, _)| self.value(ready, &set, &verdict, &metrics))
            .collect();
        Ok(Assessment {
            anonymous: verdict.anonymous,
            suppressed: verdict.suppressed,
            classes: verdict.classes,
            costs: self.values(&values),
            floor: f64::NEG_INFINITY,
        })
    }

    /// The verdict with the worst classes suppressed too, by what they reach of the leading objective, as far as the
    /// limit allows; nothing when that changes nothing.
    fn suppress(&self, leader: &Ready, set: &FrequencySet, verdict: &Verdict) -> Result<Option<Verdict>> {
        // Ascending is from worst to best. What fails the models stays out.
        let reached: Vec<f64> = match leader {
            Ready::Bound { rule, least } => {
                let sign = if *least { 1.0 } else { -1.0 };
                self.reached(rule, set, verdict).into_iter().map(|x| sign * x).collect()
            }
            _ => self.kept(verdict).map(|i| self.evaluator.size(set, i) as f64).collect(),
        };
        let rows = self.kept(verdict).map(|i| set.counts()[i]);
        let mut ascending: Vec<(f64, u64)> = reached.iter().copied().zip(rows).collect();
        ascending.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut suppressed = verdict.suppressed;
        let within = |(_, rows): &&(f64, u64)| {
            suppressed += rows;
            suppressed <= self.evaluator.suppression_limit()
        };
        let out = ascending.iter().take_while(within).count();
        let (Some(worst), Some(bound)) = (ascending.first(), ascending.get(out).or(ascending.last())) else {
            return Ok(None);
        };
        if worst.0 == bound.0 {
            return Ok(None);
        }
        let mut wanted = vec![false; set.len()];
        for (i, reached) in self.kept(verdict).zip(&reached) {
            wanted[i] = *reached >= bound.0;
        }
        let led = self.evaluator.verdict_among(set, |i| wanted[i])?;
        Ok(led.anonymous.then_some(led))
    }

    fn kept<'a>(&self, verdict: &'a Verdict) -> impl Iterator<Item = usize> + 'a {
        verdict
            .kept
            .iter()
            .enumerate()
            .filter(|(_, kept)| **kept)
            .map(|(i, _)| i)
    }

    /// What each released class reaches of a model's bound.
    fn reached(&self, rule: &Rule, set: &FrequencySet, verdict: &Verdict) -> Vec<f64> {
        let mut reached = vec![];
        let mut kept = verdict.kept.clone();
        self.evaluator.each_class(set, rule.detail, &mut kept, |_, class| {
            reached.push(rule.predicate.reached(class).unwrap_or_default());
        });
        reached
    }

    fn value(&self, ready: &Ready, set: &FrequencySet, verdict: &Verdict, metrics: &[f64]) -> f64 {
        let smallest = || self.kept(verdict).map(|i| self.evaluator.size(set, i)).min();
        match ready {
            // Where nothing is released no one is told from others, and no one hides among them.
            Ready::Size => smallest().unwrap_or(0) as f64,
            Ready::Risk => smallest().map_or(0.0, |k| 1.0 / k as f64),
            Ready::Bound { rule, least } => {
                let reached = self.reached(rule, set, verdict).into_iter();
                let worst = if *least {
                    reached.reduce(f64::min)
                } else {
                    reached.reduce(f64::max)
                };
                worst.unwrap_or(0.0)
            }
            Ready::Spread(detail) => {
                let squares = |i: usize| {
                    set.details()[*detail]
                        .class(i)
                        .map(|(_, n)| u128::from(n) * u128::from(n))
                };
                self.kept(verdict).flat_map(squares).sum::<u128>() as f64
            }
            Ready::Suppressed => verdict.suppressed as f64,
            Ready::Metric(index) => metrics[*index],
        }
    }
}

impl Oracle for FrontOracle {
    fn lattice(&self) -> &Lattice {
        self.evaluator.lattice()
    }

    fn assess(&self, nodes: &[Node]) -> Result<Vec<Assessment>> {
        self.evaluator.for_each(nodes, |node| self.assess_node(node))
    }

    fn bound(&self, _: &Node, _: u64) -> f64 {
        f64::NEG_INFINITY
    }

    fn is_monotone(&self) -> bool {
        self.evaluator.is_monotone()
    }

    /// The leading objective suppresses as much as it may at every node.
    fn suppression_is_monotone(&self) -> bool {
        self.leader.is_none() && self.evaluator.suppression_is_monotone()
    }

    fn distinct_values(&self, position: usize, level: u8) -> u64 {
        self.evaluator.distinct_values(position, level)
    }

    fn effective_values(&self, position: usize, level: u8) -> f64 {
        self.evaluator.effective_values(position, level)
    }

    fn rows(&self) -> u64 {
        self.evaluator.rows()
    }

    fn suppression_limit(&self) -> u64 {
        self.evaluator.suppression_limit()
    }

    fn counters(&self) -> Counters {
        self.evaluator.counters()
    }
}
