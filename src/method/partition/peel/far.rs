//! Local search among all classes, for combinations that fit into no class of a neighbour. A
//! combination has few neighbours, so trying only their classes is cheap. This module instead
//! compares a block of combinations with every class.

use super::improve::{Improvement, SMALL};
use super::space::{PeeledClass, Space};
use super::split::gains;
use crate::method::search::{Context, Stop};

/// The number of partners tried for each class. The class is united with one partner after the
/// other, and each time the united class is divided anew.
const PARTNERS: usize = 12;

/// The maximum number of members of a class that is dissolved into arbitrary classes.
const FEW: usize = 64;

impl Improvement<'_> {
    /// Tries to change the classes one by one, the most expensive first. Takes four steps for each
    /// class, and keeps the result of a step only if it lowers the loss. First, divides the class,
    /// which may have grown. Second, moves its blocks to the classes in which they lose least.
    /// Third, unites it with its cheapest partners and divides the united class anew. Fourth,
    /// dissolves it if it is small. Skips large classes and classes without a loss. Ends when the
    /// work of the run exceeds `limit`.
    pub(super) fn reach(&mut self, limit: u64, context: &Context) -> Result<(), Stop> {
        for class in self.dearest() {
            context.check(0)?;
            if self.space.work() > limit {
                break;
            }
            if self.classes[class].members.len() <= SMALL && self.classes[class].cost() > 0.0 {
                self.try_split(class, context);
                for block in blocks(self.space, &self.classes[class]) {
                    self.try_block(class, &block);
                }
                self.try_partners(class, context);
                if self.classes[class].members.len() <= FEW {
                    self.try_dissolve(class, 0.0, |one, _| (0..one.classes.len() as u32).collect());
                }
            }
        }
        Ok(())
    }

    /// Moves a block of a class to the class in which the block loses least, if this lowers the
    /// loss and both classes still satisfy the models.
    fn try_block(&mut self, from: usize, block: &[u32]) {
        let space = self.space;
        // An earlier block may already have moved some of these combinations.
        if block.iter().any(|c| self.class_of[*c as usize] != from as u32) {
            return;
        }
        let source = &self.classes[from];
        let rest = source.members.iter().copied().filter(|c| !block.contains(c)).collect();
        let (rest, block) = (space.class(rest), space.class(block.to_vec()));
        let gain = source.cost() - rest.cost();
        if !(rest.members.is_empty() || space.holds(&rest)) || !gains(gain, 0.0) {
            return;
        }
        let mut best = (gain, None);
        for (number, class) in self.classes.iter().enumerate() {
            if number != from && !class.members.is_empty() {
                let more = space.cost_of_uniting(class, &block, best.0);
                if more < best.0 {
                    best = (more, Some(number));
                }
            }
        }
        let (more, Some(to)) = best else { return };
        let joined = space.united(&self.classes[to], &block);
        if gains(gain, more) && space.holds(&joined) {
            self.classes[from] = rest;
            self.classes[to] = joined;
            self.number(to);
        }
    }

    /// Unites a class with each of its cheapest partners and divides the united class anew.
    fn try_partners(&mut self, class: usize, context: &Context) {
        for partner in self.nearest(class, PARTNERS) {
            if !self.classes[class].members.is_empty() && !self.classes[partner].members.is_empty() {
                self.try_pair(class, partner, context);
            }
        }
    }

    /// Returns the `many` classes that are cheapest to unite with a class, the cheapest first.
    pub(super) fn nearest(&self, class: usize, many: usize) -> Vec<usize> {
        let one = &self.classes[class];
        let mut nearest: Vec<(f64, usize)> = Vec::with_capacity(many + 1);
        for (number, other) in self.classes.iter().enumerate() {
            if number == class || other.members.is_empty() {
                continue;
            }
            let furthest = nearest.get(many - 1).map_or(f64::INFINITY, |(more, _)| *more);
            let more = self.space.cost_of_uniting(one, other, furthest + other.cost()) - other.cost();
            if more < furthest {
                let at = nearest.partition_point(|(less, _)| *less <= more);
                nearest.insert(at, (more, number));
                nearest.truncate(many);
            }
        }
        nearest.into_iter().map(|(_, number)| number).collect()
    }
}

/// Returns the parts of a class whose removal may narrow its label. Each single combination is such
/// a part. In a column with ranges, so are the combinations with the lowest value and those with
/// the highest value. In any other column, so are the combinations that share a label at a level
/// below the level of the class.
fn blocks(space: &Space, class: &PeeledClass) -> Vec<Vec<u32>> {
    let mut blocks: Vec<Vec<u32>> = class.members.iter().map(|c| vec![*c]).collect();
    for column in 0..space.columns() {
        let code = |c: &u32| space.codes(*c)[column];
        if space.is_range(column) {
            let (least, greatest) = (
                class.members.iter().map(code).min(),
                class.members.iter().map(code).max(),
            );
            let at = |end| class.members.iter().copied().filter(|c| Some(code(c)) == end).collect();
            blocks.extend([at(least), at(greatest)]);
        } else {
            let of = &space.table.columns()[column];
            for level in of.bottom..space.level(class, column) {
                let labels = &of.lookup.level(level).codes;
                let mut sorted = class.members.clone();
                sorted.sort_unstable_by_key(|c| (labels[code(c) as usize], *c));
                let parts = sorted.chunk_by(|a, b| labels[code(a) as usize] == labels[code(b) as usize]);
                blocks.extend(parts.map(<[u32]>::to_vec));
            }
        }
    }
    blocks.iter_mut().for_each(|block| block.sort_unstable());
    blocks.sort_unstable();
    blocks.dedup();
    blocks.retain(|block| block.len() < class.members.len());
    blocks
}
