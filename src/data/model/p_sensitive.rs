//! The condition of p-sensitive k-anonymity on the sensitive values, which is distinct l-diversity.
//!
//! Holds if and only if every released equivalence class has at least p distinct sensitive values.
//! Together with `k_anonymity(k)`, this is p-sensitive k-anonymity. Monotone like
//! [`super::l_diversity`].
//!
//! Example: `k_anonymity(5) AND p_sensitive(2) ON diagnosis`.
//!
//! Truta and Vinay, Privacy protection: p-sensitive k-anonymity property, ICDE Workshops 2006,
//! doi:10.1109/ICDEW.2006.116.

use super::l_diversity::Distinct;
use super::privacy_model::Build;
use crate::base::catalogue::{Entry, Info, Kind, Param};

/// The catalogue entry of the model `p_sensitive`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "p_sensitive",
        summary: "every class has at least p distinct sensitive values (p-sensitive k-anonymity, with k_anonymity)",
        params: &[Param {
            name: "p",
            summary: "the least number of distinct values of a class",
            kind: Kind::Integer { min: 1, max: i64::MAX },
            default: None,
        }],
        example: "k_anonymity(5) AND p_sensitive(2) ON diagnosis",
        reference: "Truta and Vinay, ICDE Workshops 2006, doi:10.1109/ICDEW.2006.116",
    },
    build: |args| {
        Ok(Box::new(Distinct {
            name: "p_sensitive",
            least: args.count("p")?,
        }))
    },
};
