//! The classes of a batch that can be added to a release (APPEND).
//!
//! A batch satisfies its models when its node is chosen. If a model judges a class by the rows of
//! this class alone, the union of the batch and the release then satisfies the model as well. A
//! class of the union is a class of the batch, a class of the release, or a *joint* class: a class
//! of the batch and the class of the release with the same labels, taken together. A joint class
//! satisfies the model if both of its parts do: it has more rows and more values, and the mixture
//! of two distributions that are even enough is even enough.
//!
//! A model that compares a class with the whole table, such as t-closeness, is different: a batch
//! changes the distribution of the whole table. The classes of the union are therefore judged by
//! the models' own predicates, over the distribution of all released rows. Classes of the batch
//! that fail *wait*: their rows are not released. The waiting rows change the distribution again,
//! so the check is repeated until nothing changes. The classes of the batch alone are judged in the
//! same way over the distribution of the batch's released rows, because a reader who has only this
//! batch knows no other distribution.

use super::decision::{Decision, describe};
use super::evaluator::Evaluator;
use super::standing::{AttributeClasses, standing};
use super::values::Numbered;
use crate::base::error::{Error, Result};
use crate::base::pool::{blocking, check_cancelled};
use crate::data::frequency::{Attribute, Base, FrequencySet};
use crate::data::model::{Class, Predicate, Subject};
use crate::method::canonical::one_spelling;
use crate::method::hierarchy::{Lookup, texts as written};
use crate::release::engine::scan::{attribute_request, fill, position};
use crate::release::job::{Constraint, Existing, Job};
use arrow::array::Array;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the decision for the classes that can be added to the existing release, or that can be
/// the first batch of a new release. Without APPEND, returns the decision unchanged. Fails as
/// infeasible if more rows would have to be held back than the suppression limit allows, or if the
/// batch would break a promise to the rows in the existing release.
pub(in crate::release::engine) async fn join(job: &Arc<Job>, decision: Decision) -> Result<Decision> {
    let Some(target) = job
        .output
        .target
        .as_ref()
        .filter(|target| target.existing == Existing::Append)
    else {
        return Ok(decision);
    };
    let compares = |c: &&Constraint| c.model.reads().whole && c.is_of_classes();
    let attributes: Vec<String> = job
        .guarantees
        .constraints
        .iter()
        .filter(compares)
        .filter_map(|c| c.attribute.clone())
        .collect();
    let mut standing_of = HashMap::new();
    for attribute in attributes {
        let found = match target.grows {
            Some(_) => standing(job, target, &attribute).await?,
            None => AttributeClasses::default(),
        };
        standing_of.insert(attribute, found);
    }
    if standing_of.is_empty() {
        return Ok(decision);
    }
    let job = Arc::clone(job);
    blocking("joining the batch with the release", move || {
        joined(&job, decision, &standing_of)
    })
    .await
}

fn joined(job: &Job, decision: Decision, standing: &HashMap<String, AttributeClasses>) -> Result<Decision> {
    let evaluator = Arc::clone(&decision.evaluator);
    let compares = |c: &&Constraint| c.model.reads().whole && c.is_of_classes();
    let mut rules = vec![];
    for constraint in job.guarantees.constraints.iter().filter(compares) {
        let attribute = constraint.attribute.as_ref();
        if let Some(standing) = attribute.and_then(|a| standing.get(a)) {
            rules.push(Rule::new(job, &evaluator, &decision.classes, constraint, standing)?);
        }
    }
    let mut may_join = vec![true; decision.classes.len()];
    loop {
        check_cancelled()?;
        let verdict = evaluator.verdict_among(&decision.classes, |class| may_join[class])?;
        let (mut fails, mut broken) = (vec![], 0);
        for rule in &rules {
            rule.alone(&verdict.kept, &mut fails)?;
            broken += rule.together(&verdict.kept, &mut fails)?;
        }
        if !fails.is_empty() {
            fails.into_iter().for_each(|class| may_join[class] = false);
            continue;
        }
        let node = describe(&job.roles, decision.classes.node());
        if broken > 0 && verdict.classes > 0 {
            return Err(Error::infeasible(format!(
                "at the node {node} the rows of the batch would change the distribution of the table, and {broken} \
                 classes of the existing release would no longer be close enough to it; add the rows with a later batch, \
                 or release all rows anew with OVERWRITE"
            )));
        }
        if !verdict.anonymous {
            return Err(Error::infeasible(format!(
                "at the node {node}, {} rows would have to wait so that the batch and the release together satisfy the \
                 models, and {} may",
                verdict.suppressed, evaluator.limit
            )));
        }
        return Ok(Decision {
            value: evaluator.measure(&decision.classes, &verdict)[0],
            verdict,
            ..decision
        });
    }
}

/// A class of the union: its sensitive values with their counts, and the classes of the batch that
/// are in it.
type Joined = (Vec<(u32, u64)>, Vec<usize>);

/// A model that compares classes with the whole table, over the classes of the batch and of the
/// release.
struct Rule<'a> {
    constraint: &'a Constraint,
    base: &'a Base,
    attribute: Attribute,
    hierarchy: Option<Lookup>,
    /// For each class of the batch, its sensitive values as indices among all values, with their
    /// counts.
    batch: Vec<Vec<(u32, u64)>>,
    /// The classes of the union, each with the counts of its rows in the release and the classes of
    /// the batch that are added to it.
    union: Vec<Joined>,
}

impl<'a> Rule<'a> {
    fn new(
        job: &Job,
        evaluator: &'a Evaluator,
        set: &FrequencySet,
        constraint: &'a Constraint,
        standing: &AttributeClasses,
    ) -> Result<Self> {
        let base = evaluator.sets().base().as_ref();
        let lost = || Error::internal("a sensitive attribute was not counted");
        let column = constraint.attribute.as_ref().ok_or_else(lost)?;
        let detail = position(base, &attribute_request(&job.input, column)).ok_or_else(lost)?;
        let own = &base.attributes[detail];
        let values = Numbered::of(&own.values, &standing.values)?;
        let attribute = Attribute {
            values: Arc::clone(&values.all),
            value_of_code: None,
            counts: vec![0; values.all.len()],
            request: own.request.clone(),
        };
        let hierarchy = match constraint.model.reads().hierarchy {
            true => {
                let sensitive = job.roles.sensitive.iter().find(|s| s.column == *column);
                let hierarchy = sensitive.and_then(|s| s.hierarchy.as_ref()).ok_or_else(lost)?;
                Some(hierarchy.bind(Arc::clone(&values.all))?)
            }
            false => None,
        };
        let of_class = |class| {
            let mut histogram = vec![];
            fill(&mut histogram, own, set.details()[detail].class(class));
            let counts = histogram.into_iter().map(|(code, n)| (values.first[code as usize], n));
            let mut counts: Vec<(u32, u64)> = counts.collect();
            counts.sort_unstable();
            counts
        };
        let batch = (0..set.len()).map(of_class).collect();
        let mut union: Vec<Joined> = vec![];
        let mut places = HashMap::new();
        for (labels, counts) in &standing.classes {
            let counts = counts.iter().map(|(code, n)| (values.second[*code as usize], *n));
            places.insert(labels.clone(), union.len());
            union.push((counts.collect(), vec![]));
        }
        for (class, labels) in labels(evaluator, set)?.into_iter().enumerate() {
            let place = *places.entry(labels).or_insert_with(|| {
                union.push((vec![], vec![]));
                union.len() - 1
            });
            union[place].1.push(class);
        }
        Ok(Self {
            constraint,
            base,
            attribute,
            hierarchy,
            batch,
            union,
        })
    }

    /// Prepares the model for a table with the sensitive values of these classes.
    fn predicate<'b>(&self, classes: impl Iterator<Item = &'b Vec<(u32, u64)>>) -> Result<Box<dyn Predicate>> {
        let mut attribute = self.attribute.clone();
        for (code, n) in classes.flatten() {
            attribute.counts[*code as usize] += n;
        }
        let base = Base {
            rows: attribute.counts.iter().sum(),
            attributes: vec![attribute],
            ..self.base.clone()
        };
        self.constraint.model.prepare(&Subject {
            base: &base,
            attribute: Some(0),
            hierarchy: self.hierarchy.as_ref(),
        })
    }

    /// Appends to `fails` the kept classes of the batch that fail the model among the kept rows of
    /// the batch.
    fn alone(&self, kept: &[bool], fails: &mut Vec<usize>) -> Result<()> {
        let released: Vec<usize> = (0..self.batch.len()).filter(|class| kept[*class]).collect();
        if released.is_empty() {
            return Ok(());
        }
        let predicate = self.predicate(released.iter().map(|class| &self.batch[*class]))?;
        let failing = released
            .iter()
            .filter(|class| !holds(predicate.as_ref(), &self.batch[**class]));
        fails.extend(failing);
        Ok(())
    }

    /// Joins the kept classes of the batch with the rows of the release in the same class, and
    /// appends to `fails` the classes of the batch whose joint class then fails the model among all
    /// released rows. Returns the number of failing classes that contain no row of the batch.
    fn together(&self, kept: &[bool], fails: &mut Vec<usize>) -> Result<u64> {
        let classes: Vec<Joined> = self
            .union
            .iter()
            .map(|(standing, added)| {
                let added: Vec<usize> = added.iter().copied().filter(|class| kept[*class]).collect();
                let mut counts = standing.clone();
                for class in &added {
                    counts.extend(&self.batch[*class]);
                }
                (summed(counts), added)
            })
            .filter(|(counts, _)| !counts.is_empty())
            .collect();
        if classes.is_empty() {
            return Ok(0);
        }
        let predicate = self.predicate(classes.iter().map(|(counts, _)| counts))?;
        let mut broken = 0;
        for (counts, added) in &classes {
            if holds(predicate.as_ref(), counts) {
                continue;
            }
            broken += u64::from(added.is_empty());
            fails.extend(added);
        }
        Ok(broken)
    }
}

fn holds(predicate: &dyn Predicate, histogram: &[(u32, u64)]) -> bool {
    predicate.holds(&Class {
        size: histogram.iter().map(|(_, n)| n).sum(),
        population: 0,
        histogram,
        labels: &[],
    })
}

/// Adds up the counts of equal values. Returns the values in ascending order, each once with its
/// sum.
fn summed(mut counts: Vec<(u32, u64)>) -> Vec<(u32, u64)> {
    counts.sort_unstable();
    counts.dedup_by(|next, first| {
        let is_same = next.0 == first.0;
        if is_same {
            first.1 += next.1;
        }
        is_same
    });
    counts
}

/// Returns the texts of the labels of each class of a node.
fn labels(evaluator: &Evaluator, set: &FrequencySet) -> Result<Vec<Vec<Option<String>>>> {
    let key_schema = &evaluator.sets().base().key_schema;
    let mut labels = vec![vec![]; set.len()];
    for (column, lookup) in key_schema.lookups().iter().enumerate() {
        let level = lookup.level(set.node().level(column));
        let texts = written(&one_spelling(&level.labels)?)?;
        for (class, labels) in labels.iter_mut().enumerate() {
            let label = level.codes[key_schema.layout().code(set.key(class), column) as usize] as usize;
            labels.push(texts.is_valid(label).then(|| texts.value(label).to_string()));
        }
    }
    Ok(labels)
}
