//! Integration tests: one binary, because each links all of DataFusion.

mod append;
mod architecture;
mod at_once;
mod azurite;
mod beyond_memory;
mod book;
mod cancelling;
mod cli;
mod closeness;
mod common;
mod cover;
mod damaged;
#[cfg(feature = "delta")]
mod delta;
mod depth;
mod differential_privacy;
#[cfg(feature = "ducklake")]
mod ducklake;
mod examples;
mod explain;
mod faults;
mod files;
mod first_hour;
mod footer;
mod front;
mod golden;
mod labels;
mod lake;
mod lineage;
mod local;
mod local_adult;
mod mistakes;
mod moto;
mod nights;
#[cfg(not(feature = "delta"))]
mod no_delta;
#[cfg(not(feature = "ducklake"))]
mod no_ducklake;
mod nodes;
mod partitions;
mod planted;
mod proxy;
mod recoding;
mod reference;
mod release;
mod report;
mod report_utility;
mod risk;
mod roads;
mod screenshot;
mod scripts;
mod security;
mod seeds;
mod sensitive;
mod servers;
mod sources;
mod stores;
mod suggest;
mod terminal;
mod threads;
mod typed;
mod utility;
mod verify;
mod warnings;
mod width;
