//! The Pareto front of a job: the nodes that no other node beats in every objective.
//!
//! A node must be anonymous by the job's models, if there are any. One objective may suppress more
//! rows than the models require: k (or highest_risk) if it is among the objectives, otherwise the
//! first of l and t. k is the maximum number for which the rows in smaller classes are within the
//! limit, and these rows are suppressed. For l and t, the classes with fewer values, or the classes
//! farther from the table, are suppressed in the same way. All objectives of a node are then
//! measured on the remaining classes: s_k, glm and the rest count the additional rows as
//! suppressed, as in the property-based generalization paper. Without k, l and t, only the models
//! cause suppression.
//!
//! **Interpretation**: the suppression of the additional rows can make groups of a subset of the
//! columns (`ON (a, b)`) fail. If the suppression of these groups would then exceed the limit, the
//! additional rows are kept.
//!
//! If SATISFYING contains the k, l and t of a node of the front, `AT NODE` therefore releases
//! exactly the rows on which the objectives of this node were measured.

use super::context::{budget, context};
use super::evaluator::{Evaluator, Judged, Verdict};
use super::infeasible::{found_nothing, infeasible};
use super::search::{by_costs, run};
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::data::frequency::{Base, DetailRequest, FrequencySet};
use crate::data::metric::Metric;
use crate::data::model::{self, Class};
use crate::data::objective::{Lead, Measured, Property, ReleasedClasses, SensitiveAttribute};
use crate::method::lattice::{Lattice, Node};
use crate::method::search::{self, Assessment, Context, Counters, Oracle, Progress, front::knee};
use crate::release::engine::scan::{Scanned, attribute_request, detail_requests, position, scan};
use crate::release::job::{Choice, Input, Job};
use crate::release::observe::{Observer, Phase};
use std::sync::Arc;

/// The property or metric that an objective optimizes.
#[derive(Debug)]
pub enum Optimized {
    /// A property of the released classes.
    Property(Box<dyn Property>),
    /// A metric.
    Metric(Box<dyn Metric>),
}

/// One objective of OPTIMIZING: a property or metric, and its direction.
#[derive(Debug)]
pub struct Objective {
    /// Whether a larger value is better.
    pub maximize: bool,
    /// The property or metric to optimize.
    pub of: Optimized,
}

/// A node of a front with its figures.
#[derive(Debug, Clone)]
pub struct Reached {
    /// The node.
    pub node: Node,
    /// The value of each objective, in the order of the statement.
    pub values: Vec<f64>,
    /// The number of suppressed rows.
    pub suppressed: u64,
    /// The number of released classes.
    pub classes: u64,
}

/// A Pareto front of nodes, and the coverage of the search that found it.
#[derive(Debug)]
pub struct NodeFront {
    /// The nodes. The node that is best in the first objective comes first.
    pub rows: Vec<Reached>,
    /// The index of the knee in `rows`.
    pub knee: usize,
    /// The number of distinct nodes that were assessed.
    pub nodes: u64,
    /// Whether every node was assessed or cannot be anonymous, so that this is the true front.
    pub exact: bool,
    /// The reason why the search ended early, if it did.
    pub stopped: Option<&'static str>,
}

/// Reads the source, searches, and returns the front. If `named` is true, the statement names a
/// search, and the search of the job is used. Otherwise, the search is chosen by the size of the
/// lattice: see [`search::for_front`].
pub async fn front(
    job: Job,
    objectives: Vec<Objective>,
    epsilon: Vec<f64>,
    named: bool,
    observer: Arc<dyn Observer>,
) -> Result<NodeFront> {
    let scanned = counted(&job, &objectives, observer.as_ref()).await?;
    // A search can take a long time. It runs on a blocking thread, so that the workers of the
    // runtime stay free.
    let search = move || {
        let oracle = FrontOracle::new(&job, scanned, &objectives)?;
        search(&job, &oracle, epsilon, named, &observer)
    };
    blocking("the search", search).await
}

/// Reads the source and prepares the assessment of its nodes by these objectives.
#[cfg(feature = "internal-api")]
pub async fn front_oracle(job: &Job, objectives: &[Objective], observer: &dyn Observer) -> Result<FrontOracle> {
    FrontOracle::new(job, counted(job, objectives, observer).await?, objectives)
}

/// Reads the source, and counts the classes with the details that the objectives read.
async fn counted(job: &Job, objectives: &[Objective], observer: &dyn Observer) -> Result<Scanned> {
    let metrics = metrics(objectives);
    let mut details = detail_requests(job, &metrics);
    for request in own_details(&job.input, objectives) {
        if !details.contains(&request) {
            details.push(request);
        }
    }
    scan(job, &details, observer).await
}

fn metrics(objectives: &[Objective]) -> Vec<&dyn Metric> {
    objectives.iter().filter_map(Objective::metric).collect()
}

fn search(
    job: &Job,
    oracle: &FrontOracle,
    epsilon: Vec<f64>,
    named: bool,
    observer: &Arc<dyn Observer>,
) -> Result<NodeFront> {
    let chosen = search::for_front(oracle.lattice().size())?;
    let search = match &job.goal.choice {
        Choice::Search { search, .. } if named => search.as_ref(),
        _ => chosen.as_ref(),
    };
    observer.begin(Phase::Search);
    let told = Arc::clone(observer);
    // The best value of the first objective alone does not describe a front.
    let mut context: Context = context(&job.goal, budget(&job.goal, observer.as_ref()), observer)
        .on_progress(move |p| {
            told.searched(Progress {
                best: None,
                bound: None,
                ..p
            })
        })
        .with_front(epsilon);
    let (finding, stopped) = run(search, oracle, &mut context)?;
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
    Ok(NodeFront {
        rows: members.into_iter().map(row).collect(),
        knee,
        nodes: context.assessed(),
        exact: stopped.is_none() && finding.bound == f64::INFINITY,
        stopped,
    })
}

impl Objective {
    /// Returns the metric, if the objective is a metric.
    pub fn metric(&self) -> Option<&dyn Metric> {
        match &self.of {
            Optimized::Metric(metric) => Some(metric.as_ref()),
            Optimized::Property(_) => None,
        }
    }

    fn property(&self) -> Option<&dyn Property> {
        match &self.of {
            Optimized::Property(property) => Some(property.as_ref()),
            Optimized::Metric(_) => None,
        }
    }
}

/// Returns the details that the classes must contain for the objectives that are properties.
fn own_details(input: &Input, objectives: &[Objective]) -> Vec<DetailRequest> {
    let attributes = objectives.iter().filter_map(|o| o.property()?.attribute());
    attributes.map(|attribute| request(input, &attribute)).collect()
}

fn request(input: &Input, attribute: &SensitiveAttribute) -> DetailRequest {
    match attribute.by_rows {
        true => DetailRequest::Values(attribute.column.to_string()),
        false => attribute_request(input, attribute.column),
    }
}

/// An objective, prepared for the table.
#[derive(Debug)]
struct Ready {
    maximize: bool,
    of: Measurement,
}

#[derive(Debug)]
enum Measurement {
    /// A property, and the index of the detail with the attribute that the property reads.
    Property(Box<dyn Measured>, Option<usize>),
    /// The index of the metric among the metrics.
    Metric(usize),
}

impl Measurement {
    fn of_property(job: &Job, base: &Base, property: &dyn Property) -> Result<Self> {
        let attribute = property.attribute();
        let detail = attribute.and_then(|attribute| position(base, &request(&job.input, &attribute)));
        let hierarchy = match (attribute, detail) {
            (Some(_), None) => return Err(Error::internal("a property reads an attribute that is not counted")),
            (Some(attribute), Some(detail)) => attribute.needs_hierarchy.map(|asked| {
                Evaluator::attribute_hierarchy(&job.roles, base, (attribute.column, detail), || asked.to_string())
            }),
            (None, _) => None,
        };
        let hierarchy = hierarchy.transpose()?;
        let subject = model::Subject {
            base,
            attribute: detail,
            hierarchy: hierarchy.as_ref(),
        };
        Ok(Self::Property(property.prepare(&subject)?, detail))
    }
}

/// The released classes of a node, in the form that a property reads.
struct Classes<'a> {
    evaluator: &'a Evaluator,
    set: &'a FrequencySet,
    verdict: &'a Verdict,
    detail: Option<usize>,
}

impl ReleasedClasses for Classes<'_> {
    fn suppressed(&self) -> u64 {
        self.verdict.suppressed
    }

    fn each_class(&self, read: &mut dyn FnMut(&Class)) {
        let mut kept = self.verdict.kept.clone();
        self.evaluator
            .each_class(self.set, self.detail, &mut kept, |_, class| read(class));
    }
}

/// The evaluator with the objectives of a front as costs.
///
/// The oracle has no lower bound for any cost. A search that claims the optimum therefore skips
/// only nodes that cannot be anonymous, so it finds the true front.
#[derive(Debug)]
pub struct FrontOracle {
    evaluator: Evaluator,
    objectives: Vec<Ready>,
    /// The index of the objective that suppresses rows beyond the suppression by the models.
    leader: Option<usize>,
}

impl FrontOracle {
    fn new(job: &Job, scanned: Scanned, objectives: &[Objective]) -> Result<Self> {
        let evaluator = Evaluator::new(job, scanned, &metrics(objectives))?;
        let base = Arc::clone(evaluator.sets().base());
        let mut metrics = 0..;
        let ready = objectives.iter().map(|o| {
            let of = match &o.of {
                Optimized::Property(property) => Measurement::of_property(job, &base, property.as_ref())?,
                Optimized::Metric(_) => Measurement::Metric(metrics.next().unwrap_or_default()),
            };
            Ok::<_, Error>(Ready {
                maximize: o.maximize,
                of,
            })
        });
        let ready = ready.collect::<Result<_>>()?;
        let lead = |i: &usize| objectives[*i].property().map_or(Lead::Never, Property::leads);
        let leader = (0..objectives.len()).min_by_key(|i| lead(i));
        Ok(Self {
            evaluator,
            objectives: ready,
            leader: leader.filter(|i| lead(i) != Lead::Never),
        })
    }

    /// Converts costs to values, or values to costs. Both conversions negate each maximized
    /// objective.
    fn values(&self, costs: &[f64]) -> Vec<f64> {
        let turned = costs.iter().zip(&self.objectives);
        // Adding 0 turns the negative zero that negation can produce into a positive zero.
        turned
            .map(|(cost, objective)| if objective.maximize { -cost + 0.0 } else { *cost })
            .collect()
    }

    fn assessment(&self, judged: Judged) -> Result<Assessment> {
        let (set, mut verdict) = match judged {
            Judged::Counted(set, verdict) => (set, verdict),
            Judged::Exceeds(suppressed) => {
                let costs = self.objectives.len();
                return Ok(Assessment::excluded(suppressed, costs, f64::NEG_INFINITY));
            }
        };
        if let (Some(leader), true) = (self.leader, verdict.anonymous)
            && let Some(led) = self.suppress(leader, &set, &verdict)?
        {
            verdict = led;
        }
        let metrics = self.evaluator.measure(&set, &verdict);
        let values: Vec<f64> = self
            .objectives
            .iter()
            .map(|objective| self.value(&objective.of, &set, &verdict, &metrics))
            .collect();
        Ok(Assessment {
            anonymous: verdict.anonymous,
            suppressed: verdict.suppressed,
            classes: verdict.classes,
            costs: self.values(&values),
            floor: f64::NEG_INFINITY,
        })
    }

    /// Returns the verdict after the classes that are worst by the leading objective are suppressed
    /// as well, up to the limit. Returns `None` if no more classes can be suppressed within the
    /// limit, if the release would then fail the models, or if the objective is not a property.
    fn suppress(&self, leader: usize, set: &FrequencySet, verdict: &Verdict) -> Result<Option<Verdict>> {
        let Measurement::Property(property, detail) = &self.objectives[leader].of else {
            return Ok(None);
        };
        // Classes that fail the models stay suppressed.
        let mut reached = vec![];
        self.classes(set, verdict, *detail)
            .each_class(&mut |class| reached.push(property.rank(class)));
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

    fn classes<'a>(&'a self, set: &'a FrequencySet, verdict: &'a Verdict, detail: Option<usize>) -> Classes<'a> {
        Classes {
            evaluator: &self.evaluator,
            set,
            verdict,
            detail,
        }
    }

    fn value(&self, of: &Measurement, set: &FrequencySet, verdict: &Verdict, metrics: &[f64]) -> f64 {
        match of {
            Measurement::Property(property, detail) => property.value(&self.classes(set, verdict, *detail)),
            Measurement::Metric(index) => metrics[*index],
        }
    }
}

impl Oracle for FrontOracle {
    fn lattice(&self) -> &Lattice {
        self.evaluator.lattice()
    }

    fn assess(&self, nodes: &[Node]) -> Result<Vec<Assessment>> {
        self.evaluator.judge_each(nodes, |_, judged| self.assessment(judged))
    }

    fn bound(&self, _: &Node, _: u64) -> f64 {
        f64::NEG_INFINITY
    }

    fn is_monotone(&self) -> bool {
        self.evaluator.is_monotone()
    }

    /// Returns false if there is a leading objective, because a leading objective suppresses as
    /// many rows as the limit allows at every node.
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
