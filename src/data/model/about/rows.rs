//! Promises about single rows, each with its own limit. The limits are checked while rows are
//! written, because the files contain neither the limits nor the original values.

use super::kind::{PromiseAttribute, PromiseKind};

pub(super) static KIND: PromiseKind = PromiseKind {
    attribute: PromiseAttribute::OnlySensitive,
    is_of_rows: true,
    generalizes_attribute: true,
    counts_every_class: true,
    effect: None,
    counted: None,
    refused_for_nodes: Some("is about single rows; leave it out there, and ANONYMIZE ... AT NODE checks it"),
    refused_in_batches: Some("is a promise to each row, whose limit no release has"),
    refused_together: Some("it is not about classes"),
};
