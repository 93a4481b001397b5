//! From tables to counts and back: how rows become counts, what privacy models and metrics say
//! about the counts, how rows are recoded, and how tables and releases are stored.
//!
//! | module | DataFusion | what it is |
//! |---|---|---|
//! | `signature` | no | the signature of a release: keys, the signed content, and its envelope |
//! | `frequency` | yes | rows to counts: encoding, the base set, roll-up, the cache |
//! | `recode` | yes | applying a choice, batch by batch |
//! | `model` | yes | privacy models: a predicate over one class, and the same guarantee as SQL |
//! | `metric` | no | quality metrics with their bounds |
//! | `objective` | no | the objectives of a Pareto front besides the metrics, one file per property |
//! | `drift` | no | the differences since an earlier release was made, in names and counts |
//! | `formats` | yes | table formats, one folder and one line each: a version as a source, and a commit to a log as the end of a release |
//! | `source` | yes | reading files that others wrote: damaged files, files that change, columns by name |
//! | `folder` | yes | the folder of a release: its manifest, its partitions, the check whether it may be replaced, and its lock |
//! | `lake` | yes | releases in object stores: runs, leases, the commit, and deletion |

pub(crate) mod drift;
pub(crate) mod folder;
pub(crate) mod formats;
pub(crate) mod frequency;
pub(crate) mod lake;
pub(crate) mod metric;
pub(crate) mod model;
pub(crate) mod objective;
pub(crate) mod recode;
pub(crate) mod signature;
pub(crate) mod source;
