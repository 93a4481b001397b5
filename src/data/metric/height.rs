//! Height: the sum of the levels of a node.
//!
//! Samarati, Protecting respondents' identities in microdata release, TKDE 2001,
//! doi:10.1109/69.971193.

use super::measure::{Build, Measure, Metric, Reads, Subject, View};
use crate::base::catalogue::{Entry, Info};
use crate::base::error::Result;
use crate::method::lattice::Node;

#[derive(Debug)]
struct Height;

impl Metric for Height {
    fn reads(&self) -> Reads {
        Reads {
            levels: true,
            ..Reads::NOTHING
        }
    }

    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
        let tops = subject.base.key_schema.lookups().iter().map(|l| u32::from(l.top()));
        Ok(Box::new(Prepared { top: tops.sum() }))
    }
}

#[derive(Debug)]
struct Prepared {
    /// The height of the node at the top level of every hierarchy.
    top: u32,
}

impl Measure for Prepared {
    fn value(&self, view: &View) -> f64 {
        f64::from(view.node.height())
    }

    fn bound(&self, node: &Node, _: u64) -> f64 {
        f64::from(node.height())
    }

    fn excess_is_monotone(&self) -> bool {
        // The floor equals the value.
        true
    }

    fn range(&self) -> (f64, f64) {
        (0.0, f64::from(self.top))
    }
}

/// The catalogue entry of the metric `height`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "height",
        summary: "the sum of the levels",
        params: &[],
        example: "MINIMIZING height",
        reference: "Samarati, TKDE 2001, doi:10.1109/69.971193",
    },
    build: |_| Ok(Box::new(Height)),
};
