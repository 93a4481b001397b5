//! The cluster: parts of a statement on other machines.
//!
//! A worker is this command (`anonsql worker`). It does not know the statement. It gets plans,
//! executes them and answers with their rows, by the protocol of `datafusion-distributed`. The
//! driver is the session that runs the statement. Only the driver knows what the plans are for,
//! which worker has which task, and what has arrived, and only the driver decides what is accepted.
//! The protocol's own distribution of plans is not used: with it, a lost worker makes the whole
//! query fail or repeat, and neither can be trusted with a release.
//!
//! - *Slices*: a source that is made of files is divided into slices, plans of some of its files
//!   ([`slices`]).
//! - *First scan*: a worker counts each slice, and its combinations come back with their counts.
//!   The driver adds them once the slice is complete. It asks again for a slice that is incomplete
//!   ([`Cluster::gather`]).
//! - *Second scan*: each worker recodes its slices and deals the rows out by bucket; each worker
//!   fetches the rows of its buckets from all workers ([`Fetch`]), orders and writes them
//!   ([`Cluster::shuffle`]). A bucket is one file of the release, or a few, and the driver knows
//!   from the classes how many rows the bucket has. See `engine::executor::workers::write`.
//! - *Recount*: workers do the part of the recount's SQL that concerns each file alone, and the
//!   driver combines their partial counts ([`Cluster::gather`]). See
//!   `engine::executor::workers::recount`.
//!
//! Stages of a release reach workers through `engine::executor`, the only caller of
//! [`Cluster::of`].
//!
//! # When a machine is gone
//!
//! A connection that is closed, or that does not answer a ping of HTTP/2 for [`channels::SILENCE`],
//! is an error of its streams. The driver gives up a task that makes no progress for
//! [`engine::PATIENCE`]. It then greets all workers again, and asks those that answer for what is
//! missing, [`tasks::ATTEMPTS`] times at most, the first time included. The observer of the
//! statement is told about the workers that do not answer ([`told`]). An error about the statement
//! or the data does not mean that a worker was lost: it has a kind, and ends the statement at once
//! ([`answer`]).
//!
//! # Safety
//!
//! Plans do not contain the secret of a hash or the key of a store, but only the places of both:
//! each worker finds them in its own environment ([`stores`]). Drivers and workers on several
//! machines show each other certificates ([`tls`]). Without certificates, workers listen on
//! loopback addresses only, and drivers connect to such addresses only.

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
pub(crate) use ballista::{ExecutorProcess, execute, schedule};
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
