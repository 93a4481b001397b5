//! How CREATE HIERARCHY is read.

pub(crate) mod create_hierarchy;
