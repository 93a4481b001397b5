//! Local suppression: single cells become `*`, and all others keep their values.
//!
//! No value is generalized. A cell keeps its value (at the lowest level that LEVELS allows) or gets
//! the single label at the top of its hierarchy. The algorithm seeks the minimum number of
//! suppressed cells. WEIGHT multiplies the cost of a suppressed cell in its column.
//!
//! If the models concern the classes over all columns:
//!
//! 1. **Walk.** The walk visits the sets of columns in ascending order of weight. At each set, it
//!    groups the remaining rows by all other columns. A group that satisfies all models is released
//!    with `*` in the columns of the set, and its rows are removed. So each group is released at
//!    the lightest set at which it satisfies the models among the remaining rows. With many
//!    columns, the walk ends when a fixed amount of work finds no group.
//! 2. **Remaining rows.** Each combination joins the released group for which the fewest additional
//!    cells must be suppressed, in the combination and in the group together. If rows may be
//!    suppressed, a combination is suppressed as a row if it can join no group or its cells weigh
//!    less than the additional cells. Combinations that can neither join a group nor be suppressed
//!    form one group. Released groups are added to this group until it satisfies the models.
//!
//! If the models concern the groups of some columns (those of `ON (a, b)`, or those of every set of
//! m columns with `ON ANY m`), a suppressed cell affects the groups of all these sets that contain
//! its column:
//!
//! 1. **Annealing.** Cells are suppressed and restored at random. A group that is too small costs a
//!    penalty, which grows.
//! 2. **Repair.** Cells of the groups that are still too small are suppressed.
//! 3. **Return.** All suppressed cells with the same value, or all suppressed cells of a column,
//!    are restored together, except those whose groups would be too small. This step is repeated
//!    until no cell can be restored.
//!
//! The search runs these steps several times. A run begins with no cell suppressed, with all cells
//! suppressed, or with the best choice so far and a few more values suppressed. The lightest choice
//! of all runs is released: a cell weighs its WEIGHT, and a suppressed row weighs the sum of all
//! its cells. For a table with few cells, every choice that may weigh less is then tried. SEED sets
//! the seed: the same seed finds the same cells.
//!
//! **Guarantee for groups.** A group of some columns is all rows with equal released labels in
//! these columns. `*` is a label like any other: the rows that are suppressed in a column form a
//! group, which must also be large enough. So a reader who knows a person's values in these columns
//! finds at least as many rows as promised, even if the reader takes `*` for a value. Rows that are
//! equal in all quasi-identifiers get the same labels.
//!
//! **Guarantee for classes.** Every class satisfies all class-level models. A class is all rows
//! with equal released labels, where `*` equals only `*`. This rule is stricter than the rule of
//! sdcMicro's localSuppression, which counts a missing value as equal to any value. There, a row
//! with `*` can be one of k rows even if a reader can tell it apart from the
//! others. **Interpretation**: as in sdcMicro, the search is greedy. Finding the minimum number of
//! cells is NP-hard (Meyerson and Williams, On the complexity of optimal k-anonymity, PODS 2004,
//! doi:10.1145/1055558.1055591).
//!
//! If LEVELS limits a column to levels below the top of its hierarchy, a suppressed cell gets its
//! label at the highest of these levels instead of `*`. Rows with different labels at that level
//! are never in one group. A column that LEVELS keeps at one level is never suppressed.
//!
//! Example: `SEARCH USING local_suppression`.
//!
//! Templ, Kowarik and Meindl, Statistical disclosure control for micro-data using the R package
//! sdcMicro, Journal of Statistical Software 67(4), 2015, section 3.2, doi:10.18637/jss.v067.i04.

mod classes;
mod every;
mod groupings;
#[cfg(test)]
mod groupings_tests;
mod moves;
mod problem;
mod search;
mod state;
#[cfg(test)]
mod tests;

use self::problem::CombinationGroup;
use super::groups::Partition;
use super::partitioner::{Build, Found, Partitioner};
use super::table::Table;
use crate::base::catalogue::{Entry, Info};
use crate::base::error::Result;
use crate::method::hierarchy::Label;
use crate::method::search::{Context, Stop};

#[derive(Debug, Clone, Copy)]
struct LocalSuppression;

impl Partitioner for LocalSuppression {
    fn run(&self, table: &dyn Table, context: &mut Context) -> Result<Found> {
        let (groups, stopped) = match table.groupings() {
            [] => classes::divide(table, context),
            _ => groupings::divide(table, context),
        };
        if let Some(Stop::Failed(e)) = stopped {
            return Err(e);
        }
        let mut of_combination = vec![0u32; table.len()];
        for (number, group) in groups.iter().enumerate() {
            group
                .members
                .iter()
                .for_each(|c| of_combination[*c as usize] = number as u32);
        }
        let columns = table.columns().iter().enumerate();
        let labels = columns.map(|(i, column)| {
            let label = |group: &CombinationGroup| {
                let level = if group.starred[i] { column.top } else { column.bottom };
                let member = group.members.first().map_or(0, |member| table.code(i, *member));
                Label::at(&column.lookup, level, member)
            };
            groups.iter().map(label).collect()
        });
        let lookups = table.columns().iter().map(|c| c.lookup.as_ref());
        Ok(Found {
            partition: Partition::new(lookups, of_combination, labels.collect())?,
            stopped,
        })
    }

    fn judges_groupings(&self) -> bool {
        true
    }

    fn describe(&self) -> String {
        "suppresses single cells, in the lightest columns in which rows become equal".into()
    }
}

/// The catalogue entry of the partitioner `local_suppression`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "local_suppression",
        summary: "local recoding: single cells become *, all others keep their values; greedy",
        params: &[],
        example: "SEARCH USING local_suppression",
        reference: "Templ, Kowarik and Meindl, JSS 2015, doi:10.18637/jss.v067.i04",
    },
    build: |_| Ok(Box::new(LocalSuppression)),
};
