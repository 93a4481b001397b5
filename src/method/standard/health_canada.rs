//! health_canada: the risk of each person is at most 0.09, as in classes of 11 people.
//!
//! Holds if and only if the models promise classes of at least 11 rows, or entities, over all
//! quasi-identifiers.
//!
//! Example: `FOLLOWING health_canada`
//!
//! Reference: Health Canada, Guidance document: Public Release of Clinical Information, 2019,
//! chapter 6

use super::published::Standard;
use super::requirement::SmallestClass;
use crate::base::catalogue::Info;

pub(super) const STANDARD: Standard = Standard {
    info: Info {
        name: "health_canada",
        summary: "the risk of each person is at most 0.09: classes of at least 11",
        params: &[],
        example: "FOLLOWING health_canada",
        reference: "Health Canada, Public Release of Clinical Information, 2019",
    },
    asks: &[&SmallestClass {
        paragraph: "Public Release of Clinical Information, risk of at most 0.09",
        least: 11,
    }],
    unchecked: "the anonymization report of the guidance has to say which columns others can know, how the risk was \
                measured, and how useful the data still are",
};
