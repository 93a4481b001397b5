//! Peel: walks from the least general node to the most general, and at each node removes from the
//! table the classes that satisfy the models.
//!
//! Full-domain generalization generalizes a column for the whole table even if only a few rows need
//! it. Peel walks the lattice once, in ascending order of loss. At each node it groups the
//! remaining rows, releases every class that satisfies all models, and removes the rows of these
//! classes. One walk suffices, because a class that did not satisfy the models at a node only loses
//! rows later. So rows in dense parts of the table are released with precise labels, and only the
//! other rows are generalized further.
//!
//! 1. **Walk.** The loss of a node is the sum over columns of WEIGHT times the mean loss of the
//!    table's rows at the column's level. Nodes of equal loss come in the order of their levels. A
//!    walk over a lattice of many columns ends when a fixed amount of work finds no class.
//! 2. **Remaining rows.** If the remaining rows together satisfy the models, they form one more
//!    class. Otherwise each combination joins the class in which it loses least. If suppression is
//!    allowed and loses less, the combination is suppressed instead. If the rows outside all
//!    classes exceed the suppression limit, classes are united with them until the united class
//!    satisfies the models.
//! 3. **Labels.** Each class gets new labels. The label is the lowest common ancestor of the
//!    values. In a column of numbers, dates or timestamps without a hierarchy or with a hierarchy
//!    of intervals, it is the range of the values. `numbers => hierarchy` always uses the
//!    hierarchy, and `numbers => range` always uses ranges in such columns. A class is divided
//!    repeatedly while the division loses less.
//! 4. **Local search**, at most `rounds` rounds, each with a limited amount of work. Combinations
//!    move to the classes of their neighbours if they lose less there. Two classes are united and
//!    divided anew. Classes are dissolved into others. Blocks of the classes with the highest loss
//!    move to the class in which they lose least of all. The lattice is walked again for a few
//!    classes that are near each other. Each change is made only if it lowers the loss. If
//!    annealing follows, there is one round.
//! 5. **Annealing** by random changes, in a table of at most 32,768 combinations, or fewer if there
//!    are more than eight columns: combinations times columns are at most 2^18. A column whose
//!    ranges are not computed in advance counts 16 times. The number of changes follows from
//!    `rounds`, the number of combinations and the number of columns. It is lower if the classes
//!    are large. A change may raise the loss, because it can lead to other changes that lower the
//!    loss. The classes with the lowest loss so far are kept for each part of the table, and changed
//!    at random again. At the end, no move of one combination and no exchange of two lowers the
//!    loss. In a table of more than 1,024 combinations, this holds only for the classes of near
//!    combinations, and for exchanges with classes of few combinations. The loss is never higher
//!    than before the annealing.
//!
//! **Guarantee.** Every class is checked against all class-level models when it is formed and
//! whenever it changes. The partition reveals nothing about the walk. A class released at a more
//! general node satisfies the models by itself, whatever was released before. The later class does
//! not weaken an earlier one, because no row is in two classes and the rows of the earlier class do
//! not change.
//!
//! **Minimality attacks.** An attacker who knows the algorithm knows that a class released at a
//! node did not satisfy the models below that node. With k-anonymity alone, this reveals only
//! quasi-identifiers, and the model assumes that the attacker knows them. With models of sensitive
//! values, it may reveal that a more precise class would have been too uniform (Wong, Fu, Wang and
//! Pei, Minimality attack in privacy preserving data publishing, VLDB 2007). Every algorithm that
//! stops at the minimum loss has this weakness. Here the moves of the local search weaken the
//! attack. Choose a stricter parameter if such attacks matter.
//!
//! The loss is always that of `glm`, independent of MINIMIZING. For releases used to train models,
//! `guide => class` multiplies the weight of each column by its mutual information with the class
//! label (CLASS). So columns with much information about the label stay precise. A column with
//! LEVELS has labels of its hierarchy, within these levels.
//!
//! Example: `SEARCH USING peel(rounds => 20)`.

mod again;
mod anneal;
mod change;
mod cross;
mod draws;
mod far;
mod guide;
mod improve;
mod left;
mod near;
mod places;
mod scale;
mod space;
mod split;
#[cfg(test)]
mod testing;
mod walk;

use super::groups::Partition;
use super::partitioner::{Build, Found, Partitioner};
use super::ranges::{NUMBERS, RANGES, Ranges};
use super::table::Table;
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;
use crate::method::search::{Context, Stop};
use anneal::is_annealed;
use guide::Guided;
use improve::Improvement;
use space::{PeeledClass, Space};
use split::split;
use walk::WalkBounds;

/// The peel algorithm with its options.
#[derive(Debug, Clone, Copy)]
struct Peel {
    ranges: Ranges,
    rounds: u64,
    /// Whether columns are weighted by their information about the class label.
    by_class: bool,
}

impl Partitioner for Peel {
    fn run(&self, table: &dyn Table, context: &mut Context) -> Result<Found> {
        let guided = self.by_class.then(|| Guided::new(table));
        let table = guided.as_ref().map_or(table, |guided| guided as &dyn Table);
        let space = Space::new(table, self.ranges);
        let walked = walk::walk(&space, (0..table.len() as u32).collect(), WalkBounds::WHOLE, context);
        let mut stopped = walked.stopped;
        let placed = left::place(&space, walked.classes, walked.left, context);
        let whole = placed.classes.into_iter();
        let mut classes: Vec<PeeledClass> = whole.flat_map(|class| split(&space, class, context)).collect();
        stopped = stopped.or_else(|| moved(&space, &mut classes, self.rounds, context));
        // Each suppressed combination forms its own group, which does not satisfy the models.
        // Together, several of them might satisfy the models, with a label beyond LEVELS.
        classes.extend(placed.suppressed.into_iter().map(|c| space.class(vec![c])));
        released(&space, classes, stopped)
    }

    fn reads_class_label(&self) -> bool {
        self.by_class
    }

    fn makes_ranges(&self) -> bool {
        !self.ranges.by_hierarchy
    }

    fn asks_for_ranges(&self) -> bool {
        self.ranges.asked
    }

    fn bytes(&self, combinations: usize, columns: usize) -> usize {
        bytes(combinations, columns)
    }

    fn describe(&self) -> String {
        "releases the classes that satisfy the models, node by node in ascending order of loss, and then moves rows \
         between classes while this lowers the loss"
            .into()
    }
}

/// Returns the approximate memory of classes in bytes. Besides its combinations, a class has its
/// rows, its cells and its loss. The factors were measured in a run over 1.6 million combinations
/// of five columns. Annealing takes memory in addition.
pub(super) fn bytes(combinations: usize, columns: usize) -> usize {
    combinations * (64 + 32 * columns) + anneal::bytes(combinations, columns)
}

/// Divides groups of combinations and moves combinations between groups while this lowers the loss
/// under labels of hierarchies. Returns the partition. `stopped` is the reason if the grouping
/// stopped early. In that case no combinations are moved.
pub(super) fn improved(
    table: &dyn Table,
    groups: Vec<Vec<u32>>,
    rounds: u64,
    stopped: Option<Stop>,
    context: &mut Context,
) -> Result<Found> {
    let by_hierarchy = Ranges {
        by_hierarchy: true,
        asked: false,
        exact: false,
    };
    let space = Space::new(table, by_hierarchy);
    let groups = groups.into_iter().map(|members| space.class(members));
    let mut classes: Vec<PeeledClass> = groups.flat_map(|class| split(&space, class, context)).collect();
    let stopped = stopped.or_else(|| moved(&space, &mut classes, rounds, context));
    released(&space, classes, stopped)
}

/// Moves combinations between classes to lower the loss: by local search, and then by annealing.
/// Returns the reason if the budget stopped the search.
fn moved(space: &Space, classes: &mut Vec<PeeledClass>, rounds: u64, context: &mut Context) -> Option<Stop> {
    if let Err(stop) = context.check(0) {
        return Some(stop);
    }
    // Annealing leaves little of what further rounds find.
    let searched = if is_annealed(space) { rounds.min(1) } else { rounds };
    let mut improvement = Improvement::new(space, std::mem::take(classes));
    let stopped = improvement
        .run(searched, context)
        .or_else(|| improvement.anneal(rounds, context).err());
    *classes = improvement.classes;
    stopped
}

/// Returns the partition into these classes. Fails if the run failed.
fn released(space: &Space, mut classes: Vec<PeeledClass>, stopped: Option<Stop>) -> Result<Found> {
    if let Some(Stop::Failed(e)) = stopped {
        return Err(e);
    }
    classes.retain(|class| !class.members.is_empty());
    let mut groups = vec![0u32; space.len()];
    for (number, class) in classes.iter().enumerate() {
        class.members.iter().for_each(|c| groups[*c as usize] = number as u32);
    }
    let labels = |column: usize| classes.iter().map(|class| space.label(class, column)).collect();
    let cells = (0..space.columns()).map(labels).collect();
    let lookups = space.table.columns().iter().map(|c| c.lookup.as_ref());
    Ok(Found {
        partition: Partition::new(lookups, groups, cells)?,
        stopped,
    })
}

/// The value of [`GUIDE`] that weights columns by the class label.
pub(super) const BY_CLASS: &str = "class";

/// The option `guide`.
pub(super) const GUIDE: Param = Param {
    name: "guide",
    summary: "weights of the loss: WEIGHT alone, or also the information of a column about CLASS",
    kind: Kind::Word(&["loss", BY_CLASS]),
    default: Some("loss"),
};

/// The catalogue entry of the partitioner `peel`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "peel",
        summary: "local recoding: each class is released at the first node that allows it, then improved; greedy",
        params: &[
            Param {
                name: "rounds",
                summary: "rounds of local search, at most; tables that are not large are also annealed, the longer the more rounds",
                kind: Kind::Integer { min: 0, max: i64::MAX },
                default: Some("4"),
            },
            GUIDE,
            NUMBERS,
            RANGES,
        ],
        example: "SEARCH USING peel",
        reference: "this project",
    },
    build: |args| {
        Ok(Box::new(Peel {
            ranges: Ranges::read(args)?,
            rounds: args.count("rounds")?,
            by_class: args.word("guide")? == BY_CLASS,
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::testing::{Toy, column};
    use super::*;
    use proptest::prelude::*;

    const EXACT: Ranges = Ranges {
        by_hierarchy: false,
        asked: false,
        exact: true,
    };

    fn peel(rounds: u64, ranges: Ranges) -> Peel {
        Peel {
            ranges,
            rounds,
            by_class: false,
        }
    }

    /// Returns the minimum loss of all partitions whose groups satisfy the models, found by trying
    /// every partition.
    fn least_loss(toy: &Toy, ranges: Ranges) -> f64 {
        fn extend(space: &Space, groups: &mut Vec<Vec<u32>>, next: u32, best: &mut f64) {
            if next as usize == space.len() {
                let classes: Vec<PeeledClass> = groups.iter().map(|members| space.class(members.clone())).collect();
                if classes.iter().all(|class| space.holds(class)) {
                    *best = best.min(classes.iter().map(PeeledClass::cost).sum());
                }
                return;
            }
            for group in 0..=groups.len() {
                match groups.get_mut(group) {
                    Some(members) => members.push(next),
                    None => groups.push(vec![next]),
                }
                extend(space, groups, next + 1, best);
                groups[group].pop();
                groups.retain(|members| !members.is_empty());
            }
        }
        let mut best = f64::INFINITY;
        extend(&Space::new(toy, ranges), &mut vec![], 0, &mut best);
        best
    }

    proptest! {
        /// Every group satisfies the models if a group of all rows does. Local search loses no more
        /// than the walk. No result loses less than the best of all partitions.
        #[test]
        fn groups_hold_and_rounds_pay(
            rows in prop::collection::btree_map((0u32..5, 0u32..4), 1u64..5, 1..8), k in 1u64..6, asks: bool, by_hierarchy: bool, exact: bool
        ) {
            let toy = Toy::of_pairs(&rows, k, asks);
            let ranges = Ranges { by_hierarchy, asked: false, exact };
            let (walked, improved) = (toy.run(&peel(0, ranges)), toy.run(&peel(4, ranges)));
            if rows.values().sum::<u64>() >= k {
                for partition in [&walked, &improved] {
                    prop_assert!(toy.groups(partition).iter().all(|(_, rows)| *rows >= k));
                    prop_assert!(toy.loss(partition) >= least_loss(&toy, ranges) - 1e-9);
                }
                prop_assert!(toy.loss(&improved) <= toy.loss(&walked) + 1e-9);
            }
        }
    }

    /// Two dense values keep their labels. The row between them is suppressed if suppression is
    /// allowed. Otherwise it joins one of them.
    #[test]
    fn what_is_left_joins_or_is_suppressed() {
        let column = column(&["a", "a", "b", "c", "c"], false);
        let combinations = [(0, 5), (1, 1), (4, 5)];
        let toy = |suppressible| Toy {
            columns: vec![column.clone()],
            combinations: combinations
                .iter()
                .map(|(code, rows)| (vec![*code], vec![*rows]))
                .collect(),
            k: 3,
            suppressible,
            asks: false,
        };
        let shown = |toy: Toy| {
            toy.groups(&toy.run(&peel(4, EXACT)))
                .into_iter()
                .map(|(l, n)| (l.join(" "), n))
                .collect::<Vec<_>>()
        };
        // Joined: 6 rows lose 1/4 each.
        assert_eq!(shown(toy(0)), [("4".to_string(), 5), ("a".to_string(), 6)]);
        // Suppressed: one row loses 1.
        let alone = [("0".to_string(), 5), ("1".to_string(), 1), ("4".to_string(), 5)];
        assert_eq!(shown(toy(1)), alone);
    }

    /// LEVELS forbids labels above the values, so no combination satisfies the model. The
    /// suppressed combinations have six rows together, but they are not released as a group.
    #[test]
    fn what_is_suppressed_gets_no_label_beyond_the_levels() {
        let mut capped = column(&["a", "a"], false);
        capped.top = 0;
        let toy = Toy {
            columns: vec![capped],
            combinations: vec![(vec![0], vec![3]), (vec![1], vec![3])],
            k: 4,
            suppressible: 6,
            asks: false,
        };
        let hierarchy = Ranges {
            by_hierarchy: true,
            asked: false,
            exact: true,
        };
        let groups = toy.groups(&toy.run(&peel(4, hierarchy)));
        assert!(groups.iter().all(|(_, rows)| *rows < 4), "{groups:?}");
    }
}
