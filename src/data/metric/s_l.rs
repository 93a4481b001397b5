//! Spread of sensitive values, S_l of the property-based generalization paper: the sum over
//! released rows of the count of the row's own sensitive value in its class.
//!
//! **Interpretation**: the paper does not specify the better direction, so the direction is a
//! parameter. With `minimize`, the default, a row is better hidden if its value is rarer in its
//! class. `maximize` is the opposite direction. A suppressed row is in no class and adds nothing.
//! Even under ENTITY, rows are counted. The attribute is the first of SENSITIVE.
//!
//! If classes merge, the sum never falls, but suppressed rows reduce it. A lower bound on the sum
//! at or above a node is the sum over all classes of the node minus the maximum contribution of the
//! rows that may be suppressed. These are rows of the classes with the highest sum per row. An
//! upper bound is the sum of one class with all rows.
//!
//! Example: `MINIMIZING 0.7 * glm + 0.3 * s_l`.
//!
//! Property-based generalization paper (PBG-EA, 2010), section "Measuring quality with spread" and
//! its experiments.

use super::measure::{Build, Measure, Metric, Reads, Subject, View};
use crate::base::catalogue::{Entry, Info, Kind, Param};
use crate::base::error::{Error, Result};
use crate::data::frequency::FrequencySet;
use crate::method::lattice::Node;

#[derive(Debug)]
struct SL {
    maximize: bool,
}

impl Metric for SL {
    fn reads(&self) -> Reads {
        Reads {
            attribute: true,
            ..Reads::default()
        }
    }

    fn higher_is_better(&self) -> bool {
        self.maximize
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        let attribute = subject
            .attribute
            .ok_or_else(|| Error::usage("s_l needs a sensitive attribute: write SENSITIVE (column)"))?;
        let details = subject.base.attributes.get(attribute);
        let known = details.filter(|a| a.value_of_code.is_none());
        let known = known.ok_or_else(|| Error::internal("s_l reads a sensitive attribute that is counted by rows"))?;
        Ok(Box::new(Prepared {
            attribute,
            maximize: self.maximize,
            removable: subject.suppression_limit.saturating_sub(subject.base.unmapped_rows),
            most: known.counts.iter().map(|n| u128::from(*n) * u128::from(*n)).sum(),
        }))
    }
}

/// Returns the sum of the class at index `class`: the sum of the squared counts of its values.
fn squares(set: &FrequencySet, attribute: usize, class: usize) -> u128 {
    let counts = set.details()[attribute].class(class);
    counts.map(|(_, n)| u128::from(n) * u128::from(n)).sum()
}

#[derive(Debug)]
struct Prepared {
    attribute: usize,
    maximize: bool,
    /// The number of mapped rows that may be suppressed.
    removable: u64,
    /// The sum if all rows are in one class.
    most: u128,
}

impl Measure for Prepared {
    fn value(&self, view: &View) -> f64 {
        view.sum_kept(|i, _| squares(view.set, self.attribute, i)) as f64
    }

    fn floor(&self, view: &View) -> f64 {
        if self.maximize {
            return self.bound(view.node, 0);
        }
        let classes = (0..view.set.len()).filter(|i| view.set.counts()[*i] > 0);
        let mut classes: Vec<(u128, u64)> = classes
            .map(|i| (squares(view.set, self.attribute, i), view.set.counts()[i]))
            .collect();
        let total: u128 = classes.iter().map(|c| c.0).sum();
        if self.removable == 0 {
            return total as f64;
        }
        // Classes with the highest sum per row are removed first. The last class may be removed in
        // part.
        classes.sort_unstable_by(|a, b| (b.0 * u128::from(a.1)).cmp(&(a.0 * u128::from(b.1))));
        let (mut removed, mut left) = (0, self.removable);
        for (sum, rows) in classes {
            let taken = left.min(rows);
            removed += (sum * u128::from(taken)).div_ceil(u128::from(rows));
            left -= taken;
            if left == 0 {
                break;
            }
        }
        total.saturating_sub(removed) as f64
    }

    fn bound(&self, _: &Node, _: u64) -> f64 {
        if self.maximize { -(self.most as f64) } else { 0.0 }
    }

    fn range(&self) -> (f64, f64) {
        let most = self.most as f64;
        if self.maximize { (most, 0.0) } else { (0.0, most) }
    }
}

/// The catalogue entry of the metric `s_l`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "s_l",
        summary: "spread of sensitive values: the sum over released rows of their own value's count in their class",
        params: &[Param {
            name: "direction",
            summary: "the better direction",
            kind: Kind::Word(&["minimize", "maximize"]),
            default: Some("minimize"),
        }],
        example: "MINIMIZING s_l",
        reference: "Property-based generalization (PBG-EA, 2010)",
    },
    build: |args| {
        Ok(Box::new(SL {
            maximize: args.word("direction")? == "maximize",
        }))
    },
};
