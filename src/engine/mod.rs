//! The one path of every front end: a [`Job`] becomes a release.

mod decide;
mod evaluator;
mod job;
mod observe;
mod prepare;
mod stage;
mod write;

pub use decide::{Decision, Proof, decide, describe};
pub use evaluator::{Evaluator, Verdict, detail_requests};
pub use job::{
    Choice, Constraint, Existing, Format, Identifier, Job, QuasiIdentifier, Secret, Sensitive, Source,
    SuppressionLimit, Target,
};
pub use observe::{Observer, Phase, Silent};
pub use prepare::{Prepared, prepare};
