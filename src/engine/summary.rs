//! What the manifest says of a release.

use super::decide::Proof;
use super::manifest::{FileSummary, Manifest, PartitionSummary, SearchSummary, SuppressedRows};
use super::release::{Decided, Release};
use crate::error::Result;
use crate::metric::{self, Metric};
use std::collections::BTreeMap;

impl Decided {
    /// What is known of the chosen node, in words.
    pub fn proof(&self) -> String {
        let text = match self.decision.proof {
            Proof::Optimal => "proven optimal".into(),
            Proof::Bound(bound) => format!("no node has a better {} than {bound}", self.job.metric_name),
            Proof::None => "no proof".into(),
            Proof::Given => "given".into(),
        };
        match self.decision.stopped {
            Some(reason) => format!("{text} ({reason})"),
            None => text,
        }
    }

    pub(super) fn manifest(
        &self,
        release: &Release,
        input: Vec<FileSummary>,
        output: Vec<FileSummary>,
    ) -> Result<Manifest> {
        let (job, decision) = (&self.job, &self.decision);
        let partition = decision.verdict.partition.as_deref();
        let levels = match partition {
            Some(_) => &[],
            None => decision.classes.node().levels(),
        };
        let (classes, verdict) = self.settled()?;
        let mut metrics = BTreeMap::from([(job.metric_name.clone(), release.value)]);
        for entry in metric::METRICS.iter().filter(|e| e.info.params.is_empty()) {
            let other: Box<dyn Metric> = metric::build(&crate::catalogue::Call::bare(entry.info.name))?;
            let reads = other.reads();
            let unknown = reads.class_label || reads.attribute || (reads.levels && partition.is_some());
            if !unknown {
                let value = self
                    .prepared
                    .evaluator
                    .measure_other(job, other.as_ref(), &classes, &verdict)?;
                metrics.insert(entry.info.name.into(), value);
            }
        }
        Ok(Manifest {
            version: env!("CARGO_PKG_VERSION").into(),
            statement: job.statement.clone(),
            seed: job.seed,
            node: job
                .quasi_identifiers
                .iter()
                .map(|q| q.column.clone())
                .zip(levels.iter().copied())
                .collect(),
            partition: partition.map(|partition| PartitionSummary {
                groups: partition.len() as u64,
                labels: job
                    .quasi_identifiers
                    .iter()
                    .enumerate()
                    .map(|(i, q)| (q.column.clone(), partition.labels(i).len() as u64))
                    .collect(),
            }),
            quasi_identifiers: job.quasi_identifiers.iter().map(|q| q.column.clone()).collect(),
            sensitive: job.sensitive.iter().map(|s| s.column.clone()).collect(),
            randomized: release.randomized.clone(),
            personal: release.personal.clone(),
            rows_in: release.rows_in,
            rows_out: release.rows_out,
            rows_suppressed: release.rows_suppressed,
            suppressed_rows: if job.starred {
                SuppressedRows::Starred
            } else {
                SuppressedRows::Dropped
            },
            classes: release.classes,
            reached_k: release.reached_k,
            checks: release.checks.clone(),
            metrics,
            search: SearchSummary {
                algorithm: job.choice.call().map_or("AT NODE".into(), ToString::to_string),
                nodes_assessed: release.nodes,
                proof: release.proof.clone(),
            },
            input,
            output,
        })
    }
}
