//! Releases in object stores. A run writes its files next to the existing release, and one
//! conditional put commits them.
//!
//! Object stores cannot rename. But a conditional put fails if the object exists, or has changed
//! since it was read. A release is therefore committed by a single small object, the manifest of
//! its prefix, and readers read the files that this manifest names:
//!
//! ```text
//! prefix/_anonsql/runs/<run>/lease                      the writer, and when it was last alive
//! prefix/run=<run>/part-00007-<12 hex of sha256>.parquet    data of this run, never touched again
//! prefix/run=<run>/_manifest.json                       every file with size, rows, sha256 and e_tag
//! prefix/_manifest.json                                 the same bytes, put last: the commit
//! ```
//!
//! # The protocol
//!
//! A run
//!
//! 1. reads the manifest of the prefix first ([`Standing`]). A prefix with objects that do not
//!    belong to a release is refused;
//! 2. creates a lease by a put that fails if the object exists. With the lease it tests whether the
//!    store obeys conditions: a second put of this kind must fail, and so must a put on condition
//!    of an outdated e_tag. A store that ignores conditions is refused. From then on, the run
//!    renews its lease, on condition that no other process has changed it;
//! 3. writes its files under names that no other run uses, recounts them, and puts its own
//!    manifest;
//! 4. *seals* its lease by a conditional put, and puts the manifest of the prefix. The condition is
//!    that the prefix has no manifest, or, with OVERWRITE or APPEND, still has the manifest that
//!    the run has read. If the condition does not hold, another run committed first, and this run
//!    fails;
//! 5. deletes its lease. A run that fails or is cancelled deletes its files first.
//!
//! A run with APPEND writes a manifest that names the files of the existing release before its own.
//! The release then consists of the folders of several runs.
//!
//! No manifest names the files of a killed run. The next run for the prefix deletes them once the
//! lease has not been renewed for a day, by the clock of the store ([`clock`]). VACUUM deletes them
//! too ([`vacuum`]). Both first take over the lease by a conditional put. A run must seal its lease
//! before it commits, and VACUUM must take the lease before it deletes, so only one of them can
//! succeed. The files of a replaced release are also deleted after a delay, so that readers that
//! have begun can finish.
//!
//! A Delta table in a local folder does not use leases: see [`record`].
//!
//! At every moment, the prefix either has no manifest, or its manifest names one complete release.

mod clock;
mod commit;
mod keeper;
mod landing;
mod lease;
mod names;
mod outbox;
mod prefix;
mod properties;
mod record;
mod release;
mod restore;
mod run;
mod shared;
mod upload;
pub(crate) mod vacuum;
mod whole;

pub(crate) use keeper::Keeper;
pub(crate) use landing::Landing;
pub(crate) use names::{Layout, folder_of_run, is_folder_of_run};
pub(crate) use outbox::{OnWay, Outbox};
pub(crate) use prefix::{Prefix, Standing};
pub(crate) use properties::properties;
pub(crate) use release::StoredRelease;
pub(crate) use run::PrefixRun;

#[cfg(test)]
mod tests;
