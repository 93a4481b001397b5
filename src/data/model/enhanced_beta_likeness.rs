//! Enhanced beta-likeness: basic beta-likeness with a second bound on the relative gain of a value,
//! which falls as the frequency of the value in the table rises.
//!
//! Holds if and only if (p - q) / q <= min(b, -ln q) for every released equivalence class and every
//! sensitive value with p > q. If -ln q is the smaller bound, it is irrational and no class reaches
//! it exactly. The comparison allows 1e-12. Monotone if nothing may be suppressed, like
//! [`super::beta_likeness`].
//!
//! **Interpretation**: each value has its own bound, but a check has one required number and one
//! reached number. `reached` is the minimum b with which the release satisfies the model: the
//! maximum gain, or infinity if the gain of a value is above its -ln q, because no b allows such a
//! gain. pycanon 1.3 prints another number: the maximum of min(g, -ln q) over all values, where g
//! is the maximum gain of any value.
//!
//! Example: `enhanced_beta_likeness(2) ON diagnosis`.
//!
//! Cao and Karras, Publishing microdata with a robust privacy guarantee, PVLDB 5(11) 2012,
//! definition 3, doi:10.14778/2350229.2350255.

use super::beta_likeness::{BetaLikeness, PARAMS};
use super::exact::Bound;
use super::privacy_model::Build;
use crate::base::catalogue::{Entry, Info};

/// The catalogue entry of the model `enhanced_beta_likeness`.
pub(super) const ENTRY: Entry<Build> = Entry {
    info: Info {
        name: "enhanced_beta_likeness",
        summary: "as beta_likeness, with the relative gain of a value of share q also at most -ln q",
        params: PARAMS,
        example: "enhanced_beta_likeness(2) ON diagnosis",
        reference: "Cao and Karras, PVLDB 2012, doi:10.14778/2350229.2350255",
    },
    build: |args| {
        Ok(Box::new(BetaLikeness {
            name: "enhanced_beta_likeness",
            beta: Bound::given(args, "b")?,
            enhanced: true,
        }))
    },
};
