//! What every other wing needs: errors, text, threads, memory, arguments, settings, stores and
//! operators.
//!
//! | module | DataFusion | what it is |
//! |---|---|---|
//! | `error` | yes | one error type; its kind decides the exit code |
//! | `plain` | yes | text that is safe to display |
//! | `quoting` | no | how names and texts are quoted in SQL |
//! | `location` | yes | the meaning of a path in a statement: home, `file://`, compression |
//! | `sealed` | no | single files that statements write, and the check whether an existing file may be replaced |
//! | `pool` | yes | threads: one pool per session for computing, and threads that may wait |
//! | `spill` | yes | memory reservations, spill files and temporary files, none of which has a name |
//! | `arithmetic` | no | divisors and multiples |
//! | `catalogue` | no | how an SQL name becomes an object with checked arguments |
//! | `settings` | yes | the settings of a session: SET anonsql.name = 'value' |
//! | `store` | yes | object stores: how a session reaches the objects of a URL |
//! | `operator` | yes | this crate's operators in a DataFusion plan: the common frame around them, and joins that can be stopped |

pub(crate) mod arithmetic;
pub(crate) mod catalogue;
pub mod error;
pub(crate) mod location;
pub(crate) mod operator;
pub(crate) mod plain;
pub(crate) mod pool;
pub(crate) mod quoting;
pub(crate) mod sealed;
pub(crate) mod settings;
pub(crate) mod spill;
pub(crate) mod store;
