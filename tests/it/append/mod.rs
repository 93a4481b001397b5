//! Tests releases that grow (APPEND). Even after a failed run, each batch alone and all batches
//! together satisfy the models.
//!
//! The tests check the models again by their definitions, on rows that only the Parquet reader
//! reads from the files.

mod histories;
mod places;
mod stores;

use anonsql::manifest::{Batch, FileSummary, Manifest};
use arrow::array::{Array, AsArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

/// Rows as texts: the two quasi-identifiers, the illness and the pay.
pub type Row = Vec<Option<String>>;

/// A model that the tests check by its definition. The sensitive value is the illness. For the
/// ordered distance, it is the pay.
#[derive(Debug, Clone, Copy)]
pub enum Model {
    K(usize),
    Distinct(usize),
    Entropy(f64),
    Recursive(f64, usize),
    Categorical(f64),
    Ordered(f64),
}

impl Model {
    pub fn sql(self) -> String {
        match self {
            Self::K(k) => format!("k_anonymity({k})"),
            Self::Distinct(l) => format!("l_diversity({l}) ON illness"),
            Self::Entropy(l) => format!("entropy_l_diversity({l}) ON illness"),
            Self::Recursive(c, l) => format!("recursive_l_diversity({c}, {l}) ON illness"),
            Self::Categorical(t) => format!("t_closeness({t}) ON illness"),
            Self::Ordered(t) => format!("t_closeness({t}, ordered) ON pay"),
        }
    }

    /// Returns true if every class of these rows satisfies the model.
    pub fn holds(self, rows: &[Row]) -> bool {
        let value = |row: &Row| match self {
            Self::Ordered(_) => row[3].as_ref().map(|pay| format!("{pay:0>9}")),
            _ => row[2].clone(),
        };
        let mut whole: BTreeMap<Option<String>, f64> = BTreeMap::new();
        let mut classes: BTreeMap<&[Option<String>], BTreeMap<Option<String>, f64>> = BTreeMap::new();
        for row in rows {
            *whole.entry(value(row)).or_default() += 1.0;
            *classes.entry(&row[..2]).or_default().entry(value(row)).or_default() += 1.0;
        }
        let all = rows.len() as f64;
        classes.values().all(|class| {
            let size: f64 = class.values().sum();
            let mut counts: Vec<f64> = class.values().copied().collect();
            counts.sort_by(|a, b| b.total_cmp(a));
            let apart = whole
                .iter()
                .map(|(v, n)| class.get(v).copied().unwrap_or(0.0) / size - n / all);
            match self {
                Self::K(k) => size as usize >= k,
                Self::Distinct(l) => counts.len() >= l,
                Self::Entropy(l) => {
                    let entropy: f64 = counts.iter().map(|n| -(n / size) * (n / size).ln()).sum();
                    entropy >= l.ln() - 1e-9
                }
                Self::Recursive(c, l) => counts[0] < c * counts.iter().skip(l - 1).sum::<f64>() + 1e-9,
                Self::Categorical(t) => apart.map(f64::abs).sum::<f64>() / 2.0 <= t + 1e-9,
                Self::Ordered(t) => {
                    let steps = (whole.len() - 1).max(1) as f64;
                    let mut sum = 0.0;
                    let moved = apart.map(|d| {
                        sum += d;
                        f64::abs(sum)
                    });
                    moved.sum::<f64>() / steps <= t + 1e-9
                }
            }
        })
    }
}

/// Returns the rows of one file of a release.
fn rows_of(folder: &Path, file: &FileSummary) -> Vec<Row> {
    let open = File::open(folder.join(&file.name)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(open).unwrap().build().unwrap();
    let mut rows = vec![];
    for batch in reader {
        let batch = batch.unwrap();
        let columns =
            ["age", "zip", "illness", "pay"].map(|c| cast(batch.column_by_name(c).unwrap(), &DataType::Utf8).unwrap());
        for row in 0..batch.num_rows() {
            let cell =
                |c: &arrow::array::ArrayRef| c.is_valid(row).then(|| c.as_string::<i32>().value(row).to_string());
            rows.push(columns.iter().map(cell).collect());
        }
    }
    rows
}

/// Returns the manifest of a release and the rows of each of its batches, oldest first. Checks that
/// the folder contains nothing else.
pub fn release(folder: &Path) -> (Manifest, Vec<Vec<Row>>) {
    let manifest = Manifest::read(folder).unwrap().unwrap();
    let sizes: Vec<u64> = match manifest.batches.is_empty() {
        true => vec![manifest.output.len() as u64],
        false => manifest.batches.iter().map(|batch: &Batch| batch.files).collect(),
    };
    assert_eq!(sizes.iter().sum::<u64>(), manifest.output.len() as u64);
    let mut files = manifest.output.iter();
    let batches: Vec<Vec<Row>> = sizes
        .iter()
        .map(|n| {
            files
                .by_ref()
                .take(*n as usize)
                .flat_map(|f| rows_of(folder, f))
                .collect()
        })
        .collect();
    let mut there: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != "_manifest.json")
        .collect();
    let mut named: Vec<String> = manifest.output.iter().map(|f| f.name.clone()).collect();
    there.sort();
    named.sort();
    assert_eq!(there, named);
    (manifest, batches)
}

/// Checks that a release satisfies the models over each batch alone and over all rows, and that its
/// manifest states the same results.
pub fn check(folder: &Path, models: &[Model]) -> (Manifest, Vec<Vec<Row>>) {
    let (manifest, batches) = release(folder);
    let all: Vec<Row> = batches.concat();
    for model in models {
        assert!(model.holds(&all), "{model:?} over all rows of {batches:?}");
        for batch in &batches {
            assert!(model.holds(batch), "{model:?} over a batch: {batch:?}");
        }
    }
    assert_eq!(manifest.rows_out, all.len() as u64);
    let smallest = |rows: &[Row]| {
        let mut sizes: BTreeMap<&[Option<String>], u64> = BTreeMap::new();
        rows.iter().for_each(|row| *sizes.entry(&row[..2]).or_default() += 1);
        sizes.values().min().copied()
    };
    assert_eq!(manifest.reached_k, smallest(&all));
    for (batch, rows) in manifest.batches.iter().zip(&batches) {
        assert_eq!((batch.rows_out, batch.reached_k), (rows.len() as u64, smallest(rows)));
        assert_eq!(batch.rows_in, batch.rows_out + batch.rows_waiting);
    }
    (manifest, batches)
}
