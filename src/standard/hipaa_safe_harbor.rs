//! hipaa_safe_harbor: the identifiers of the Safe Harbor method are removed.
//!
//! Holds if and only if no column is released, as it is or as a mask, that SUGGEST ROLES would call
//! one of the eighteen identifiers by its name or its values, none has a mask of IDENTIFIERS or is
//! redacted, none has lists or other nested values, and the labels of quasi-identifiers keep what may
//! stay: of dates the year, of ages above 89 and of the years of birth that tell them one
//! group, of ZIP codes three digits with 000 for those that 20,000 people or fewer share. The labels
//! are those of the lowest level that the statement allows. Columns of other places smaller than a
//! state are released above level 0 alone; whether their labels are states is not known.
//!
//! The ZIP codes that 20,000 people or fewer share are those of the census of 2000 in the 2012
//! guidance of the Department of Health and Human Services.
//!
//! Example: `FOLLOWING hipaa_safe_harbor`
//!
//! Reference: 45 CFR 164.514(b)(2)

use super::ask::Ask;
use super::published::Standard;
use crate::catalogue::Info;

pub(super) const STANDARD: Standard = Standard {
    info: Info {
        name: "hipaa_safe_harbor",
        summary: "the eighteen identifiers are removed, but for years, ages up to 89 and three digits of ZIP codes",
        params: &[],
        example: "FOLLOWING hipaa_safe_harbor",
        reference: "45 CFR 164.514(b)(2)",
    },
    asks: &[Ask::SafeHarbor],
    unchecked: "whoever releases must have no actual knowledge that a person could be identified (45 CFR 164.514(b)(2)(ii)), \
                and a column that neither its name nor its values show to be an identifier is not known to be one",
};
