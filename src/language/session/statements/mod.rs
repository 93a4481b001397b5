//! The statements of the language. Each statement has one file with its type, its parser, its
//! printer and the code that runs it, and one line in the list [`STATEMENTS`]. Help, completion and
//! the tests that cover every statement use that list.

pub(super) mod anonymize;
mod answered;
mod check_hierarchy;
mod compare;
mod create_hierarchy;
mod create_policy;
mod defined;
mod describe_hierarchy;
mod drop_hierarchy;
mod drop_policy;
pub(super) mod entry;
mod explain;
mod lattice;
pub(super) mod pareto;
pub(super) mod parse;
mod plain;
mod restore_manifest;
pub(super) mod risk;
#[cfg(test)]
mod roundtrip;
mod save_hierarchies;
mod save_policies;
mod saved_script;
mod set_variable;
mod show_catalogue;
mod show_hierarchies;
mod show_policies;
mod show_variables;
mod suggest;
mod unset_variable;
mod utility;
mod vacuum;
pub(super) mod verify;
mod wrapped;

use entry::Entry;

/// Every statement that anonsql adds to the statements of DataFusion.
pub const STATEMENTS: &[Entry] = &[
    create_hierarchy::ENTRY,
    drop_hierarchy::ENTRY,
    show_hierarchies::ENTRY,
    save_hierarchies::ENTRY,
    describe_hierarchy::ENTRY,
    check_hierarchy::ENTRY,
    create_policy::ENTRY,
    drop_policy::ENTRY,
    show_policies::ENTRY,
    save_policies::ENTRY,
    anonymize::ENTRY,
    explain::ENTRY,
    pareto::ENTRY,
    lattice::ENTRY,
    lattice::EXPLORE,
    compare::ENTRY,
    compare::POLICIES,
    verify::ENTRY,
    risk::ENTRY,
    utility::ENTRY,
    suggest::ENTRY,
    show_catalogue::MODELS,
    show_catalogue::METRICS,
    show_catalogue::OBJECTIVES_OF_A_FRONT,
    show_catalogue::SEARCHES,
    show_catalogue::HIERARCHY_KINDS,
    show_catalogue::MASKS_OF_COLUMNS,
    show_catalogue::STANDARDS_TO_FOLLOW,
    show_catalogue::OPTIONS,
    set_variable::ENTRY,
    show_variables::ENTRY,
    unset_variable::ENTRY,
    vacuum::ENTRY,
    restore_manifest::ENTRY,
];
