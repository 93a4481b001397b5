//! Recounts the figures in the manifest and the summary.

use super::classes::Found;
use super::models::size;
use super::table::Judged;
use crate::releases::Failure;
use crate::releases::case::Case;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Float64Type};
use serde_json::Value as Json;

/// Returns the node that a manifest names; `None` for local recoding.
pub fn node(manifest: &Json, judged: &Judged) -> Option<Vec<usize>> {
    let node = manifest["node"].as_object().filter(|n| !n.is_empty())?;
    judged
        .quasi
        .iter()
        .map(|q| Some(node.get(&q.name)?.as_u64()? as usize))
        .collect()
}

/// Returns the number of suppressed rows that a release keeps, according to its manifest.
pub fn starred(manifest: &Json) -> Option<usize> {
    match manifest["suppressed_rows"].as_str()? {
        "starred" => manifest["rows_suppressed"].as_u64().map(|n| n as usize),
        _ => Some(0),
    }
}

/// Returns the metric that a search reported as proven optimal, with its value.
pub fn proven<'a>(case: &'a Case, manifest: &Json) -> Option<(&'a str, f64)> {
    let metric = match case.request.metric.as_slice() {
        [] => "glm",
        [(1.0, only)] => only,
        _ => return None,
    };
    let is_proven = manifest["search"]["proof"] == "proven optimal";
    manifest["metrics"][metric]
        .as_f64()
        .filter(|_| is_proven)
        .map(|value| (metric, value))
}

/// Recounts the figures of the release, and compares them with the manifest and the summary.
pub fn check(judged: &Judged, found: &Found, manifest: &Json, summary: Option<&RecordBatch>) -> Result<(), Failure> {
    let released: usize = found.classes.iter().map(|c| c.released.len()).sum();
    let sizes = found.classes.iter().map(|c| {
        let members: Vec<_> = c.source.iter().map(|r| judged.member(*r, |_| None)).collect();
        size(&members) as f64
    });
    let smallest = sizes.fold(f64::INFINITY, f64::min);
    let smallest = if smallest.is_finite() { Some(smallest) } else { None };
    // With ENTITY and local recoding, the class of a person is not certain.
    let certain = judged.case.request.entity.is_none() || found.node.is_some();
    let figures = [
        ("rows_in", "rows_in", Some(judged.source.len as f64), true),
        ("rows_out", "rows_out", Some(judged.len as f64), true),
        (
            "rows_suppressed",
            "suppressed",
            Some((judged.source.len - released) as f64),
            true,
        ),
        ("classes", "classes", Some(found.classes.len() as f64), true),
        ("reached_k", "k", smallest, certain),
    ];
    for (name, column, expected, asked) in figures {
        let said = manifest[name].as_f64();
        if asked && said != expected {
            return Err(Failure::new(
                "figure",
                format!("the manifest says {name} {said:?}, it is {expected:?}"),
            ));
        }
        if let Some(summary) = summary {
            let shown = number(summary, column);
            if asked && shown != expected {
                return Err(Failure::new(
                    "figure",
                    format!("the summary says {column} {shown:?}, it is {expected:?}"),
                ));
            }
        }
    }
    metrics(judged, found, manifest)
}

/// Checks the metrics of a node that the judge defines.
fn metrics(judged: &Judged, found: &Found, manifest: &Json) -> Result<(), Failure> {
    let Some(node) = found.node.clone().filter(|_| judged.case.request.personal().is_none()) else {
        return Ok(());
    };
    let kept: Vec<_> = found
        .classes
        .iter()
        .map(|c| (c.labels.clone(), c.source.clone()))
        .collect();
    let released: usize = kept.iter().map(|(_, rows)| rows.len()).sum();
    let suppressed = judged.source.len - released;
    let weighed = super::node::Weighed {
        node,
        kept,
        suppressed,
        anonymous: super::models::Verdict::Holds,
    };
    for (name, said) in manifest["metrics"].as_object().into_iter().flatten() {
        let (Some(said), Some(expected)) = (said.as_f64(), judged.metric(name, &weighed)) else {
            continue;
        };
        if (said - expected).abs() > 1e-9 * expected.abs().max(1.0) {
            return Err(Failure::new(
                "metric",
                format!("the manifest says {name} {said}, it is {expected}"),
            ));
        }
    }
    Ok(())
}

fn number(batch: &RecordBatch, column: &str) -> Option<f64> {
    let values = cast(batch.column_by_name(column)?, &DataType::Float64).ok()?;
    let values = values.as_primitive::<Float64Type>();
    (!values.is_empty() && !values.is_null(0)).then(|| values.value(0))
}
