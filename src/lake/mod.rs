//! Releases in object stores: written beside the release that stands, and committed by one
//! conditional put.
//!
//! An object store has no rename. What it has is a put that fails if the object exists, or if it is
//! no longer the one that was read. A release is therefore committed by one small object, the
//! manifest of its prefix, and readers go by it:
//!
//! ```text
//! prefix/_anonsql/runs/<run>/lease                      who writes, and that he still does
//! prefix/run=<run>/part-00007-<12 hex of sha256>.parquet    data of this run, never touched again
//! prefix/run=<run>/_manifest.json                       every file with size, rows, sha256 and e_tag
//! prefix/_manifest.json                                 the same bytes, put last: the commit
//! ```
//!
//! # The protocol
//!
//! A run
//!
//! 1. reads the manifest of the prefix before anything else ([`Standing`]). What stands there
//!    without being a release is refused;
//! 2. takes a lease by a put that fails if the object exists, and finds out on the lease whether
//!    the store heeds conditions: a second put of that kind must fail, and so must a put on
//!    condition of an e_tag that is outdated. A store that ignores them is refused. From then on
//!    the run renews its lease, on condition that it is as the run left it;
//! 3. writes its files under names that no other run has, recounts them, and puts its own manifest;
//! 4. *seals* its lease, again by a conditional put, and puts the manifest of the prefix: on
//!    condition that there is none, or with OVERWRITE that it is the one of step 1. If the
//!    condition fails, another run was faster, and this one fails;
//! 5. deletes its lease. A run that fails or is cancelled deletes its files first.
//!
//! A run with APPEND writes a manifest that names the files of the release of step 1 before its
//! own, so that the release of the prefix has the folders of several runs.
//!
//! What a killed run leaves is named by no manifest. It is deleted by the next run for the prefix a
//! day after the lease was last renewed, by the clock of the store ([`clock`]), or by VACUUM
//! ([`vacuum`]), which first makes the lease its own by a conditional put. As the run must seal the
//! lease before it commits, and VACUUM must have it before it deletes, only one of them can. The
//! files of a release that was replaced are deleted in the same way, so that a reader that began
//! before can end.
//!
//! A Delta table in a local folder has no leases: see [`record`].
//!
//! At every moment the manifest of the prefix names one whole release, or there is none.

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
pub(crate) use release::Release;
pub(crate) use run::Run;

#[cfg(test)]
mod tests;
