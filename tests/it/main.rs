//! Integration tests: one binary, because each links all of DataFusion.

mod architecture;
mod cli;
mod common;
mod explain;
mod faults;
mod golden;
mod release;
mod sensitive;
