//! The methods: how values are generalized and masked, how a node or a partition is found, and how
//! risk and utility are judged. They work on values, codes and counts, and read no table.
//!
//! | module | DataFusion | what it is |
//! |---|---|---|
//! | `lattice` | no | nodes, their order and neighbours |
//! | `hierarchy` | no | hierarchies as Arrow lookup tables, one file per kind |
//! | `canonical` | yes | the canonical form of values: one NaN, one zero, dates without a time; casts that preserve every value |
//! | `secret` | no | the location of a secret, and the check whether it could be guessed |
//! | `masks` | no | masks of the values of a column: one file per mask |
//! | `key` | no | combinations of codes as packed keys: layout, generalization, grouping |
//! | `search` | no | one file per algorithm, written against an oracle |
//! | `partition` | no | local recoding: one file per algorithm that divides the distinct combinations |
//! | `items` | no | sets of items: the cut of an item hierarchy that satisfies k^m-anonymity |
//! | `risk` | yes | re-identification risk from class sizes: attackers, uniqueness, estimators |
//! | `suggest` | no | the roles that a column's name, form and counts suggest |
//! | `standard` | no | published standards that a release can follow, one file per standard, and one per kind of requirement |
//! | `utility` | no | how much a release still reveals about its source: distributions, correlations, classifiers |
//! | `warning` | no | further questions of a data protection officer about the roles of a request, one file per kind |

pub(crate) mod canonical;
pub(crate) mod hierarchy;
pub(crate) mod items;
pub(crate) mod key;
pub(crate) mod lattice;
pub(crate) mod masks;
pub(crate) mod partition;
pub(crate) mod risk;
pub(crate) mod search;
pub(crate) mod secret;
pub(crate) mod standard;
pub(crate) mod suggest;
pub(crate) mod utility;
pub(crate) mod warning;
