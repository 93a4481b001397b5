//! The changes of annealing: exchanges, divisions and dissolutions of classes.

use super::cross::BestClasses;
use super::near::{CombinationPlaces, NEAR};
use super::places::{ExtremePlaces, PlaceEnds};
use super::space::PeeledClass;

/// The classes of a table while they are annealed. The cost of a class after a change is computed
/// from its extreme places, without its members.
pub(super) struct AnnealedClasses<'a> {
    places: &'a CombinationPlaces<'a>,
    /// The combinations near each combination, the nearest first, combination by combination. One
    /// list for all takes a fraction of the time of many lists, because combinations are drawn in
    /// the order of their numbers.
    near: Vec<u32>,
    /// For each combination: the end of the combinations near it in the list `near`.
    near_ends: Vec<usize>,
    pub(super) class_of: Vec<u32>,
    /// For each combination: its index among the members of its class.
    position: Vec<u32>,
    pub(super) members: Vec<Vec<u32>>,
    /// The number of rows of each class.
    pub(super) rows: Vec<u64>,
    /// The loss over all rows of each class.
    pub(super) costs: Vec<f64>,
    /// The extreme places, class by class, eight columns at a time.
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
    /// Arranges the combinations in these classes. `class_of` is the class of each combination of
    /// the table, and `near` the combinations near each annealed combination.
    pub(super) fn new(
        places: &'a CombinationPlaces<'a>,
        near: &[Vec<u32>],
        classes: &[PeeledClass],
        class_of: &[u32],
    ) -> Self {
        let mut near_ends = vec![];
        let mut end = 0;
        for near in near {
            end += near.len();
            near_ends.push(end);
        }
        let all = 0..places.len() as u32;
        let class_of: Vec<u32> = all.map(|one| class_of[places.in_table(one) as usize]).collect();
        let mut annealed = Self {
            places,
            near: near.concat(),
            near_ends,
            position: vec![0; class_of.len()],
            members: members(&class_of, classes.len()),
            class_of,
            rows: vec![0; classes.len()],
            costs: vec![0.0; classes.len()],
            extremes: vec![ExtremePlaces::NONE; classes.len() * places.losses.eights()],
            free: (0..classes.len())
                .filter(|class| classes[*class].members.is_empty())
                .collect(),
            least: places.space.table.least_rows().max(1),
            most: 0.0,
        };
        for class in 0..classes.len() {
            annealed.refresh(class);
        }
        annealed
    }

    /// Arranges the combinations in classes that were kept.
    pub(super) fn restore(&mut self, kept: &BestClasses) {
        self.resize(self.members.len().max(kept.len()));
        self.members = members(&kept.class_of, self.members.len());
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
        let at = combination as usize;
        let start = if at == 0 { 0 } else { self.near_ends[at - 1] };
        &self.near[start..self.near_ends[at]]
    }

    /// Returns true if a combination can leave its class and the class keeps enough rows.
    pub(super) fn may_leave(&self, combination: u32) -> bool {
        self.rows[self.class(combination)] - self.rows_of(combination) >= self.least
    }

    fn rows_of(&self, combination: u32) -> u64 {
        self.places.rows(combination)
    }

    /// Returns true if a class with these members satisfies the models. The class must have enough
    /// rows.
    fn holds(&self, members: &[u32]) -> bool {
        let table = self.places.space.table;
        let in_table = || {
            members
                .iter()
                .map(|one| self.places.in_table(*one))
                .collect::<Vec<u32>>()
        };
        table.rows_suffice() || table.holds(&in_table())
    }

    /// Returns true if classes with these members satisfy the models. Each class must have enough
    /// rows.
    fn hold<const N: usize>(&self, classes: [&dyn Fn() -> Vec<u32>; N]) -> bool {
        self.places.space.table.rows_suffice() || classes.iter().all(|members| self.holds(&members()))
    }

    /// Computes the rows, the extremes and the cost of a class from its members.
    fn refresh(&mut self, class: usize) {
        let eights = self.places.losses.eights();
        let extremes = &mut self.extremes[class * eights..][..eights];
        extremes.fill(ExtremePlaces::NONE);
        let mut rows = 0;
        for (position, member) in self.members[class].iter().enumerate() {
            self.position[*member as usize] = position as u32;
            self.class_of[*member as usize] = class as u32;
            rows += self.places.rows(*member);
            for (extremes, places) in extremes.iter_mut().zip(self.places.of(*member)) {
                extremes.add(places);
            }
        }
        self.rows[class] = rows;
        self.costs[class] = match rows {
            0 => 0.0,
            _ => rows as f64 * self.loss(class, |_, extremes| extremes.ends(), f64::INFINITY),
        };
    }

    /// Returns the loss of each row of a class whose ends `ends` derives from its extremes, for
    /// eight columns at a time. Returns infinity if the loss is above `most`.
    #[inline]
    fn loss(&self, class: usize, ends: impl Fn(usize, &ExtremePlaces) -> PlaceEnds, most: f64) -> f64 {
        let losses = &self.places.losses;
        let extremes = &self.extremes[class * losses.eights()..][..losses.eights()];
        losses.loss(self.places.space, |at| ends(at, &extremes[at]), most)
    }

    /// Returns the cost of a class of `rows` rows after some combinations leave or join it. Returns
    /// infinity if the cost is above `most`.
    fn cost_after(&self, class: usize, change: MemberChange, rows: u64, most: f64) -> f64 {
        let leaves = change.leaves.map(|one| self.places.of(one));
        let joins = change.joins.map(|one| self.places.of(one));
        let ends = |at: usize, extremes: &ExtremePlaces| {
            let ends = leaves.map_or_else(|| extremes.ends(), |leaves| extremes.ends_without(&leaves[at]));
            joins.map_or(ends, |joins| ends.with(&joins[at]))
        };
        rows as f64 * self.loss(class, ends, most / rows as f64)
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
        let class = self.class(one);
        if self.rows[class] < 2 * self.least {
            return;
        }
        let (mut part, mut rows) = (vec![one], self.rows_of(one));
        for near in self.near(one) {
            if rows >= self.least && self.holds(&part) {
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
        self.resize(self.members.len() + 1);
        self.members.len() - 1
    }

    /// Adds empty classes until there are this many.
    fn resize(&mut self, classes: usize) {
        self.members.resize(classes, vec![]);
        self.rows.resize(classes, 0);
        self.costs.resize(classes, 0.0);
        let eights = self.places.losses.eights();
        self.extremes.resize(classes * eights, ExtremePlaces::NONE);
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
        if more <= most && homes.iter().all(|home| self.holds(&self.members[*home])) {
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

/// Returns the members of each class. `class_of` is the class of each combination.
fn members(class_of: &[u32], classes: usize) -> Vec<Vec<u32>> {
    let mut members = vec![vec![]; classes];
    for (one, class) in class_of.iter().enumerate() {
        members[*class as usize].push(one as u32);
    }
    members
}
