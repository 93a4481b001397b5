//! Promises about a column of sets of items. Rows without any item are in classes, but in no
//! combination of items.

use super::kind::{PromiseAttribute, PromiseKind};

pub(super) static KIND: PromiseKind = PromiseKind {
    attribute: PromiseAttribute::ItemSet,
    is_of_rows: false,
    generalizes_attribute: false,
    counts_every_class: false,
    effect: Some(
        "does not restrict the classes; after they are chosen, it decides about items by the sets of the \
         released rows, in memory",
    ),
    counted: Some("sets of items of released rows"),
    refused_for_nodes: Some("is about items; leave it and the column out there, and ANONYMIZE ... AT NODE keeps it"),
    refused_in_batches: Some("is about sets of items, which are generalized for all rows at once"),
    refused_together: Some("it is about items, which are in no class"),
};
