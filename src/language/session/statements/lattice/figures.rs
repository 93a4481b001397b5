//! Computes the figures of nodes for LATTICE OF and EXPLORE.

use crate::base::catalogue::Call;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::blocking;
use crate::data::metric::Metric;
use crate::language::session::context::AnonContext;
use crate::method::lattice::{Lattice, Node};
use crate::method::search::Oracle;
use crate::release::engine::{self, Evaluator, NodeProfile, detail_requests};
use crate::release::job::{Choice, Job};
use crate::release::observe::{Observer, Phase};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The number of nodes that are assessed before the next check for an interrupt.
const BATCH: usize = 4096;

/// A job whose source has been read, with all metrics that need no argument and can be computed for
/// the job.
pub(super) struct Figures {
    job: Job,
    evaluator: Evaluator,
    metrics: Vec<&'static str>,
    observer: Arc<dyn Observer>,
}

impl Figures {
    /// Reads the source, and prepares the metrics.
    pub(super) async fn of(context: &AnonContext, job: Job) -> Result<Self> {
        let registry = context.registry();
        let others: Vec<(&'static str, Box<dyn Metric>)> = registry
            .metrics
            .infos()
            .filter(|info| info.params.iter().all(|p| p.default.is_some()))
            .map(|info| Ok((info.name, registry.metric(&Call::bare(info.name))?)))
            .collect::<Result<_>>()?;
        let readable = |m: &dyn Metric| {
            (!m.reads().class_label || job.roles.class_label.is_some())
                && (!m.reads().attribute || !job.roles.sensitive.is_empty())
        };
        let read = others.into_iter().filter(|(_, m)| readable(m.as_ref()));
        let (names, metrics): (Vec<&'static str>, Vec<Box<dyn Metric>>) = read.unzip();
        let details = detail_requests(&job, &borrowed(&metrics));
        let scanned = engine::scan(&job, &details, context.observer.as_ref()).await?;
        let observer = Arc::clone(&context.observer);
        let prepare = move || {
            let evaluator = Evaluator::new(&job, scanned, &borrowed(&metrics))?;
            observer.begin(Phase::Search);
            Ok(Self {
                job,
                evaluator,
                metrics: names,
                observer,
            })
        };
        blocking("the lattice", prepare).await
    }

    pub(super) fn job(&self) -> &Job {
        &self.job
    }

    pub(super) fn lattice(&self) -> &Lattice {
        self.evaluator.lattice()
    }

    /// Returns the node that AT NODE gives; `None` if the statement has no AT NODE. Fails with
    /// `ErrorKind::Usage` if the node is not in the lattice.
    pub(super) fn given(&self) -> Result<Option<Node>> {
        match &self.job.goal.choice {
            Choice::Node(levels) => engine::of_lattice(&self.job.roles, &self.evaluator, levels).map(Some),
            _ => Ok(None),
        }
    }

    /// Returns the names of the metrics, in the order of the metric values in a profile.
    pub(super) fn metrics(&self) -> &[&'static str] {
        &self.metrics
    }

    /// Returns the number of rows that were read.
    pub(super) fn rows(&self) -> u64 {
        self.evaluator.sets().base().rows
    }

    /// Returns the figures of the given nodes. Fails with `ErrorKind::Interrupted` if the statement
    /// is interrupted.
    pub(super) fn of_nodes(&self, nodes: &[Node]) -> Result<Vec<NodeProfile>> {
        let interrupt = self.observer.interrupt();
        let mut found = Vec::with_capacity(nodes.len());
        for batch in nodes.chunks(BATCH) {
            if interrupt.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Interrupted, "interrupted"));
            }
            found.extend(self.evaluator.profile(batch)?);
        }
        Ok(found)
    }
}

fn borrowed(metrics: &[Box<dyn Metric>]) -> Vec<&dyn Metric> {
    metrics.iter().map(AsRef::as_ref).collect()
}
