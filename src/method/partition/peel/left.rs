//! The placement of the combinations that the walk left outside all classes.

use super::space::{PeeledClass, Space};
use crate::method::search::Context;

/// The classes after the remaining combinations have joined them.
pub(super) struct JoinedClasses {
    pub(super) classes: Vec<PeeledClass>,
    /// The suppressed combinations. Even together, they do not form a class that may be released.
    pub(super) suppressed: Vec<u32>,
}

/// The maximum number of compared pairs of a combination and a class. If there are more pairs, the
/// remaining combinations are placed together.
const COMPARED: usize = 1 << 28;

/// Places the remaining combinations: one by one while the budget lasts, and the rest together.
pub(super) fn place(space: &Space, mut classes: Vec<PeeledClass>, left: Vec<u32>, context: &Context) -> JoinedClasses {
    let together = space.class(left);
    if space.holds(&together) {
        return JoinedClasses::of(space, classes, together);
    }
    let (mut suppressible, mut suppressed) = (space.table.suppressible(), vec![]);
    let mut homeless = vec![];
    let one_by_one = together.members.len() * classes.len() <= COMPARED;
    for combination in together.members {
        let rows = space.rows(combination);
        let (more, home) = match one_by_one && context.check(0).is_ok() {
            true => cheapest(space, &classes, combination),
            false => (f64::INFINITY, None),
        };
        if rows <= suppressible && more > rows as f64 * space.greatest_loss() {
            suppressible -= rows;
            suppressed.push(combination);
            continue;
        }
        match home {
            Some(home) => space.join(&mut classes[home], combination),
            None => homeless.push(combination),
        }
    }
    let rows: u64 = homeless.iter().map(|c| space.rows(*c)).sum();
    if rows > suppressible {
        homeless = shelter(space, &mut classes, homeless);
    }
    suppressed.extend(homeless);
    let together = space.class(suppressed);
    JoinedClasses::of(space, classes, together)
}

impl JoinedClasses {
    /// Releases the remaining combinations as one class if they satisfy the models together.
    /// Suppresses them otherwise.
    fn of(space: &Space, mut classes: Vec<PeeledClass>, remain: PeeledClass) -> Self {
        let mut suppressed = vec![];
        match space.holds(&remain) {
            true => classes.push(remain),
            false => suppressed = remain.members,
        }
        Self { classes, suppressed }
    }
}

/// Returns the lowest additional loss of a combination in any class, and that class. If the class
/// would no longer satisfy the models, the loss is infinite and the class is `None`.
fn cheapest(space: &Space, classes: &[PeeledClass], combination: u32) -> (f64, Option<usize>) {
    let Some((more, home)) = space.cheapest(classes.iter().enumerate(), combination) else {
        return (f64::INFINITY, None);
    };
    let mut joined = classes[home].clone();
    space.join(&mut joined, combination);
    if space.holds(&joined) {
        (more, Some(home))
    } else {
        (f64::INFINITY, None)
    }
}

/// Unites the combinations outside all classes with the closest classes until the united class
/// satisfies the models. Returns the combinations if not even all classes suffice, and otherwise an
/// empty list.
///
/// The number of joining classes doubles with each attempt, so there are few attempts.
fn shelter(space: &Space, classes: &mut Vec<PeeledClass>, homeless: Vec<u32>) -> Vec<u32> {
    let together = space.class(homeless);
    let costs = classes
        .iter()
        .map(|class| space.united(&together, class).cost() - class.cost());
    let mut order: Vec<(f64, usize)> = costs.zip(0..).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut joining = 1;
    while joining / 2 < order.len() {
        let joined = &order[..joining.min(order.len())];
        let shelter = joined
            .iter()
            .fold(together.clone(), |all, (_, class)| space.united(&all, &classes[*class]));
        if space.holds(&shelter) {
            joined
                .iter()
                .for_each(|(_, class)| classes[*class] = PeeledClass::default());
            classes.push(shelter);
            return vec![];
        }
        joining *= 2;
    }
    together.members
}
