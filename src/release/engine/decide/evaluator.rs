//! The evaluator: judges frequency sets by the requested models and measures them by the metrics.

use crate::base::error::{Error, Result};
use crate::base::pool::{check_cancelled, map, pieces};
use crate::data::drift::Drift;
use crate::data::frequency::{Base, Demand, DetailRequest, FrequencySet, FrequencySets, NodeAnswer};
use crate::data::metric::{self, Measure, Metric, View};
use crate::data::model::{self, Class, Monotonicity, Overall, Predicate, Span};
use crate::method::hierarchy::Lookup;
use crate::method::lattice::{Lattice, Node};
use crate::method::partition::Partition;
use crate::release::engine::scan::Scanned;
use crate::release::engine::scan::{attribute_request, class_label_request, fill, measured_attribute, position};
use crate::release::job::{Constraint, Guarantees, Job, Roles};
use std::sync::Arc;

/// A requested model, prepared for this table.
#[derive(Debug)]
pub(super) struct PreparedModel {
    pub(super) predicate: Box<dyn Predicate>,
    pub(super) monotonicity: Monotonicity,
    /// The index of the model's sensitive attribute among the details of the base set; `None` if
    /// the model has no sensitive attribute.
    pub(super) detail: Option<usize>,
    /// Whether the model reads the number of classes of each size.
    reads_sizes: bool,
    /// Whether the model reads the number of values that each label covers.
    reads_labels: bool,
    /// Whether the model reads the supersets of a class.
    reads_supersets: bool,
    /// For a model over subsets of the quasi-identifiers: for each subset, whether each
    /// quasi-identifier is in it.
    pub(super) subsets: Vec<Vec<bool>>,
}

impl PreparedModel {
    /// Returns true if the model judges the classes themselves, and not groups by a subset of the
    /// quasi-identifiers.
    pub(super) fn is_of_classes(&self) -> bool {
        self.subsets.is_empty()
    }
}

/// A metric to minimize or maximize, prepared for this table.
#[derive(Debug)]
pub(super) struct Objective {
    pub(super) measure: Box<dyn Measure>,
    pub(super) higher_is_better: bool,
}

/// The judgement of the classes of a node, or of the groups of a partition.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The partition whose groups are the classes, in the same order; `None` if the classes are
    /// those of a node.
    pub partition: Option<Arc<Partition>>,
    /// For each entry of the frequency set, true if the entry is a class that is kept.
    pub kept: Vec<bool>,
    /// The number of kept classes.
    pub classes: u64,
    /// The sizes of the released classes, if the rows were written and several kept classes may
    /// have equal labels in the output.
    pub alike: Option<Arc<Vec<u64>>>,
    /// The number of rows in the kept classes.
    pub released: u64,
    /// The number of rows outside the kept classes.
    pub suppressed: u64,
    /// Whether the number of suppressed rows is within the limit and the entire release satisfies
    /// the models.
    pub anonymous: bool,
}

impl Verdict {
    /// Returns the number of released classes. Once the rows are written, classes that a reader
    /// cannot distinguish count as one.
    pub fn released_classes(&self) -> u64 {
        self.alike.as_ref().map_or(self.classes, |sizes| sizes.len() as u64)
    }
}

/// Assesses the nodes of a job's lattice: see [`crate::method::search::Oracle`].
#[derive(Debug)]
pub struct Evaluator {
    pub(super) sets: FrequencySets,
    pub(super) lattice: Lattice,
    pub(super) rules: Arc<[PreparedModel]>,
    pub(super) objectives: Arc<[Objective]>,
    pub(super) entity: Option<usize>,
    pub(super) limit: u64,
    demand: Demand,
    drift: Arc<[Drift]>,
}

/// The judgement of a node, with its classes if all of them were counted.
pub(super) enum Judged {
    /// The classes of the node, and the verdict on them.
    Counted(Arc<FrequencySet>, Verdict),
    /// The approximate number of rows that the node suppresses. This number was known to exceed the
    /// limit before all classes of the node were counted.
    Exceeds(u64),
}

impl Judged {
    /// Returns the classes and the verdict, if all classes were counted.
    pub(super) fn counted(self) -> Option<(Arc<FrequencySet>, Verdict)> {
        match self {
            Self::Counted(set, verdict) => Some((set, verdict)),
            Self::Exceeds(_) => None,
        }
    }
}

impl Evaluator {
    /// Creates an evaluator for `job` over its scanned table. A search optimizes the first metric.
    pub fn new(job: &Job, scanned: Scanned, metrics: &[&dyn Metric]) -> Result<Self> {
        let Scanned { sets, lattice, drift } = scanned;
        let base = Arc::clone(sets.base());
        let rules = job
            .guarantees
            .constraints
            .iter()
            .map(|c| check_cancelled().and_then(|()| Self::rule(job, &base, c)))
            .collect::<Result<_>>()?;
        let limit = job.guarantees.suppression.rows(base.rows);
        let objectives = metrics
            .iter()
            .map(|m| check_cancelled().and_then(|()| objective(job, &base, *m)))
            .collect::<Result<_>>()?;
        let entity = job
            .input
            .entity
            .as_ref()
            .and_then(|e| position(&base, &DetailRequest::Distinct(e.clone())));
        Ok(Self {
            sets,
            lattice,
            rules,
            objectives,
            entity,
            limit,
            demand: Demand {
                least: least_rows(&job.guarantees),
                limit,
            },
            drift: drift.into(),
        })
    }

    fn rule(job: &Job, base: &Base, constraint: &Constraint) -> Result<PreparedModel> {
        let detail = match (&constraint.attribute, constraint.model.reads().attribute) {
            (Some(attribute), true) => position(base, &attribute_request(&job.input, attribute)),
            _ => None,
        };
        let hierarchy = match (&constraint.attribute, detail) {
            (Some(attribute), Some(detail)) if constraint.model.reads().hierarchy => {
                let asked = || constraint.call.to_string();
                Some(Self::attribute_hierarchy(&job.roles, base, (attribute, detail), asked)?)
            }
            _ => None,
        };
        let subject = model::Subject {
            base,
            attribute: detail,
            hierarchy: hierarchy.as_ref(),
        };
        let width = job.roles.quasi_identifiers.len();
        let mut subsets = vec![];
        if !constraint.is_of_classes() {
            let among = |subset: Vec<usize>| (0..width).map(|i| subset.contains(&i)).collect();
            subsets.extend(constraint.scope.subsets(width)?.into_iter().map(among));
        }
        Ok(PreparedModel {
            predicate: constraint.model.prepare(&subject)?,
            monotonicity: match job.input.entity {
                Some(_) => constraint.model.monotonicity_per_entity(),
                None => constraint.model.monotonicity(),
            },
            detail,
            reads_sizes: constraint.model.reads().sizes,
            reads_labels: constraint.model.reads().labels,
            reads_supersets: constraint.model.reads().supersets,
            subsets,
        })
    }

    /// Binds the hierarchy of a sensitive attribute to the values of its detail. `asked` names the
    /// model or objective that needs the hierarchy, for error messages. Fails if the attribute has
    /// no hierarchy, or if the hierarchy refuses unmapped values (ON UNMAPPED ERROR) or NULL (NULLS
    /// ERROR) that the attribute has.
    pub(super) fn attribute_hierarchy(
        roles: &Roles,
        base: &Base,
        (attribute, detail): (&str, usize),
        asked: impl FnOnce() -> String,
    ) -> Result<Lookup> {
        let sensitive = roles.sensitive.iter().find(|s| s.column == attribute);
        let Some(hierarchy) = sensitive.and_then(|s| s.hierarchy.as_ref()) else {
            return Err(Error::usage(format!(
                "{} needs a hierarchy of the sensitive attribute: SENSITIVE ({attribute} USING hierarchy)",
                asked()
            )));
        };
        let own = &base.attributes[detail];
        let lookup = hierarchy.bind(Arc::clone(&own.values))?;
        hierarchy.admit(attribute, &lookup.coverage(&own.counts)?)?;
        Ok(lookup)
    }

    /// Returns an evaluator of the same models and metrics over other frequency sets of the table.
    pub(super) fn over(&self, sets: FrequencySets, lattice: Lattice) -> Self {
        Self {
            sets,
            lattice,
            rules: Arc::clone(&self.rules),
            objectives: Arc::clone(&self.objectives),
            drift: Arc::clone(&self.drift),
            ..*self
        }
    }

    /// Returns the drift that the scan found.
    pub(super) fn drift(&self) -> &[Drift] {
        &self.drift
    }

    /// Returns the frequency sets of the scanned table.
    pub fn sets(&self) -> &FrequencySets {
        &self.sets
    }

    /// Returns the classes of `node` and the verdict on them.
    pub fn judge(&self, node: &Node) -> Result<(Arc<FrequencySet>, Verdict)> {
        let set = self.sets.get(node)?;
        let verdict = self.verdict(&set)?;
        Ok((set, verdict))
    }

    /// Like `judge`, but stops counting once the sizes of the classes show that `node` is not
    /// anonymous.
    pub(super) fn judge_if_demanded(&self, node: &Node) -> Result<Judged> {
        self.judged(self.sets.get_if(node, self.demand)?)
    }

    fn judged(&self, answer: NodeAnswer) -> Result<Judged> {
        match answer {
            NodeAnswer::Classes(set) => {
                let verdict = self.verdict(&set)?;
                Ok(Judged::Counted(set, verdict))
            }
            NodeAnswer::Fails { suppressed } => Ok(Judged::Exceeds(suppressed)),
        }
    }

    /// Returns the groups of `partition` as classes, and the verdict on them.
    pub fn judge_partition(&self, partition: Arc<Partition>) -> Result<(Arc<FrequencySet>, Verdict)> {
        let set = self.sets.base().held()?.group(partition.groups(), partition.len());
        let verdict = Verdict {
            partition: Some(Arc::clone(&partition)),
            ..self.judged_by(&set, Some(&partition), |_| true)?
        };
        Ok((Arc::new(set), verdict))
    }

    pub(super) fn verdict(&self, set: &FrequencySet) -> Result<Verdict> {
        self.verdict_among(set, |_| true)
    }

    /// Returns the verdict on the classes of a node if only the entries for which `wanted` returns
    /// true may be kept.
    pub(super) fn verdict_among(&self, set: &FrequencySet, wanted: impl Fn(usize) -> bool) -> Result<Verdict> {
        self.judged_by(set, None, wanted)
    }

    /// Returns the verdict on the classes of a node, or on the groups of a partition.
    fn judged_by(
        &self,
        set: &FrequencySet,
        partition: Option<&Partition>,
        wanted: impl Fn(usize) -> bool,
    ) -> Result<Verdict> {
        let counts = set.counts().iter().enumerate();
        let mut kept: Vec<bool> = counts.map(|(i, n)| *n > 0 && wanted(i)).collect();
        for rule in self.rules.iter().filter(|r| r.is_of_classes()) {
            match rule.reads_supersets {
                true => self.apply_among_supersets(rule, set, &mut kept)?,
                false => self.apply(rule, set, &mut kept),
            }
        }
        let subsets_hold = self.apply_subsets((set, partition), &mut kept)?;
        let (released, overall) = self.overall(set, &kept);
        let suppressed = self.sets.base().rows - released;
        let mut full = self.rules.iter().filter(|r| r.is_of_classes());
        let holds = subsets_hold && full.all(|r| r.predicate.holds_overall(&overall));
        Ok(Verdict {
            partition: None,
            kept,
            classes: overall.classes,
            alike: None,
            released,
            suppressed,
            anonymous: suppressed <= self.limit && holds,
        })
    }

    /// Returns the number of rows in the kept classes, and the figures of these classes that models
    /// of an entire release read.
    pub(super) fn overall(&self, set: &FrequencySet, kept: &[bool]) -> (u64, Overall) {
        let [classes, released, size, outside] = self.sets.pool().install_for(set.len(), || self.sums(set, kept));
        let sizes = (0..set.len()).filter(|i| kept[*i] && self.rules.iter().any(|r| r.reads_sizes));
        let overall = Overall {
            classes,
            size,
            outside: outside + self.sets.base().unmapped_people,
            sizes: sizes.map(|i| (self.size(set, i), 1)).collect(),
        };
        (released, overall)
    }

    /// Returns the number of kept classes, the number of rows in the kept classes, the sum of the
    /// sizes of the kept classes, and the number of rows of the population in all other classes.
    fn sums(&self, set: &FrequencySet, kept: &[bool]) -> [u64; 4] {
        let pieces = pieces(set.len());
        let counted = map(pieces.len(), |piece| {
            let (mut classes, mut released, mut sizes, mut outside) = (0, 0, 0, 0);
            for i in pieces[piece].clone() {
                if kept[i] {
                    classes += 1;
                    released += set.counts()[i];
                    sizes += self.size(set, i);
                } else {
                    outside += set.populations().map_or(0, |p| p[i]);
                }
            }
            [classes, released, sizes, outside]
        });
        [0, 1, 2, 3].map(|of| counted.iter().map(|c| c[of]).sum())
    }

    /// Clears `kept` for each class that fails the rule.
    pub(super) fn apply(&self, rule: &PreparedModel, set: &FrequencySet, kept: &mut [bool]) {
        if let (Some(least), None) = (rule.predicate.least_size(), self.entity) {
            kept.iter_mut()
                .zip(set.counts())
                .for_each(|(kept, n)| *kept &= *n >= least);
            return;
        }
        self.each_class(set, rule.detail, kept, |kept, class| {
            *kept = rule.predicate.holds(class)
        });
    }

    /// Calls `f` for every kept class. If `detail` is the index of a detail, `f` also gets the
    /// sensitive values of the class from this detail.
    pub(super) fn each_class(
        &self,
        set: &FrequencySet,
        detail: Option<usize>,
        kept: &mut [bool],
        mut f: impl FnMut(&mut bool, &Class),
    ) {
        let attribute = detail.map(|d| (&set.details()[d], &self.sets.base().attributes[d]));
        let reads_labels = self.rules.iter().any(|r| r.reads_labels);
        let (mut histogram, mut labels): (Vec<(u32, u64)>, Vec<Span>) = (vec![], vec![]);
        for (i, kept) in kept.iter_mut().enumerate().filter(|(_, kept)| **kept) {
            histogram.clear();
            if let Some((detail, attribute)) = attribute {
                fill(&mut histogram, attribute, detail.class(i));
            }
            if reads_labels {
                labels.clear();
                labels.extend(self.spans(set, i));
            }
            let class = Class {
                size: self.size(set, i),
                population: set.populations().map_or(0, |p| p[i]),
                histogram: &histogram,
                labels: &labels,
            };
            f(kept, &class);
        }
    }

    /// Returns, for each quasi-identifier, the span of values under the label of the class.
    fn spans(&self, set: &FrequencySet, class: usize) -> impl Iterator<Item = Span> {
        let key_schema = &self.sets.base().key_schema;
        key_schema.lookups().iter().enumerate().map(move |(column, lookup)| {
            let level = lookup.level(set.node().level(column));
            let label = level.codes[key_schema.layout().code(set.key(class), column) as usize];
            Span {
                leaves: level.leaves[label as usize],
                of: lookup.total_leaves(),
            }
        })
    }

    /// Returns the size of a class: its rows, or its distinct entities if the job has an entity.
    pub(super) fn size(&self, set: &FrequencySet, class: usize) -> u64 {
        match self.entity {
            Some(detail) => set.details()[detail].distinct(class),
            None => set.counts()[class],
        }
    }

    /// Returns the size of the smallest class that is kept, or `None` if no class is kept.
    pub fn smallest_class(&self, set: &FrequencySet, verdict: &Verdict) -> Option<u64> {
        let kept = verdict.kept.iter().enumerate().filter(|(_, kept)| **kept);
        kept.map(|(i, _)| self.size(set, i)).min()
    }

    /// Returns the values of all metrics at a node, as the metrics define them, in the order in
    /// which the evaluator was given the metrics.
    pub fn measure(&self, set: &FrequencySet, verdict: &Verdict) -> Vec<f64> {
        let values = |o: &Objective| o.measure.value(&view(set, verdict));
        let measure = || self.objectives.iter().map(values).collect();
        self.sets.pool().install_for(set.len(), measure)
    }

    /// Returns the value at a node of a metric that is not among the evaluator's objectives.
    pub fn measure_other(&self, job: &Job, metric: &dyn Metric, set: &FrequencySet, verdict: &Verdict) -> Result<f64> {
        Ok(objective(job, self.sets.base(), metric)?
            .measure
            .value(&view(set, verdict)))
    }

    /// Applies `f` to the judgement of every node, and returns the results in the order of the
    /// nodes. Nodes are judged in parallel. A node is not counted in full if the sizes of its
    /// classes show earlier that it is not anonymous.
    pub(super) fn judge_each<T: Send>(
        &self,
        nodes: &[Node],
        f: impl Fn(&Node, Judged) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let judged = |node: &Node, answer| f(node, self.judged(answer)?);
        self.sets.each(nodes, Some(self.demand), judged)
    }

    /// Returns true if every rule is monotone under the suppression limit `limit`.
    pub(super) fn rules_are_monotone(&self, limit: u64) -> bool {
        self.rules.iter().all(|rule| match rule.monotonicity {
            Monotonicity::Always => true,
            Monotonicity::WithoutSuppression => limit == 0 && self.sets.base().unmapped_rows == 0,
            Monotonicity::Never => false,
        })
    }
}

/// Returns the minimum number of rows required for a class to satisfy the models.
fn least_rows(guarantees: &Guarantees) -> u64 {
    let full = guarantees.constraints.iter().filter(|c| c.is_of_classes());
    full.map(|c| c.model.min_class_size()).max().unwrap_or(1)
}

/// Prepares a metric for the table, with the weights, k and suppression limit of the job.
fn objective(job: &Job, base: &Base, metric: &dyn Metric) -> Result<Objective> {
    let weights: Vec<f64> = job.roles.quasi_identifiers.iter().map(|q| q.weight).collect();
    let subject = metric::Subject {
        base,
        weights: &weights,
        k: least_rows(&job.guarantees),
        suppression_limit: job.guarantees.suppression.rows(base.rows),
        label: class_label_request(&job.roles).and_then(|request| position(base, &request)),
        attribute: measured_attribute(&job.roles).and_then(|request| position(base, &request)),
    };
    Ok(Objective {
        measure: metric.prepare(&subject)?,
        higher_is_better: metric.higher_is_better(),
    })
}

/// Returns the view of a node that a metric reads.
pub(super) fn view<'a>(set: &'a FrequencySet, verdict: &'a Verdict) -> View<'a> {
    View {
        node: set.node(),
        partition: verdict.partition.as_deref(),
        set,
        kept: &verdict.kept,
        alike: verdict.alike.as_ref().map(|sizes| sizes.as_slice()),
        classes: verdict.released_classes(),
        released: verdict.released,
        suppressed: verdict.suppressed,
    }
}
