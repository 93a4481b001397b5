//! Local search that dissolves a few classes and walks the lattice again for their combinations
//! alone. The first walk visits the nodes in one order for the whole table, but the nodes with the
//! minimum loss differ from one part of the table to the next.

use super::improve::Improvement;
use super::left;
use super::space::PeeledClass;
use super::split::{gains, split};
use super::walk::{self, WalkBounds};
use crate::method::search::{Context, Stop};
use rand::seq::SliceRandom;

/// The number of classes dissolved together with a class.
const TOGETHER: usize = 4;

/// The number of nearest classes from which the [`TOGETHER`] classes are drawn.
const NEAR: usize = 8;

/// The maximum total number of members of the classes that are dissolved together.
const SMALL: usize = 2048;

/// The number of cells that a walk may generalize without finding a class to release.
const PATIENCE: u64 = 1 << 22;

impl Improvement<'_> {
    /// Walks the lattice again for each class together with near classes, until the work of the run
    /// reaches `limit`. Takes the classes in random order, because a round may reach only a few of
    /// them.
    pub(super) fn walk_again(&mut self, limit: u64, context: &mut Context) -> Result<(), Stop> {
        let mut classes = self.dearest();
        classes.shuffle(&mut context.rng);
        for class in classes {
            context.check(0)?;
            if self.space.work() > limit {
                break;
            }
            if self.classes[class].cost() > 0.0 {
                let mut near = self.nearest(class, NEAR);
                near.shuffle(&mut context.rng);
                near.truncate(TOGETHER);
                near.push(class);
                self.try_again(&near, context);
            }
        }
        Ok(())
    }

    /// Replaces these classes by the classes of a new walk over their combinations, if the new
    /// classes lose less.
    fn try_again(&mut self, classes: &[usize], context: &Context) {
        let space = self.space;
        let members = |class: &usize| self.classes[*class].members.as_slice();
        let members: Vec<u32> = classes.iter().flat_map(members).copied().collect();
        if members.len() > SMALL {
            return;
        }
        let before = classes.iter().map(|class| self.classes[*class].cost()).sum();
        let bounds = WalkBounds {
            patience: PATIENCE,
            most: before,
        };
        let walked = walk::walk(space, members, bounds, context);
        if walked.classes.is_empty() || walked.stopped.is_some() {
            return;
        }
        let placed = left::place(space, walked.classes, walked.left, context);
        if !placed.suppressed.is_empty() {
            return;
        }
        let parts = placed.classes.into_iter().filter(|class| class.rows > 0);
        let parts: Vec<PeeledClass> = parts.flat_map(|class| split(space, class, context)).collect();
        if gains(before, parts.iter().map(PeeledClass::cost).sum()) {
            classes
                .iter()
                .for_each(|class| self.classes[*class] = PeeledClass::default());
            self.place(parts, classes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::partition::peel::space::Space;
    use crate::method::partition::peel::testing::{any_classes, check};
    use crate::method::partition::ranges::Ranges;
    use crate::method::partition::testing::Toy;
    use crate::method::search::SearchBudget;
    use proptest::prelude::*;

    proptest! {
        /// Every combination is still in one class, every class satisfies the models, and the loss
        /// is no greater.
        #[test]
        fn classes_hold_and_lose_no_more(
            rows in prop::collection::btree_map((0u32..5, 0u32..4), 1u64..5, 2..20), k in 1u64..5, asks: bool, by_hierarchy: bool, seed: u64
        ) {
            let toy = Toy::of_pairs(&rows, k, asks);
            prop_assume!(rows.values().sum::<u64>() >= k);
            let space = Space::new(&toy, Ranges { by_hierarchy, asked: false, exact: true });
            let classes = any_classes(&space, k);
            let cost = |classes: &[PeeledClass]| classes.iter().map(PeeledClass::cost).sum::<f64>();
            let before = cost(&classes);
            let mut improvement = Improvement::new(&space, classes);
            improvement.walk_again(u64::MAX, &mut Context::new(seed, SearchBudget::default())).unwrap();
            prop_assert!(cost(&improvement.classes) <= before + 1e-9);
            check(&improvement, &toy);
        }

        /// The nearest classes are the cheapest in a comparison with all classes.
        #[test]
        fn the_nearest_are_the_cheapest_to_unite_with(rows in prop::collection::btree_map((0u32..5, 0u32..4), 1u64..5, 2..20), many in 1usize..6) {
            let toy = Toy::of_pairs(&rows, 1, false);
            let space = Space::new(&toy, Ranges { by_hierarchy: true, asked: false, exact: true });
            let classes = (0..space.len() as u32).map(|c| space.class(vec![c])).collect();
            let improvement = Improvement::new(&space, classes);
            let costs = |number: &usize| {
                space.united(&improvement.classes[0], &improvement.classes[*number]).cost() - improvement.classes[*number].cost()
            };
            let mut all: Vec<f64> = (1..space.len()).map(|number| costs(&number)).collect();
            all.sort_by(f64::total_cmp);
            let nearest: Vec<f64> = improvement.nearest(0, many).iter().map(costs).collect();
            prop_assert_eq!(nearest.len(), many.min(all.len()));
            prop_assert!(nearest.iter().zip(&all).all(|(found, least)| (found - least).abs() < 1e-9), "{:?} {:?}", nearest, all);
        }
    }
}
