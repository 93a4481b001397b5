//! The section on terms, with the definitions of ISO/IEC 20889 for the words on the page.

use super::entry::Entry;
use crate::base::error::Result;
use crate::release::report::Report;
use crate::release::report::block::{Block, Line};

pub(super) const ENTRY: Entry = Entry {
    id: "terms",
    heading: "Terms",
    answer: None,
    blocks,
};

fn blocks(_: &Report) -> Result<Vec<Block>> {
    let term = |(t, d): (&str, &str)| (Line::from(t), Line::from(d));
    let all = [
        ("Data principal", "the person that records are about (data subject)."),
        (
            "Direct identifier",
            "an attribute that identifies a data principal by itself.",
        ),
        (
            "Quasi-identifier",
            "an attribute that, together with others, can single out a data principal.",
        ),
        (
            "Equivalence class",
            "all records with the same values in every quasi-identifier.",
        ),
        (
            "Generalization",
            "values are replaced by coarser ones, level by level, along a hierarchy; its top is *.",
        ),
        (
            "Suppression",
            "records are left out, or their values are replaced by *; masking does so for a whole attribute.",
        ),
        (
            "Pseudonymization",
            "an identifier is replaced by one that does not reveal the person.",
        ),
        (
            "Formal privacy measurement model",
            "a condition on the released data, such as k-anonymity: every class has at least k records.",
        ),
    ];
    Ok(vec![Block::Terms(all.into_iter().map(term).collect())])
}
