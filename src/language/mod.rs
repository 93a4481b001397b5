//! SQL: how statements are read, bound to requests and answered.
//!
//! | module | DataFusion | what it is |
//! |---|---|---|
//! | `sql` | yes | reading SQL: the cursor, and the clauses that statements share |
//! | `session` | yes | `AnonContext` over a DataFusion session; one file per statement |

pub(crate) mod session;
pub(crate) mod sql;
