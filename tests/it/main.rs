//! Integration tests: one binary, because each links all of DataFusion.

mod architecture;
mod beyond_memory;
mod cli;
mod closeness;
mod common;
mod cover;
mod damaged;
mod depth;
mod explain;
mod faults;
mod front;
mod golden;
mod local;
mod local_adult;
mod planted;
mod release;
mod report;
mod risk;
mod roads;
mod screenshot;
mod security;
mod seeds;
mod sensitive;
mod sources;
mod suggest;
mod verify;
