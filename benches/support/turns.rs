//! Times several forms of one computation in turn.

use std::time::{Duration, Instant};

/// A form with its name. A form is a function that returns the number of classes; all forms must
/// return the same number.
pub type Form<'a, T> = (&'a str, &'a mut dyn FnMut(&T) -> usize);

/// Times each of `forms` over `items` in several rounds. Returns, for each form, the sum over all
/// items of the minimum time that the item took in any round, in microseconds. The forms take turns
/// at each item, so other load on the machine affects all of them. The minimum over the rounds
/// removes the effect of that load.
pub fn in_turns<T>(rounds: usize, items: &[T], forms: &mut [Form<T>]) -> Vec<f64> {
    let mut least = vec![vec![Duration::MAX; items.len()]; forms.len()];
    for _ in 0..rounds {
        for (at, item) in items.iter().enumerate() {
            let mut answers = vec![];
            for ((name, form), least) in forms.iter_mut().zip(&mut least) {
                let begun = Instant::now();
                let answer = std::hint::black_box(form(item));
                least[at] = least[at].min(begun.elapsed());
                answers.push((*name, answer));
            }
            assert!(
                answers.windows(2).all(|w| w[0].1 == w[1].1),
                "the forms find different numbers of classes: {answers:?}"
            );
        }
    }
    let sum = |times: &Vec<Duration>| times.iter().sum::<Duration>().as_secs_f64() * 1e6;
    least.iter().map(sum).collect()
}
