//! hipaa_safe_harbor: the identifiers of the Safe Harbor method are removed.
//!
//! Holds if and only if four conditions hold. No column that SUGGEST ROLES recognizes by its name
//! or its values as one of the eighteen identifiers is released unchanged or masked. No column has
//! a mask of IDENTIFIERS or is redacted. No column has lists or other nested values. The labels of
//! quasi-identifiers keep only the year of a date, one group for ages above 89 and for the years of
//! birth that reveal these ages, and three digits of a ZIP code, or 000 for areas with 20,000
//! people or fewer. The labels are taken from the lowest level that the statement allows. A column
//! with other geographic units that are smaller than a state must be above level 0; the check
//! cannot know whether its labels are states.
//!
//! The ZIP code areas with 20,000 people or fewer are those in the 2012 guidance of the Department
//! of Health and Human Services, which is based on the census of 2000.
//!
//! Example: `FOLLOWING hipaa_safe_harbor`
//!
//! Reference: 45 CFR 164.514(b)(2)

use super::published::Standard;
use super::requirement::SafeHarbor;
use crate::base::catalogue::Info;

pub(super) const STANDARD: Standard = Standard {
    info: Info {
        name: "hipaa_safe_harbor",
        summary: "the eighteen identifiers are removed, except for years, ages up to 89 and three digits of ZIP codes",
        params: &[],
        example: "FOLLOWING hipaa_safe_harbor",
        reference: "45 CFR 164.514(b)(2)",
    },
    asks: &[&SafeHarbor],
    unchecked: "the person who releases must have no actual knowledge that somebody could be identified (45 CFR \
                164.514(b)(2)(ii)), \
                and a column that neither its name nor its values show to be an identifier is not known to be one",
};
