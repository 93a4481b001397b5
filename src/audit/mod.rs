//! The auditor: promises recounted on any table, released by anonsql or not, and what else gives a release away.
//!
//! Every row of what is found is one check:
//! - every privacy model, recounted on the rows; NULL is a value like any other, suppressed rows are no class;
//! - what the manifest says ([`evidence`]): rows, classes, the smallest class, columns, and what is in its folder and in
//!   its files ([`files`]);
//! - labels of another level than was promised, in columns and in the folder names of partitions ([`labels`]);
//! - with AGAINST, rows that the source does not generalize to ([`against`]), rows of a local recoding whose labels are
//!   not true of the source ([`cover`]), and rows left in its order ([`order`]).
//!
//! What a release says of itself and nothing that is there can confirm (no manifest, no source, a hierarchy that is not the
//! release's) is named too, and is no failure.
//!
//! It takes all of this as values ([`Claim`]), shares no code with the search, and knows no session.

mod against;
mod check;
mod claim;
mod columns;
mod cover;
mod evidence;
mod files;
mod flow;
mod known;
mod labels;
mod order;
mod run;
mod spelling;
mod tables;
mod verification;

pub(crate) use claim::{Claim, ClaimedAttribute};
pub(crate) use evidence::{Evidence, Stated};
pub(crate) use run::audit;
pub use verification::Verification;
