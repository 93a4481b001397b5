//! EXPLAIN [ANALYZE] ANONYMIZE: what would be done, and what was.

use super::{AnonContext, Answer};
use crate::engine::{self, Choice, Job, QuasiIdentifier, detail_requests, quote};
use crate::error::Result;
use crate::frequency::DetailRequest;
use crate::hierarchy::TOP;
use crate::model::Monotonicity;
use crate::sql::ast::Anonymize;
use arrow::array::{ArrayRef, StringArray};
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

impl AnonContext {
    pub(super) async fn explain(&self, anonymize: Anonymize, analyze: bool) -> Result<Answer> {
        let (job, _) = self.bind(&anonymize).await?;
        let mut rows = plan(&job);
        if analyze {
            rows.extend(ran(engine::decide_job(job, &self.observer).await?)?);
        }
        let item: StringArray = rows.iter().map(|(item, _)| Some(item.as_str())).collect();
        let detail: StringArray = rows.iter().map(|(_, detail)| Some(detail.as_str())).collect();
        Answer::of(RecordBatch::try_from_iter([
            ("item", Arc::new(item) as ArrayRef),
            ("detail", Arc::new(detail)),
        ])?)
    }
}

/// What the request says, without reading any data.
fn plan(job: &Job) -> Vec<(String, String)> {
    let mut rows = vec![];
    let mut add = |item: &str, detail: String| rows.push((item.to_string(), detail));
    for identifier in &job.identifiers {
        let fate = if identifier.secret.is_some() {
            "replaced by a keyed hash"
        } else {
            "dropped"
        };
        add("identifier", format!("{}: {fate}", identifier.column));
    }
    for q in &job.quasi_identifiers {
        let (low, high) = q.levels.unwrap_or((0, q.hierarchy.height()));
        let weight = if q.weight == 1.0 {
            String::new()
        } else {
            format!(", weight {}", q.weight)
        };
        add(
            "quasi-identifier",
            format!("{}: {}, levels {low} to {high}{weight}", q.column, q.hierarchy.name()),
        );
    }
    job.sensitive.iter().for_each(|s| {
        let fate = s.randomization.as_ref().map_or("kept".into(), ToString::to_string);
        add("sensitive", format!("{}: {fate}", s.column));
    });
    job.class_label
        .iter()
        .for_each(|c| add("class label", format!("{c}: kept")));
    job.keep.iter().for_each(|c| add("kept", c.clone()));
    job.entity
        .iter()
        .for_each(|c| add("entity", format!("{c}: classes count its distinct values")));

    match &job.choice {
        Choice::Partition { call, partitioner } => {
            let what = "the distinct combinations of the base query, in memory: no rows";
            add(
                "partition",
                format!("of {what}; {} {}", call.name, partitioner.describe()),
            );
        }
        Choice::Search { .. } | Choice::Node(_) => {
            let sizes: Vec<u128> = job.quasi_identifiers.iter().map(levels).collect();
            let factors: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            let nodes = sizes.iter().product::<u128>();
            add("lattice", format!("{nodes} nodes = {}", factors.join(" x ")));
        }
    }
    for c in &job.constraints {
        let monotone = match c.model.monotonicity() {
            Monotonicity::Always => "monotone, also under suppression",
            Monotonicity::WithoutSuppression => "monotone only when nothing may be suppressed",
            Monotonicity::Never => "not monotone",
        };
        add("model", format!("{}: {monotone}", c.describe(&job.quasi_identifiers)));
    }
    add("suppression", limit(job));
    add("pruning", pruning(job));
    add("metric", job.metric_name.clone());
    add(
        "search",
        match &job.choice {
            Choice::Search { call, .. } | Choice::Partition { call, .. } => call.to_string(),
            Choice::Node(levels) => format!("none: the node {levels:?} is given"),
        },
    );
    add("base query", base_query(job));
    if let Choice::Partition { .. } = job.choice {
        return rows;
    }
    let top: Vec<u8> = job
        .quasi_identifiers
        .iter()
        .map(|q| q.levels.map_or(q.hierarchy.height(), |(_, high)| high))
        .collect();
    add("top node's query", node_query(job, &top));
    rows
}

fn levels(q: &QuasiIdentifier) -> u128 {
    let (low, high) = q.levels.unwrap_or((0, q.hierarchy.height()));
    u128::from(high.saturating_sub(low)) + 1
}

fn limit(job: &Job) -> String {
    use crate::engine::SuppressionLimit::{Rows, Share};
    let fate = if job.starred {
        "kept with every quasi-identifier as *"
    } else {
        "dropped"
    };
    match job.suppression {
        Rows(n) => format!("at most {n} rows, {fate}"),
        Share { over, under } => format!(
            "at most {} percent of the rows, {fate}",
            over as f64 * 100.0 / under as f64
        ),
    }
}

/// What a search may leave out, and why.
fn pruning(job: &Job) -> String {
    if let Choice::Partition { .. } = job.choice {
        return "none: a group is divided only into groups that may be released".into();
    }
    let nothing_suppressed = job.suppression.rows(u64::MAX) == 0;
    let monotone = job.constraints.iter().all(|c| match c.model.monotonicity() {
        Monotonicity::Always => true,
        Monotonicity::WithoutSuppression => nothing_suppressed,
        Monotonicity::Never => false,
    });
    match monotone {
        true => "the request is monotone: nodes above an anonymous one are anonymous, nodes below one that is not are \
                 not, and nodes whose bound on the metric is not below the best found are left out"
            .into(),
        false => "the request is not monotone: every node is judged by itself, and only nodes whose bound on the \
                  metric is not below the best found are left out"
            .into(),
    }
}

/// The first scan as SQL.
fn base_query(job: &Job) -> String {
    let columns: Vec<String> = job.quasi_identifiers.iter().map(|q| quote(&q.column)).collect();
    let columns = columns.join(", ");
    format!(
        "SELECT {columns}, count(*) AS rows{} FROM {} GROUP BY {columns}",
        carried(job, false),
        job.source.name
    )
}

/// What classes carry beside their rows, for the models and the metric in force.
fn carried(job: &Job, rolled_up: bool) -> String {
    let mut text = String::new();
    for request in detail_requests(job, &[job.metric.as_ref()]) {
        let part = match &request {
            DetailRequest::Values(column) => format!("the rows by {column}"),
            DetailRequest::Distinct(column) => format!("the distinct {column}"),
            DetailRequest::Pairs { entity, values } => format!("the distinct {entity} by {values}"),
        };
        text += &format!(" /* {}{part} */", if rolled_up { "adding up " } else { "and " });
    }
    text
}

/// A node as SQL over the base query: it runs as printed in a session that has the hierarchies.
fn node_query(job: &Job, levels: &[u8]) -> String {
    let label = |(q, level): (&QuasiIdentifier, &u8)| {
        let column = quote(&q.column);
        match (level, q.hierarchy.ladder().info().name) {
            (0, _) => column,
            (_, "suppression") => format!("'{TOP}' AS {column}"),
            _ => format!(
                "generalize('{}', {column}, {level}) AS {column}",
                q.hierarchy.name().replace('\'', "''")
            ),
        }
    };
    let labels: Vec<String> = job.quasi_identifiers.iter().zip(levels).map(label).collect();
    let groups: Vec<String> = (1..=labels.len()).map(|i| i.to_string()).collect();
    format!(
        "SELECT {}, sum(rows) AS rows{} FROM ({}) AS base GROUP BY {}",
        labels.join(", "),
        carried(job, true),
        base_query(job),
        groups.join(", ")
    )
}

/// What ran.
fn ran(decided: engine::Decided) -> Result<Vec<(String, String)>> {
    use crate::search::Oracle;
    let (decision, evaluator) = (&decided.decision, &decided.prepared.evaluator);
    let counters = evaluator.counters();
    let base = evaluator.sets().base();
    let row = |item: &str, detail: String| (item.to_string(), detail);
    let mut rows = vec![
        row("rows read", decided.prepared.rows.to_string()),
        row("distinct combinations", base.set.len().to_string()),
    ];
    match &decision.verdict.partition {
        Some(partition) => {
            rows.push(row("groups", partition.len().to_string()));
            rows.push(row("labels", decision.describe(&decided.job)));
        }
        None => {
            let node = decision.classes.node();
            rows.push(row("nodes assessed", decision.nodes.to_string()));
            rows.push(row(
                "frequency sets",
                format!(
                    "{} evaluated, of them {} rolled up from a cached set, {} answered from the cache, {} classes read",
                    counters.evaluated, counters.rolled_up, counters.cached, counters.rows_read
                ),
            ));
            rows.push(row("node", engine::describe(&decided.job, node)));
            rows.push(row("node's query", node_query(&decided.job, node.levels())));
        }
    }
    rows.push(row("classes", decision.verdict.classes.to_string()));
    rows.push(row("suppressed rows", decision.verdict.suppressed.to_string()));
    rows.push(row(&decided.job.metric_name, decision.value.to_string()));
    rows.push(row("proof", decided.proof()));
    Ok(rows)
}
