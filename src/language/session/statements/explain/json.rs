//! The result of EXPLAIN as one JSON value.

use super::plan::{base_query, counted, levels, monotonicity, node_query, pruning, top};
use crate::data::frequency::BaseSet;
use crate::data::model::Monotonicity;
use crate::method::hierarchy::LabelForm;
use crate::method::lattice::{nodes, said};
use crate::method::search::Oracle;
use crate::release::engine::{Decision, Findings};
use crate::release::job::{Candidate, Choice, Guarantees, Job, Roles, SuppressionLimit};
use crate::release::observe::Phase;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Returns the part of the result that is known from the request alone.
pub(super) fn plan(job: &Job) -> Value {
    let lattice = match &job.goal.choice {
        Choice::Partition(_) => Value::Null,
        Choice::Search { .. } | Choice::Node(_) | Choice::Replay(_) => json!({
            "nodes": whole(nodes(job.roles.quasi_identifiers.iter().map(levels))),
            "levels": job.roles.quasi_identifiers.iter().map(|q| whole(levels(q))).collect::<Vec<_>>(),
        }),
    };
    let models = job.guarantees.constraints.iter().map(|constraint| {
        json!({
            "model": constraint.describe(&job.roles.quasi_identifiers),
            "monotone": match monotonicity(&job.input, constraint) {
                Monotonicity::Always => "always",
                Monotonicity::WithoutSuppression => "without suppression",
                Monotonicity::Never => "never",
            },
            "reads": counted(job, constraint),
        })
    });
    let mut queries = json!({ "base": base_query(job) });
    if !lattice.is_null() {
        queries["top"] = node_query(job, &top(&job.roles)).into();
    }
    let mut plan = json!({
        "statement": job.output.statement,
        "source": job.input.source.name,
        "columns": columns(&job.roles),
        "entity": job.input.entity,
        "population": job.input.population.as_ref().map(|p| p.name.as_str()),
        "lattice": lattice,
        "models": models.collect::<Vec<_>>(),
        "suppression": suppression(&job.guarantees),
        "pruning": pruning(job),
        "metric": job.goal.metric_name,
        "choice": choice(job),
        "target": job.output.target.as_ref().map(|t| t.path.display().to_string()),
        "queries": queries,
    });
    if !job.guarantees.standards.is_empty() {
        plan["following"] = job.guarantees.standards.iter().map(|s| s.info.name).collect();
    }
    if let Some(policy) = &job.output.policy {
        plan["policy"] = json!(policy);
    }
    plan
}

/// Adds the mask of a column, without its secret, to `said`, which describes the column.
fn masked(roles: &Roles, column: &str, mut said: Value) -> Value {
    if let Some(of) = roles.mask(column) {
        said["mask"] = of.clause.without_secret().to_string().into();
    }
    said
}

/// Returns the role of every column that the statement names.
fn columns(roles: &Roles) -> Vec<Value> {
    let mut columns = vec![];
    for i in &roles.identifiers {
        let dropped = json!({ "column": i, "role": "identifier", "mask": null });
        columns.push(masked(roles, i, dropped));
    }
    for q in &roles.quasi_identifiers {
        let (low, high) = q.levels.unwrap_or((0, q.hierarchy.height()));
        let mut column = json!({
            "column": q.column, "role": "quasi-identifier", "hierarchy": q.hierarchy.name(),
            "levels": [low, high], "weight": q.weight,
        });
        if q.labels != LabelForm::Text {
            column["labels"] = q.labels.word().into();
        }
        columns.push(column);
    }
    for s in &roles.item_sets {
        let (low, high) = s.levels.unwrap_or((0, s.hierarchy.height()));
        columns.push(json!({
            "column": s.column, "role": "item-set", "hierarchy": s.hierarchy.name(), "levels": [low, high],
        }));
    }
    for s in &roles.sensitive {
        let sensitive = json!({
            "column": s.column, "role": "sensitive", "hierarchy": s.hierarchy.as_ref().map(|h| h.name()),
            "randomized": s.randomization.as_ref().map(ToString::to_string),
        });
        columns.push(masked(roles, &s.column, sensitive));
    }
    let plain = |column: &String, role| json!({ "column": column, "role": role });
    columns.extend(roles.class_label.iter().map(|c| plain(c, "class")));
    columns.extend(roles.keep.iter().map(|c| masked(roles, c, plain(c, "keep"))));
    columns
}

fn suppression(guarantees: &Guarantees) -> Value {
    let limit = match guarantees.suppression {
        SuppressionLimit::Rows(rows) => ("rows", rows.into()),
        SuppressionLimit::Share { over, under } => ("percent", (over as f64 * 100.0 / under as f64).into()),
    };
    let limit: Map<String, Value> = [(limit.0.to_string(), limit.1)].into_iter().collect();
    json!({ "at_most": limit, "rows": if guarantees.starred { "starred" } else { "dropped" } })
}

fn choice(job: &Job) -> Value {
    match &job.goal.choice {
        Choice::Search { call, .. } => json!({ "by": "search", "search": call.to_string() }),
        Choice::Partition(_) => {
            let does = |c: &&Candidate| json!({ "search": c.call.to_string(), "does": c.partitioner.describe() });
            let candidates = job.candidates();
            match &candidates[..] {
                [one] => {
                    json!({ "by": "partition", "search": one.call.to_string(), "does": one.partitioner.describe() })
                }
                all => json!({
                    "by": "partition",
                    "search": job.goal.choice.name(),
                    "does": "keeps the partition that loses least",
                    "of": all.iter().map(does).collect::<Vec<_>>(),
                }),
            }
        }
        Choice::Node(levels) => json!({ "by": "node", "node": node(&job.roles, levels) }),
        Choice::Replay(replay) => json!({
            "by": "manifest",
            "node": replay.levels.as_ref().map(|levels| node(&job.roles, levels)),
            "on_drift": replay.on_drift,
            "instead": replay.instead.as_ref().map(|(call, _)| call.to_string()),
            "drift": replay.drift,
        }),
    }
}

/// Returns the figures of the finished search, with the duration of each phase in seconds.
pub(super) fn ran(job: &Job, decision: &Decision, found: &Findings, times: &[(Phase, Duration)]) -> Value {
    let (evaluator, counters) = (&decision.evaluator, decision.evaluator.counters());
    let base = evaluator.sets().base();
    let phases: Map<String, Value> = times
        .iter()
        .map(|(phase, time)| (phase.name().to_string(), time.as_secs_f64().into()))
        .collect();
    let mut value = json!({
        "rows_read": evaluator.rows(),
        "combinations": base.combinations(),
        "in_files": matches!(base.set, BaseSet::Spilled(_)),
        "classes": decision.verdict.classes,
        "suppressed": decision.verdict.suppressed,
        "k": evaluator.smallest_class(&decision.classes, &decision.verdict),
        "value": decision.value,
        "proof": decision.proof(&job.goal),
        "warnings": found.warnings,
        "advice": found.advice,
        "phases": phases,
    });
    if let Some(replay) = &decision.replay {
        value["replay"] = json!(replay);
    }
    let found = match &decision.verdict.partition {
        Some(partition) => json!({
            "groups": partition.len(), "labels": decision.describe(&job.roles), "search": decision.search, "tried": decision.tried,
        }),
        None => {
            let levels = decision.classes.node().levels();
            json!({
                "nodes": decision.nodes,
                "frequency_sets": {
                    "evaluated": counters.evaluated, "rolled_up": counters.rolled_up, "cached": counters.cached,
                    "classes_read": counters.rows_read,
                },
                "node": node(&job.roles, levels),
                "query": node_query(job, levels),
            })
        }
    };
    if let (Value::Object(value), Value::Object(found)) = (&mut value, found) {
        value.extend(found);
    }
    value
}

fn node(roles: &Roles, levels: &[u8]) -> Map<String, Value> {
    let columns = roles.quasi_identifiers.iter().map(|q| q.column.clone());
    columns.zip(levels.iter().map(|level| Value::from(*level))).collect()
}

/// Returns a number as JSON. A number of 2^53 or more becomes a string, because JSON parsers may
/// not represent it exactly.
fn whole(number: u128) -> Value {
    match u64::try_from(number) {
        Ok(number) if number < 1 << 53 => number.into(),
        _ => said(number).into(),
    }
}
