//! (n, t)-closeness: judges whether a class is close enough to one of the classes that contain it.

use super::models::{Member, Verdict, Whole, distance, fraction, histogram, size};
use super::table::Judged;
use crate::releases::case::Model;

impl Judged<'_> {
    /// Judges whether a class of these source rows at a node has a superset of n rows within
    /// distance t. Returns `Holds` for any other model.
    pub fn is_near(
        &self,
        model: &Model,
        (node, rows): (&[usize], &[usize]),
        members: &[Member],
        whole: &Whole,
    ) -> Verdict {
        if model.name != "n_t_closeness" {
            return Verdict::Holds;
        }
        let (n, t) = (fraction(&model.arguments[0]).0, fraction(&model.arguments[1]));
        let column = model.on.as_deref().unwrap_or_default();
        let table = &whole.counts[column];
        let class = histogram(members, column);
        let is_close = |around: Vec<usize>| {
            let around: Vec<Member> = around
                .iter()
                .map(|r| self.member(*r, |c| self.source_value(c, *r)))
                .collect();
            let superset = histogram(&around, column);
            let counts = |of: &std::collections::BTreeMap<_, i128>| -> Vec<i128> {
                table.iter().map(|(v, _)| of.get(v).copied().unwrap_or(0)).collect()
            };
            let (over, under) = distance(&counts(&class), &counts(&superset), false);
            size(&around) >= n && over * t.1 <= t.0 * under
        };
        let around = |above: &[usize]| {
            let labels = self.labels_at(above, rows[0]);
            let is_in = |row: &usize| !self.suppressed_unmapped(*row) && self.labels_at(above, *row) == labels;
            (0..self.source.len).filter(is_in).collect()
        };
        let mut above: Vec<Vec<usize>> = vec![vec![]];
        for (level, q) in node.iter().zip(&self.quasi) {
            let levels = *level..=q.ladder.height().max(*level);
            above = above
                .iter()
                .flat_map(|n| levels.clone().map(move |l| [&n[..], &[l]].concat()))
                .collect();
        }
        let holds = is_close((0..self.source.len).collect()) || above.iter().any(|node| is_close(around(node)));
        holds.into()
    }
}
