//! Makes the same release again, from rows in another order and on other threads. The bytes must be
//! the same.

use super::Failure;
use super::case::{Case, Value, Way};
use super::execute::{self, Leaves, Scene};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// Returns the case with its rows in another order and another number of partitions.
fn shuffled(case: &Case) -> Case {
    let mut other = case.clone();
    let mut order: Vec<usize> = (0..case.table.rows()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(case.seed));
    for column in &mut other.table.columns {
        let values: Vec<Value> = order.iter().map(|i| column.values[*i].clone()).collect();
        column.values = values;
    }
    other.partitions = 1 + case.partitions % 3;
    other
}

/// Returns true if the released rows have a fixed order.
fn is_ordered(way: &Way) -> bool {
    matches!(way, Way::To { .. } | Way::Rows | Way::Copy(_))
}

/// Returns the released rows, each as text, and the checksums of files.
fn seen(leaves: &Leaves) -> (Vec<String>, Vec<String>) {
    let shown = |batch| arrow::util::pretty::pretty_format_batches(std::slice::from_ref(batch));
    let lines = leaves.batches.iter().filter_map(|b| shown(b).ok()).flat_map(|t| {
        // The padding of columns depends on the batch, so it is removed.
        let text = t.to_string();
        let rows = text
            .lines()
            .filter(|l| l.starts_with('|'))
            .skip(1)
            .map(|l| l.split_whitespace().collect::<String>());
        rows.collect::<Vec<_>>()
    });
    let output = leaves
        .manifest
        .iter()
        .flat_map(|m| m["output"].as_array().cloned().unwrap_or_default());
    (
        lines.collect(),
        output.map(|o| format!("{} {}", o["name"], o["sha256"])).collect(),
    )
}

/// Releases the case again, in `folder`, and compares the two releases.
pub async fn same(case: &Case, first: &Scene, leaves: &Leaves, folder: &Path) -> Result<(), Failure> {
    let other = shuffled(case);
    let Ok(scene) = execute::scene(&other, folder).await else {
        return Ok(());
    };
    if scene.source.types != first.source.types {
        // The type inferred for a CSV column can depend on its first rows.
        return Ok(());
    }
    let (_, again) = match execute::run(&other, &scene).await {
        Ok(done) => done,
        Err(e) => return Err(Failure::new("again", format!("in another order of the rows: {e}"))),
    };
    let ((mut first, files), (mut second, others)) = (seen(leaves), seen(&again));
    if !is_ordered(&case.way) {
        first.sort();
        second.sort();
    }
    match (first == second, files == others) {
        (false, _) => Err(Failure::new(
            "again",
            match first.iter().zip(&second).find(|(first, second)| first != second) {
                Some((row, other)) => format!("rows in another order are released otherwise: {row:?}, {other:?}"),
                None => format!("rows in another order are {} rows, not {}", second.len(), first.len()),
            },
        )),
        (_, false) => Err(Failure::new(
            "again",
            format!("rows in another order give other bytes: {files:?}, {others:?}"),
        )),
        _ => Ok(()),
    }
}
