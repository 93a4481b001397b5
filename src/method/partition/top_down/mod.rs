//! Top-down specialization: starts with every column at its top, and repeatedly refines the value
//! that reveals most about the class label.
//!
//! Every column has a *cut* through its hierarchy: a set of values such that each ground value has
//! exactly one ancestor (or itself) in the set. A row is released with its ancestors in the cuts.
//! So this is global recoding: a ground value has the same label in every row. Unlike at a node of
//! the lattice, two labels of a column may be at different levels. The cuts start at the top (or
//! the highest level of LEVELS). Each round replaces one value v of a cut by its children. v is the
//! value with the highest score
//!
//! ```text
//! score(v) = InfoGain(v) / (AnonyLoss(v) + 1)
//! InfoGain(v)  = the sum over classes c with v of |c| / |T| * (I(c) - the sum over its parts p of |p| / |c| * I(p))
//! AnonyLoss(v) = the size of the smallest class that is released, less that size after v is refined
//! ```
//!
//! where the children of v divide each class with v, and I is the entropy of the class labels in a
//! class. If a class violates a model, its rows are suppressed, and I is the entropy of equally
//! frequent labels. A value is refined only if
//!
//! - the rows in all classes that then violate a model are within the suppression limit, and
//! - the number of rows that are suppressed or lack the majority label of their class does not
//!   rise. `cm` counts this number, so rows are suppressed only if `cm` does not rise.
//!
//! The algorithm ends when no value can be refined. Of values with equal scores, the one with the
//! higher gain is refined first, then the one with the smaller loss, the one with fewer suppressed
//! rows, the one in the column named first, and the first value. So values without gain are also
//! refined, after all others, because refining them lowers the loss. A value with one child in the
//! table is immediately replaced by that child, which changes no class. Each class is checked
//! against all class-level models in force. The release satisfies the models if the start does.
//!
//! **Departures** from the paper: the paper computes the gain of v from the rows under v in its
//! column alone, regardless of their current classes (`gain => values`). On Adult this refines
//! values whose information the other columns have already revealed, and `cm` is higher than at the
//! best node of the lattice. Columns of numbers are refined by their hierarchies, not by binary
//! splits.
//!
//! Example: `CLASS (income) ... SEARCH USING top_down`.
//!
//! Fung, Wang and Yu, Top-down specialization for information and privacy preservation, ICDE 2005,
//! doi:10.1109/ICDE.2005.143; the score of Anonymizing classification data for privacy
//! preservation, TKDE 2007, doi:10.1109/TKDE.2007.1015.

mod cuts;

use super::partitioner::{Build, Found, Partitioner};
use super::table::Table;
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::Result;
use crate::method::search::{Context, Stop};
use cuts::Cuts;

/// The top-down specialization algorithm.
#[derive(Debug, Clone, Copy)]
pub struct TopDown {
    /// Whether the gain of a value is computed in its column alone, as in the paper.
    gain_of_values: bool,
}

impl Partitioner for TopDown {
    fn run(&self, table: &dyn Table, context: &mut Context) -> Result<Found> {
        let mut cuts = Cuts::at_the_top(table, self.gain_of_values)?;
        let mut stopped = None;
        while stopped.is_none() {
            let Some(value) = cuts.best() else { break };
            cuts.refine(value);
            stopped = context.check(0).err();
        }
        match stopped {
            Some(Stop::Failed(e)) => Err(e),
            stopped => Ok(Found {
                partition: cuts.partition()?,
                stopped,
            }),
        }
    }

    fn reads_class_label(&self) -> bool {
        true
    }

    fn keeps_levels(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        let gain = if self.gain_of_values { "values" } else { "classes" };
        format!(
            "refines one value of one column's hierarchy at a time, by information gain on the class label within \
             {gain} per anonymity lost"
        )
    }
}

/// The catalogue entry of the partitioner `top_down`.
pub(in crate::method::partition) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "top_down",
        summary: "a cut through each hierarchy, refined by information gain on CLASS per anonymity lost; greedy",
        params: &[Param {
            name: "gain",
            summary: "the gain of a value in the classes with the value, or in its column alone",
            kind: Kind::Word(&["classes", "values"]),
            default: Some("classes"),
        }],
        example: "SEARCH USING top_down",
        reference: "Fung, Wang and Yu, ICDE 2005, doi:10.1109/ICDE.2005.143",
    },
    build: |args| {
        Ok(Box::new(TopDown {
            gain_of_values: args.word("gain")? == "values",
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::testing::{Toy, column};
    use super::*;
    use proptest::prelude::*;

    fn shown(toy: &Toy, gain_of_values: bool) -> Vec<(String, u64)> {
        let groups = toy.groups(&toy.run(&TopDown { gain_of_values })).into_iter();
        groups.map(|(labels, rows)| (labels.join(" "), rows)).collect()
    }

    /// The first column determines the label, and the second is independent of it. Refining both
    /// columns leaves classes smaller than k. Refining the first column to its groups separates the
    /// labels. Afterwards neither the value a nor the second column can be refined.
    #[test]
    fn the_value_that_tells_most_is_refined_first() {
        let columns = vec![column(&["a", "a", "b"], false), column(&["c", "d"], false)];
        let combinations = [
            ([0, 0], [0, 2]),
            ([0, 1], [0, 2]),
            ([1, 1], [0, 1]),
            ([2, 0], [3, 0]),
            ([2, 1], [2, 0]),
        ];
        let toy = Toy {
            columns,
            combinations: combinations.iter().map(|(c, n)| (c.to_vec(), n.to_vec())).collect(),
            k: 5,
            suppressible: 0,
            asks: false,
        };
        // b has one child, which replaces it immediately.
        for gain_of_values in [false, true] {
            assert_eq!(
                shown(&toy, gain_of_values),
                [("2 *".to_string(), 5), ("a *".to_string(), 5)]
            );
        }
        // With k = 2, the second column can be refined after the labels are separated. Then a
        // cannot be refined to 0 and 1.
        let finer = Toy { k: 2, ..toy };
        let expected = [("2 0", 3), ("2 1", 2), ("a 0", 2), ("a 1", 3)].map(|(l, n)| (l.to_string(), n));
        assert_eq!(shown(&finer, false), expected);
    }

    /// Refining the top suppresses the single row with value `a`. In the first table, this row
    /// already is an error, because it lacks the majority label. In the second table, it is not, so
    /// nothing is refined.
    #[test]
    fn rows_are_suppressed_only_where_no_error_is_added() {
        let toy = |labels: [[u64; 2]; 3]| Toy {
            columns: vec![column(&["a", "b", "b"], false)],
            combinations: labels
                .iter()
                .enumerate()
                .map(|(i, n)| (vec![i as u32], n.to_vec()))
                .collect(),
            k: 2,
            suppressible: 5,
            asks: true,
        };
        let paying = toy([[0, 1], [4, 0], [3, 0]]);
        // The suppressed row is the minority row, so there is still 1 error. Then b is refined
        // without cost.
        assert_eq!(shown(&paying, false).len(), 3);
        let not_paying = toy([[1, 0], [4, 0], [3, 0]]);
        assert_eq!(shown(&not_paying, false), [("*".to_string(), 8)]);
    }

    proptest! {
        /// For any table, the suppression limit is respected, the number of errors never rises, and
        /// checking each group by the table changes nothing.
        #[test]
        fn it_ends_where_nothing_more_can_be_refined(
            rows in prop::collection::btree_map((0u32..5, 0u32..3), [0u64..4, 0u64..4], 1..15),
            k in 1u64..6, suppressible in 0u64..8, gain_of_values: bool
        ) {
            let columns = vec![column(&["a", "a", "b", "b", "c"], true), column(&["d", "d", "e"], false)];
            let combinations = rows.into_iter().filter(|(_, n)| n[0] + n[1] > 0);
            let combinations: Vec<_> = combinations.map(|((a, b), n)| (vec![a, b], n.to_vec())).collect();
            let all: u64 = combinations.iter().map(|c| c.1.iter().sum::<u64>()).sum();
            let least: u64 = [0, 1].map(|l| combinations.iter().map(|c| c.1[l]).sum()).into_iter().min().unwrap();
            let toy = Toy { columns, combinations, k, suppressible, asks: false };
            let partition = toy.run(&TopDown { gain_of_values });
            let groups = toy.groups(&partition);
            prop_assert_eq!(groups.iter().map(|g| g.1).sum::<u64>(), all);
            let mut errors = 0;
            let mut suppressed = 0;
            for group in 0..partition.len() {
                let members = partition.groups().iter().zip(&toy.combinations).filter(|(g, _)| **g as usize == group);
                let labels = members.fold([0, 0], |sum, (_, (_, n))| [sum[0] + n[0], sum[1] + n[1]]);
                let size = labels[0] + labels[1];
                if size < k {
                    suppressed += size;
                    errors += size;
                } else {
                    errors += labels[0].min(labels[1]);
                }
            }
            prop_assert!(all < k || suppressed <= suppressible);
            let most = if all < k { all } else { least };
            prop_assert!(errors <= most);
            let asked = Toy { asks: true, ..toy.clone() };
            prop_assert_eq!(asked.groups(&asked.run(&TopDown { gain_of_values })), groups);
        }
    }
}
