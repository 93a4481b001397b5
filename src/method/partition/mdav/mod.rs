//! MDAV: groups of the nearest rows around the rows that are farthest from the mean
//! (microaggregation).
//!
//! While the remaining rows suffice for three groups, the mean of these rows is computed. The row
//! `r` farthest from the mean and the rows nearest to `r` form one group. The row `s` farthest from
//! `r` and the rows nearest to `s` form another group. If the rows suffice for only two groups, the
//! row farthest from the mean and the rows nearest to that row form one group, and the rest forms
//! the other. A group takes the nearest rows one after the other until it may be released: at k
//! rows for k-anonymity. With `LABELS MEAN`, this is the published microaggregation: every value is
//! replaced by the mean of its group.
//!
//! Distances are Euclidean over standardized columns: a value minus the mean of the column, divided
//! by the standard deviation of the column over all rows. WEIGHT multiplies the squared distance in
//! a column. Every quasi-identifier must be a number, a date or a timestamp without NULL. Ties are
//! broken by the order of the values.
//!
//! A group is labelled by the range of its values in each column. `LABELS MEAN`, `MEDIAN` or `MODE`
//! releases one value of the group instead. Ranges end exactly at values of the group, so that
//! groups with different values have different labels. If labels are released and the column has a
//! hierarchy of intervals, ranges end at the ends of the intervals. `LABELS TEXT` and `BOUNDS`
//! release the bounds of the range, so write `ranges => rounded` with these two forms. Groups with
//! the same labels are one class. A column whose hierarchy is more informative than intervals has
//! labels of the hierarchy, as in mondrian. With LEVELS, rows with different labels at the highest
//! of these levels are never in one group. A column of texts can be kept at one level (`region
//! LEVELS 0 TO 0`).
//!
//! **Interpretation**: rows that are equal in every quasi-identifier join a group together, because
//! the algorithm divides the set of distinct combinations. If all combinations are different and
//! k-anonymity is the model, this is the published algorithm row by row. With other models, the
//! rest may not satisfy them. Its combinations then join the groups with the nearest means, and
//! each group that does not satisfy the models is joined with the nearest group until all groups
//! satisfy them.
//!
//! **Departure**: the time grows with the square of the number of combinations. So a table of more
//! than `block` combinations is first cut at the median row of the widest standardized column. The
//! parts are cut again until each is small enough to be grouped by itself. If the time runs out,
//! the remaining combinations are grouped in the order of their values.
//!
//! Example: `SEARCH USING mdav`.
//!
//! Domingo-Ferrer and Mateo-Sanz, Practical data-oriented microaggregation for statistical
//! disclosure control, TKDE 14 (2002), doi:10.1109/69.979982. Domingo-Ferrer and Torra, Ordinal,
//! continuous and heterogeneous k-anonymity through microaggregation, DMKD 11 (2005),
//! doi:10.1007/s10618-005-0007-5, algorithm MDAV-generic.

mod points;

use super::groups::Partition;
use super::partitioner::{Build, Found, Partitioner};
use super::ranges::{NUMBERS, RANGES, Ranges};
use super::table::{Column, Numbers, Table};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::{Error, Result};
use crate::method::hierarchy::Label;
use crate::method::search::{Context, Stop};
use arrow::array::Array;
use points::Points;

/// The MDAV algorithm.
#[derive(Debug, Clone, Copy)]
struct Mdav {
    ranges: Ranges,
    /// True if the statement has the option `ranges`, which sets the ends of ranges. Without the
    /// option, ranges end at values of the group if the column has no hierarchy of intervals, or if
    /// the group is released with one value instead of a label.
    is_told: bool,
    /// The maximum number of combinations in a block. A larger table is cut into blocks, each of
    /// which is grouped by itself.
    block: usize,
}

impl Partitioner for Mdav {
    fn run(&self, table: &dyn Table, context: &mut Context) -> Result<Found> {
        check(table.columns())?;
        let mut run = Run {
            table,
            points: Points::of(table),
            groups: vec![],
            stopped: None,
        };
        let mut blocks: Vec<Vec<u32>> = vec![(0..table.len() as u32).collect()];
        while let Some(block) = blocks.pop() {
            match block.len() > self.block {
                true => blocks.extend(run.points.halves(block)),
                false => run.group(block, context),
            }
        }
        run.mend();
        if let Some(Stop::Failed(e)) = run.stopped {
            return Err(e);
        }
        let mut groups = vec![0u32; table.len()];
        for (number, group) in run.groups.iter().enumerate() {
            group.iter().for_each(|c| groups[*c as usize] = number as u32);
        }
        let cells = table.columns().iter().enumerate().map(|(i, column)| {
            let label = |group: &Vec<u32>| {
                let codes = || group.iter().map(|c| table.code(i, *c));
                let (low, high) = (codes().min().unwrap_or(0), codes().max().unwrap_or(0));
                match self.is_exact(column) {
                    _ if !self.ranges.are_of(column) => Label::ancestor(&column.lookup, column.bottom, codes()),
                    true => Label::range(&column.lookup, low, high),
                    false => Label::rounded(&column.lookup, low, high),
                }
            };
            run.groups.iter().map(label).collect()
        });
        let cells = cells.collect();
        let lookups = table.columns().iter().map(|c| c.lookup.as_ref());
        Ok(Found {
            partition: Partition::new(lookups, groups, cells)?,
            stopped: run.stopped,
        })
    }

    fn needs_order(&self) -> bool {
        true
    }

    fn makes_ranges(&self) -> bool {
        !self.ranges.by_hierarchy
    }

    fn asks_for_ranges(&self) -> bool {
        self.ranges.asked
    }

    fn describe(&self) -> String {
        "groups the row farthest from the mean with the rows nearest to it, until every row is in a group".into()
    }
}

impl Mdav {
    /// Returns true if ranges of a column end at values of their groups.
    fn is_exact(&self, column: &Column) -> bool {
        let is_bare = column.lookup.levels().len() < 3;
        match self.is_told {
            true => self.ranges.exact,
            false => is_bare || column.numbers == Numbers::Values,
        }
    }
}

/// Fails if a column contains NULL, which has no distance. Columns without an order are rejected
/// earlier, before the scan. A column that LEVELS keeps at one level needs no distances, because it
/// does not vary within a group.
fn check(columns: &[Column]) -> Result<()> {
    let has_null = |column: &Column| column.bottom < column.top && column.lookup.values().null_count() > 0;
    match columns.iter().position(has_null) {
        Some(number) => Err(Error::usage(format!(
            "mdav computes distances, but quasi-identifier number {} contains NULL; exclude these rows with a \
             query, or use another partitioner, such as SEARCH USING peel",
            number + 1
        ))),
        None => Ok(()),
    }
}

struct Run<'a> {
    table: &'a dyn Table,
    points: Points,
    groups: Vec<Vec<u32>>,
    stopped: Option<Stop>,
}

impl Run<'_> {
    fn rows(&self, combinations: &[u32]) -> u64 {
        combinations.iter().map(|c| self.table.rows(*c)).sum()
    }

    /// Divides a block into groups.
    fn group(&mut self, mut left: Vec<u32>, context: &Context) {
        let least = self.table.least_rows();
        let mut rows = self.rows(&left);
        while !left.is_empty() {
            if self.stopped.is_none() {
                self.stopped = context.check(0).err();
            }
            if self.stopped.is_some() {
                return self.group_in_order(left);
            }
            if rows < least.saturating_mul(2) {
                break;
            }
            let mean = self.points.mean(&left);
            let Some(first) = self.points.farthest(&left, &mean) else {
                break;
            };
            let from = self.points.at(first).to_vec();
            let second = self
                .points
                .farthest(&left, &from)
                .filter(|_| rows >= least.saturating_mul(3));
            for around in [Some(first), second].into_iter().flatten() {
                let around = self.points.at(around).to_vec();
                match self.take(&mut left, &around) {
                    Some(group) => {
                        rows -= self.rows(&group);
                        self.groups.push(group);
                    }
                    None => break,
                }
                // The other group is taken from the remaining rows, around the row farthest from
                // `r`.
                if left.is_empty() {
                    break;
                }
            }
            if self.groups.is_empty() {
                break;
            }
            if !self.table.rows_suffice() && !self.table.holds(&left) {
                break;
            }
        }
        if !left.is_empty() {
            self.groups.push(left);
        }
    }

    /// Removes from `left` the combinations nearest to a point, the fewest that together satisfy
    /// the models, and returns them; `None` if no number of combinations satisfies the models.
    fn take(&self, left: &mut Vec<u32>, around: &[f64]) -> Option<Vec<u32>> {
        let near = self.points.nearest(left, around, |near| {
            self.rows(near) >= self.table.least_rows() && self.table.holds(near)
        })?;
        let mut taken = near.clone();
        taken.sort_unstable();
        left.retain(|c| taken.binary_search(c).is_err());
        Some(near)
    }

    /// Divides combinations in the order of their values. This is done after the time has run out.
    fn group_in_order(&mut self, left: Vec<u32>) {
        let mut group = vec![];
        for combination in left {
            group.push(combination);
            if self.rows(&group) >= self.table.least_rows() && self.table.holds(&group) {
                self.groups.push(std::mem::take(&mut group));
            }
        }
        if !group.is_empty() {
            self.groups.push(group);
        }
    }

    /// Joins groups that do not satisfy the models with others, until all groups satisfy them or
    /// only one group is left.
    fn mend(&mut self) {
        let (held, broken): (Vec<_>, Vec<_>) = std::mem::take(&mut self.groups)
            .into_iter()
            .partition(|group| self.table.holds(group));
        self.groups = held;
        if self.groups.is_empty() {
            self.groups.extend(Some(broken.concat()).filter(|all| !all.is_empty()));
            return;
        }
        let means: Vec<Vec<f64>> = self.groups.iter().map(|group| self.points.mean(group)).collect();
        let mut changed: Vec<usize> = vec![];
        for combination in broken.into_iter().flatten() {
            let nearest = self.points.nearest_mean(combination, &means);
            self.groups[nearest].push(combination);
            changed.push(nearest);
        }
        changed.sort_unstable();
        changed.dedup();
        // A larger class still satisfies models of class size, but may violate other models.
        while let Some(group) = changed.pop() {
            if self.groups.len() == 1 || self.groups[group].is_empty() || self.table.holds(&self.groups[group]) {
                continue;
            }
            let mean = self.points.mean(&self.groups[group]);
            let others = (0..self.groups.len()).filter(|other| *other != group && !self.groups[*other].is_empty());
            let means = others.map(|other| (other, self.points.mean(&self.groups[other])));
            let nearest =
                means.min_by(|(_, a), (_, b)| points::distance(a, &mean).total_cmp(&points::distance(b, &mean)));
            if let Some((nearest, _)) = nearest {
                let joined = std::mem::take(&mut self.groups[group]);
                self.groups[nearest].extend(joined);
                changed.push(nearest);
            }
        }
        self.groups.retain(|group| !group.is_empty());
    }
}

/// The catalogue entry of the partitioner `mdav`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "mdav",
        summary: "local recoding: groups of the nearest rows, for numbers and dates; microaggregation with LABELS MEAN",
        params: &[
            Param {
                name: "block",
                summary: "the greatest number of distinct combinations grouped together",
                kind: Kind::Integer { min: 1, max: i64::MAX },
                default: Some("10000"),
            },
            NUMBERS,
            Param {
                summary: "ranges end at round numbers or exactly at values of the group; by default exactly if no \
                          hierarchy has ends",
                ..RANGES
            },
        ],
        example: "SEARCH USING mdav",
        reference: "Domingo-Ferrer and Torra, DMKD 11 (2005), doi:10.1007/s10618-005-0007-5",
    },
    build: |args| {
        Ok(Box::new(Mdav {
            is_told: args
                .given("ranges", |args, name| args.word(name).map(str::to_string))?
                .is_some(),
            ranges: Ranges::read(args)?,
            block: usize::try_from(args.count("block")?).unwrap_or(usize::MAX),
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::testing::{Toy, column};
    use super::*;
    use proptest::prelude::*;

    fn mdav(block: usize) -> Mdav {
        let ranges = Ranges {
            by_hierarchy: false,
            asked: false,
            exact: true,
        };
        Mdav {
            ranges,
            is_told: true,
            block,
        }
    }

    fn toy(rows: &[(u32, u32)], k: u64) -> Toy {
        let columns = vec![column(&["a"; 12], true), column(&["a"; 7], true)];
        let combinations = rows.iter().map(|(a, b)| (vec![*a, *b], vec![1])).collect();
        Toy {
            columns,
            combinations,
            k,
            suppressible: 0,
            asks: false,
        }
    }

    /// Runs the published MDAV-generic row by row over standardized values.
    fn by_definition(rows: &[(u32, u32)], k: usize) -> Vec<Vec<usize>> {
        let all: Vec<[f64; 2]> = rows.iter().map(|(a, b)| [f64::from(*a), f64::from(*b)]).collect();
        let mean =
            |of: &[usize], at: &[[f64; 2]]| [0, 1].map(|c| of.iter().map(|i| at[*i][c]).sum::<f64>() / of.len() as f64);
        let every: Vec<usize> = (0..rows.len()).collect();
        let center = mean(&every, &all);
        let deviation =
            [0, 1].map(|c| (all.iter().map(|x| (x[c] - center[c]).powi(2)).sum::<f64>() / all.len() as f64).sqrt());
        let at: Vec<[f64; 2]> = all
            .iter()
            .map(|x| {
                [0, 1].map(|c| {
                    if deviation[c] > 0.0 {
                        (x[c] - center[c]) / deviation[c]
                    } else {
                        0.0
                    }
                })
            })
            .collect();
        let far = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
        let farthest = |left: &[usize], from: [f64; 2]| {
            let mut best = left[0];
            for i in left {
                if far(at[*i], from) > far(at[best], from) {
                    best = *i;
                }
            }
            best
        };
        let take = |left: &mut Vec<usize>, around: usize| {
            let mut near = left.clone();
            near.sort_by(|a, b| far(at[*a], at[around]).total_cmp(&far(at[*b], at[around])));
            near.truncate(k);
            left.retain(|i| !near.contains(i));
            near.sort_unstable();
            near
        };
        let (mut left, mut groups) = (every, vec![]);
        while left.len() >= 3 * k {
            let r = farthest(&left, mean(&left, &at));
            let s = farthest(&left, at[r]);
            groups.push(take(&mut left, r));
            groups.push(take(&mut left, s));
        }
        if left.len() >= 2 * k {
            let r = farthest(&left, mean(&left, &at));
            groups.push(take(&mut left, r));
        }
        if !left.is_empty() {
            groups.push(left);
        }
        groups.sort();
        groups
    }

    proptest! {
        #[test]
        fn distinct_rows_are_grouped_as_published(
            rows in prop::collection::btree_set((0u32..12, 0u32..7), 1..30), k in 1usize..5
        ) {
            let rows: Vec<(u32, u32)> = rows.into_iter().collect();
            let table = toy(&rows, k as u64);
            let mut run = Run { table: &table, points: Points::of(&table), groups: vec![], stopped: None };
            run.group((0..rows.len() as u32).collect(), &Context::new(0, crate::method::search::SearchBudget::default()));
            let mut groups: Vec<Vec<usize>> = run.groups.iter().map(|g| g.iter().map(|c| *c as usize).collect()).collect();
            groups.iter_mut().for_each(|g| g.sort_unstable());
            groups.sort();
            prop_assert_eq!(groups, by_definition(&rows, k));
        }

        /// Every group satisfies the models if all rows together satisfy them. The test also covers
        /// several blocks, and models that must check each group.
        #[test]
        fn groups_hold(
            rows in prop::collection::btree_map((0u32..12, 0u32..7), 1u64..5, 1..30), k in 1u64..6, asks: bool, block in 1usize..40
        ) {
            let columns = vec![column(&["a"; 12], true), column(&["a"; 7], true)];
            let combinations = rows.iter().map(|((a, b), n)| (vec![*a, *b], vec![*n])).collect();
            let toy = Toy { columns, combinations, k, suppressible: 0, asks };
            if rows.values().sum::<u64>() >= k {
                let partition = toy.run(&mdav(block));
                prop_assert!(toy.groups(&partition).iter().all(|(_, rows)| *rows >= k));
            }
        }
    }
}
