//! The hierarchies that SQL functions look up by name.

use crate::base::error::{Error, Result};
use crate::language::session::context::NamedHierarchies;
use crate::method::hierarchy::Hierarchy;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The session's hierarchies. Two values are equal if they share the same memory.
#[derive(Clone)]
pub(super) struct Hierarchies(pub(super) NamedHierarchies);

impl Hierarchies {
    /// Returns the hierarchy called `name`, or an error that suggests similar names.
    pub(super) fn get(&self, name: &str) -> Result<Arc<Hierarchy>> {
        let known = self.0.read();
        let found = known.get(name).cloned();
        found.ok_or_else(|| Error::unknown("hierarchy", name, known.keys().map(String::as_str)))
    }
}

impl fmt::Debug for Hierarchies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hierarchies")
    }
}

impl PartialEq for Hierarchies {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Hierarchies {}

impl Hash for Hierarchies {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}
