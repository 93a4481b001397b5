//! The changes of annealing: exchanges, divisions and dissolutions of classes.

use super::near::{CombinationPlaces, NEAR};
use super::places::{ExtremePlaces, with};
use super::space::PeeledClass;

/// The classes of a table while they are annealed. The cost of a class after a change is computed
/// from its extreme places, without its members.
pub(super) struct AnnealedClasses<'a> {
    places: &'a CombinationPlaces<'a>,
    /// For each combination: the combinations near it, the nearest first.
    near: Vec<Vec<u32>>,
    pub(super) class_of: Vec<u32>,
    /// For each combination: its index among the members of its class.
    position: Vec<u32>,
    pub(super) members: Vec<Vec<u32>>,
    /// The number of rows of each class.
    pub(super) rows: Vec<u64>,
    /// The loss over all rows of each class.
    pub(super) costs: Vec<f64>,
    /// The extreme places, class by class and column by column.
    extremes: Vec<ExtremePlaces>,
    /// The indices of empty classes, which new classes may reuse.
    free: Vec<usize>,
    /// The minimum number of rows of a class.
    least: u64,
    /// The maximum additional loss, over all rows, that a change may cause.
    pub(super) most: f64,
}

/// A combination that leaves a class, a combination that joins it, or both.
#[derive(Debug, Clone, Copy, Default)]
struct MemberChange {
    leaves: Option<u32>,
    joins: Option<u32>,
}

impl<'a> AnnealedClasses<'a> {
    /// Arranges the combinations in these classes. `class_of` is the class of each combination.
    pub(super) fn new(
        places: &'a CombinationPlaces<'a>,
        near: Vec<Vec<u32>>,
        classes: &[PeeledClass],
        class_of: Vec<u32>,
    ) -> Self {
        let space = places.space;
        let mut annealed = Self {
            places,
            near,
            position: vec![0; class_of.len()],
            class_of,
            members: classes.iter().map(|class| class.members.clone()).collect(),
            rows: vec![0; classes.len()],
            costs: vec![0.0; classes.len()],
            extremes: vec![ExtremePlaces::NONE; classes.len() * space.columns()],
            free: (0..classes.len())
                .filter(|class| classes[*class].members.is_empty())
                .collect(),
            least: space.table.least_rows().max(1),
            most: 0.0,
        };
        for class in 0..classes.len() {
            annealed.refresh(class);
        }
        annealed
    }

    /// Puts each of these combinations into the class that `class_of` has for it.
    pub(super) fn restore(&mut self, placed: &[u32], class_of: &[u32]) {
        self.members.iter_mut().for_each(Vec::clear);
        for one in placed {
            self.members[class_of[*one as usize] as usize].push(*one);
        }
        (0..self.members.len()).for_each(|class| self.refresh(class));
        self.free = (0..self.members.len())
            .filter(|class| self.members[*class].is_empty())
            .collect();
    }

    pub(super) fn cost(&self) -> f64 {
        self.costs.iter().sum()
    }

    pub(super) fn class(&self, combination: u32) -> usize {
        self.class_of[combination as usize] as usize
    }

    /// Returns the combinations near a combination, the nearest first.
    pub(super) fn near(&self, combination: u32) -> &[u32] {
        &self.near[combination as usize]
    }

    /// Returns true if a combination can leave its class and the class keeps enough rows.
    pub(super) fn may_leave(&self, combination: u32) -> bool {
        self.rows[self.class(combination)] - self.rows_of(combination) >= self.least
    }

    fn rows_of(&self, combination: u32) -> u64 {
        self.places.space.rows(combination)
    }

    /// Returns true if classes with these members satisfy the models. Each class must have enough
    /// rows.
    fn hold<const N: usize>(&self, classes: [&dyn Fn() -> Vec<u32>; N]) -> bool {
        let table = self.places.space.table;
        table.rows_suffice() || classes.iter().all(|members| table.holds(&members()))
    }

    /// Computes the rows, the extremes and the cost of a class from its members.
    fn refresh(&mut self, class: usize) {
        let columns = self.places.losses.len();
        let extremes = &mut self.extremes[class * columns..][..columns];
        extremes.fill(ExtremePlaces::NONE);
        let mut rows = 0;
        for (position, member) in self.members[class].iter().enumerate() {
            self.position[*member as usize] = position as u32;
            self.class_of[*member as usize] = class as u32;
            rows += self.places.space.rows(*member);
            for (extremes, place) in extremes.iter_mut().zip(self.places.of(*member)) {
                extremes.add(*place);
            }
        }
        self.rows[class] = rows;
        self.costs[class] = 0.0;
        if rows > 0 {
            let losses = self.places.losses.iter().zip(&*extremes);
            let losses = losses.map(|(losses, extremes)| losses.loss(self.places.space, extremes.ends()));
            self.costs[class] = rows as f64 * losses.sum::<f64>();
        }
    }

    /// Returns the cost of a class of `rows` rows after some combinations leave or join it. Returns
    /// infinity if the cost is above `most`.
    fn cost_after(&self, class: usize, change: MemberChange, rows: u64, most: f64) -> f64 {
        let space = self.places.space;
        let columns = self.places.losses.len();
        let extremes = &self.extremes[class * columns..][..columns];
        let leaves = change.leaves.map(|one| self.places.of(one));
        let joins = change.joins.map(|one| self.places.of(one));
        let most = most / rows as f64;
        let mut loss = 0.0;
        for (column, (losses, extremes)) in self.places.losses.iter().zip(extremes).enumerate() {
            let ends = leaves.map_or(extremes.ends(), |leaves| extremes.ends_without(leaves[column]));
            let ends = joins.map_or(ends, |joins| with(ends, joins[column]));
            loss += losses.loss(space, ends);
            if loss > most {
                return f64::INFINITY;
            }
        }
        rows as f64 * loss
    }

    /// Moves the combination `one` to the class `to`, and the combination `back` of that class, if
    /// there is one, to the class of `one`. Does so only if both classes then satisfy the models
    /// and the additional loss is at most `most`. Returns true if the change was made.
    pub(super) fn exchange(&mut self, one: u32, back: Option<u32>, to: usize) -> bool {
        let from = self.class(one);
        let (leaves, comes) = (self.rows_of(one), back.map_or(0, |back| self.rows_of(back)));
        let rows = (self.rows[from] + comes - leaves, self.rows[to] + leaves - comes);
        if rows.0.min(rows.1) < self.least {
            return false;
        }
        let (there, here) = (
            MemberChange {
                leaves: back,
                joins: Some(one),
            },
            MemberChange {
                leaves: Some(one),
                joins: back,
            },
        );
        let most = self.most + self.costs[from] + self.costs[to];
        let joined = self.cost_after(to, there, rows.1, most);
        // The cost is infinite if the class has no label or costs more than `most`.
        if joined == f64::INFINITY || joined + self.cost_after(from, here, rows.0, most - joined) > most {
            return false;
        }
        let members = |class: usize, change: MemberChange| -> Vec<u32> {
            let stay = self.members[class]
                .iter()
                .copied()
                .filter(|c| Some(*c) != change.leaves);
            stay.chain(change.joins).collect()
        };
        if !self.hold([&|| members(from, here), &|| members(to, there)]) {
            return false;
        }
        let at = self.position[one as usize] as usize;
        match back {
            Some(back) => {
                self.members[from][at] = back;
                self.members[to][self.position[back as usize] as usize] = one;
            }
            None => {
                self.members[from].swap_remove(at);
                self.members[to].push(one);
            }
        }
        self.refresh(from);
        self.refresh(to);
        true
    }

    /// Divides the class of a combination in two: the combination with the nearest members of the
    /// class, and the others. Does so only if both satisfy the models and the additional loss is at
    /// most `most`.
    pub(super) fn divide(&mut self, one: u32) {
        let (table, class) = (self.places.space.table, self.class(one));
        if self.rows[class] < 2 * self.least {
            return;
        }
        let (mut part, mut rows) = (vec![one], self.rows_of(one));
        for near in &self.near[one as usize] {
            if rows >= self.least && (table.rows_suffice() || table.holds(&part)) {
                break;
            }
            if self.class(*near) == class {
                part.push(*near);
                rows += self.rows_of(*near);
            }
        }
        if rows < self.least || self.rows[class] - rows < self.least {
            return;
        }
        let rest = self.members[class].iter().copied().filter(|c| !part.contains(c));
        let rest: Vec<u32> = rest.collect();
        if !self.hold([&|| part.clone(), &|| rest.clone()]) {
            return;
        }
        let (before, other) = (self.costs[class], self.empty_class());
        let whole = std::mem::replace(&mut self.members[class], rest);
        self.members[other] = part;
        self.refresh(class);
        self.refresh(other);
        if self.costs[class] + self.costs[other] > self.most + before {
            self.members[other].clear();
            self.members[class] = whole;
            self.refresh(other);
            self.refresh(class);
            self.free.push(other);
        }
    }

    /// Returns the index of an empty class.
    fn empty_class(&mut self) -> usize {
        if let Some(class) = self.free.pop() {
            return class;
        }
        self.members.push(vec![]);
        self.rows.push(0);
        self.costs.push(0.0);
        let columns = self.places.losses.len();
        self.extremes.resize(self.members.len() * columns, ExtremePlaces::NONE);
        self.members.len() - 1
    }

    /// Dissolves a class. Each of its combinations moves to the class in which it loses least,
    /// among the classes of the combinations near it. Does so only if these classes then satisfy
    /// the models and the additional loss is at most `most`.
    pub(super) fn dissolve(&mut self, class: usize) {
        let most = self.most + self.costs[class];
        let members = std::mem::take(&mut self.members[class]);
        let (mut more, mut homes) = (0.0, vec![]);
        for member in &members {
            let Some((cost, home)) = self.home(*member, class) else {
                more = f64::INFINITY;
                break;
            };
            more += cost;
            if more > most {
                break;
            }
            self.members[home].push(*member);
            self.refresh(home);
            homes.push(home);
        }
        let table = self.places.space.table;
        let hold = |home: &usize| table.rows_suffice() || table.holds(&self.members[*home]);
        if more <= most && homes.iter().all(hold) {
            self.refresh(class);
            self.free.push(class);
            return;
        }
        homes.iter().rev().for_each(|home| {
            self.members[*home].pop();
        });
        homes.iter().for_each(|home| self.refresh(*home));
        self.members[class] = members;
        self.refresh(class);
    }

    /// Returns the class in which a combination loses least, among the classes of the combinations
    /// near it except `not`, with the additional loss over all rows.
    fn home(&self, one: u32, not: usize) -> Option<(f64, usize)> {
        let mut best: Option<(f64, usize)> = None;
        let joins = MemberChange {
            leaves: None,
            joins: Some(one),
        };
        for near in self.near(one).iter().take(NEAR / 2) {
            let to = self.class(*near);
            if to == not || best.is_some_and(|(_, home)| home == to) {
                continue;
            }
            let least = best.map_or(f64::INFINITY, |(least, _)| least);
            let rows = self.rows[to] + self.rows_of(one);
            let more = self.cost_after(to, joins, rows, least + self.costs[to]) - self.costs[to];
            if more < least {
                best = Some((more, to));
            }
        }
        best
    }
}
