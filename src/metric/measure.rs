//! What a metric is: a value for the classes of a node, and what can be said of nodes above it.

use crate::catalogue::Arguments;
use crate::error::Result;
use crate::frequency::{Base, FrequencySet};
use crate::lattice::Node;
use crate::partition::Partition;
use crate::pool::{map, pieces};
use std::fmt::Debug;

/// What a metric is prepared for.
///
/// ```
/// use anonsql::extend::metric::Subject;
/// /// The most classes that a release can have.
/// fn most_classes(subject: &Subject) -> u64 {
///     subject.rows() / subject.k.max(1)
/// }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Subject<'a> {
    /// The table.
    pub(crate) base: &'a Base,
    /// One weight per quasi-identifier, 1 where none was given.
    pub weights: &'a [f64],
    /// The smallest class that the privacy models allow: the k of c_avg.
    pub k: u64,
    /// The most rows that may be suppressed.
    pub suppression_limit: u64,
    /// The detail of the base set that holds the class label, where there is one.
    pub(crate) label: Option<usize>,
    /// The detail of the base set that holds the sensitive attribute's values by rows, for a metric that reads one.
    pub(crate) attribute: Option<usize>,
}

impl Subject<'_> {
    /// Rows of the table.
    pub fn rows(&self) -> u64 {
        self.base.rows
    }
}

/// A node's classes, and which of them are kept.
///
/// ```
/// use anonsql::extend::metric::View;
/// /// The mean size of a class.
/// fn mean(view: &View) -> f64 {
///     view.class_sizes().sum::<u64>() as f64 / view.classes.max(1) as f64
/// }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct View<'a> {
    /// The node; that of the base set where the classes are the groups of a partition.
    pub node: &'a Node,
    /// The partition whose groups the classes are, in its order; `None` for a node.
    pub(crate) partition: Option<&'a Partition>,
    /// Its classes; entries with a count of 0 are no classes.
    pub(crate) set: &'a FrequencySet,
    /// For each entry of the set whether it is a class that is kept.
    pub(crate) kept: &'a [bool],
    /// Classes that are kept.
    pub classes: u64,
    /// Rows in them.
    pub released: u64,
    /// All other rows of the table.
    pub suppressed: u64,
}

impl View<'_> {
    /// Rows of the table.
    pub fn rows(&self) -> u64 {
        self.released + self.suppressed
    }

    /// The rows of each class that is kept.
    pub fn class_sizes(&self) -> impl Iterator<Item = u64> {
        let classes = self.set.counts().iter().zip(self.kept);
        classes.filter(|(_, kept)| **kept).map(|(rows, _)| *rows)
    }

    /// The sum over kept classes of `value(entry, rows)`.
    pub(crate) fn sum_kept(&self, value: impl Fn(usize, u64) -> u128 + Sync + Send) -> u128 {
        let counts = self.set.counts();
        let pieces = pieces(counts.len());
        let sums = map(pieces.len(), |i| {
            let kept = pieces[i].clone().filter(|entry| self.kept[*entry]);
            kept.map(|entry| value(entry, counts[entry])).sum::<u128>()
        });
        sums.into_iter().sum()
    }
}

/// What a metric reads beyond class sizes.
///
/// ```
/// use anonsql::extend::metric::Reads;
/// let mut reads = Reads::NOTHING;
/// reads.weights = true;
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reads {
    /// The class label column (CLASS).
    pub class_label: bool,
    /// The sensitive attribute (the first of SENSITIVE), its values counted by rows also under ENTITY.
    pub attribute: bool,
    /// The weights of quasi-identifiers (WEIGHT).
    pub weights: bool,
    /// The levels of a node, which a partition does not have.
    pub levels: bool,
}

impl Reads {
    /// Class sizes are enough.
    pub const NOTHING: Self = Self {
        class_label: false,
        attribute: false,
        weights: false,
        levels: false,
    };
}

/// A quality metric.
///
/// ```
/// use anonsql::error::Result;
/// use anonsql::extend::metric::{Build, Measure, Metric, Subject, View};
/// use anonsql::extend::{Entry, Info};
/// #[derive(Debug)]
/// struct Suppressed;
/// impl Metric for Suppressed {
///     fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>> {
///         Ok(Box::new(OfTable(subject.rows())))
///     }
/// }
/// #[derive(Debug)]
/// struct OfTable(u64);
/// impl Measure for OfTable {
///     fn value(&self, view: &View) -> f64 {
///         view.suppressed as f64
///     }
///     fn range(&self) -> (f64, f64) {
///         (0.0, self.0 as f64)
///     }
/// }
/// ```
pub trait Metric: Debug + Send + Sync {
    /// What it reads beyond class sizes.
    fn reads(&self) -> Reads {
        Reads::default()
    }

    /// Whether more is better; searches then minimise the negated value.
    fn higher_is_better(&self) -> bool {
        false
    }

    /// Readies the metric for one table.
    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>>;
}

/// A metric made ready for one table.
///
/// ```
/// use anonsql::extend::metric::{Measure, View};
///
/// /// The rows of the largest class.
/// #[derive(Debug)]
/// struct Largest {
///     rows: u64,
/// }
///
/// impl Measure for Largest {
///     fn value(&self, view: &View) -> f64 {
///         view.class_sizes().max().unwrap_or(0) as f64
///     }
///
///     fn range(&self) -> (f64, f64) {
///         (0.0, self.rows as f64)
///     }
/// }
/// ```
pub trait Measure: Debug + Send + Sync {
    /// The value of a node, as the definition says.
    fn value(&self, view: &View) -> f64;

    /// The cost below which no anonymous node at or above this one is; the cost is the value, negated where higher is
    /// better. May use the whole frequency set.
    fn floor(&self, view: &View) -> f64 {
        self.bound(view.node, 0)
    }

    /// A bound on the cost of `node` if at least `suppressed` rows are suppressed there, from what is known of the
    /// table without evaluating it. With `suppressed = 0` it never falls along generalization.
    fn bound(&self, node: &Node, suppressed: u64) -> f64 {
        let _ = (node, suppressed);
        f64::NEG_INFINITY
    }

    /// Whether cost - floor never falls as nodes get more specific, where suppressed rows stay suppressed below: see
    /// [`crate::search::Oracle::excess_is_monotone`].
    fn excess_is_monotone(&self) -> bool {
        false
    }

    /// The ideal and the worst value on this table, which any value lies between: a weighted sum puts them at 0 and 1.
    fn range(&self) -> (f64, f64);
}

/// The constructor in a metric's catalogue entry.
///
/// ```
/// use anonsql::extend::metric::{Build, Metric};
/// fn is_reward(build: Build, arguments: &anonsql::extend::Arguments) -> anonsql::error::Result<bool> {
///     let metric: Box<dyn Metric> = build(arguments)?;
///     Ok(metric.higher_is_better())
/// }
/// ```
pub type Build = fn(&Arguments) -> Result<Box<dyn Metric>>;
