//! The evaluator as the oracle of a search.

use super::evaluator::{Evaluator, Judged, Objective, view};
use crate::base::error::Result;
use crate::data::model::Monotonicity;
use crate::method::lattice::{Lattice, Node};
use crate::method::search::{Assessment, Counters, Oracle};

impl Evaluator {
    fn assessment(&self, node: &Node, judged: Judged) -> Assessment {
        let (set, verdict) = match judged {
            Judged::Counted(set, verdict) => (set, verdict),
            Judged::Exceeds(suppressed) => {
                let floor = self.bound(node, 0);
                return Assessment::excluded(suppressed, self.objectives.len(), floor);
            }
        };
        let view = view(&set, &verdict);
        let cost = |o: &Objective| {
            let value = o.measure.value(&view);
            if o.higher_is_better { -value } else { value }
        };
        let assessment = || Assessment {
            anonymous: verdict.anonymous,
            suppressed: verdict.suppressed,
            classes: verdict.classes,
            costs: self.objectives.iter().map(cost).collect(),
            floor: self
                .objectives
                .first()
                .map_or(f64::NEG_INFINITY, |o| o.measure.floor(&view)),
        };
        self.sets.pool().install_for(set.len(), assessment)
    }
}

impl Oracle for Evaluator {
    fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    fn assess(&self, nodes: &[Node]) -> Result<Vec<Assessment>> {
        self.judge_each(nodes, |node, judged| Ok(self.assessment(node, judged)))
    }

    fn bound(&self, node: &Node, suppressed: u64) -> f64 {
        self.objectives
            .first()
            .map_or(f64::NEG_INFINITY, |o| o.measure.bound(node, suppressed))
    }

    fn is_monotone(&self) -> bool {
        self.rules_are_monotone(self.limit)
    }

    fn suppression_is_monotone(&self) -> bool {
        self.rules.iter().all(|rule| rule.monotonicity == Monotonicity::Always)
    }

    fn excess_is_monotone(&self) -> bool {
        let metric = self.objectives.first().is_some_and(|o| o.measure.excess_is_monotone());
        metric && self.suppression_is_monotone()
    }

    fn distinct_values(&self, position: usize, level: u8) -> u64 {
        self.sets.base().key_schema.lookup(position).level(level).labels.len() as u64
    }

    fn effective_values(&self, position: usize, level: u8) -> f64 {
        let base = self.sets.base();
        let codes = &base.key_schema.lookup(position).level(level).codes;
        let mut rows = vec![0u64; codes.iter().map(|c| *c as usize + 1).max().unwrap_or(0)];
        for (code, n) in codes.iter().zip(&base.marginals[position]) {
            rows[*code as usize] += n;
        }
        let all = rows.iter().sum::<u64>() as f64;
        let squares: u128 = rows.iter().map(|n| u128::from(*n) * u128::from(*n)).sum();
        if squares == 0 { 1.0 } else { all * all / squares as f64 }
    }

    fn rows(&self) -> u64 {
        self.sets.base().rows
    }

    fn suppression_limit(&self) -> u64 {
        self.limit
    }

    fn counters(&self) -> Counters {
        let sets = self.sets.counters();
        Counters {
            evaluated: sets.evaluated,
            rolled_up: sets.rolled_up,
            cached: sets.cached,
            rows_read: sets.rows_read,
        }
    }
}
