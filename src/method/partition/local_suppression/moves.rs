//! The changes that the search makes to a choice. It flips single cells and rows (suppresses or
//! restores them), suppresses and restores whole values, and repairs the choice.

use super::state::{Effect, State};
use rand::RngExt;
use rand_chacha::ChaCha12Rng;

impl State<'_> {
    /// Suppresses the cells of a block.
    pub(super) fn suppress(&mut self, block: usize) {
        let open = self.cells_of(block, false);
        self.flip_each(open, self.blocks[block].0);
    }

    /// Restores those suppressed cells of a block whose groups are then large enough. Returns true
    /// if any cell was restored. If other groups become too small, suppresses the cells again and
    /// returns false.
    fn recover(&mut self, block: usize) -> bool {
        let column = self.blocks[block].0;
        let before = self.short;
        let mut kept = self.cells_of(block, true);
        self.flip_each(kept.iter().copied(), column);
        loop {
            let (small, large): (Vec<usize>, Vec<usize>) = kept.iter().partition(|c| self.fails(**c, column));
            self.flip_each(small.iter().copied(), column);
            kept = large;
            if small.is_empty() {
                break;
            }
        }
        if self.short > before {
            self.flip_each(kept, column);
            return false;
        }
        !kept.is_empty()
    }

    /// Returns the combinations of a block whose cells are suppressed if `starred` is true, or kept
    /// if it is false. Omits entirely suppressed combinations.
    fn cells_of(&self, block: usize, starred: bool) -> Vec<usize> {
        let (column, combinations) = &self.blocks[block];
        let combinations = combinations.iter().map(|c| *c as usize);
        let stays = |c: &usize| !self.choice.gone[*c] && self.is_starred(*c, *column) == starred;
        combinations.filter(stays).collect()
    }

    fn flip_each(&mut self, combinations: impl IntoIterator<Item = usize>, column: usize) {
        for combination in combinations {
            let effect = self.effect(combination, column);
            self.flip(combination, column, effect);
        }
    }

    /// Recovers blocks in a random order until no block can be recovered, `work` exceeds `until`,
    /// or `is_over` returns true.
    pub(super) fn polish(&mut self, rng: &mut ChaCha12Rng, until: u64, is_over: &mut dyn FnMut() -> bool) {
        let mut order: Vec<usize> = (0..self.blocks.len()).collect();
        loop {
            for i in (1..order.len()).rev() {
                order.swap(i, rng.random_range(0..=i));
            }
            let mut gained = false;
            for block in &order {
                gained |= self.recover(*block);
            }
            if !gained || self.work > until || is_over() {
                return self.keep();
            }
        }
    }

    /// Proposes to flip each cell and each row once, and makes the flips that are accepted. A flip
    /// that does not lower the energy is accepted at random, with a lower probability at a lower
    /// `heat`.
    pub(super) fn sweep(&mut self, penalty: f64, heat: f64, rng: &mut ChaCha12Rng) {
        let problem = self.problem;
        let accepts = |effect: Effect, rng: &mut ChaCha12Rng| {
            let energy = effect.energy(penalty);
            energy < 0.0 || heat > 0.0 && rng.random::<f64>() < (-energy / heat).exp()
        };
        for combination in 0..problem.rows.len() {
            let row = (problem.suppressible > 0)
                .then(|| self.effect_of_row(combination))
                .flatten();
            if let Some(effect) = row.filter(|effect| accepts(*effect, rng)) {
                self.flip_row(combination, effect);
            }
            if self.choice.gone[combination] {
                continue;
            }
            for column in 0..problem.weights.len() {
                if !problem.may_star(column) || self.with[column].is_empty() {
                    continue;
                }
                // Suppressing a cell whose groups are large enough can only help other cells, so it
                // is proposed less often.
                let is_rare = !self.is_starred(combination, column) && heat > 0.0 && rng.random::<f64>() > 0.2;
                if is_rare && !self.fails(combination, column) {
                    continue;
                }
                let effect = self.effect(combination, column);
                if accepts(effect, rng) {
                    self.flip(combination, column, effect);
                }
            }
        }
    }

    /// Suppresses cells in groups that are too small until every group is large enough, and then
    /// restores every cell that can be kept. The repair succeeds if all groups are large enough
    /// when all cells are suppressed.
    pub(super) fn repair(&mut self) {
        let (len, groupings) = (self.problem.rows.len(), self.problem.groupings.len());
        while self.short > 0 {
            let mut changed = false;
            for combination in 0..len {
                for g in 0..groupings {
                    if self.is_small(combination, g) {
                        changed |= self.star(combination, g);
                    }
                }
            }
            if changed {
                continue;
            }
            // The suppressed cells are too few for a group, so cells of other combinations are
            // suppressed as well.
            let small: Vec<(usize, u64)> = (0..groupings).filter_map(|g| Some((g, self.missing(g)?))).collect();
            let wanted = small.iter().map(|(_, missing)| *missing).max().unwrap_or(0);
            let mut joined = 0;
            for combination in 0..len {
                if joined < wanted && small.iter().any(|(g, _)| self.may_star(combination, *g)) {
                    joined += self.problem.rows[combination];
                    small.iter().for_each(|(g, _)| {
                        self.star(combination, *g);
                    });
                }
            }
            if joined == 0 && !self.suppress_rows(&small) {
                return;
            }
        }
        self.keep();
    }

    /// Returns the maximum number of rows that any group of a grouping lacks; `None` if all groups
    /// are large enough.
    fn missing(&self, g: usize) -> Option<u64> {
        let lacks = |c: usize| self.is_small(c, g).then(|| self.lacks(c, g));
        (0..self.problem.rows.len()).filter_map(lacks).max()
    }

    /// Suppresses entire rows where a group is too small and suppressing single cells cannot help.
    /// Returns true if any row was suppressed.
    fn suppress_rows(&mut self, small: &[(usize, u64)]) -> bool {
        let mut changed = false;
        for combination in 0..self.problem.rows.len() {
            let is_small = small.iter().any(|(g, _)| self.is_small(combination, *g));
            let effect = is_small.then(|| self.effect_of_row(combination)).flatten();
            if let Some(effect) = effect {
                self.flip_row(combination, effect);
                changed = true;
            }
        }
        changed
    }

    fn may_star(&self, combination: usize, g: usize) -> bool {
        let mut columns = self.problem.groupings[g].columns.iter();
        let open = |column: &usize| self.problem.may_star(*column) && !self.is_starred(combination, *column);
        !self.choice.gone[combination] && columns.any(open)
    }

    /// Suppresses the cells of a combination in the columns of a grouping. Returns true if any of
    /// these cells was not suppressed before.
    fn star(&mut self, combination: usize, g: usize) -> bool {
        let problem = self.problem;
        let mut changed = false;
        for column in &problem.groupings[g].columns {
            if problem.may_star(*column) && !self.is_starred(combination, *column) {
                self.flip_each([combination], *column);
                changed = true;
            }
        }
        changed
    }

    /// Restores each row and each cell that can be kept. Cells of the heaviest column come first.
    fn keep(&mut self) {
        let len = self.problem.rows.len();
        for combination in 0..len {
            if self.choice.gone[combination] {
                let effect = self.effect_of_row(combination);
                if let Some(effect) = effect.filter(|e| e.short <= 0 && e.cost <= 0.0) {
                    self.flip_row(combination, effect);
                }
            }
        }
        let weights = &self.problem.weights;
        let mut columns: Vec<usize> = (0..weights.len()).collect();
        columns.sort_by(|a, b| weights[*b].total_cmp(&weights[*a]));
        for column in columns {
            for combination in 0..len {
                if self.is_starred(combination, column) && !self.choice.gone[combination] {
                    let effect = self.effect(combination, column);
                    if effect.short <= 0 {
                        self.flip(combination, column, effect);
                    }
                }
            }
        }
    }
}
