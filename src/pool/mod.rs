//! Threads: one pool per session for computations, and blocking threads for work that waits.
//!
//! DataFusion's plans are executed by the workers of the tokio runtime on which a statement is
//! awaited. A worker that waits or computes for a long time keeps every other task of the runtime
//! from running, including those of an application that embeds anonsql. Therefore
//!
//! - work that waits for files, merges, sorts or sums up is handed to [`blocking`];
//! - work that is worth several threads is handed to the [`Pool`] of the session, on which [`map`],
//!   [`concat`], [`join`] and [`sort_by`] divide it. Called on another thread, these functions work
//!   on that thread alone.
//!
//! **Work on the pool never waits** for a lock, for memory or for a channel that other work of the
//! pool may hold. A thread of the pool that waits for a part of its work takes up other work in the
//! meantime, on top of its own stack. If that work waited for something that the work below it
//! holds, it would wait forever. Callers that have to wait do so before they hand work to the pool.
//!
//! Work whose future was dropped is *cancelled*: its loops ask [`check_cancelled`] between two
//! steps, and end.

mod blocking;
mod cancelled;
mod parallel;
mod threads;

pub(crate) use blocking::blocking;
pub(crate) use cancelled::{Waiter, check_cancelled, is_cancelled};
pub(crate) use parallel::{MANY, concat, join, map, pieces, sort_by, threads};
pub(crate) use threads::{Pool, SessionPool};
