//! Registers user-defined models, metrics, searches and kinds of hierarchies.

use super::context::AnonContext;
use super::registry::Registry;
use crate::base::catalogue::Entry;
use crate::base::error::{Error, Result};
use crate::data::objective::OBJECTIVES;
use crate::method::hierarchy::Kind;
use crate::{data::metric, data::model, method::search};
use std::sync::Arc;

/// Registered entries work like built-in ones in statements, EXPLAIN, VERIFY, help and completion,
/// in this context and its clones. Each method fails with a usage error if the name is already
/// taken.
impl AnonContext {
    /// Adds a privacy model for SATISFYING.
    pub fn register_model(&self, entry: Entry<model::Build>) -> Result<()> {
        self.register(|registry| registry.models.add(entry))
    }

    /// Adds a metric for MINIMIZING and OPTIMIZING.
    pub fn register_metric(&self, entry: Entry<metric::Build>) -> Result<()> {
        // OPTIMIZING names both properties and metrics.
        if OBJECTIVES.iter().any(|o| o.info.name == entry.info.name) {
            return Err(Error::usage(format!("objective {} already exists", entry.info.name)));
        }
        self.register(|registry| registry.metrics.add(entry))
    }

    /// Adds a search of the lattice for SEARCH USING.
    pub fn register_search(&self, entry: Entry<search::Build>) -> Result<()> {
        self.register(|registry| {
            registry.partitioners.is_free(entry.info.name)?;
            registry.searches.add(entry)
        })
    }

    /// Adds a kind of hierarchy for CREATE HIERARCHY. Fails with a usage error unless its clause
    /// begins with `AS` and a keyword that starts neither another kind nor a query.
    pub fn register_hierarchy_kind(&self, kind: Kind) -> Result<()> {
        let start = kind.clause.start;
        let word = start.strip_prefix("AS ").unwrap_or_default();
        let is_keyword = !word.is_empty() && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
        if !is_keyword || matches!(word, "SELECT" | "WITH" | "TABLE" | "FROM") {
            return Err(Error::usage(format!(
                "the clause of a kind of hierarchy begins with AS and one word in upper case that begins no query, not {start:?}"
            )));
        }
        self.register(|registry| {
            let mut kinds = registry.hierarchy_kinds.entries().iter();
            match kinds.any(|known| known.clause.start == start) {
                true => Err(Error::usage(format!("CREATE HIERARCHY name {start} already exists"))),
                false => registry.hierarchy_kinds.add(kind),
            }
        })
    }

    /// Returns the current registry of this context.
    pub(crate) fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry.read())
    }

    fn register(&self, add: impl FnOnce(&mut Registry) -> Result<()>) -> Result<()> {
        add(Arc::make_mut(&mut self.registry.write()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::metric::METRICS;
    use crate::data::model::MODELS;
    use crate::method::hierarchy::KINDS;
    use crate::method::partition::PARTITIONERS;
    use crate::method::search::SEARCHES;
    use datafusion::prelude::SessionContext;

    fn anon() -> AnonContext {
        AnonContext::new(SessionContext::new())
    }

    fn said(refused: Result<()>) -> String {
        refused.unwrap_err().to_string()
    }

    #[test]
    fn a_name_that_is_taken_is_an_error() {
        let anon = anon();
        let mut metric = METRICS[0];
        assert!(said(anon.register_model(MODELS[0])).contains("privacy model k_anonymity already exists"));
        assert!(said(anon.register_metric(metric)).contains("metric glm already exists"));
        metric.info.name = "k";
        assert!(said(anon.register_metric(metric)).contains("objective k already exists"));
        // SEARCH USING names both searches and partitioning algorithms, so a search cannot have the
        // name of a partitioning algorithm.
        let mut search = SEARCHES[0];
        search.info.name = PARTITIONERS[0].info.name;
        assert!(said(anon.register_search(search)).contains("already exists"));
        assert!(said(anon.register_hierarchy_kind(KINDS[2])).contains("AS INTERVALS already exists"));
    }

    #[test]
    fn a_clause_begins_with_a_word_of_its_own() {
        for start in ["", "FROM", "AS", "AS SELECT", "AS VALUES x", "AS rounded"] {
            let mut kind = KINDS[2];
            (kind.info.name, kind.clause.start) = ("rounded", start);
            assert!(
                said(anon().register_hierarchy_kind(kind)).contains("begins with AS and one word"),
                "{start}"
            );
        }
    }

    #[test]
    fn what_is_registered_is_known_to_clones_and_listed() {
        let anon = anon();
        let mut model = MODELS[0];
        model.info.name = "my_anonymity";
        anon.clone().register_model(model).unwrap();
        let listed = anon.registry().sections();
        assert!(
            listed
                .iter()
                .flat_map(|(_, all)| all)
                .any(|info| info.name == "my_anonymity")
        );
        assert!(
            AnonContext::new(SessionContext::new())
                .registry()
                .models
                .get("my_anonymity")
                .is_none()
        );
    }
}
