//! Privacy models: the requirements that every released equivalence class must satisfy. Each file
//! states the definition of its model and where the definition was published.
//!
//! A model is a predicate over one class. It declares which details the frequency set must carry,
//! is prepared once per request, and then judges classes. In addition to the predicate, the model
//! states the same guarantee as SQL over released rows ([`PrivacyModel::audit`]). Verification runs
//! that SQL and shares no code with the search. A new model is one file and one line in [`MODELS`].
//!
//! Three models are not about classes, but about single rows, sets of items, and a sample.
//! [`PrivacyModel::about`] returns the subject of a model's guarantee ([`About`]).

mod about;
mod alpha_k;
mod any_class;
mod audit;
mod average_risk;
mod beta_likeness;
#[cfg(test)]
mod brute;
mod delta_disclosure;
mod delta_presence;
mod differential_privacy;
mod earth_mover;
mod enhanced_beta_likeness;
mod entropy_l_diversity;
mod exact;
mod individual_risk;
mod k_anonymity;
mod k_map;
mod km_anonymity;
mod l_diversity;
mod max_risk;
mod n_t_closeness;
mod p_sensitive;
mod personal_privacy;
mod population_uniqueness;
mod privacy_model;
mod profitability;
mod recursive_l_diversity;
#[cfg(test)]
mod reference;
mod sampling;
mod sensitive;
mod t_closeness;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use differential_privacy::of as sampled;

pub use about::About;
pub(crate) use about::{PromiseAttribute, PromiseKind};
pub use alpha_k::weakest as weakest_alpha_k;
pub use audit::{Audit, Comparison, LabelSpans, Ladder, Relation, Tree};
pub use beta_likeness::weakest as weakest_beta_likeness;
pub use delta_disclosure::weakest as weakest_delta_disclosure;
pub use entropy_l_diversity::weakest as weakest_entropy_l_diversity;
pub use l_diversity::weakest as weakest_l_diversity;
pub use privacy_model::{Build, Class, Monotonicity, Overall, Predicate, PrivacyModel, Reads, Span, Subject};
pub use recursive_l_diversity::weakest as weakest_recursive_l_diversity;
pub use sampling::{SampleKey, Sampling};
pub use t_closeness::{CATEGORICAL, HIERARCHICAL, ORDERED, weakest as weakest_t_closeness};

use crate::base::catalogue::Entry;
#[cfg(any(test, feature = "internal-api"))]
use crate::{
    base::catalogue::{Arguments, Call, find},
    base::error::Result,
};

/// Every built-in privacy model, in the order in which the help lists them.
pub static MODELS: &[Entry<Build>] = &[
    k_anonymity::ENTRY,
    k_map::ENTRY,
    km_anonymity::ENTRY,
    delta_presence::ENTRY,
    l_diversity::ENTRY,
    entropy_l_diversity::ENTRY,
    recursive_l_diversity::ENTRY,
    t_closeness::ENTRY,
    n_t_closeness::ENTRY,
    delta_disclosure::ENTRY,
    beta_likeness::ENTRY,
    enhanced_beta_likeness::ENTRY,
    alpha_k::ENTRY,
    p_sensitive::ENTRY,
    max_risk::ENTRY,
    average_risk::ENTRY,
    individual_risk::ENTRY,
    population_uniqueness::ENTRY,
    profitability::ENTRY,
    personal_privacy::ENTRY,
    differential_privacy::ENTRY,
];

/// Builds the privacy model that `call` names. Fails if the name or an argument is unknown.
#[cfg(any(test, feature = "internal-api"))]
pub fn build(call: &Call) -> Result<Box<dyn PrivacyModel>> {
    let entry = find("privacy model", MODELS, &call.name)?;
    (entry.build)(&Arguments::bind(&entry.info, &call.args)?)
}
