//! The rows that ANALYZE adds to the result of EXPLAIN: the figures of the search.

use super::plan::{DRIFT, node_query};
use crate::data::frequency::BaseSet;
use crate::method::search::Oracle;
use crate::release::engine;
use crate::release::job::Job;
use crate::release::observe::Phase;
use std::time::Duration;

/// Returns the rows for ANALYZE, which contain the figures of the finished search.
pub(super) fn ran(job: &Job, decision: &engine::Decision, times: &[(Phase, Duration)]) -> Vec<(String, String)> {
    let evaluator = &decision.evaluator;
    let counters = evaluator.counters();
    let base = evaluator.sets().base();
    let row = |item: &str, detail: String| (item.to_string(), detail);
    let mut rows = vec![
        row("rows read", evaluator.rows().to_string()),
        match &base.set {
            BaseSet::Held(set) => row("distinct combinations", set.len().to_string()),
            BaseSet::Spilled(set) => row("combinations in files", set.entries().to_string()),
        },
    ];
    match &decision.verdict.partition {
        Some(partition) => {
            let tried = decision.tried.iter().map(|tried| row("tried", tried.to_string()));
            rows.extend(tried);
            rows.extend(decision.search.iter().map(|search| row("divided by", search.clone())));
            rows.push(row("groups", partition.len().to_string()));
            rows.push(row("labels", decision.describe(&job.roles)));
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
            rows.push(row("node", engine::describe(&job.roles, node)));
            rows.push(row("node's query", node_query(job, node.levels())));
        }
    }
    rows.push(row("classes", decision.verdict.classes.to_string()));
    rows.push(row("suppressed rows", decision.verdict.suppressed.to_string()));
    rows.push(row(&job.goal.metric_name, decision.value.to_string()));
    rows.push(row("proof", decision.proof(&job.goal)));
    if let Some(replay) = &decision.replay {
        rows.push(row(DRIFT, replay.told()));
    }
    let times = times
        .iter()
        .map(|(phase, time)| format!("{} {:.3} s", phase.name(), time.as_secs_f64()));
    rows.push(row("time", times.collect::<Vec<_>>().join(", ")));
    rows
}
