//! The metric traits: the value of a node, and bounds on the values of the nodes above.

use crate::base::catalogue::Arguments;
use crate::base::error::Result;
use crate::base::pool::{map, pieces};
use crate::data::frequency::{Base, FrequencySet};
use crate::method::lattice::Node;
use crate::method::partition::Partition;
use std::fmt::Debug;

/// The table and the request for which a metric is prepared.
///
/// ```
/// use anonsql::extend::metric::Subject;
/// /// Returns the greatest number of classes that a release can have.
/// fn most_classes(subject: &Subject) -> u64 {
///     subject.rows() / subject.k.max(1)
/// }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Subject<'a> {
    /// The base frequency set of the table.
    pub(crate) base: &'a Base,
    /// The weight of each quasi-identifier; 1 if the statement has no WEIGHT.
    pub weights: &'a [f64],
    /// The minimum class size that the privacy models allow (the k of c_avg).
    pub k: u64,
    /// The maximum number of rows that may be suppressed.
    pub suppression_limit: u64,
    /// The index of the class label among the details of the base set; `None` if the statement has
    /// no class label.
    pub(crate) label: Option<usize>,
    /// The index of the sensitive attribute, counted by rows, among the details of the base set;
    /// `None` for a metric that reads no sensitive attribute.
    pub(crate) attribute: Option<usize>,
}

impl Subject<'_> {
    /// Returns the number of rows of the table.
    pub fn rows(&self) -> u64 {
        self.base.rows
    }
}

/// The classes of a node, with the choice of the released classes.
///
/// ```
/// use anonsql::extend::metric::View;
/// /// Returns the mean size of a class.
/// fn mean(view: &View) -> f64 {
///     view.class_sizes().sum::<u64>() as f64 / view.classes.max(1) as f64
/// }
/// ```
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct View<'a> {
    /// The node. For a partition, the node of the base set.
    pub node: &'a Node,
    /// The partition whose groups are the classes, in the order of the partition; `None` for a
    /// node.
    pub(crate) partition: Option<&'a Partition>,
    /// The classes. An entry with a count of 0 is not a class.
    pub(crate) set: &'a FrequencySet,
    /// For each entry of `set`: true if it is a released class.
    pub(crate) kept: &'a [bool],
    /// The class sizes as seen in the release, if several released classes have the same labels;
    /// otherwise `None`.
    pub(crate) alike: Option<&'a [u64]>,
    /// The number of released classes.
    pub classes: u64,
    /// The number of rows in released classes.
    pub released: u64,
    /// The number of all other rows of the table.
    pub suppressed: u64,
}

impl View<'_> {
    /// Returns the number of rows of the table.
    pub fn rows(&self) -> u64 {
        self.released + self.suppressed
    }

    /// Returns the number of rows of each released class. Classes with the same released labels
    /// count as one class.
    pub fn class_sizes(&self) -> impl Iterator<Item = u64> {
        let is_kept = |(_, kept): &(&u64, &bool)| **kept;
        let kept = || {
            self.set
                .counts()
                .iter()
                .zip(self.kept)
                .filter(is_kept)
                .map(|(rows, _)| *rows)
        };
        let kept = self.alike.is_none().then(kept);
        let alike = self.alike.unwrap_or_default().iter().copied();
        alike.chain(kept.into_iter().flatten())
    }

    /// Returns the sum of the squares of the sizes of the released classes.
    pub(crate) fn squares(&self) -> u128 {
        let square = |rows: u64| u128::from(rows) * u128::from(rows);
        match self.alike {
            Some(sizes) => sizes.iter().map(|rows| square(*rows)).sum(),
            None => self.sum_kept(|_, rows| square(rows)),
        }
    }

    /// Returns the sum of `value(entry, rows)` over released classes.
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

/// The inputs that a metric reads besides class sizes.
///
/// ```
/// use anonsql::extend::metric::Reads;
/// let mut reads = Reads::NOTHING;
/// reads.weights = true;
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reads {
    /// Whether the metric reads the class label column (CLASS).
    pub class_label: bool,
    /// Whether the metric reads the sensitive attribute (the first of SENSITIVE). Its values are
    /// counted by rows, even under ENTITY.
    pub attribute: bool,
    /// Whether the metric reads the weights of quasi-identifiers (WEIGHT).
    pub weights: bool,
    /// Whether the metric reads the levels of a node. A partition has none.
    pub levels: bool,
}

impl Reads {
    /// The inputs of a metric that reads only class sizes.
    pub const NOTHING: Self = Self {
        class_label: false,
        attribute: false,
        weights: false,
        levels: false,
    };
}

/// A quality metric, before it is prepared for a table.
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
    /// Returns the inputs that the metric reads besides class sizes. None by default.
    fn reads(&self) -> Reads {
        Reads::default()
    }

    /// Returns true if a higher value is better. Searches then minimize the negated value.
    fn higher_is_better(&self) -> bool {
        false
    }

    /// Prepares the metric for one table and request. Fails if an input is missing.
    fn prepare(&self, subject: &Subject) -> Result<Box<dyn Measure>>;
}

/// A metric prepared for one table.
///
/// ```
/// use anonsql::extend::metric::{Measure, View};
///
/// /// Measures the rows of the largest class.
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
    /// Returns the value of a node by the definition of the metric.
    fn value(&self, view: &View) -> f64;

    /// Returns a lower bound on the cost of every anonymous node at or above the node of `view`.
    /// The cost is the value, negated if higher is better. The bound may use the whole frequency
    /// set.
    fn floor(&self, view: &View) -> f64 {
        self.bound(view.node, 0)
    }

    /// Returns a lower bound on the cost of `node` if at least `suppressed` rows are suppressed at
    /// the node. The bound uses only facts about the table, without an evaluation of the node. With
    /// `suppressed = 0`, the bound never falls as values are generalized.
    fn bound(&self, node: &Node, suppressed: u64) -> f64 {
        let _ = (node, suppressed);
        f64::NEG_INFINITY
    }

    /// Returns true if cost minus floor never grows as values are generalized, provided that the
    /// suppressed rows of a node are also suppressed at the more specific nodes. See
    /// [`crate::method::search::Oracle::excess_is_monotone`].
    fn excess_is_monotone(&self) -> bool {
        false
    }

    /// Returns the ideal and the worst value on this table. Every value is between these two. A
    /// weighted sum scales the ideal value to 0 and the worst value to 1.
    fn range(&self) -> (f64, f64);
}

/// The constructor in the catalogue entry of a metric.
///
/// ```
/// use anonsql::extend::metric::{Build, Metric};
/// fn is_reward(build: Build, arguments: &anonsql::extend::Arguments) -> anonsql::error::Result<bool> {
///     let metric: Box<dyn Metric> = build(arguments)?;
///     Ok(metric.higher_is_better())
/// }
/// ```
pub type Build = fn(&Arguments) -> Result<Box<dyn Metric>>;
