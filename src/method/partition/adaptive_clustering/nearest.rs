//! The grouping without limits per row: groups grow by the nearest combinations.

use super::span::Spans;
use crate::method::partition::table::Table;
use crate::method::search::{Context, Stop};
use std::cmp::Ordering;

/// The number of free combinations considered on each side of a combination, in the order of each
/// column.
const REACH: usize = 16;

/// Returns the groups, and the reason if the grouping stopped early. In that case, the combinations
/// that are still free form one group.
pub(super) fn groups(table: &dyn Table, context: &Context) -> (Vec<Vec<u32>>, Option<Stop>) {
    let (spans, mut free) = (Spans::new(table), Free::all(table));
    let (mut groups, mut stopped): (Vec<Vec<u32>>, Option<Stop>) = (vec![], None);
    while let (Some(seed), None) = (free.first(), &stopped) {
        stopped = context.check(0).err();
        groups.push(match stopped {
            Some(_) => free.rest(),
            None => grow(&spans, &mut free, seed),
        });
    }
    if let Some(tail) = groups.pop_if(|last| !table.holds(last)) {
        match groups.last_mut() {
            Some(last) => last.extend(tail),
            None => groups.push(tail),
        }
    }
    (groups, stopped)
}

/// Grows a group from the combination `seed`, until the group satisfies the models or no
/// combination is free. Each step adds, of the free combinations near the group, the combination
/// with the minimum additional loss.
fn grow(spans: &Spans, free: &mut Free, seed: u32) -> Vec<u32> {
    let table = spans.table;
    let (mut group, mut span) = (vec![seed], spans.single(seed));
    free.take(seed);
    let mut around = free.around(seed);
    while !(span.rows >= table.least_rows() && table.holds(&group)) {
        if around.is_empty() {
            around = group.last().map_or(vec![], |last| free.around(*last));
        }
        let costs = around.iter().map(|c| (spans.loss_of_joining(&span, *c), *c));
        let Some((_, nearest)) = costs.min() else { break };
        free.take(nearest);
        around.retain(|c| *c != nearest);
        span.merge(&spans.single(nearest), table.columns());
        group.push(nearest);
    }
    group
}

/// The combinations that are in no group yet, in one order per column. Similar combinations are
/// close in some of the orders.
struct Free {
    orders: Vec<Links>,
}

/// An order of the combinations. An end mark precedes the first combination and follows the last.
struct Links {
    next: Vec<u32>,
    previous: Vec<u32>,
}

impl Free {
    /// Returns the state in which all combinations are free. Each order sorts by a different column
    /// first.
    fn all(table: &dyn Table) -> Self {
        let places: Vec<Vec<u32>> = table.columns().iter().map(|column| column.places()).collect();
        let width = places.len();
        let order = |first: usize| {
            let mut order: Vec<u32> = (0..table.len() as u32).collect();
            let place = |c: u32, column: usize| places[column][table.code(column, c) as usize];
            order.sort_by(|a, b| {
                let columns = (first..first + width).map(|column| column % width);
                let places = columns.map(|column| place(*a, column).cmp(&place(*b, column)));
                places.fold(Ordering::Equal, Ordering::then)
            });
            Links::of(&order)
        };
        Self {
            orders: (0..width).map(order).collect(),
        }
    }

    fn first(&self) -> Option<u32> {
        self.orders.first()?.after_end()
    }

    /// Returns all free combinations.
    fn rest(&self) -> Vec<u32> {
        let Some(links) = self.orders.first() else {
            return vec![];
        };
        links.walk(&links.next, links.end()).collect()
    }

    fn take(&mut self, combination: u32) {
        self.orders.iter_mut().for_each(|links| links.unlink(combination));
    }

    /// Returns the free combinations closest to the combination that was taken last.
    fn around(&self, taken: u32) -> Vec<u32> {
        let sides = |links: &'_ Links| -> Vec<u32> {
            let next = links.walk(&links.next, taken).take(REACH);
            next.chain(links.walk(&links.previous, taken).take(REACH)).collect()
        };
        let mut around: Vec<u32> = self.orders.iter().flat_map(sides).collect();
        around.sort_unstable();
        around.dedup();
        around
    }
}

impl Links {
    fn of(order: &[u32]) -> Self {
        let end = order.len() as u32;
        let mut links = Self {
            next: vec![end; order.len() + 1],
            previous: vec![end; order.len() + 1],
        };
        let mut last = end;
        for combination in order.iter().copied().chain([end]) {
            links.next[last as usize] = combination;
            links.previous[combination as usize] = last;
            last = combination;
        }
        links
    }

    fn end(&self) -> u32 {
        self.next.len() as u32 - 1
    }

    fn after_end(&self) -> Option<u32> {
        Some(self.next[self.end() as usize]).filter(|first| *first != self.end())
    }

    /// Removes a combination. The links of the removed combination stay valid until another
    /// combination is removed.
    fn unlink(&mut self, combination: u32) {
        let (next, previous) = (self.next[combination as usize], self.previous[combination as usize]);
        self.next[previous as usize] = next;
        self.previous[next as usize] = previous;
    }

    /// Returns the combinations after `start`, in the direction of `links`.
    fn walk<'a>(&self, links: &'a [u32], start: u32) -> impl Iterator<Item = u32> + use<'a> {
        let end = self.end();
        let following = move |at: u32| Some(links[at as usize]).filter(|c| *c != end);
        std::iter::successors(following(start), move |at| following(*at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::partition::testing::{Toy, column};
    use crate::method::search::SearchBudget;
    use proptest::prelude::*;

    proptest! {
        /// Every combination is in exactly one group. Every group satisfies the models if all rows
        /// together satisfy them.
        #[test]
        fn groups_hold(
            rows in prop::collection::btree_map((0u32..6, 0u32..5), 1u64..4, 1..25), k in 1u64..8, asks: bool
        ) {
            let columns = vec![column(&["a", "a", "b", "b", "c", "c"], true), column(&["p", "q", "p", "q", "q"], false)];
            let combinations = rows.iter().map(|((a, b), n)| (vec![*a, *b], vec![*n])).collect();
            let toy = Toy { columns, combinations, k, suppressible: 0, asks };
            let (groups, stopped) = groups(&toy, &Context::new(0, SearchBudget::default()));
            prop_assert!(stopped.is_none());
            let mut members = groups.concat();
            members.sort_unstable();
            prop_assert_eq!(members, (0..toy.len() as u32).collect::<Vec<u32>>());
            if rows.values().sum::<u64>() >= k {
                prop_assert!(groups.iter().all(|group| toy.holds(group)));
            }
        }

        /// The free combinations around a combination are the same as those found by a search
        /// through all free combinations.
        #[test]
        fn what_is_taken_is_passed_over(taken in prop::collection::vec(0u32..12, 1..9)) {
            let combinations = (0..12).map(|code| (vec![code], vec![1])).collect();
            let toy = Toy { columns: vec![column(&["a"; 12], true)], combinations, k: 1, suppressible: 0, asks: false };
            let (mut free, mut left) = (Free::all(&toy), (0..12).collect::<Vec<u32>>());
            for one in taken {
                if left.contains(&one) {
                    left.retain(|c| *c != one);
                    free.take(one);
                    prop_assert_eq!(free.around(one), left.clone());
                    prop_assert_eq!(free.rest(), left.clone());
                }
            }
        }
    }
}
