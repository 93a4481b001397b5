//! What a job minimizes, and how it searches.

use super::choice::Choice;
use crate::data::metric::Metric;
use std::time::Duration;

/// The metric to minimize, and how the node or partition is chosen.
pub struct Goal {
    /// The name of the metric to minimize, as the statement writes it.
    pub metric_name: String,
    /// The metric to minimize.
    pub metric: Box<dyn Metric>,
    /// The names and metrics of the terms, if the metric is a weighted sum of several.
    pub terms: Vec<(String, Box<dyn Metric>)>,
    /// How the node or partition is chosen.
    pub choice: Choice,
    /// The seed of all random choices.
    pub seed: u64,
    /// The time limit of the search.
    pub time_limit: Option<Duration>,
    /// The maximum number of nodes that the search may assess.
    pub node_limit: Option<u64>,
}

impl Goal {
    /// Returns the metrics to measure: the metric to minimize, and the terms of a weighted sum.
    pub fn metrics(&self) -> Vec<&dyn Metric> {
        let terms = self.terms.iter().map(|(_, metric)| metric.as_ref());
        std::iter::once(self.metric.as_ref()).chain(terms).collect()
    }
}
