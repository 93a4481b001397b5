//! The manifest of a release.

use crate::base::error::Result;
use crate::data::folder::{
    DEFAULT_MASK, FORMAT, FileSummary, HierarchySummary, Manifest, PartitionSummary, Recoding, ReleasedColumn, Role,
    SearchSummary, SuppressedRows, hierarchy_key,
};
use crate::data::metric::{self, Metric};
use crate::method::hierarchy::{Hierarchy, LabelForm};
use crate::release::engine::decide::Decision;
use crate::release::engine::verify::type_name;
use crate::release::engine::write::Written;
use crate::release::job::{Job, Target};
use crate::release::observe::Release;
use arrow::datatypes::{Field, Schema};
use std::collections::BTreeMap;

/// A release that is written to a target, with what its manifest records.
pub(super) struct ToDescribe<'a> {
    pub(super) job: &'a Job,
    pub(super) target: &'a Target,
    pub(super) decision: &'a Decision,
    pub(super) written: &'a Written,
    pub(super) release: &'a Release,
    /// The summaries of the input files.
    pub(super) input: Vec<FileSummary>,
    /// The id of the run, if the target is in an object store.
    pub(super) run: Option<String>,
    /// The summaries of the output files.
    pub(super) output: Vec<FileSummary>,
}

/// Returns the manifest of a release.
pub(super) fn manifest(described: ToDescribe<'_>) -> Result<Manifest> {
    // This is one function because it fills every field of a manifest.
    let ToDescribe {
        job,
        target,
        decision,
        written,
        release,
        input,
        run,
        output,
    } = described;
    let partition = decision.verdict.partition.as_deref();
    let levels = match partition {
        Some(_) => &[],
        None => decision.classes.node().levels(),
    };
    Ok(Manifest {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        sha256: String::new(),
        statement: job.output.statement.clone(),
        statement_sha256: job.output.statement_sha256.clone(),
        policy: job.output.policy.clone(),
        seed: job.goal.seed,
        node: job
            .roles
            .quasi_identifiers
            .iter()
            .map(|q| q.column.clone())
            .zip(levels.iter().copied())
            .collect(),
        partition: partition.map(|partition| PartitionSummary {
            groups: partition.len() as u64,
            labels: job
                .roles
                .quasi_identifiers
                .iter()
                .enumerate()
                .map(|(i, q)| (q.column.clone(), partition.labels(i).len() as u64))
                .collect(),
        }),
        source: match job.guarantees.sampling() {
            // The column types of a text file depend on all its values, so the manifest of a sample
            // does not name the types.
            Some(_) => vec![],
            None => job.input.source.typed_columns(),
        },
        replay: release.replay.clone(),
        columns: columns(job, &written.schema)?,
        following: job
            .guarantees
            .standards
            .iter()
            .map(|standard| standard.info.name.into())
            .collect(),
        partitioned_by: target.partitioned_by.clone(),
        footer: written.footer.clone(),
        entity: job.input.entity.clone(),
        randomized: release.randomized.clone(),
        personal: release.personal.clone(),
        items: release.items.clone(),
        differential_privacy: release.budget.clone(),
        rows_in: release.rows_in,
        rows_out: release.rows_out,
        rows_suppressed: release.rows_suppressed,
        suppressed_rows: if job.guarantees.starred {
            SuppressedRows::Starred
        } else {
            SuppressedRows::Dropped
        },
        classes: release.classes,
        reached_k: release.reached_k,
        checks: release.checks.clone(),
        warnings: release.warnings.clone(),
        metrics: metrics(job, decision, written, release)?,
        search: SearchSummary {
            recoding: Some(partition.map_or(Recoding::Global, |_| Recoding::Local)),
            algorithm: release.search.clone().unwrap_or("AT NODE".into()),
            tried: release.tried.clone(),
            nodes_assessed: release.nodes,
            proof: release.proof.clone(),
        },
        input,
        run,
        output,
        batches: vec![],
        report: job
            .output
            .report
            .as_ref()
            .map(|r| target.name_of(r))
            .transpose()?
            .flatten(),
        signature: None,
    })
}

/// Returns the value of the job's metric, and the values of the other metrics that can be measured
/// on the release. Returns an empty map if the release has no value of the job's metric.
fn metrics(job: &Job, decision: &Decision, written: &Written, release: &Release) -> Result<BTreeMap<String, f64>> {
    let Some(value) = release.value else {
        return Ok(BTreeMap::new());
    };
    let mut metrics = BTreeMap::from([(job.goal.metric_name.clone(), value)]);
    let (settled, is_divided) = (&written.settled, decision.verdict.partition.is_some());
    for entry in metric::METRICS.iter().filter(|e| e.info.params.is_empty()) {
        let other: Box<dyn Metric> = metric::build(&crate::base::catalogue::Call::bare(entry.info.name))?;
        let reads = other.reads();
        let unknown = reads.class_label || reads.attribute || (reads.levels && is_divided);
        if !unknown {
            let evaluator = &decision.evaluator;
            let value = evaluator.measure_other(job, other.as_ref(), &settled.classes, &settled.verdict)?;
            metrics.insert(entry.info.name.into(), value);
        }
    }
    Ok(metrics)
}

/// Returns the released columns with the types of the released rows.
fn columns(job: &Job, schema: &Schema) -> Result<Vec<ReleasedColumn>> {
    let key = hierarchy_key(&job.output.statement_sha256, job.goal.seed);
    let fields = schema.fields().iter().filter(|f| job.roles.releases(f.name()));
    let column = |field: &Field| {
        let name = field.name();
        let summary = |hierarchy: &Hierarchy| HierarchySummary::of(hierarchy, &key);
        let sensitive = job.roles.sensitive.iter().find(|s| s.column == *name);
        let items = job.roles.item_set(name).map(|i| &job.roles.item_sets[i].hierarchy);
        let (role, hierarchy) = match (job.roles.quasi_identifier(name), sensitive) {
            _ if items.is_some() => (Role::ItemSet, items.map(|h| summary(h)).transpose()?),
            (Some(i), _) => (
                Role::QuasiIdentifier,
                Some(summary(&job.roles.quasi_identifiers[i].hierarchy)?),
            ),
            (None, Some(s)) => (Role::Sensitive, s.hierarchy.as_deref().map(summary).transpose()?),
            (None, None) if job.roles.identifiers.contains(name) => (Role::Identifier, None),
            (None, None) if job.roles.class_label.as_ref() == Some(name) => (Role::Class, None),
            (None, None) => (Role::Keep, None),
        };
        let form = job
            .roles
            .quasi_identifier(name)
            .map(|i| job.roles.quasi_identifiers[i].labels);
        Ok(ReleasedColumn {
            labels: form
                .filter(|form| *form != LabelForm::Text)
                .map(|form| form.to_string()),
            mask: job
                .roles
                .mask(name)
                .map(|of| of.clause.without_secret().to_string())
                .filter(|mask| mask != DEFAULT_MASK),
            name: name.clone(),
            data_type: type_name(field.data_type()),
            role,
            hierarchy,
        })
    };
    fields.map(|f| column(f)).collect()
}
