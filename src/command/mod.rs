//! The command `anonsql`, and the tables that it generates.
//!
//! | module | DataFusion | what it is |
//! |---|---|---|
//! | `generate` | no | tables of made-up people, for trials and measurements |
//! | `cli` | yes | the command: arguments, the prompt, output |

#[cfg(feature = "cli")]
pub mod cli;
pub(crate) mod generate;
