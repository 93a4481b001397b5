//! The combinations that no class took in the walk.

use super::space::{Class, Space};
use crate::search::Context;

/// The classes after the combinations that were left have joined them.
pub(super) struct Placed {
    pub(super) classes: Vec<Class>,
    /// The combinations that are suppressed. Together they do not hold.
    pub(super) suppressed: Vec<u32>,
}

/// The greatest number of pairs of a combination and a class that are compared. Beyond it the
/// combinations that are left are placed together.
const COMPARED: usize = 1 << 28;

/// Places the combinations that were left: one by one as long as the budget lasts, and then
/// together.
pub(super) fn place(space: &Space, mut classes: Vec<Class>, left: Vec<u32>, context: &Context) -> Placed {
    let together = space.class(left);
    if space.holds(&together) {
        return Placed::of(space, classes, together);
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
    Placed::of(space, classes, together)
}

impl Placed {
    /// Releases the combinations that remain as a class, if they hold together, and suppresses them
    /// otherwise.
    fn of(space: &Space, mut classes: Vec<Class>, remain: Class) -> Self {
        let mut suppressed = vec![];
        match space.holds(&remain) {
            true => classes.push(remain),
            false => suppressed = remain.members,
        }
        Self { classes, suppressed }
    }
}

/// Returns the class where a combination loses least, if that class still holds with it, and how
/// much more is lost.
fn cheapest(space: &Space, classes: &[Class], combination: u32) -> (f64, Option<usize>) {
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

/// Joins the combinations that are in no class with the classes that are closest to them until they
/// hold together. Returns the combinations if they do not even hold with all classes.
///
/// The number of classes that join is doubled from one attempt to the next, so there are few
/// attempts.
fn shelter(space: &Space, classes: &mut Vec<Class>, homeless: Vec<u32>) -> Vec<u32> {
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
            joined.iter().for_each(|(_, class)| classes[*class] = Class::default());
            classes.push(shelter);
            return vec![];
        }
        joining *= 2;
    }
    together.members
}
