//! The exhaustive search for a table with few cells. It tries every choice that may weigh less than
//! the best choice so far.

use super::problem::{SuppressionChoice, TINY};
use super::state::State;

/// The maximum number of choices tried, partial or complete. It suffices for a table of up to 19
/// cells.
const MOST: u32 = 1 << 20;

/// The maximum number of cells and rows of a table for which all choices are tried.
const PLACES: usize = 24;

/// A row or a cell that may be suppressed.
#[derive(Clone, Copy)]
enum Place {
    Row(usize),
    Cell(usize, usize),
}

/// The best choice so far, and the number of choices that may still be tried.
struct Trial {
    places: Vec<Place>,
    best: Option<(f64, SuppressionChoice)>,
    left: u32,
}

/// Returns the best of all choices if the table has few cells and rows. Otherwise returns `best`.
/// The choice of `state` must not suppress anything yet.
pub(super) fn best_of_all(
    state: &mut State,
    best: Option<(f64, SuppressionChoice)>,
) -> Option<(f64, SuppressionChoice)> {
    let problem = state.problem;
    let width = problem.weights.len();
    let row = |c| (problem.suppressible > 0).then_some(Place::Row(c));
    let cells = |c| {
        (0..width)
            .filter(|column| problem.may_star(*column))
            .map(move |column| Place::Cell(c, column))
    };
    let places = (0..problem.rows.len()).flat_map(|c| row(c).into_iter().chain(cells(c)));
    let places: Vec<Place> = places.take(PLACES + 1).collect();
    if places.len() > PLACES {
        return best;
    }
    let mut trial = Trial {
        places,
        best,
        left: MOST,
    };
    try_from(state, &mut trial, 0);
    trial.best
}

/// Tries every choice for the rows and cells in `trial.places` from index `next` on.
fn try_from(state: &mut State, trial: &mut Trial, next: usize) {
    let is_beaten = trial.best.as_ref().is_some_and(|(cost, _)| state.cost > *cost - TINY);
    if is_beaten || trial.left == 0 {
        return;
    }
    trial.left -= 1;
    let Some(place) = trial.places.get(next).copied() else {
        if state.short == 0 {
            trial.best = Some((state.cost, state.choice.clone()));
        }
        return;
    };
    try_from(state, trial, next + 1);
    match place {
        Place::Cell(combination, column) => {
            for is_last in [false, true] {
                let effect = state.effect(combination, column);
                state.flip(combination, column, effect);
                if !is_last {
                    try_from(state, trial, next + 1);
                }
            }
        }
        Place::Row(combination) => {
            let Some(effect) = state.effect_of_row(combination) else {
                return;
            };
            state.flip_row(combination, effect);
            // An entirely suppressed row leaves no choice for its cells.
            let others = trial.places[next + 1..].iter();
            let cells = others
                .take_while(|place| matches!(place, Place::Cell(c, _) if *c == combination))
                .count();
            try_from(state, trial, next + 1 + cells);
            if let Some(back) = state.effect_of_row(combination) {
                state.flip_row(combination, back);
            }
        }
    }
}
