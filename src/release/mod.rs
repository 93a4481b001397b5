//! From a request to a release that is in place: the request as a value, the stages that fulfil it,
//! the recount of what was written, the report, and the audit of a finished release.
//!
//! | module | DataFusion | what it is |
//! |---|---|---|
//! | `report` | yes | the evidence of a release in words and pictures: HTML, Markdown, JSON |
//! | `observe` | no | the reports of a run to its caller: phases, progress, and the figures of a release |
//! | `cluster` | yes | parts of a statement on other machines (feature `cluster`) |
//! | `job` | yes | the request as a value, and the checks that refuse it |
//! | `recount` | yes | counting released rows by SQL: classes, promises, labels, utility |
//! | `staging` | yes | output that is not visible yet: hidden folders, and reports beside a release |
//! | `engine` | yes | the one path from job to release: `scan`, `decide`, `items`, `examine`, `apply`, `write`, `verify`, `publish`; and where its plans run: `executor` |
//! | `audit` | yes | checks of the promises on any table, by recounting it, and checks for other disclosures of a release |

pub(crate) mod audit;
#[cfg(feature = "cluster")]
pub(crate) mod cluster;
pub(crate) mod engine;
pub(crate) mod job;
pub(crate) mod observe;
pub(crate) mod recount;
pub(crate) mod report;
pub(crate) mod staging;
