//! The registry of a context, which contains the models, metrics, searches and kinds of hierarchies
//! that a statement can name, both built-in ones and those that the user has registered.

use crate::base::catalogue::{Arguments, Call, Catalogue, Entry, Info};
use crate::base::error::{Error, Result};
use crate::data::metric::{self, METRICS, Metric};
use crate::data::model::{self, MODELS, PrivacyModel};
use crate::data::objective::OBJECTIVES;
use crate::method::hierarchy::{KINDS, Kind};
use crate::method::masks::MASKS;
use crate::method::partition::{self, PARTITIONERS};
use crate::method::search::{self, SEARCHES};
use crate::method::standard::STANDARDS;
use crate::release::job::Choice;

/// The parts of the language that users can extend with named entries.
#[derive(Debug, Clone)]
pub struct Registry {
    /// The privacy models for SATISFYING.
    pub models: Catalogue<Entry<model::Build>>,
    /// The metrics for MINIMIZING and OPTIMIZING.
    pub metrics: Catalogue<Entry<metric::Build>>,
    /// The lattice searches for SEARCH USING.
    pub searches: Catalogue<Entry<search::Build>>,
    /// The local recoding algorithms for SEARCH USING.
    pub partitioners: Catalogue<Entry<partition::Build>>,
    /// The kinds of hierarchies for CREATE HIERARCHY.
    pub hierarchy_kinds: Catalogue<Kind>,
}

impl Default for Registry {
    fn default() -> Self {
        Self {
            models: Catalogue::new("privacy model", MODELS),
            metrics: Catalogue::new("metric", METRICS),
            searches: Catalogue::new("search", SEARCHES),
            partitioners: Catalogue::new("search", PARTITIONERS),
            hierarchy_kinds: Catalogue::new("kind of hierarchy", KINDS),
        }
    }
}

impl Registry {
    /// Returns the descriptions of all entries under their headings, in the order in which help
    /// shows them.
    pub fn sections(&self) -> [(&'static str, Vec<Info>); 8] {
        [
            ("Privacy models", self.models.infos().collect()),
            ("Metrics", self.metrics.infos().collect()),
            (
                "Objectives of a Pareto front, besides the metrics",
                OBJECTIVES.iter().map(|o| o.info).collect(),
            ),
            ("Searches", self.searches.infos().collect()),
            ("Searches by local recoding", self.partitioners.infos().collect()),
            ("Kinds of hierarchies", self.hierarchy_kinds.infos().collect()),
            ("Masks", MASKS.iter().map(|kind| kind.info).collect()),
            ("Standards", STANDARDS.iter().map(|standard| standard.info).collect()),
        ]
    }

    /// Builds the privacy model that a statement names, and returns it with the summary of the
    /// model.
    pub(super) fn model(&self, call: &Call) -> Result<(Box<dyn PrivacyModel>, &'static str)> {
        let entry = self.models.find(&call.name)?;
        let model = (entry.build)(&Arguments::bind(&entry.info, &call.args)?)?;
        Ok((model, entry.info.summary))
    }

    /// Builds the metric that a statement names.
    pub(super) fn metric(&self, call: &Call) -> Result<Box<dyn Metric>> {
        let entry = self.metrics.find(&call.name)?;
        (entry.build)(&Arguments::bind(&entry.info, &call.args)?)
    }

    /// Builds the lattice search or partitioning algorithm that SEARCH USING names.
    pub(super) fn search(&self, call: &Call) -> Result<Choice> {
        if let Some(entry) = self.partitioners.get(&call.name) {
            let partitioner = (entry.build)(&Arguments::bind(&entry.info, &call.args)?)?;
            return Ok(Choice::partition(call.clone(), partitioner));
        }
        let Some(entry) = self.searches.get(&call.name) else {
            let known = self.searches.names().chain(self.partitioners.names());
            return Err(Error::unknown("search", &call.name, known));
        };
        Ok(Choice::Search {
            call: call.clone(),
            search: (entry.build)(&Arguments::bind(&entry.info, &call.args)?)?,
        })
    }
}
