//! Judges classes by their natural supersets: the classes of more general nodes that contain them.

use super::evaluator::{Evaluator, PreparedModel};
use crate::base::error::{Error, Result};
use crate::base::pool::check_cancelled;
use crate::data::frequency::FrequencySet;
use crate::data::model::Class;
use crate::method::lattice::{self, Lattice, Node};
use crate::release::engine::scan::fill;

impl Evaluator {
    /// Clears `kept` for each class of a node if neither the class nor any of its supersets
    /// satisfies the rule. The supersets are classes of the more general nodes up to the top of
    /// every hierarchy, and are examined nearest first.
    pub(super) fn apply_among_supersets(
        &self,
        rule: &PreparedModel,
        set: &FrequencySet,
        kept: &mut [bool],
    ) -> Result<()> {
        let mut holds = kept.to_vec();
        self.apply(rule, set, &mut holds);
        let mut failing: Vec<usize> = (0..set.len()).filter(|i| kept[*i] && !holds[*i]).collect();
        let key_schema = &self.sets.base().key_schema;
        if failing.is_empty() {
            return Ok(());
        }
        let top = Node::new(key_schema.lookups().iter().map(|l| l.top()).collect());
        for node in more_general(set.node(), top)? {
            if failing.is_empty() {
                break;
            }
            check_cancelled()?;
            let (supersets, superset_of) = set.roll_up(key_schema, &node);
            let (mut own, mut around) = (vec![], vec![]);
            failing.retain(|class| {
                let superset = superset_of[*class] as usize;
                let class = self.class_of((set, *class), rule, &mut own);
                let superset = self.class_of((&supersets, superset), rule, &mut around);
                !rule.predicate.holds_within(&class, &superset)
            });
        }
        failing.into_iter().for_each(|class| kept[class] = false);
        Ok(())
    }

    /// Returns an entry of a set as a class. Fills `histogram` with the values that the rule reads.
    fn class_of<'a>(
        &self,
        (set, entry): (&FrequencySet, usize),
        rule: &PreparedModel,
        histogram: &'a mut Vec<(u32, u64)>,
    ) -> Class<'a> {
        histogram.clear();
        if let Some(detail) = rule.detail {
            let attribute = &self.sets.base().attributes[detail];
            fill(histogram, attribute, set.details()[detail].class(entry));
        }
        Class {
            size: self.size(set, entry),
            population: set.populations().map_or(0, |p| p[entry]),
            histogram,
            labels: &[],
        }
    }
}

/// The maximum number of nodes whose classes are examined as supersets.
const MOST: u128 = 100_000;

/// Returns the nodes above `node` up to `top`, by ascending height.
fn more_general(node: &Node, top: Node) -> Result<Vec<Node>> {
    let lattice = Lattice::new(node.clone(), top);
    if lattice.size() > MOST {
        return Err(Error::usage(format!(
            "{} nodes are above the node {node}, and a model of supersets of classes examines at most {MOST} nodes; \
             name fewer quasi-identifiers, or use hierarchies with fewer levels",
            lattice::said(lattice.size())
        )));
    }
    let mut nodes: Vec<Node> = lattice.iter().filter(|above| above != node).collect();
    nodes.sort_by_key(Node::height);
    Ok(nodes)
}
