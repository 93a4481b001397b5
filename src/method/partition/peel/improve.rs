//! Local search: combinations move between classes, pairs of classes are divided anew, and classes
//! are dissolved.

use super::space::{PeeledClass, Space};
use super::split::{gains, split};
use crate::method::search::{Context, Stop};
use rand::RngExt;
use rand::seq::SliceRandom;
use std::collections::HashSet;

/// The number of following combinations in a sorted order that are neighbours of a combination.
const NEIGHBOURS: usize = 4;

/// The number of cells that a round may join or measure in exchanges among neighbours. A round may
/// join or measure half as many again to dissolve classes.
const ROUND: u64 = 1 << 24;

/// `ROUND` for a table too large for [`COMPARED`]. A round covers only a part of the table. All
/// rounds together cost less than the scans of the table.
const LARGE_ROUND: u64 = 1 << 20;

/// The number of cells that a round may measure when it compares blocks with all classes.
const FAR: u64 = 1 << 26;

/// The number of cells that a round may generalize when it walks the lattice again for a few
/// classes.
const AGAIN: u64 = 1 << 25;

/// The maximum product of combinations, columns and classes for which blocks are compared with all
/// classes. In a larger table, a round would cover only a small part.
const COMPARED: u64 = 1 << 31;

/// A round is worth its time if at most this share of the loss remains after the round.
const WORTHWHILE: f64 = 0.9999;

/// The maximum number of members of a dissolved class, or of two classes divided anew.
pub(super) const SMALL: usize = 512;

/// The classes of a run, and the class of each combination.
pub(super) struct Improvement<'a> {
    pub(super) space: &'a Space<'a>,
    pub(super) classes: Vec<PeeledClass>,
    pub(super) class_of: Vec<u32>,
    /// For each column and ground code: the position of the code in the order of the hierarchy, in
    /// which values under one label are adjacent.
    ranks: Vec<Vec<u32>>,
}

/// The class index of a combination that is in no class.
const NONE: u32 = u32::MAX;

impl<'a> Improvement<'a> {
    pub(super) fn new(space: &'a Space, classes: Vec<PeeledClass>) -> Self {
        let mut improvement = Self {
            space,
            class_of: vec![NONE; space.len()],
            ranks: (0..space.columns()).map(|column| space.places(column)).collect(),
            classes,
        };
        for number in 0..improvement.classes.len() {
            improvement.number(number);
        }
        improvement
    }

    /// Records the number of a class as the class of each of its members.
    pub(super) fn number(&mut self, class: usize) {
        for member in &self.classes[class].members {
            self.class_of[*member as usize] = class as u32;
        }
    }

    pub(super) fn cost(&self) -> f64 {
        self.classes.iter().map(PeeledClass::cost).sum()
    }

    /// Runs at most `rounds` rounds. Ends early when more consecutive rounds than there are columns
    /// gain almost nothing. Returns the reason if the search was stopped.
    ///
    /// Every round sorts the combinations by the columns in another random order, and tries changes
    /// between the classes of neighbours. Similar combinations are neighbours in some of the
    /// orders. So a round costs a sort and a few comparisons per combination, regardless of the
    /// number of classes.
    pub(super) fn run(&mut self, rounds: u64, context: &mut Context) -> Option<Stop> {
        let mut columns: Vec<usize> = (0..self.space.columns()).collect();
        let mut idle = 0;
        for _ in 0..rounds {
            columns.shuffle(&mut context.rng);
            let before = self.cost();
            let mut order = self.sorted(&columns);
            if !order.is_empty() {
                // A round may cover only a part of the combinations, so each round begins at
                // another position.
                let start = context.rng.random_range(0..order.len());
                order.rotate_left(start);
            }
            let round = if self.is_large() { LARGE_ROUND } else { ROUND };
            let limit = self.space.work() + round;
            if let Err(stop) = self
                .exchange(&order, limit, context)
                .and_then(|()| self.dissolve(&order, limit + round / 2, context))
                .and_then(|()| self.among_all(context))
            {
                return Some(stop);
            }
            idle = if self.cost() > before * WORTHWHILE { idle + 1 } else { 0 };
            if idle > columns.len() {
                break;
            }
        }
        None
    }

    /// Returns true if comparing all combinations with all classes would take too long.
    fn is_large(&self) -> bool {
        let cells = [self.space.len(), self.space.columns(), self.classes.len()];
        let cells = cells
            .into_iter()
            .fold(1u64, |product, n| product.saturating_mul(n as u64));
        cells > COMPARED
    }

    /// Compares blocks with all classes and walks the lattice again for a few classes, unless the
    /// table is too large.
    fn among_all(&mut self, context: &mut Context) -> Result<(), Stop> {
        if self.is_large() {
            return Ok(());
        }
        self.reach(self.space.work() + FAR, context)?;
        self.walk_again(self.space.work() + AGAIN, context)
    }

    /// Returns the combinations that are in a class, sorted by these columns in the given order.
    /// Only the first columns count: those whose ranks fit into a key of 128 bits.
    fn sorted(&self, columns: &[usize]) -> Vec<u32> {
        let bits = |column: usize| u32::BITS - (self.ranks[column].len() as u32).leading_zeros();
        let mut free = u128::BITS;
        let leading: Vec<(usize, u32)> = columns
            .iter()
            .map_while(|column| {
                free = free.checked_sub(bits(*column))?;
                Some((*column, bits(*column)))
            })
            .collect();
        let key = |c: u32| {
            let codes = self.space.codes(c);
            let ranks = leading
                .iter()
                .map(|(column, bits)| (self.ranks[*column][codes[*column] as usize], bits));
            ranks.fold(0u128, |key, (rank, bits)| key << bits | u128::from(rank))
        };
        let placed = (0..self.space.len() as u32).filter(|c| self.class_of[*c as usize] != NONE);
        // Packing a key and its combination into one word reduces the time of the sort to a third.
        if u128::BITS - free <= u32::BITS {
            let mut order: Vec<u64> = placed.map(|c| (key(c) as u64) << 32 | u64::from(c)).collect();
            order.sort_unstable();
            return order.into_iter().map(|word| word as u32).collect();
        }
        let mut order: Vec<(u128, u32)> = placed.map(|c| (key(c), c)).collect();
        order.sort_unstable();
        order.into_iter().map(|(_, c)| c).collect()
    }

    /// Moves combinations to the classes of their neighbours, and divides the classes of two
    /// neighbours anew, until the work of the run reaches `limit`.
    fn exchange(&mut self, order: &[u32], limit: u64, context: &Context) -> Result<(), Stop> {
        let mut tried: HashSet<(u32, u32)> = HashSet::new();
        for (at, one) in order.iter().enumerate() {
            if at % 256 == 0 {
                context.check(0)?;
                if self.space.work() > limit {
                    break;
                }
            }
            for other in order[at + 1..].iter().take(NEIGHBOURS) {
                self.try_move(*one, self.class_of[*other as usize]);
                self.try_move(*other, self.class_of[*one as usize]);
                let (a, b) = (self.class_of[*one as usize], self.class_of[*other as usize]);
                if a != b && tried.insert((a.min(b), a.max(b))) {
                    self.try_pair(a as usize, b as usize, context);
                }
            }
        }
        Ok(())
    }

    /// Moves a combination to class `to` if this loses less and both classes still satisfy the
    /// models.
    fn try_move(&mut self, combination: u32, to: u32) {
        let (space, from) = (self.space, self.class_of[combination as usize]);
        let (source, target) = (&self.classes[from as usize], &self.classes[to as usize]);
        if from == to || source.cost() == 0.0 {
            return;
        }
        let more = space.cost_of_joining(target, combination, source.cost());
        let stays = source.rows - space.rows(combination);
        if stays < space.table.least_rows() || !gains(source.cost(), more) {
            return;
        }
        let rest = source.members.iter().copied().filter(|c| *c != combination).collect();
        let rest = space.class(rest);
        if !gains(source.cost() + target.cost(), rest.cost() + target.cost() + more) {
            return;
        }
        let mut joined = target.clone();
        space.join(&mut joined, combination);
        if space.holds(&rest) && space.holds(&joined) {
            self.classes[from as usize] = rest;
            self.classes[to as usize] = joined;
            self.class_of[combination as usize] = to;
        }
    }

    /// Replaces two classes by a division of the united class if the division loses less.
    pub(super) fn try_pair(&mut self, a: usize, b: usize, context: &Context) {
        let before = self.classes[a].cost() + self.classes[b].cost();
        let members = [self.classes[a].members.as_slice(), &self.classes[b].members].concat();
        if before == 0.0 || members.len() > SMALL {
            return;
        }
        let whole = self.space.class(members);
        if !self.space.holds(&whole) {
            return;
        }
        let parts = split(self.space, whole, context);
        if gains(before, parts.iter().map(PeeledClass::cost).sum()) {
            self.classes[a] = PeeledClass::default();
            self.classes[b] = PeeledClass::default();
            self.place(parts, &[a, b]);
        }
    }

    /// Divides a class if its parts lose less.
    pub(super) fn try_split(&mut self, class: usize, context: &Context) {
        let whole = std::mem::take(&mut self.classes[class]);
        let parts = split(self.space, whole, context);
        self.place(parts, &[class]);
    }

    /// Stores classes at the indices in `free` first, and then at new indices.
    pub(super) fn place(&mut self, classes: Vec<PeeledClass>, free: &[usize]) {
        let mut free = free.iter().copied();
        for class in classes {
            let number = free.next().unwrap_or(self.classes.len());
            match number < self.classes.len() {
                true => self.classes[number] = class,
                false => self.classes.push(class),
            }
            self.number(number);
        }
    }

    /// Dissolves classes whose combinations lose less in the classes of their neighbours. The
    /// classes with the highest loss per row come first.
    fn dissolve(&mut self, order: &[u32], limit: u64, context: &Context) -> Result<(), Stop> {
        let mut place = vec![0usize; self.space.len()];
        for (at, combination) in order.iter().enumerate() {
            place[*combination as usize] = at;
        }
        for (at, class) in self.dearest().into_iter().enumerate() {
            if at % 256 == 0 {
                context.check(0)?;
                if self.space.work() > limit {
                    break;
                }
            }
            if self.classes[class].members.len() <= SMALL && self.classes[class].cost() > 0.0 {
                let around = |one: &Self, member: u32| {
                    let at = place[member as usize];
                    let around = &order[at.saturating_sub(4 * NEIGHBOURS)..(at + 4 * NEIGHBOURS + 1).min(order.len())];
                    around.iter().map(|c| one.class_of[*c as usize]).collect()
                };
                self.try_dissolve(class, 0.0, around);
            }
        }
        Ok(())
    }

    /// Returns the indices of the classes, the class with the highest loss per row first.
    pub(super) fn dearest(&self) -> Vec<usize> {
        let with_rows = self.classes.iter().enumerate().filter(|(_, class)| class.rows > 0);
        let mut classes: Vec<(f64, usize)> = with_rows
            .map(|(number, class)| (class.cost() / class.rows as f64, number))
            .collect();
        classes.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        classes.into_iter().map(|(_, number)| number).collect()
    }

    /// Dissolves a class. Each of its combinations joins the cheapest of the classes that
    /// `candidates` returns for it. Does so only if the additional loss over all rows is less than
    /// `most`. Returns true if the class was dissolved.
    pub(super) fn try_dissolve(
        &mut self,
        class: usize,
        most: f64,
        candidates: impl Fn(&Self, u32) -> Vec<u32>,
    ) -> bool {
        let space = self.space;
        let dissolved = std::mem::take(&mut self.classes[class]);
        let (mut cost, mut before): (f64, Vec<(usize, PeeledClass)>) = (0.0, vec![]);
        for member in &dissolved.members {
            let classes = candidates(self, *member).into_iter().map(|c| c as usize);
            let classes = classes.filter(|c| *c != class && !self.classes[*c].members.is_empty());
            let Some((more, to)) = space.cheapest(classes.map(|c| (c, &self.classes[c])), *member) else {
                cost = f64::INFINITY;
                break;
            };
            cost += more;
            if !gains(dissolved.cost() + most, cost) {
                break;
            }
            before.push((to, self.classes[to].clone()));
            space.join(&mut self.classes[to], *member);
            self.class_of[*member as usize] = to as u32;
        }
        let holds = |improvement: &Self| before.iter().all(|(to, _)| space.holds(&improvement.classes[*to]));
        if gains(dissolved.cost() + most, cost) && holds(self) {
            return true;
        }
        for (to, old) in before.into_iter().rev() {
            self.classes[to] = old;
        }
        self.classes[class] = dissolved;
        self.number(class);
        false
    }
}
