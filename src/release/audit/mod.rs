//! The auditor: recounts promises on any table, released by anonsql or not, and finds other
//! information that a release reveals.
//!
//! Every row of the result is one check. The checks cover:
//! - every privacy model, recounted on the rows; NULL is a value like any other, and suppressed
//!   rows form no class; a model of the whole table is recounted with AGAINST, or if no row was
//!   suppressed ([`undecided`]);
//! - the entries of the manifest ([`evidence`]): rows, classes, the smallest class, columns, and
//!   the content of the release's folder and files ([`files`]);
//! - lists that are not sets, because their items are out of order or occur twice ([`items`]);
//! - values of masked columns that do not have the form of their mask ([`masks`]);
//! - the signature of the manifest, by a public key ([`signed`]);
//! - the budget of a differentially private release ([`budget`]);
//! - each batch of a release that grew, as a table of its own ([`batches`]);
//! - labels at a level other than the promised one, in columns and in the folder names of
//!   partitions, and labels that reveal more than a TOP CODE or BOTTOM CODE allows ([`labels`]);
//! - with AGAINST, rows that the source does not generalize to ([`against`]), rows of a local
//!   recoding whose labels are not true of the source ([`cover`]), and rows left in the source's
//!   order ([`order`]).
//!
//! Two releases of one table are compared with each other ([`beside`]): their promises are
//! recounted on the classes that both releases form together.
//!
//! Claims about a release that cannot be confirmed (because there is no manifest or no source, or a
//! hierarchy is not the hierarchy of the release) are listed too, and do not count as failures.
//!
//! The auditor gets its input as a value ([`Claim`]), shares no code with the search, and does not
//! depend on the session.

mod against;
mod batches;
mod beside;
mod budget;
mod check;
mod claim;
mod columns;
mod cover;
mod discernibility;
mod empty;
mod evidence;
mod files;
mod flow;
mod forms;
mod items;
mod known;
mod labels;
mod masks;
mod order;
mod people;
mod run;
mod signed;
mod spelling;
mod standards;
mod starred;
mod tables;
mod undecided;
mod verification;

pub(crate) use beside::{ClaimedRelease, Pair, beside};
pub(crate) use claim::{Claim, ClaimedAttribute};
pub(crate) use evidence::{ReleaseEvidence, ReleaseLocation, Stated};
pub(crate) use run::audit;
pub use verification::Verification;
