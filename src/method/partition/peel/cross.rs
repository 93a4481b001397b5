//! Crossover: of two ways to arrange the same combinations in classes, takes the better one in each
//! part of the table.
//!
//! A class of the first way and a class of the second are connected if they share a combination. A
//! part of the table is a set of connected classes. In each part, both ways arrange the same
//! combinations. So the part can be taken from either way, independently of the other parts, and
//! every class has been formed and checked before. The better of the two is taken. So the result
//! loses no more than either way. A large table has many parts if the two ways differ by few
//! changes.
//!
//! Whitley, Hains and Howe, Tunneling between optima: partition crossover for the traveling salesman
//! problem, Genetic and Evolutionary Computation Conference, 2009.

/// Classes that are kept while others are annealed.
#[derive(Debug)]
pub(super) struct BestClasses {
    /// For each combination: its class. The numbers of the classes are 0, 1 and so on.
    pub(super) class_of: Vec<u32>,
    /// The loss over all rows of each class.
    costs: Vec<f64>,
}

/// The parts of a table. The classes of the second way follow those of the first.
struct ConnectedClasses {
    /// For each class: a class of the same part. Its part is found by following these to the end.
    towards: Vec<u32>,
}

impl ConnectedClasses {
    /// Returns the class that stands for the part of a class.
    fn part(&mut self, class: u32) -> u32 {
        let mut at = class;
        while self.towards[at as usize] != at {
            let next = self.towards[at as usize];
            self.towards[at as usize] = self.towards[next as usize];
            at = next;
        }
        at
    }

    fn connect(&mut self, one: u32, other: u32) {
        let (one, other) = (self.part(one), self.part(other));
        self.towards[one.max(other) as usize] = one.min(other);
    }
}

impl BestClasses {
    /// Keeps these classes. `costs` is the loss of each class.
    pub(super) fn new(class_of: &[u32], costs: &[f64]) -> Self {
        Self {
            class_of: class_of.to_vec(),
            costs: costs.to_vec(),
        }
    }

    pub(super) fn cost(&self) -> f64 {
        self.costs.iter().sum()
    }

    /// Returns the number of classes.
    pub(super) fn len(&self) -> usize {
        self.costs.len()
    }

    /// Replaces the kept classes by these classes of the same combinations, in each part of the
    /// table in which these lose less.
    pub(super) fn cross(&mut self, class_of: &[u32], costs: &[f64]) {
        let kept = self.costs.len() as u32;
        let costs = [self.costs.as_slice(), costs].concat();
        let mut connected = ConnectedClasses {
            towards: (0..costs.len() as u32).collect(),
        };
        let pairs = self.class_of.iter().zip(class_of);
        pairs.for_each(|(one, other)| connected.connect(*one, kept + other));
        // What each part gains if it is replaced.
        let mut gains = vec![0.0; costs.len()];
        for (class, cost) in (0..).zip(&costs) {
            let part = connected.part(class) as usize;
            gains[part] += if class < kept { *cost } else { -cost };
        }
        let mut numbers: Vec<Option<u32>> = vec![None; costs.len()];
        self.costs.clear();
        for (one, other) in self.class_of.iter_mut().zip(class_of) {
            let is_replaced = gains[connected.part(*one) as usize] > 0.0;
            let class = if is_replaced { kept + other } else { *one } as usize;
            *one = *numbers[class].get_or_insert_with(|| {
                self.costs.push(costs[class]);
                self.costs.len() as u32 - 1
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Returns the members of the classes.
    fn members(class_of: &[u32]) -> BTreeSet<Vec<usize>> {
        let of = |class: &u32| (0..class_of.len()).filter(|at| class_of[*at] == *class).collect();
        class_of.iter().map(of).collect()
    }

    /// Returns the loss of a class, which depends only on its members.
    fn cost(members: &[usize]) -> f64 {
        let mixed = members.iter().fold(7, |sum, member| (sum * 31 + member) % 10_007);
        (mixed * mixed % 101) as f64
    }

    /// Returns the loss of each number of a class. Numbers without members lose nothing.
    fn costs(class_of: &[u32]) -> Vec<f64> {
        let of = |class: u32| (0..class_of.len()).filter(|at| class_of[*at] == class).collect();
        let classes = (0..8).map(of);
        classes
            .map(|members: Vec<usize>| if members.is_empty() { 0.0 } else { cost(&members) })
            .collect()
    }

    /// Returns the minimum loss of classes from a list that together contain each combination that
    /// is not yet covered, and no other.
    fn least(classes: &[Vec<usize>], covered: &[bool]) -> f64 {
        let Some(first) = covered.iter().position(|is_covered| !is_covered) else {
            return 0.0;
        };
        let fits = |class: &&Vec<usize>| class.contains(&first) && class.iter().all(|member| !covered[*member]);
        let with = |class: &Vec<usize>| {
            let mut covered = covered.to_vec();
            class.iter().for_each(|member| covered[*member] = true);
            cost(class) + least(classes, &covered)
        };
        classes.iter().filter(fits).map(with).fold(f64::INFINITY, f64::min)
    }

    proptest! {
        /// Every combination is in one class, every class is a class of one of the two ways, and no
        /// selection of their classes loses less.
        #[test]
        fn the_best_parts_of_both_are_taken(pairs in prop::collection::vec((0u32..8, 0u32..8), 1..16)) {
            let (one, other): (Vec<u32>, Vec<u32>) = pairs.into_iter().unzip();
            let mut kept = BestClasses::new(&one, &costs(&one));
            kept.cross(&other, &costs(&other));
            let (first, second, result) = (members(&one), members(&other), members(&kept.class_of));
            prop_assert!(result.iter().all(|class| first.contains(class) || second.contains(class)));
            let all: Vec<Vec<usize>> = first.union(&second).cloned().collect();
            prop_assert_eq!(kept.cost(), least(&all, &vec![false; one.len()]));
            prop_assert!(kept.cost() <= costs(&one).iter().sum::<f64>().min(costs(&other).iter().sum()));
            prop_assert_eq!(kept.len(), result.len());
            prop_assert_eq!(kept.cost(), result.iter().map(|class| cost(class)).sum::<f64>());
        }
    }

    /// In the first part the other classes lose less, in the second part the kept classes.
    #[test]
    fn each_part_is_judged_by_itself() {
        let mut kept = BestClasses::new(&[0, 0, 1, 1, 2, 2], &[4.0, 4.0, 1.0]);
        kept.cross(&[3, 0, 0, 3, 1, 2], &[2.0, 1.0, 1.0, 3.0]);
        assert_eq!(kept.class_of, [0, 1, 1, 0, 2, 2]);
        assert_eq!(kept.costs, [3.0, 2.0, 1.0]);
        assert_eq!(kept.cost(), 6.0);
    }
}
