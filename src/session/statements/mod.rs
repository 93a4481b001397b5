//! The statements of the language. Each is one file, which holds what the statement says, how it is read and printed and
//! how it runs, and one line in [`STATEMENTS`]: help, completion and the tests of every statement are made from that list.

pub(super) mod anonymize;
mod check_hierarchy;
mod compare;
mod create_hierarchy;
mod describe_hierarchy;
mod drop_hierarchy;
pub(super) mod entry;
mod explain;
mod lattice;
pub(super) mod pareto;
pub(super) mod parse;
mod plain;
pub(super) mod risk;
#[cfg(test)]
mod roundtrip;
mod show_hierarchies;
mod suggest;
pub(super) mod verify;
mod wrapped;

use entry::Entry;

/// Every statement that anonsql adds to DataFusion's.
pub const STATEMENTS: &[Entry] = &[
    create_hierarchy::ENTRY,
    drop_hierarchy::ENTRY,
    show_hierarchies::ENTRY,
    describe_hierarchy::ENTRY,
    check_hierarchy::ENTRY,
    anonymize::ENTRY,
    explain::ENTRY,
    pareto::ENTRY,
    lattice::ENTRY,
    compare::ENTRY,
    verify::ENTRY,
    risk::ENTRY,
    suggest::ENTRY,
];
