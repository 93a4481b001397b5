//! Simulated annealing of small tables. It reaches classes that local search cannot reach, because
//! local search makes only changes that lower the loss.
//!
//! If a class has barely enough rows, no single combination can leave it. Then the loss can only be
//! lowered by an exchange, or by a series of changes that first raises it. Annealing draws changes
//! at random. It also accepts changes that raise the loss, but less and less often. A change moves
//! a combination to the class of a near combination, exchanges two combinations, divides a class,
//! or dissolves a class. Afterwards, single moves and exchanges are made until none lowers the
//! loss.
//!
//! The number of draws depends only on the number of combinations and on `rounds`, so the release
//! does not depend on a clock. Large tables are excluded, because they would need too many draws.
//!
//! Kirkpatrick, Gelatt and Vecchi, Optimization by simulated annealing, Science 220, 1983,
//! doi:10.1126/science.220.4598.671.

use super::improve::Improvement;
use super::space::PeeledClass;
use crate::method::search::{Context, Stop};
use rand::RngExt;

/// The maximum number of combinations of an annealed table.
const FEW: usize = 1024;

/// The maximum number of draws per combination in a round. In a small table, the number per
/// combination is eight times the number of combinations.
const DRAWS: u64 = 2400;

/// The maximum number of draws in a round.
const MOST_DRAWS: u64 = 1 << 20;

/// The number of nearest combinations that count as near a combination.
const NEAR: usize = 24;

/// If a combination cannot leave its class by itself, one in `DISSOLVED` draws dissolves the class.
/// The other draws exchange the combination for another.
const DISSOLVED: usize = 8;

/// The number of temperatures.
const TEMPERATURES: usize = 64;
/// The first temperature, as a share of the mean loss of a combination.
const FIRST: f64 = 0.4;
/// Each later temperature, as a share of the previous temperature.
const COOLED: f64 = 0.968;

/// Random numbers for millions of draws (SplitMix64), seeded by the random numbers of the run.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Returns a number below `n`. `n` is at most 2^32.
    fn below(&mut self, n: usize) -> usize {
        (((self.next() >> 32) * n as u64) >> 32) as usize
    }

    /// Returns a random number that is nearly exponentially distributed with mean 1. It is computed
    /// from square roots instead of logarithms, because square roots give the same result on every
    /// machine, and logarithms do not.
    fn exponential(&mut self) -> f64 {
        let uniform = (self.next() >> 11) as f64 / (1u64 << 53) as f64;
        64.0 * (1.0 - (0..6).fold(uniform, |root, _| root.sqrt()))
    }
}

/// A run of annealing.
struct Annealing<'a, 'b> {
    of: &'b mut Improvement<'a>,
    /// For each combination: the combinations near it.
    near: Vec<Vec<u32>>,
    draws: Draws,
    /// The indices of the dissolved classes, which new classes may reuse.
    free: Vec<usize>,
    /// The maximum additional loss, over all rows, that the drawn change may cause.
    most: f64,
}

impl Improvement<'_> {
    /// Anneals the classes of a small table. The loss does not rise.
    pub(super) fn anneal(&mut self, rounds: u64, context: &mut Context) -> Result<(), Stop> {
        let placed: Vec<u32> = self.classes.iter().flat_map(|class| &class.members).copied().collect();
        let cost = self.cost();
        if rounds == 0 || self.space.table.whole() > FEW || self.classes.len() < 2 || cost == 0.0 {
            return Ok(());
        }
        // A stratum gets its share of the draws of the whole table.
        let (of, whole) = (placed.len() as u64, self.space.table.whole().max(1) as u64);
        let draws = rounds.saturating_mul((of * DRAWS.min(8 * whole)).min(of * MOST_DRAWS / whole));
        let mut annealing = Annealing {
            near: self.near(&placed),
            draws: Draws(context.rng.random()),
            free: vec![],
            most: 0.0,
            of: self,
        };
        let cooled = annealing.cool(&placed, draws, FIRST * cost / placed.len() as f64, context);
        cooled.and_then(|()| annealing.polish(&placed, context))
    }

    /// Returns, for each combination, the nearest combinations of `placed`.
    fn near(&self, placed: &[u32]) -> Vec<Vec<u32>> {
        let mut near = vec![vec![]; self.space.len()];
        for one in placed {
            let alone = self.space.class(vec![*one]);
            let others = placed.iter().filter(|other| *other != one);
            let mut distances: Vec<(f64, u32)> = others
                .map(|other| {
                    let more = self.space.cost_of_joining(&alone, *other, f64::INFINITY);
                    let rows = self.space.rows(*one) + self.space.rows(*other);
                    ((more + alone.cost()) / rows as f64, *other)
                })
                .collect();
            distances.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            near[*one as usize] = distances.into_iter().take(NEAR).map(|(_, other)| other).collect();
        }
        near
    }
}

impl Annealing<'_, '_> {
    /// Draws changes at one temperature after the other. At the end, restores the classes with the
    /// minimum loss after any temperature.
    fn cool(&mut self, placed: &[u32], draws: u64, first: f64, context: &Context) -> Result<(), Stop> {
        let (mut best, mut least) = (self.of.classes.clone(), self.of.cost());
        let mut temperature = first;
        let mut stopped = Ok(());
        'cooling: for _ in 0..TEMPERATURES {
            for draw in 0..draws / TEMPERATURES as u64 {
                if draw % 1024 == 0 {
                    stopped = context.check(0);
                    if stopped.is_err() {
                        break 'cooling;
                    }
                }
                self.most = temperature * self.draws.exponential();
                let one = placed[self.draws.below(placed.len())];
                self.draw(one);
            }
            temperature *= COOLED;
            let cost = self.of.cost();
            if cost < least {
                (best, least) = (self.of.classes.clone(), cost);
            }
        }
        self.of.classes = best;
        (0..self.of.classes.len()).for_each(|class| self.of.number(class));
        stopped
    }

    /// Draws a change for a combination, and makes the change unless the additional loss exceeds
    /// `most`.
    fn draw(&mut self, one: u32) {
        let space = self.of.space;
        let near = &self.near[one as usize];
        let Some(other) = near.get(self.draws.below(near.len())).copied() else {
            return;
        };
        let (from, to) = (self.class_of(one), self.class_of(other));
        if from == to {
            return self.divide(one, from);
        }
        let stays = self.of.classes[from].rows - space.rows(one);
        let may_leave = stays >= space.table.least_rows();
        if !may_leave && self.draws.below(DISSOLVED) == 0 {
            return self.dissolve(from);
        }
        // `may_leave` depends only on numbers of rows. If models require more than a minimum number
        // of rows, a move of a single combination may still fail. So half of these draws are
        // exchanges.
        if may_leave && (space.table.rows_suffice() || self.draws.below(2) == 0) {
            self.exchange(one, None, to);
            return;
        }
        let members = &self.of.classes[to].members;
        let back = members[self.draws.below(members.len())];
        self.exchange(one, Some(back), to);
    }

    fn class_of(&self, combination: u32) -> usize {
        self.of.class_of[combination as usize] as usize
    }

    /// Moves the combination `one` to the class `to`, and the combination `back` of that class, if
    /// there is one, to the class of `one`. Does so only if both classes then satisfy the models
    /// and the additional loss is at most `most`. Returns true if the change was made.
    fn exchange(&mut self, one: u32, back: Option<u32>, to: usize) -> bool {
        let space = self.of.space;
        let from = self.class_of(one);
        let (source, target) = (&self.of.classes[from], &self.of.classes[to]);
        let (leaves, comes) = (space.rows(one), back.map_or(0, |back| space.rows(back)));
        let rows = (source.rows - leaves + comes, target.rows - comes + leaves);
        if rows.0.min(rows.1) < space.table.least_rows().max(1) {
            return false;
        }
        let most = self.most + source.cost() + target.cost();
        let joined = space.cost_of_exchange(target, back, Some(one), rows.1, most);
        if joined == f64::INFINITY {
            return false;
        }
        let left = space.cost_of_exchange(source, Some(one), back, rows.0, most - joined);
        if joined + left > most {
            return false;
        }
        let members = |class: &PeeledClass, without: Option<u32>, with: Option<u32>| {
            let rest = class.members.iter().copied().filter(|c| Some(*c) != without);
            space.class(rest.chain(with).collect())
        };
        let (rest, joined) = (members(source, Some(one), back), members(target, back, Some(one)));
        if !(space.holds(&rest) && space.holds(&joined)) {
            return false;
        }
        self.of.classes[from] = rest;
        self.of.classes[to] = joined;
        self.of.class_of[one as usize] = to as u32;
        if let Some(back) = back {
            self.of.class_of[back as usize] = from as u32;
        }
        true
    }

    /// Divides a class in two: a combination with the nearest members of the class, and the others.
    fn divide(&mut self, one: u32, class: usize) {
        let space = self.of.space;
        let whole = &self.of.classes[class];
        let least = space.table.least_rows().max(1);
        if whole.rows < 2 * least {
            return;
        }
        let (mut part, mut rows) = (vec![one], space.rows(one));
        for near in &self.near[one as usize] {
            if rows >= least && space.may_hold(&part, rows) {
                break;
            }
            if self.class_of(*near) == class {
                part.push(*near);
                rows += space.rows(*near);
            }
        }
        if whole.rows - rows.min(whole.rows) < least {
            return;
        }
        let rest = whole.members.iter().copied().filter(|c| !part.contains(c)).collect();
        let (part, rest) = (space.class(part), space.class(rest));
        let may_be = part.cost() + rest.cost() <= self.most + whole.cost();
        if may_be && space.holds(&part) && space.holds(&rest) {
            self.of.classes[class] = PeeledClass::default();
            let other = self.free.pop().unwrap_or(self.of.classes.len());
            self.of.place(vec![part, rest], &[class, other]);
        }
    }

    /// Dissolves a class. Each of its combinations moves to the class in which it loses least,
    /// among the classes of the combinations near it.
    fn dissolve(&mut self, class: usize) {
        let near = &self.near;
        let around = |of: &Improvement, member: u32| {
            let near = &near[member as usize];
            let mut classes: Vec<u32> = near.iter().take(NEAR / 2).map(|c| of.class_of[*c as usize]).collect();
            classes.sort_unstable();
            classes.dedup();
            classes
        };
        if self.of.try_dissolve(class, self.most, around) {
            self.free.push(class);
        }
    }

    /// Makes moves of one combination and exchanges of two until no such change lowers the loss.
    fn polish(&mut self, placed: &[u32], context: &Context) -> Result<(), Stop> {
        self.most = -1e-9 * self.of.cost().max(1.0);
        loop {
            let mut is_done = true;
            for (at, one) in placed.iter().enumerate() {
                context.check(0)?;
                if self.of.classes[self.class_of(*one)].cost() == 0.0 {
                    continue;
                }
                for to in 0..self.of.classes.len() {
                    if to != self.class_of(*one) && !self.of.classes[to].members.is_empty() {
                        is_done &= !self.exchange(*one, None, to);
                    }
                }
                for other in &placed[at + 1..] {
                    let to = self.class_of(*other);
                    if to != self.class_of(*one) {
                        is_done &= !self.exchange(*one, Some(*other), to);
                    }
                }
            }
            if is_done {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::partition::peel::space::Space;
    use crate::method::partition::peel::testing::{any_classes, check};
    use crate::method::partition::ranges::Ranges;
    use crate::method::partition::testing::{Toy, column};
    use crate::method::search::SearchBudget;
    use proptest::prelude::*;

    /// Returns the minimum loss after any single move or exchange of combinations.
    fn least_after_a_change(improvement: &Improvement) -> f64 {
        let (space, classes) = (improvement.space, &improvement.classes);
        let with = |class: &PeeledClass, without: &[u32], with: &[u32]| {
            let rest = class.members.iter().copied().filter(|c| !without.contains(c));
            space.class(rest.chain(with.iter().copied()).collect())
        };
        let all: Vec<u32> = (0..space.len() as u32).collect();
        let mut least = f64::INFINITY;
        for one in &all {
            let from = &classes[improvement.class_of[*one as usize] as usize];
            for to in classes
                .iter()
                .filter(|to| !to.members.is_empty() && !to.members.contains(one))
            {
                let backs = std::iter::once(vec![]).chain(to.members.iter().map(|back| vec![*back]));
                for back in backs {
                    let (rest, joined) = (with(from, &[*one], &back), with(to, &back, &[*one]));
                    if !rest.members.is_empty() && space.holds(&rest) && space.holds(&joined) {
                        let change = rest.cost() + joined.cost() - from.cost() - to.cost();
                        least = least.min(improvement.cost() + change);
                    }
                }
            }
        }
        least
    }

    proptest! {
        /// Every combination is still in one class, every class satisfies the models, the loss is
        /// not greater, and no single change lowers it.
        #[test]
        fn classes_hold_and_lose_no_more(
            rows in prop::collection::btree_map((0u32..5, 0u32..4), 1u64..5, 2..20), k in 1u64..7, asks: bool, by_hierarchy: bool, seed: u64
        ) {
            let toy = Toy::of_pairs(&rows, k, asks);
            prop_assume!(rows.values().sum::<u64>() >= k);
            let space = Space::new(&toy, Ranges { by_hierarchy, asked: false, exact: true });
            let mut improvement = Improvement::new(&space, any_classes(&space, k));
            let before = improvement.cost();
            improvement.anneal(1, &mut Context::new(seed, SearchBudget::default())).unwrap();
            prop_assert!(improvement.cost() <= before + 1e-9);
            check(&improvement, &toy);
            let least = least_after_a_change(&improvement);
            prop_assert!(before == 0.0 || least >= improvement.cost() - 1e-6, "{} {}", least, improvement.cost());
        }
    }

    /// In a table of 150 distinct people in five columns, annealing loses over 2 percent less than
    /// local search.
    #[test]
    fn annealing_goes_on_where_local_search_ends() {
        let groups: Vec<String> = (0..12).map(|value| (value / 4).to_string()).collect();
        let groups: Vec<&str> = groups.iter().map(String::as_str).collect();
        let mut draws = Draws(7);
        let mut combinations: Vec<Vec<u32>> = vec![];
        while combinations.len() < 150 {
            let codes = (0..5).map(|_| draws.below(12).min(draws.below(12)) as u32).collect();
            if !combinations.contains(&codes) {
                combinations.push(codes);
            }
        }
        let toy = Toy {
            columns: (0..5).map(|column_at| column(&groups, column_at < 2)).collect(),
            combinations: combinations.into_iter().map(|codes| (codes, vec![1])).collect(),
            k: 5,
            suppressible: 0,
            asks: false,
        };
        let ranges = Ranges {
            by_hierarchy: false,
            asked: false,
            exact: true,
        };
        let space = Space::new(&toy, ranges);
        let mut improvement = Improvement::new(&space, any_classes(&space, 5));
        let mut context = Context::new(1, SearchBudget::default());
        assert!(improvement.run(8, &mut context).is_none());
        let searched = improvement.cost();
        improvement.anneal(4, &mut context).unwrap();
        check(&improvement, &toy);
        assert!(
            improvement.cost() < 0.98 * searched,
            "{} of {searched}",
            improvement.cost()
        );
    }

    /// If the time runs out, the current classes are released, and they satisfy the models.
    #[test]
    fn what_is_interrupted_holds() {
        let rows = (0..5).flat_map(|a| (0..4).map(move |b| ((a, b), 1))).collect();
        let toy = Toy::of_pairs(&rows, 3, false);
        let space = Space::new(
            &toy,
            Ranges {
                by_hierarchy: true,
                asked: false,
                exact: true,
            },
        );
        let mut improvement = Improvement::new(&space, any_classes(&space, 3));
        let budget = SearchBudget {
            deadline: Some(std::time::Instant::now()),
            ..SearchBudget::default()
        };
        let stopped = improvement.anneal(4, &mut Context::new(0, budget));
        assert!(matches!(stopped, Err(Stop::TimeLimit)));
        check(&improvement, &toy);
    }
}
