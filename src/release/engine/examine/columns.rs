//! Counts the values of the columns that are released unchanged, and of identifiers that may be
//! codes of people.

use super::sketch::ValueSketch;
use crate::base::error::{Error, Result};
use crate::data::source::{SOURCE, reading, select_columns, source_plan};
use crate::method::suggest::{Facts, ValueKind, may_be_entity};
use crate::method::warning::{self, Examined, Fate};
use crate::release::job::Job;
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::datatypes::Field;
use arrow::util::display::array_value_to_string;
use datafusion::common::hash_utils::{HLL_RANDOM_STATE, create_hashes};
use datafusion::physical_plan::execute_stream_partitioned;
use futures::StreamExt;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinSet;

/// The maximum number of values in the samples of all columns in total.
const MOST: usize = 1 << 19;
/// The maximum number of values in the sample of one column.
const MOST_OF_ONE: usize = 1 << 16;
/// The approximate maximum number of distinct values whose form is examined in each column.
const TEXTS: usize = 500;

/// Returns the columns that are released unchanged or masked, and the identifiers that may be codes
/// of people, each with its counts.
pub(super) async fn examined(job: &Job, progress: &Arc<AtomicU64>) -> Result<Vec<Examined>> {
    let mut columns = vec![];
    for field in job.input.source.rows.schema().fields() {
        if let Some(fate) = fate(job, field.name()) {
            columns.push((field.name().clone(), ValueKind::of(field.data_type()), fate));
        }
    }
    let follows = !job.guarantees.standards.is_empty();
    let is_counted = |kind: ValueKind, fate: Fate| match kind {
        ValueKind::Nested | ValueKind::Binary => false,
        ValueKind::Number if follows => true,
        // Such columns have many distinct values by nature, so their values are counted only in
        // kept columns and in the class label.
        ValueKind::Number | ValueKind::Date | ValueKind::Other => matches!(fate, Fate::Kept | Fate::ClassLabel),
        ValueKind::Text | ValueKind::Integer => true,
    };
    let counted: Vec<(&str, ValueKind)> = columns
        .iter()
        .filter(|(_, kind, fate)| is_counted(*kind, *fate))
        .map(|(name, kind, _)| (name.as_str(), *kind))
        .collect();
    let mut counts = count(job, &counted, progress).await?.into_iter();
    let examined = columns.iter().map(|(name, kind, fate)| {
        let tally = match is_counted(*kind, *fate) {
            true => counts.next(),
            false => None,
        };
        Examined::new(facts(name, *kind, tally), *fate)
    });
    Ok(examined.collect())
}

/// Returns true if most of these distinct values are texts that begin or end with blanks. Examines
/// a sample that is spread evenly over the values.
pub(super) fn is_padded(values: &ArrayRef) -> Result<bool> {
    if ValueKind::of(values.data_type()) != ValueKind::Text {
        return Ok(false);
    }
    let texts = (0..values.len())
        .step_by((values.len() / TEXTS).max(1))
        .filter(|row| values.is_valid(*row))
        .map(|row| array_value_to_string(values, row));
    let texts: Vec<String> = texts.collect::<Result<_, _>>()?;
    Ok(warning::mostly_padded(texts.iter().map(String::as_str)))
}

/// Returns the warnings that follow from the names of the columns alone, without reading anything.
pub fn named_warnings(job: &Job) -> Vec<String> {
    let fields = job.input.source.rows.schema().fields().iter();
    let warning = |field: &Arc<Field>| {
        let accepted = job.guarantees.accepted.contains(field.name());
        let fate = fate(job, field.name()).filter(|_| !accepted)?;
        warning::by_name(field.name(), ValueKind::of(field.data_type()), fate)
    };
    fields.filter_map(warning).collect()
}

/// Returns how a column that is to be examined is released; `None` for any other column.
fn fate(job: &Job, name: &str) -> Option<Fate> {
    if let Some(of) = job.roles.mask(name) {
        return Some(Fate::Masked(of.clause.kind));
    }
    if job.roles.identifiers.iter().any(|i| i == name) {
        return (job.input.entity.is_none() && may_be_entity(name)).then_some(Fate::Dropped);
    }
    if job.roles.sensitive.iter().any(|s| s.column == name) {
        return Some(Fate::Sensitive);
    }
    if job.roles.class_label.as_deref() == Some(name) {
        return Some(Fate::ClassLabel);
    }
    job.roles.keep.iter().any(|k| k == name).then_some(Fate::Kept)
}

fn facts(name: &str, kind: ValueKind, tally: Option<Tally>) -> Facts {
    let tally = tally.unwrap_or_else(|| Tally::new(0, false));
    Facts {
        name: name.into(),
        kind,
        rows: tally.values,
        values: tally.values,
        distinct: tally.distinct.count(|()| true).min(tally.values),
        estimated: !tally.distinct.is_complete(),
        separation: 0.0,
        range: None,
        oldest: None,
        is_finite: true,
        sample: tally.texts.into_entries(),
    }
}

/// The counts of a column, and a sample of its values as texts.
struct Tally {
    values: u64,
    distinct: ValueSketch<()>,
    texts: ValueSketch<String>,
    /// Whether numbers are sampled as well as texts, because a standard limits their form.
    samples_numbers: bool,
}

impl Tally {
    fn new(capacity: usize, samples_numbers: bool) -> Self {
        Self {
            values: 0,
            distinct: ValueSketch::new(capacity),
            texts: ValueSketch::new(TEXTS),
            samples_numbers,
        }
    }

    /// Adds the values of `array` at the given rows, by their hashes.
    fn add(
        &mut self,
        rows: impl Iterator<Item = usize>,
        hashes: &[u64],
        array: &ArrayRef,
        kind: ValueKind,
    ) -> Result<()> {
        for row in rows {
            let hash = hashes[row];
            self.distinct.add(hash, || (), |()| ());
            let is_sampled = kind == ValueKind::Text
                || self.samples_numbers && matches!(kind, ValueKind::Integer | ValueKind::Number);
            if is_sampled && self.texts.takes(hash) {
                let text = array_value_to_string(array, row)?;
                self.texts.add(hash, || text, |_| ());
            }
        }
        Ok(())
    }
}

/// Counts columns in one scan of the source. Each partition is read by a separate task.
async fn count(job: &Job, columns: &[(&str, ValueKind)], progress: &Arc<AtomicU64>) -> Result<Vec<Tally>> {
    if columns.is_empty() {
        return Ok(vec![]);
    }
    let capacity = (MOST / columns.len()).min(MOST_OF_ONE);
    let tallies = columns.iter().map(|(_, kind)| {
        (
            *kind,
            Mutex::new(Tally::new(capacity, !job.guarantees.standards.is_empty())),
        )
    });
    let tallies: Arc<Vec<(ValueKind, Mutex<Tally>)>> = Arc::new(tallies.collect());
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let rows = select_columns(&job.input.source.rows, &names)?;
    let context = Arc::new(rows.task_ctx());
    let plan = reading(SOURCE, async { Ok(rows.create_physical_plan().await?) }).await?;
    let streams = execute_stream_partitioned(source_plan(plan).await?, context).map_err(Error::from_data)?;
    let mut tasks = JoinSet::new();
    for (number, mut stream) in streams.into_iter().enumerate() {
        let (tallies, progress) = (Arc::clone(&tallies), Arc::clone(progress));
        tasks.spawn(async move {
            let mut hashes = vec![];
            while let Some(batch) = stream.next().await {
                let batch = batch.map_err(Error::from_data)?;
                // Each partition starts with a different column, so that the tasks rarely wait for
                // each other's lock.
                for i in 0..tallies.len() {
                    let column = (number + i) % tallies.len();
                    add(&tallies[column], batch.column(column), &mut hashes)?;
                }
                progress.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
                tokio::task::consume_budget().await;
            }
            Ok::<_, Error>(())
        });
    }
    while let Some(done) = tasks.join_next().await {
        done.map_err(|e| Error::from_task("a scan task", &e))??;
    }
    let tallies = Arc::into_inner(tallies).ok_or_else(|| Error::internal("a scan goes on after its end"))?;
    Ok(tallies.into_iter().map(|(_, tally)| tally.into_inner()).collect())
}

/// Adds the values of one batch. For a dictionary, adds each value that occurs in the batch once,
/// instead of once per row.
fn add((kind, tally): &(ValueKind, Mutex<Tally>), array: &ArrayRef, hashes: &mut Vec<u64>) -> Result<()> {
    let mut hashed = |array: &ArrayRef| -> Result<()> {
        hashes.clear();
        hashes.resize(array.len(), 0);
        create_hashes([array], &HLL_RANDOM_STATE, hashes.as_mut_slice())?;
        Ok(())
    };
    let held = array.len() - array.logical_null_count();
    let dictionary = array
        .as_any_dictionary_opt()
        .filter(|d| (1..=d.keys().len()).contains(&d.values().len()));
    let Some(dictionary) = dictionary else {
        let nulls = array.logical_nulls();
        hashed(array)?;
        let rows = (0..array.len()).filter(|row| nulls.as_ref().is_none_or(|n| n.is_valid(*row)));
        let mut tally = tally.lock();
        tally.values += held as u64;
        return tally.add(rows, hashes, array, *kind);
    };
    let values = dictionary.values();
    hashed(values)?;
    let mut met = vec![false; values.len()];
    let keys = dictionary.normalized_keys();
    for (row, key) in keys.into_iter().enumerate() {
        if dictionary.keys().is_valid(row) && values.is_valid(key) {
            met[key] = true;
        }
    }
    let mut tally = tally.lock();
    tally.values += held as u64;
    tally.add((0..met.len()).filter(|value| met[*value]), hashes, values, *kind)
}
