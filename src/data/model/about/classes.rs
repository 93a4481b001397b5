//! Promises about classes: predicates over each released class and over the release as a whole.

use super::kind::{PromiseAttribute, PromiseKind};

pub(super) static KIND: PromiseKind = PromiseKind {
    attribute: PromiseAttribute::Sensitive,
    is_of_rows: false,
    generalizes_attribute: false,
    counts_every_class: true,
    effect: None,
    counted: None,
    refused_for_nodes: None,
    refused_in_batches: None,
    refused_together: None,
};
