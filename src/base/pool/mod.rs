//! Threads: a pool for the computations of each session, and blocking threads for work that blocks.
//!
//! The worker threads of a tokio runtime execute the plans of DataFusion. A worker thread that
//! blocks or computes for a long time delays every other task of the runtime, including the tasks
//! of an application that embeds anonsql. Therefore
//!
//! - work that accesses files, merges, sorts or sums is passed to [`blocking`];
//! - work that benefits from several threads is passed to the [`Pool`] of the session. On the pool,
//!   [`map`], [`concat`], [`join`] and [`sort_by`] divide the work among its threads. On another
//!   thread, these functions use that thread alone.
//!
//! **Work on the pool must not block** on a lock, on memory or on a channel that other work of the
//! pool may hold. A pool thread that waits for a part of its work runs other work in the meantime,
//! on the same stack. If the other work waited for a lock that the interrupted work holds, the
//! thread would deadlock. Callers that have to block do so before they pass work to the pool.
//!
//! Work is *cancelled* when its future is dropped: its loops call [`check_cancelled`] between
//! steps, and then stop.

mod blocking;
mod cancelled;
mod parallel;
mod threads;

pub(crate) use blocking::blocking;
pub(crate) use cancelled::{Waiter, check_cancelled, is_cancelled};
pub(crate) use parallel::{MANY, concat, join, map, pieces, sort_by, threads};
pub(crate) use threads::{Pool, SessionPool};
