//! Classes of an artificial table, and the check of their invariants after each change.

use super::improve::Improvement;
use super::space::{PeeledClass, Space};
use crate::method::partition::testing::Toy;

/// Returns classes that satisfy the model, regardless of their loss. Each combination joins the
/// last class until that class has `k` rows. The remaining combinations join the first class.
pub(super) fn any_classes(space: &Space, k: u64) -> Vec<PeeledClass> {
    let mut classes: Vec<PeeledClass> = vec![];
    for combination in 0..space.len() as u32 {
        match classes.last_mut().filter(|class| class.rows < k) {
            Some(class) => space.join(class, combination),
            None => classes.push(space.class(vec![combination])),
        }
    }
    if classes.len() > 1 && classes.last().is_some_and(|class| class.rows < k) {
        let rest = classes.pop().unwrap_or_default();
        classes[0] = space.united(&classes[0], &rest);
    }
    classes
}

/// Checks that every combination is in one class, and that every class satisfies the models and has
/// the right number of rows.
pub(super) fn check(improvement: &Improvement, toy: &Toy) {
    let space = improvement.space;
    let mut members: Vec<u32> = vec![];
    let classes = improvement.classes.iter().enumerate();
    for (number, class) in classes.filter(|(_, class)| !class.members.is_empty()) {
        assert!(space.holds(class));
        assert!(class.rows >= toy.k);
        assert_eq!(class.rows, class.members.iter().map(|c| space.rows(*c)).sum::<u64>());
        let is_numbered = |c: &u32| improvement.class_of[*c as usize] == number as u32;
        assert!(class.members.iter().all(is_numbered));
        members.extend(&class.members);
    }
    members.sort_unstable();
    assert_eq!(members, (0..space.len() as u32).collect::<Vec<_>>());
}
