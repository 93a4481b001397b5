//! Releases in object stores: written beside the existing release, and committed by one conditional
//! put.
//!
//! An object store has no rename. But it has a put that fails if the object exists, or if the
//! object has changed since it was read. A release is therefore committed by one small object, the
//! manifest of its prefix, and readers read the files that it names:
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
//! 1. reads the manifest of the prefix before anything else ([`Standing`]). Objects that are not a
//!    release are refused;
//! 2. takes a lease by a put that fails if the object exists, and uses the lease to find out
//!    whether the store obeys conditions: a second put of that kind must fail, and so must a put on
//!    condition of an outdated e_tag. A store that ignores conditions is refused. From then on the
//!    run renews its lease, on condition that no other process has changed it;
//! 3. writes its files under names that no other run has, recounts them, and puts its own manifest;
//! 4. *seals* its lease, again by a conditional put, and puts the manifest of the prefix: on
//!    condition that there is none, or with OVERWRITE that it is the manifest of step 1. If the
//!    condition fails, another run committed first, and this run fails;
//! 5. deletes its lease. A run that fails or is cancelled deletes its files first.
//!
//! A run with APPEND writes a manifest that names the files of the release of step 1 before its
//! own, so that the release of the prefix has the folders of several runs.
//!
//! The files of a killed run are not named by any manifest. They are deleted by the next run for
//! the prefix a day after the lease was last renewed, by the clock of the store ([`clock`]), or by
//! VACUUM ([`vacuum`]). Both first take over the lease by a conditional put. The run must seal the
//! lease before it commits, and VACUUM must have it before it deletes, so only one of them can
//! succeed. The files of a release that was replaced are deleted in the same way, so that a reader
//! that has already begun can finish.
//!
//! A Delta table in a local folder has no leases: see [`record`].
//!
//! At every moment the manifest of the prefix names one whole release, or there is no manifest.

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
