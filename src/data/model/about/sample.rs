//! Promises about a random sample.

use super::kind::{PromiseAttribute, PromiseKind};

pub(super) static KIND: PromiseKind = PromiseKind {
    attribute: PromiseAttribute::Sensitive,
    is_of_rows: false,
    generalizes_attribute: false,
    counts_every_class: true,
    effect: None,
    counted: None,
    refused_for_nodes: None,
    refused_in_batches: Some("is a promise about one draw, and another draw spends the budget again"),
    refused_together: Some("it is not about classes"),
};
