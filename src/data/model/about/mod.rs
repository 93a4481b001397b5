//! The subject of a model's guarantee: classes, single rows, sets of items, or a sample.
//!
//! The subject determines which stage of a release enforces the guarantee. A stage that treats the
//! subjects differently does not match on [`About`]. It asks the kind of the promise, which has one
//! answer to each question (`About::kind`). A new variant needs a file with its answers. The
//! compiler reports each question that has no answer.

mod classes;
mod items;
mod kind;
mod rows;
mod sample;

pub(crate) use kind::{PromiseAttribute, PromiseKind};

use super::sampling::Sampling;
use crate::method::items::ItemBound;

/// The subject of a model's guarantee.
///
/// By default, a model is about classes ([`About::Classes`]), and a model of your own must keep
/// this default. The other variants are those of `personal_privacy`, `km_anonymity` and
/// `differential_privacy`, whose guarantees are enforced by stages of their own.
///
/// ```
/// use anonsql::extend::model::{About, PrivacyModel};
/// /// Returns true if the model's predicate may rule out a class.
/// fn judges_classes(model: &dyn PrivacyModel) -> bool {
///     matches!(model.about(), About::Classes | About::Sample(_))
/// }
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum About<'a> {
    /// The model is a predicate over equivalence classes. It holds if and only if the predicate
    /// allows every released class, and the release as a whole.
    Classes,
    /// Each row has its own limit, a number from 0 to 1. The model holds if and only if the class
    /// of every released row reveals at most as much of the row's sensitive value as the row's own
    /// limit allows. The guarantee is enforced when the rows are written, and excludes no class.
    Rows {
        /// The column that contains the limit of each row.
        limit: &'a str,
    },
    /// The model bounds a column of sets of items, and concerns no other column. It holds if and
    /// only if every combination of up to `size` different labels from the set of one released row
    /// is contained in the sets of at least `k` released rows. The guarantee is enforced after the
    /// classes are chosen, and excludes no class.
    Items(ItemBound),
    /// The release is a random sample. The model holds if and only if each row of the source was
    /// drawn independently by this rule, each drawn row was generalized independently of the
    /// others, and every released class has at least the `k` drawn rows of the rule. Rows that are
    /// not drawn are absent after the scan.
    Sample(&'a Sampling),
}

impl<'a> About<'a> {
    /// Returns the kind of this promise, which answers the questions of the stages.
    pub(crate) fn kind(self) -> &'static PromiseKind {
        match self {
            About::Classes => &classes::KIND,
            About::Rows { .. } => &rows::KIND,
            About::Items(_) => &items::KIND,
            About::Sample(_) => &sample::KIND,
        }
    }

    /// Returns the column that contains the limit of each row, if the promise reads such a column.
    pub(crate) fn limit(self) -> Option<&'a str> {
        match self {
            About::Rows { limit } => Some(limit),
            About::Classes | About::Items(_) | About::Sample(_) => None,
        }
    }

    /// Returns how the rows are drawn, if the promise is about a sample.
    pub(crate) fn sampling(self) -> Option<&'a Sampling> {
        match self {
            About::Sample(sampling) => Some(sampling),
            About::Classes | About::Rows { .. } | About::Items(_) => None,
        }
    }

    /// Returns the bound on a column of sets of items, if the promise is such a bound.
    pub(crate) fn item_bound(self) -> Option<ItemBound> {
        match self {
            About::Items(bound) => Some(bound),
            About::Classes | About::Rows { .. } | About::Sample(_) => None,
        }
    }
}
