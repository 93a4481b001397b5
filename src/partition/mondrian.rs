//! Mondrian: the table is cut in two at the median of one column, each part again, as long as the parts hold.
//!
//! Starting from one group with every row, a group is divided along one column into parts that all may be released; it
//! is final when no column can divide it. Every class-level model in force decides whether a part may be released, so
//! each final group holds them all if the table as a whole does.
//!
//! - A column of numbers, dates or timestamps is cut between two values, as near to the median row as parts on both
//!   sides hold; the median itself is tried first, then up to [`CUTS`] cuts in the order of their distance. The
//!   group's label is a range over the values in it, or the value itself where it has one. The range of the values,
//!   `[21, 27]`, would tell that somebody has exactly 21 and somebody 27: its ends are moved outward to round numbers,
//!   `[20, 29]`, on a grid that depends on the width of the whole column alone; `ranges => exact` leaves them where they
//!   are. A single value tells no more than all rows of the group share. With `numbers => hierarchy` such a column is divided by its hierarchy like any other; otherwise its hierarchy, be it a rule or a
//!   table, only counts leaves for the metrics. NULL comes after all values, and among values makes the label `*`.
//! - Any other column is divided by its hierarchy: into the children of the lowest common ancestor of the group's values.
//!   Children that do not hold by themselves are pooled; the pool takes the smallest of the other children until it
//!   holds too. The label is the lowest common ancestor of the values in the group.
//!
//! `strict` (the default) divides along values: equal values of the column go the same way. `relaxed` cuts at the median
//! row, so that the distinct combinations with the median value are shared between both sides; this is also possible
//! where many rows have the same value, and groups have fewer than 2k + m rows, m being the rows of the most frequent
//! combination, where k-anonymity is the model and every column has an order. Rows of one combination stay together.
//! Groups of `relaxed` may overlap, and groups with equal labels are one class.
//!
//! Which column is tried first is said by `split`: the widest by normalized range times WEIGHT (the share of the
//! column's range, or of its hierarchy's leaves, that the group spans), the one with the most distinct values in the
//! group, or the first named. Ties: the first named. LEVELS has no meaning for ranges and is refused.
//!
//! **Departures** from the paper: it tries no cut but the median, and gives up a column where one child of the hierarchy is too
//! small.
//!
//! Example: `SEARCH USING mondrian(mode => relaxed)`.
//!
//! LeFevre, DeWitt and Ramakrishnan, Mondrian multidimensional k-anonymity, ICDE 2006, doi:10.1109/ICDE.2006.101.

use super::{Build, Column, Found, Partition, Partitioner, Table};
use crate::catalogue::{Entry, Info, Kind, Param};
use crate::error::Result;
use crate::hierarchy::Label;
use crate::search::{Context, Stop};
use arrow::array::Array;
use std::ops::Range;

/// The most cuts of a column that are tried where the models ask for more than a number of rows.
const CUTS: usize = 64;

/// Which column is divided first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Split {
    Widest,
    MostDistinct,
    First,
}

/// The algorithm.
#[derive(Debug, Clone, Copy)]
pub struct Mondrian {
    relaxed: bool,
    split: Split,
    numbers_by_hierarchy: bool,
    exact_ranges: bool,
}

impl Partitioner for Mondrian {
    fn run(&self, table: &dyn Table, context: &mut Context) -> Result<Found> {
        let mut run = Run {
            mondrian: self,
            table,
            combinations: (0..table.len() as u32).collect(),
            sorted: vec![],
        };
        let (mut groups, mut cells) = (vec![0u32; table.len()], vec![vec![]; table.columns().len()]);
        let mut stopped = None;
        let mut left: Vec<Range<usize>> = Some(0..table.len()).filter(|all| !all.is_empty()).into_iter().collect();
        while let Some(group) = left.pop() {
            if stopped.is_none() {
                stopped = context.check(0).err();
            }
            let parts = if stopped.is_none() {
                run.divide(group.clone())
            } else {
                None
            };
            match parts {
                Some(parts) => left.extend(parts.into_iter().rev()),
                None => {
                    let number = cells.first().map_or(0, Vec::len) as u32;
                    run.combinations[group.clone()]
                        .iter()
                        .for_each(|c| groups[*c as usize] = number);
                    for (column, cells) in cells.iter_mut().enumerate() {
                        cells.push(run.released(column, group.clone()));
                    }
                }
            }
        }
        if let Some(Stop::Failed(e)) = stopped {
            return Err(e);
        }
        let lookups = table.columns().iter().map(|c| c.lookup.as_ref());
        Ok(Found {
            partition: Partition::new(lookups, groups, cells)?,
            stopped,
        })
    }

    fn describe(&self) -> String {
        let mode = if self.relaxed { "row" } else { "value" };
        let order = match self.split {
            Split::Widest => "the widest column by normalized range",
            Split::MostDistinct => "the column with the most distinct values",
            Split::First => "the first column",
        };
        format!("divides groups at the median {mode} of {order}, while every part holds")
    }
}

/// The state of one run: each group is a range of `combinations`.
struct Run<'a> {
    mondrian: &'a Mondrian,
    table: &'a dyn Table,
    combinations: Vec<u32>,
    /// Scratch: keys and combinations of a group that is being sorted.
    sorted: Vec<u64>,
}

/// What a group spans of a column.
struct Span {
    low: u32,
    high: u32,
    label: Label,
    width: f64,
}

impl Run<'_> {
    fn column(&self, column: usize) -> &Column {
        &self.table.columns()[column]
    }

    fn by_range(&self, column: usize) -> bool {
        !self.mondrian.numbers_by_hierarchy && self.column(column).lookup.is_ordered()
    }

    fn rows(&self, group: Range<usize>) -> u64 {
        self.combinations[group].iter().map(|c| self.table.rows(*c)).sum()
    }

    fn codes(&self, column: usize, group: Range<usize>) -> impl Iterator<Item = u32> + '_ {
        self.combinations[group]
            .iter()
            .map(move |c| self.table.code(column, *c))
    }

    fn label(&self, column: usize, group: Range<usize>) -> Label {
        let lookup = &self.column(column).lookup;
        if !self.by_range(column) {
            return Label::ancestor(lookup, 0, self.codes(column, group));
        }
        let (low, high) = least_and_greatest(self.codes(column, group));
        Label::range(lookup, low, high)
    }

    /// The label that a final group is released with.
    fn released(&self, column: usize, group: Range<usize>) -> Label {
        match self.label(column, group) {
            Label::Range { low, high } if !self.mondrian.exact_ranges => {
                Label::rounded(&self.column(column).lookup, low, high)
            }
            label => label,
        }
    }

    fn span(&self, column: usize, group: Range<usize>) -> Span {
        let Column { lookup, weight, .. } = self.column(column);
        let (low, high) = least_and_greatest(self.codes(column, group.clone()));
        let label = self.label(column, group);
        let width = match label {
            Label::Range { .. } | Label::Rounded { .. } => {
                let values = lookup.values();
                let last = (values.len() - 1).saturating_sub(usize::from(values.is_null(values.len() - 1)));
                let width = |low, high| {
                    let (least, greatest) = Label::Range { low, high }.extent(lookup).unwrap_or_default();
                    greatest - least
                };
                // Where there is no range but a zero and a negative zero, there is no width.
                Some(width(low, high) / width(0, last as u32))
                    .filter(|w| w.is_finite())
                    .unwrap_or(0.0)
            }
            Label::Level { .. } if self.by_range(column) => f64::from(u8::from(low != high)),
            Label::Level { .. } => {
                let leaves = lookup.total_leaves().saturating_sub(1).max(1);
                label.leaves(lookup).saturating_sub(1) as f64 / leaves as f64
            }
        };
        Span {
            low,
            high,
            label,
            width: width * weight,
        }
    }

    /// The parts of a group, or nothing where no column divides it. The combinations of each part are moved together.
    fn divide(&mut self, group: Range<usize>) -> Option<Vec<Range<usize>>> {
        let rows = self.rows(group.clone());
        if group.len() < 2 || rows < self.table.least_rows().saturating_mul(2) {
            return None;
        }
        let spans: Vec<Span> = (0..self.table.columns().len())
            .map(|i| self.span(i, group.clone()))
            .collect();
        let mut columns: Vec<usize> = (0..spans.len()).filter(|i| spans[*i].low != spans[*i].high).collect();
        match self.mondrian.split {
            Split::Widest => columns.sort_by(|a, b| spans[*b].width.total_cmp(&spans[*a].width)),
            Split::MostDistinct => columns.sort_by_cached_key(|i| std::cmp::Reverse(self.distinct(*i, group.clone()))),
            Split::First => {}
        }
        columns.into_iter().find_map(|column| match self.by_range(column) {
            true => self.cut(column, group.clone(), rows),
            false => self.children(column, group.clone(), spans[column].label),
        })
    }

    fn distinct(&self, column: usize, group: Range<usize>) -> usize {
        let mut codes: Vec<u32> = self.codes(column, group).collect();
        codes.sort_unstable();
        codes.dedup();
        codes.len()
    }

    /// Sorts the combinations of a group by `key`, then by number.
    fn sort(&mut self, group: Range<usize>, key: impl Fn(u32) -> u32) {
        self.sorted.clear();
        let combinations = &mut self.combinations[group];
        self.sorted
            .extend(combinations.iter().map(|c| u64::from(key(*c)) << 32 | u64::from(*c)));
        self.sorted.sort_unstable();
        for (combination, sorted) in combinations.iter_mut().zip(&self.sorted) {
            *combination = *sorted as u32;
        }
    }

    /// Cuts a group in two in the order of a column, as near to half of its rows as both sides hold.
    fn cut(&mut self, column: usize, group: Range<usize>, rows: u64) -> Option<Vec<Range<usize>>> {
        let table = self.table;
        self.sort(group.clone(), |c| table.code(column, c));
        let (least, mut below) = (table.least_rows(), 0);
        // (distance to the median, where)
        let mut cuts: Vec<(u64, usize)> = vec![];
        for at in group.start + 1..group.end {
            let (last, next) = (self.combinations[at - 1], self.combinations[at]);
            below += table.rows(last);
            let between = self.mondrian.relaxed || table.code(column, last) != table.code(column, next);
            if between && below >= least && rows - below >= least {
                cuts.push(((2 * below).abs_diff(rows), at));
            }
        }
        let sides = |at: usize| vec![group.start..at, at..group.end];
        if table.rows_suffice() {
            return cuts.into_iter().min().map(|(_, at)| sides(at));
        }
        cuts.sort_unstable();
        let holds = |part: &Range<usize>| table.holds(&self.combinations[part.clone()]);
        let mut tried = cuts.into_iter().take(CUTS).map(|(_, at)| sides(at));
        tried.find(|sides| sides.iter().all(holds))
    }

    /// Divides a group into the children of `label`, those pooled that do not hold by themselves.
    fn children(&mut self, column: usize, group: Range<usize>, label: Label) -> Option<Vec<Range<usize>>> {
        let Label::Level { level, .. } = label else { return None };
        let table = self.table;
        let children = &table.columns()[column].lookup.level(level.checked_sub(1)?).codes;
        let child = |c: u32| children[table.code(column, c) as usize];
        self.sort(group.clone(), child);
        let mut parts: Vec<Vec<u32>> = vec![];
        for combinations in self.combinations[group.clone()].chunk_by(|a, b| child(*a) == child(*b)) {
            parts.push(combinations.to_vec());
        }
        let rows = |part: &Vec<u32>| part.iter().map(|c| table.rows(*c)).sum::<u64>();
        let holds = |part: &Vec<u32>| rows(part) >= table.least_rows() && (table.rows_suffice() || table.holds(part));
        let (mut standing, pooled): (Vec<Vec<u32>>, Vec<Vec<u32>>) = parts.into_iter().partition(|p| holds(p));
        let mut pool = pooled.concat();
        while !pool.is_empty() && !holds(&pool) {
            let smallest = (0..standing.len()).min_by_key(|i| rows(&standing[*i]))?;
            pool.extend(standing.remove(smallest));
        }
        standing.extend(Some(pool).filter(|p| !p.is_empty()));
        if standing.len() < 2 {
            return None;
        }
        let mut start = group.start;
        let ranges = standing.iter().map(|part| {
            let range = start..start + part.len();
            start = range.end;
            range
        });
        let ranges = ranges.collect();
        for (slot, combination) in self.combinations[group].iter_mut().zip(standing.iter().flatten()) {
            *slot = *combination;
        }
        Some(ranges)
    }
}

fn least_and_greatest(codes: impl Iterator<Item = u32>) -> (u32, u32) {
    codes.fold((u32::MAX, 0), |(low, high), code| (low.min(code), high.max(code)))
}

/// The catalogue entry.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "mondrian",
        summary: "local recoding: groups are cut at the median of a column while all parts hold; greedy",
        params: &[
            Param {
                name: "mode",
                summary: "strict cuts between values, relaxed also within the combinations of a value",
                kind: Kind::Word(&["strict", "relaxed"]),
                default: Some("strict"),
            },
            Param {
                name: "split",
                summary: "the column that is tried first",
                kind: Kind::Word(&["widest", "most_distinct", "first"]),
                default: Some("widest"),
            },
            Param {
                name: "numbers",
                summary: "whether numbers and dates are cut anywhere, or by their hierarchy",
                kind: Kind::Word(&["range", "hierarchy"]),
                default: Some("range"),
            },
            Param {
                name: "ranges",
                summary: "ranges end at round numbers, or exactly at values of the group",
                kind: Kind::Word(&["rounded", "exact"]),
                default: Some("rounded"),
            },
        ],
        example: "SEARCH USING mondrian",
        reference: "LeFevre, DeWitt and Ramakrishnan, ICDE 2006, doi:10.1109/ICDE.2006.101",
    },
    build: |args| {
        Ok(Box::new(Mondrian {
            relaxed: args.word("mode")? == "relaxed",
            split: match args.word("split")? {
                "most_distinct" => Split::MostDistinct,
                "first" => Split::First,
                _ => Split::Widest,
            },
            numbers_by_hierarchy: args.word("numbers")? == "hierarchy",
            exact_ranges: args.word("ranges")? == "exact",
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::testing::{Toy, column};
    use super::*;
    use crate::search::Budget;
    use proptest::prelude::*;

    fn mondrian(relaxed: bool) -> Mondrian {
        Mondrian {
            relaxed,
            split: Split::Widest,
            numbers_by_hierarchy: false,
            exact_ranges: true,
        }
    }

    fn toy(columns: Vec<Column>, k: u64, combinations: &[(&[u32], u64)]) -> Toy {
        Toy {
            columns,
            combinations: combinations
                .iter()
                .map(|(codes, n)| (codes.to_vec(), vec![*n]))
                .collect(),
            k,
            suppressible: 0,
            asks: false,
        }
    }

    fn shown(toy: &Toy, mondrian: Mondrian) -> Vec<(String, u64)> {
        let groups = toy.groups(&toy.run(&mondrian)).into_iter();
        groups.map(|(labels, rows)| (labels.join(" "), rows)).collect()
    }

    /// 4 rows of 0, 1 of 1, 1 of 2, 4 of 5: the median is between 1 and 2, and then 0 stands alone, but 1 does not.
    #[test]
    fn a_range_is_cut_at_the_median_row() {
        let numbers = column(&["a"; 6], true);
        let toy = toy(vec![numbers], 2, &[(&[0], 4), (&[1], 1), (&[2], 1), (&[5], 4)]);
        let expected = [("[0, 1]".to_string(), 5), ("[2, 5]".to_string(), 5)];
        assert_eq!(shown(&toy, mondrian(false)), expected);
        let finer = Toy { k: 1, ..toy };
        let expected = [("0".into(), 4), ("1".into(), 1), ("2".into(), 1), ("5".into(), 4)];
        assert_eq!(shown(&finer, mondrian(false)), expected);
    }

    /// Of the children a, b and c of the top only a holds; b and c are pooled, which the top's label says.
    #[test]
    fn children_that_do_not_hold_are_pooled() {
        let names = column(&["a", "a", "b", "c"], false);
        let toy = toy(vec![names.clone()], 3, &[(&[0], 2), (&[1], 2), (&[2], 2), (&[3], 1)]);
        assert_eq!(
            shown(&toy, mondrian(false)),
            [("*".to_string(), 3), ("a".to_string(), 4)]
        );
        // c alone does not hold with what is left: the smaller of the others goes with it.
        let combinations: [(&[u32], u64); 4] = [(&[0], 9), (&[1], 9), (&[2], 4), (&[3], 1)];
        let larger = self::toy(vec![names], 3, &combinations);
        let expected = [("*".into(), 5), ("0".into(), 9), ("1".into(), 9)];
        assert_eq!(shown(&larger, mondrian(false)), expected);
    }

    /// Half of the rows have the same age: only the relaxed mode can share them between two groups.
    #[test]
    fn the_relaxed_mode_shares_the_rows_of_a_value() {
        let (ages, names) = (column(&["a"; 3], true), column(&["a", "a", "a", "a"], false));
        let combinations: [(&[u32], u64); 6] = [
            (&[0, 0], 1),
            (&[1, 0], 1),
            (&[1, 1], 1),
            (&[1, 2], 1),
            (&[1, 3], 1),
            (&[2, 3], 1),
        ];
        let toy = toy(vec![ages, names], 3, &combinations);
        assert_eq!(shown(&toy, mondrian(false)), [("[0, 2] a".to_string(), 6)]);
        let expected = [("[0, 1] a".to_string(), 3), ("[1, 2] a".to_string(), 3)];
        assert_eq!(shown(&toy, mondrian(true)), expected);
    }

    /// Cells of two values over 0 to 5; the ends tell no value, and a group of one value has its own.
    #[test]
    fn ranges_end_at_round_numbers() {
        let numbers = column(&["a"; 6], true);
        let toy = toy(
            vec![numbers],
            2,
            &[(&[0], 1), (&[1], 1), (&[3], 2), (&[4], 1), (&[5], 1)],
        );
        let rounded = Mondrian {
            exact_ranges: false,
            ..mondrian(false)
        };
        let expected = [("3".into(), 2), ("[0, 1]".into(), 2), ("[4, 5]".into(), 2)];
        assert_eq!(shown(&toy, rounded), expected);
        let coarser = Toy { k: 3, ..toy };
        for (label, _) in shown(&coarser, rounded) {
            let (low, high) = label[1..label.len() - 1].split_once(", ").unwrap();
            let ends = [low, high].map(|end| end.parse::<u32>().unwrap());
            assert!(ends[0] % 2 == 0 && ends[1] % 2 == 1, "{label}");
        }
    }

    /// A budget that is used up leaves what was divided so far, which is a partition too.
    #[test]
    fn it_ends_with_the_budget() {
        let toy = toy(
            vec![column(&["a"; 4], true)],
            1,
            &[(&[0], 1), (&[1], 1), (&[2], 1), (&[3], 1)],
        );
        let budget = Budget {
            deadline: Some(std::time::Instant::now()),
            ..Budget::default()
        };
        let found = mondrian(false).run(&toy, &mut Context::new(0, budget)).unwrap();
        assert!(matches!(found.stopped, Some(Stop::TimeLimit)));
        assert_eq!(toy.groups(&found.partition), [(vec!["[0, 3]".to_string()], 4)]);
    }

    proptest! {
        /// While a group has 2k + m - 1 rows or more and a column with an order varies, it is divided in the relaxed
        /// mode; in either, the parts are the group, hold, and lie side by side where cuts are between values.
        #[test]
        fn large_groups_are_divided(
            rows in prop::collection::btree_map((0u32..6, 0u32..4), 1u64..5, 1..20), k in 1u64..6, relaxed: bool, asks: bool
        ) {
            let columns = vec![column(&["a"; 6], true), column(&["b"; 4], true)];
            let combinations: Vec<(Vec<u32>, Vec<u64>)> = rows.iter().map(|((a, b), n)| (vec![*a, *b], vec![*n])).collect();
            let (all, most) = (rows.values().sum::<u64>(), rows.values().copied().max().unwrap_or(0));
            let toy = Toy { columns, combinations, k, suppressible: 0, asks };
            let mondrian = mondrian(relaxed);
            let mut run = Run {
                mondrian: &mondrian,
                table: &toy,
                combinations: (0..toy.len() as u32).collect(),
                sorted: vec![],
            };
            let whole = 0..toy.len();
            let parts = run.divide(whole.clone());
            let must = if relaxed { all >= 2 * k + most - 1 } else { all > 4 * (k - 1) + most };
            prop_assert!(parts.is_some() || !must || toy.len() == 1);
            let Some(parts) = parts else { return Ok(()) };
            prop_assert_eq!(parts.iter().map(Range::len).sum::<usize>(), toy.len());
            let mut moved = run.combinations.clone();
            moved.sort_unstable();
            prop_assert_eq!(moved, (0..toy.len() as u32).collect::<Vec<u32>>());
            for part in &parts {
                prop_assert!(run.rows(part.clone()) >= k);
            }
            let apart = |column| {
                let spans: Vec<Span> = parts.iter().map(|p| run.span(column, p.clone())).collect();
                spans[0].high < spans[1].low || spans[1].high < spans[0].low
            };
            prop_assert!(relaxed || apart(0) || apart(1));
        }
    }
}
