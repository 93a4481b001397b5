//! The information that two releases of one table disclose together.
//!
//! Each release satisfies its models on its own. A reader of both releases knows a pair for each
//! person: the labels of the person in the first release, and the labels of the person in the
//! second release. If a release has no row of the person, the reader knows this fact instead of
//! labels. A *class together* contains the persons who have the same pair.
//!
//! With the source (AGAINST), the pairs are counted by SQL ([`together`]). The labels are computed
//! again from the source, by the hierarchies and levels in the manifests. A class of a node is
//! released entirely or not at all, so a row of the source is in a release if and only if the
//! release has the labels of the row. The check starts by comparing the sizes of the classes: a
//! release is refused unless each of its classes has the same number of rows in the release and in
//! the source. The promises of both manifests are then recounted on the classes together.
//!
//! Without the source, the pair of a person is not known. The totals of both releases are compared
//! by the columns in which both have the same labels ([`alone`]), and every promise is reported as
//! a gap.
//!
//! A release is refused if its pairs cannot be determined. This is the case for local recoding,
//! releases that grew, differentially private samples, personal limits, and labels that are
//! computed from a class ([`side`]).
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

pub(crate) use pair::{ClaimedRelease, Pair};
pub(crate) use run::beside;
