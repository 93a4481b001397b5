//! What two releases of one table tell together.
//!
//! Each release holds its models alone. Whoever has both knows two things of each person: what the
//! one releases of it, and what the other does. This is a pair of labels, or a label with the fact
//! that the other release has no row of the person. A *class together* is the persons of one pair.
//!
//! With the source (AGAINST), the pairs are counted by SQL ([`together`]). The labels are computed
//! again from the source by the hierarchies and levels that the manifests have. A class of a node
//! is released whole or not at all, so a row of the source is in a release if and only if the
//! release has its labels; that each class has as many released rows as rows of the source is
//! checked first, and a release of which it is not true is refused. The promises of both manifests
//! are then recounted on the classes together.
//!
//! Without the source, nobody can say who is in which pair. The totals of both releases by the
//! columns whose labels are alike are compared ([`alone`]), and every promise is a gap.
//!
//! What is refused, because its pairs cannot be told: local recoding, releases that grew,
//! differentially private samples, personal limits, and labels that are computed from a class
//! ([`side`]).
//!
//! Ganta, Kasiviswanathan and Smith, Composition attacks and auxiliary information in data privacy,
//! KDD 2008, doi:10.1145/1401890.1401926.

mod alone;
mod pair;
mod people;
mod promise;
mod run;
mod side;
mod together;

pub(crate) use pair::{Pair, Side};
pub(crate) use run::beside;
