//! The published grouping: sorted rows, cut where the following group keeps more information.

use super::span::{CommonAncestors, Spans};
use crate::method::partition::table::Table;
use crate::method::search::{Context, Stop};

/// The combinations in the order in which they are grouped.
struct Sorted<'a> {
    spans: Spans<'a>,
    order: Vec<u32>,
}

/// Returns the groups, and the reason if the grouping stopped early. In that case, the combinations
/// in no group form one more group.
pub(super) fn groups(table: &dyn Table, context: &Context) -> (Vec<Vec<u32>>, Option<Stop>) {
    let run = Sorted {
        spans: Spans::new(table),
        order: in_order(table),
    };
    let (mut groups, mut at, mut stopped): (Vec<Vec<u32>>, usize, Option<Stop>) = (vec![], 0, None);
    while at < run.order.len() {
        stopped = context.check(0).err();
        let end = match stopped {
            Some(_) => run.order.len(),
            None => run.group(at),
        };
        let members = &run.order[at..end];
        let is_tail = end == run.order.len() && !table.holds(members);
        match groups.last_mut().filter(|_| is_tail) {
            Some(last) => last.extend(members),
            None => groups.push(members.to_vec()),
        }
        at = end;
    }
    (groups, stopped)
}

/// Returns the combinations sorted by the values of the columns, the first named column first.
fn in_order(table: &dyn Table) -> Vec<u32> {
    let mut order: Vec<u32> = (0..table.len() as u32).collect();
    let columns = table.columns().len();
    order.sort_unstable_by(|a, b| {
        let codes = (0..columns).map(|c| table.code(c, *a).cmp(&table.code(c, *b)));
        codes.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    order
}

impl Sorted<'_> {
    /// Returns the end (exclusive) of the group that starts at `start`.
    fn group(&self, start: usize) -> usize {
        let (spans, table) = (&self.spans, self.spans.table);
        let mut group = spans.single(self.order[start]);
        let mut end = start + 1;
        while end < self.order.len() && !(group.rows >= table.least_rows() && table.holds(&self.order[start..end])) {
            group.merge(&spans.single(self.order[end]), table.columns());
            end += 1;
        }
        while let Some(next) = self.following(end) {
            // The paper compares sums of the information left. A sum that is at least as large
            // means a loss that is at most as large, so the losses are compared here.
            let joining = self.order[end];
            if spans.loss_of_joining(&group, joining) > u128::from(table.rows(joining)) * spans.loss(&next) {
                return end;
            }
            group.merge(&spans.single(joining), table.columns());
            end += 1;
        }
        self.order.len()
    }

    /// Returns the span of the fewest combinations from `start` on that have enough rows for a
    /// group; `None` if too few rows are left.
    fn following(&self, start: usize) -> Option<CommonAncestors> {
        let (spans, table) = (&self.spans, self.spans.table);
        let mut left = self.order[start..].iter();
        let mut span = spans.single(*left.next()?);
        while span.rows < table.least_rows() {
            span.merge(&spans.single(*left.next()?), table.columns());
        }
        Some(span)
    }
}
