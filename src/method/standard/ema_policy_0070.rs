//! ema_policy_0070: the risk of each person is at most 0.09, as in classes of 11 people.
//!
//! Holds if and only if the models promise classes of at least 11 rows, or entities, over all
//! quasi-identifiers.
//!
//! **Interpretation**: 1/11 is 0.0909. The guidance calls it 0.09, and so do the documents that it
//! cites.
//!
//! Example: `FOLLOWING ema_policy_0070`
//!
//! Reference: European Medicines Agency, External guidance on the implementation of the policy on
//! the publication of clinical data for medicinal products for human use, EMA/90915/2016, chapter 3

use super::published::Standard;
use super::requirement::SmallestClass;
use crate::base::catalogue::Info;

pub(super) const STANDARD: Standard = Standard {
    info: Info {
        name: "ema_policy_0070",
        summary: "the risk of each person is at most 0.09: classes of at least 11",
        params: &[],
        example: "FOLLOWING ema_policy_0070",
        reference: "European Medicines Agency, EMA/90915/2016, chapter 3",
    },
    asks: &[&SmallestClass {
        paragraph: "EMA/90915/2016, risk of at most 0.09",
        least: 11,
    }],
    unchecked: "the anonymisation report of EMA/90915/2016 has to say which columns others can know, how the risk was \
                measured, and how useful the data still are",
};
