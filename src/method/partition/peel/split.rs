//! The division of a class into parts that together lose less.

use super::space::{PeeledClass, Space};
use crate::method::partition::table::Column;
use crate::method::search::Context;

/// Divides a class, and each part again, while this loses less and the budget lasts. Every part
/// satisfies the models.
pub(super) fn split(space: &Space, class: PeeledClass, context: &Context) -> Vec<PeeledClass> {
    let (mut whole, mut parts) = (vec![class], vec![]);
    while let Some(class) = whole.pop() {
        match divide(space, &class, context) {
            Some(found) => whole.extend(found),
            None => parts.push(class),
        }
    }
    parts
}

/// Returns the division with the minimum loss; `None` if no division loses less than the undivided
/// class.
fn divide(space: &Space, class: &PeeledClass, context: &Context) -> Option<Vec<PeeledClass>> {
    if class.members.len() < 2 || class.rows < 2 * space.table.least_rows() || class.cost() == 0.0 {
        return None;
    }
    let columns = (0..space.columns()).take_while(|_| context.check(0).is_ok());
    let divisions = columns.flat_map(|column| match space.is_range(column) {
        true => cuts(space, class, column),
        false => children(space, class, column),
    });
    let mut best: Option<(f64, Vec<PeeledClass>)> = None;
    for parts in divisions {
        let cost = parts.iter().map(PeeledClass::cost).sum();
        if gains(class.cost(), cost) && best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, parts));
        }
    }
    best.map(|(_, parts)| parts)
}

/// Returns true if a change lowers the cost by more than the rounding error of sums.
pub(super) fn gains(from: f64, to: f64) -> bool {
    to < from - 1e-9 * from.abs().max(1.0)
}

/// The maximum number of cuts tried per column if the models require more than a minimum number of
/// rows.
const CUTS: usize = 64;

/// Returns the cut with the minimum loss between two values of an ordered column; empty if no cut
/// loses less.
fn cuts(space: &Space, class: &PeeledClass, column: usize) -> Vec<Vec<PeeledClass>> {
    let code = |c: &u32| space.codes(*c)[column];
    let mut sorted = class.members.clone();
    sorted.sort_unstable_by_key(|c| (code(c), *c));
    let below = space.costs_of_prefixes(sorted.iter());
    let above = space.costs_of_prefixes(sorted.iter().rev());
    let least = space.table.least_rows();
    let mut found: Vec<(f64, usize)> = vec![];
    for at in 1..sorted.len() {
        let (below, above) = (below[at - 1], above[sorted.len() - at - 1]);
        let between = code(&sorted[at - 1]) != code(&sorted[at]);
        if between && below.rows >= least && above.rows >= least && gains(class.cost(), below.cost + above.cost) {
            found.push((below.cost + above.cost, at));
        }
    }
    found.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let sides = |at: usize| vec![space.class(sorted[..at].to_vec()), space.class(sorted[at..].to_vec())];
    let mut tried = found.into_iter().take(CUTS).map(|(_, at)| sides(at));
    tried
        .find(|sides| sides.iter().all(|side| space.holds(side)))
        .into_iter()
        .collect()
}

/// Returns the divisions of a class by the labels of a column at each level below the class's own.
/// Parts that do not satisfy the models are pooled. The smallest of the other parts are added to
/// the pool until it satisfies the models too.
fn children(space: &Space, class: &PeeledClass, column: usize) -> Vec<Vec<PeeledClass>> {
    let Column { lookup, bottom, .. } = &space.table.columns()[column];
    let by_level = (*bottom..space.level(class, column)).rev().filter_map(|level| {
        let labels = &lookup.level(level).codes;
        let label = |c: &u32| labels[space.codes(*c)[column] as usize];
        let mut sorted = class.members.clone();
        sorted.sort_unstable_by_key(|c| (label(c), *c));
        let parts = sorted
            .chunk_by(|a, b| label(a) == label(b))
            .map(|part| space.class(part.to_vec()));
        let (mut standing, pooled): (Vec<PeeledClass>, Vec<PeeledClass>) = parts.partition(|part| space.holds(part));
        let mut pool: Vec<u32> = pooled.into_iter().flat_map(|part| part.members).collect();
        while !pool.is_empty() {
            let class = space.class(pool.clone());
            if space.holds(&class) {
                standing.push(class);
                break;
            }
            let smallest = (0..standing.len()).min_by_key(|i| standing[*i].rows)?;
            pool.extend(standing.remove(smallest).members);
        }
        Some(standing).filter(|parts| parts.len() > 1)
    });
    by_level.collect()
}
