//! The cluster: parts of a statement on other machines.
//!
//! A worker is this command (`anonsql worker`). It knows no statement. It gets plans, executes them
//! and answers with their rows, by the protocol of `datafusion-distributed`. The driver is the
//! session that runs the statement. It alone knows what the plans are for, which worker has which
//! task, and what has arrived, and it alone decides what is accepted. The engine's own distribution
//! of plans is not used: with it a lost worker fails or repeats a whole query, and neither can be
//! trusted with a release.
//!
//! - *Slices*: a source that is made of files is divided into slices, plans of some of its files
//!   ([`slices`]).
//! - *First scan*: each slice is counted on a worker, and its combinations come back with their
//!   numbers. They are counted by the driver once the slice is complete; a slice that is not is
//!   asked for again ([`Cluster::gather`]).
//! - *Second scan*: each worker recodes its slices and deals the rows out by bucket; each worker
//!   fetches the rows of its buckets from all workers ([`Fetch`]), orders and writes them
//!   ([`Cluster::shuffle`]). A bucket is one file of the release, or a few, and the driver knows
//!   from the classes how many rows it has. See `engine::write`.
//!
//! - *Recount*: what the recount's SQL does with each file alone is done by workers, and their
//!   partial counts are put together by the driver ([`Cluster::gather`]). See `engine::verify`.
//!
//! Whoever executes a plan asks [`Cluster::of`] whether the session has a cluster. There are three
//! who do: `engine::scan`, `engine::write` and `engine::verify`.
//!
//! # When a machine is gone
//!
//! A connection that is closed, or that does not answer a ping of HTTP/2 for [`channels::SILENCE`],
//! is an error of its streams. A task that moves nothing for [`engine::PATIENCE`] is given up. Then
//! all workers are greeted anew, and those that answer get what is missing, [`tasks::ATTEMPTS`]
//! times at most. The observer of the statement is told of the others ([`told`]). Errors that say
//! what is wrong with the statement or the data are not lost workers: they have a kind, and end the
//! statement at once ([`answer`]).
//!
//! # Safety
//!
//! Plans have no secret of a hash and no key of a store, but their places: each worker finds them
//! in its environment ([`stores`]). Drivers and workers on several machines show each other
//! certificates ([`tls`]). Without certificates, workers listen and are asked on loopback addresses
//! only.

mod answer;
mod ballista;
mod channels;
mod codec;
#[cfg(feature = "ballista")]
mod each;
mod engine;
mod fetch;
mod greet;
mod key;
mod server;
mod slices;
mod stores;
mod tasks;
mod tls;
mod told;
mod workers;

pub(crate) use answer::{Answer, Pulse, telling};
#[cfg(feature = "ballista")]
pub(crate) use ballista::{Executor, execute, schedule};
pub(crate) use codec::{Codec, Kind};
#[cfg(feature = "ballista")]
pub(crate) use each::{Each, Rest};
pub(crate) use engine::Shuffle;
pub(crate) use fetch::{FETCHED_ONCE, Fetch};
pub(crate) use greet::Member;
pub(crate) use server::serve;
pub(crate) use slices::{Sent, by_file, guarded_again, slices};
pub(crate) use tasks::{ATTEMPTS, Cluster, Gathered, left_undone};
pub(crate) use told::{Told, Trouble};
