//! The search for few suppressed cells under which the groups of some columns are large enough.

use super::every::best_of_all;
use super::problem::{Problem, SuppressionChoice, TINY};
use super::state::State;
use rand::RngExt;
use rand_chacha::ChaCha12Rng;

/// The approximate number of groups that a search may examine.
const WORK: u64 = 1 << 25;

/// The number of groups examined after which a search no longer tries to restore more cells.
const POLISH: u64 = 1 << 28;

/// The maximum and the minimum number of sweeps in one course (one run of annealing).
const SWEEPS: (u64, u64) = (60, 8);

/// The number of courses allowed for a small table.
const COURSES: u64 = 40;

/// The cooling of a course: the first and last heat, and the first and last penalty, in units of
/// the mean weight of a cell.
struct Cooling {
    heat: [f64; 2],
    penalty: [f64; 2],
}

/// The coolings, which the courses use in turn.
const COOLINGS: [Cooling; 2] = [
    Cooling {
        heat: [4.0, 0.1],
        penalty: [0.3, 3.0],
    },
    Cooling {
        heat: [8.0, 0.5],
        penalty: [2.0, 6.0],
    },
];

/// Returns the lightest choice found. If no choice makes all groups large enough, returns the
/// choice that suppresses all cells, because it leaves the fewest rows in groups that are too
/// small. `is_over` is called between sweeps.
pub(super) fn search(problem: &Problem, rng: &mut ChaCha12Rng, is_over: &mut dyn FnMut() -> bool) -> SuppressionChoice {
    let none = problem.none();
    let mut state = State::new(problem, none.clone());
    if state.short == 0 {
        return none;
    }
    let sweep = state.work_of_a_sweep().max(1);
    let most = WORK.min(sweep.saturating_mul(SWEEPS.0 * COURSES));
    let sweeps = (WORK / 4 / sweep).clamp(SWEEPS.1, SWEEPS.0);
    let mut best: Option<(f64, SuppressionChoice)> = None;
    for course in 0.. {
        // Each kind of course runs at least once, unless the table is so large that a course has
        // only the minimum number of sweeps.
        let is_enough = state.work > most && (course > COOLINGS.len() + 1 || sweeps == SWEEPS.1);
        if course > 0 && (is_enough || is_over()) {
            break;
        }
        match (course % (COOLINGS.len() + 2), &best) {
            (0, Some((cost, choice))) => {
                state.reset(choice.clone());
                let until = state.work + most / 4;
                improve(&mut state, *cost, until, rng, is_over);
            }
            (1, _) => state.reset(problem.all()),
            (kind, _) => {
                state.reset(none.clone());
                cool(&mut state, &COOLINGS[kind % COOLINGS.len()], sweeps, rng, is_over);
            }
        }
        state.repair();
        state.polish(rng, POLISH, is_over);
        if state.short == 0 && best.as_ref().is_none_or(|(cost, _)| state.cost < *cost - TINY) {
            best = Some((state.cost, state.choice.clone()));
        }
    }
    state.reset(none);
    best_of_all(&mut state, best).map_or_else(|| problem.all(), |(_, choice)| choice)
}

/// Simulated annealing. Groups may be too small at first, at a penalty that grows while the heat
/// falls.
fn cool(state: &mut State, cooling: &Cooling, sweeps: u64, rng: &mut ChaCha12Rng, is_over: &mut dyn FnMut() -> bool) {
    let mean = state.problem.mean_weight();
    for sweep in 0..sweeps {
        let share = sweep as f64 / (sweeps - 1) as f64;
        let between = |[from, to]: [f64; 2]| mean * from * (to / from).powf(share);
        state.sweep(between(cooling.penalty), between(cooling.heat), rng);
        if is_over() {
            return;
        }
    }
    for _ in 0..3 {
        state.sweep(mean * 4.0, 0.0, rng);
    }
}

/// Repeatedly suppresses a few blocks of a valid choice and restores the cells that can then be
/// restored. Keeps the result unless the previous choice was better.
fn improve(state: &mut State, mut cost: f64, until: u64, rng: &mut ChaCha12Rng, is_over: &mut dyn FnMut() -> bool) {
    while state.work < until && !state.blocks.is_empty() && !is_over() {
        let before = state.choice.clone();
        for _ in 0..rng.random_range(1..5) {
            let block = rng.random_range(0..state.blocks.len());
            state.suppress(block);
        }
        state.repair();
        state.polish(rng, POLISH, is_over);
        if state.short == 0 && state.cost <= cost + TINY {
            cost = state.cost;
        } else {
            state.reset(before);
        }
    }
}
