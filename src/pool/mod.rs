//! Threads: one pool a session for what computes, and threads that may wait for what waits.
//!
//! DataFusion's plans are executed by the workers of the tokio runtime that a statement is awaited on. A worker that waits
//! or computes for long keeps every other task of the runtime from running, those of whoever embeds anonsql too. So
//!
//! - what waits for files, merges, sorts or sums up is handed to [`blocking`];
//! - what is worth several threads is handed to the [`Pool`] of the session, on which [`map`], [`concat`], [`join`] and
//!   [`sort_by`] divide their work. Anywhere else they work on the thread that calls them.
//!
//! **Work on the pool never waits** for a lock, for memory or for a channel that other work of the pool may hold. A thread
//! of the pool that waits for a part of its work takes up other work meanwhile, on top of its own: if that waited for what
//! the work below it holds, it would wait forever. Whoever has to wait does so before handing work to the pool.

mod blocking;
mod parallel;
mod threads;

pub(crate) use blocking::blocking;
pub(crate) use parallel::{MANY, concat, join, map, pieces, sort_by, threads};
pub(crate) use threads::{Pool, SessionPool};
