//! Top-down specialization: from every column at its top, the value that tells most about the class label is refined.
//!
//! Every column has a *cut* through its hierarchy: values such that each ground value has exactly one ancestor among
//! them, itself included. A row is released as its ancestors in the cuts, so this is global recoding: a ground value has
//! the same label in every row, but other than at a node of the lattice, two labels of a column may be of different
//! levels. The cuts start at the top (or the highest level of LEVELS). In each round one value v of a cut is replaced by
//! its children, the one with the highest score
//!
//! ```text
//! score(v) = InfoGain(v) / (AnonyLoss(v) + 1)
//! InfoGain(v)  = the sum over classes c with v of |c| / |T| * (I(c) - the sum over its parts p of |p| / |c| * I(p))
//! AnonyLoss(v) = the size of the smallest class that is released, less that size after v is refined
//! ```
//!
//! where a class with v is parted by the children of v, and I is the entropy of the class labels in it; in one that fails
//! a model, whose rows are suppressed, it is that of labels which are all equally frequent. A value is refined only if
//!
//! - all rows in classes that then fail a model are within the suppression limit, and
//! - no more rows than before are then suppressed or not of their class's majority label, which is what `cm` counts:
//!   the suppression limit is used where it pays, and `cm` never rises.
//!
//! The algorithm ends when none can be. Among equal scores: the higher gain, the smaller loss, fewer rows suppressed, the
//! column named first, the value that comes first; so a value without gain is refined too, after all others, for less is
//! lost with it refined. A value with one child in the table is replaced by it at once, which changes no class. Each
//! class is judged by all class-level models in force; the release holds them if the start does.
//!
//! **Departures** from the paper: there the gain of v is that of the rows under v in its column alone, whatever
//! class they are in by now (`gain => values`). On Adult that refines what the other columns have told already, and its
//! `cm` stays above that of the best node of the lattice. Columns of numbers are refined by their hierarchies, not by
//! binary splits.
//!
//! Example: `CLASS (income) ... SEARCH USING top_down`.
//!
//! Fung, Wang and Yu, Top-down specialization for information and privacy preservation, ICDE 2005,
//! doi:10.1109/ICDE.2005.143; the score of Anonymizing classification data for privacy preservation, TKDE 2007,
//! doi:10.1109/TKDE.2007.1015.

mod cuts;

use super::{Build, Found, Partitioner, Table};
use crate::catalogue::{Entry, Info, Kind, Param};
use crate::error::Result;
use crate::search::{Context, Stop};
use cuts::Cuts;

/// The algorithm.
#[derive(Debug, Clone, Copy)]
pub struct TopDown {
    /// Whether the gain is that of a value in its column alone, as in the paper.
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

    fn honours_levels(&self) -> bool {
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

/// The catalogue entry.
pub(in crate::partition) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "top_down",
        summary: "a cut through each hierarchy, refined by information gain on CLASS per anonymity lost; greedy",
        params: &[Param {
            name: "gain",
            summary: "the gain of a value within the classes that have it, or in its column alone",
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
