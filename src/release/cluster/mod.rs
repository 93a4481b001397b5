//! The cluster: executes parts of a statement on other machines.
//!
//! A worker is a process started by `anonsql worker`. The driver is the session that runs the
//! statement. A worker does not see the statement: it receives plans, executes them and returns
//! their rows, using the protocol of `datafusion-distributed`. The driver alone records the purpose
//! of each plan, the worker of each task and the rows that have arrived, and it alone decides which
//! rows it accepts. The protocol's own distribution of plans is not used: after the loss of a
//! worker, the whole query would fail or be repeated, and neither is safe for a release.
//!
//! - *Slices*: the driver divides a source of files into slices, plans that each read some of its
//!   files ([`slices`]).
//! - *First scan*: a worker counts the rows of each combination of quasi-identifiers in a slice,
//!   and returns the combinations with their counts. The driver adds these counts to the total once
//!   the slice is complete. It requests an incomplete slice again ([`Cluster::gather`]).
//! - *Second scan*: each worker recodes its slices and divides the rows into buckets. Each worker
//!   then fetches the rows of its buckets from all workers ([`Fetch`]), sorts them and writes them
//!   ([`Cluster::shuffle`]). A bucket is one file of the release, or a few files. The driver
//!   computes the number of rows of each bucket from the equivalence classes. See
//!   `engine::executor::workers::write`.
//! - *Recount*: workers execute the part of the recount's SQL that needs only one file at a time,
//!   and the driver combines their partial counts ([`Cluster::gather`]). See
//!   `engine::executor::workers::recount`.
//!
//! The stages of a release use workers through `engine::executor`, the only caller of
//! [`Cluster::of`].
//!
//! # Lost machines
//!
//! If a connection is closed, or does not respond to an HTTP/2 ping within [`channels::SILENCE`],
//! its streams return an error. The driver gives up a task that makes no progress for
//! [`engine::PATIENCE`]. It then greets all workers again, and requests the missing rows from the
//! workers that respond. It makes at most [`tasks::ATTEMPTS`] attempts, including the first. The
//! observer of the statement is told which workers do not respond ([`told`]). An error that
//! concerns the statement or the data does not mean that a worker was lost: it has an error kind,
//! and the statement fails at once ([`answer`]).
//!
//! # Safety
//!
//! Plans contain neither the secret of a hash nor the key of a store, but only references to them:
//! each worker finds the values in its own environment ([`stores`]). Drivers and workers on several
//! machines authenticate each other with certificates ([`tls`]). Without certificates, workers
//! listen on loopback addresses only, and drivers connect to such addresses only.

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

pub(crate) use answer::{Pulse, TaskOutput, telling};
#[cfg(feature = "ballista")]
pub(crate) use ballista::{ExecutorProcess, execute, schedule};
pub(crate) use codec::{Codec, OperatorKind};
#[cfg(feature = "ballista")]
pub(crate) use each::{Each, Rest};
pub(crate) use engine::Shuffle;
pub(crate) use fetch::{FETCHED_ONCE, Fetch};
pub(crate) use greet::Member;
pub(crate) use server::serve;
pub(crate) use slices::{Sent, by_file, guarded_again, slices};
pub(crate) use tasks::{ATTEMPTS, Cluster, Gathered, left_undone};
pub(crate) use told::{Trouble, TroubleReporter};
