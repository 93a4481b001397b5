//! Checks that the released rows are not in the order of their source. Otherwise, a reader who has
//! the source could link each released row to its source row.
//!
//! The order counts as kept if and only if the released rows, in the columns that are released
//! unchanged, are a subsequence of the source's rows in stored order, and neither of two harmless
//! reasons explains it:
//! - chance: finding randomly ordered rows one after the other takes about as many rows of the
//!   source as the sum of 1 / p(row), where p is the share of equal rows in the source. The
//!   subsequence is evidence only if the source is shorter than this sum by five standard
//!   deviations. Tables that are tiny, or constant in those columns, never meet this condition;
//! - sorting: rows of one class are contiguous and ascend within it, as in a release. That order
//!   follows from the released values alone and reveals nothing more.

use super::against::Unchanged;
use super::check::none_of;
use super::known::Known;
use super::tables::{CHECKED, WHOLE};
use crate::base::error::{Error, Result};
use crate::base::quoting::quote;
use crate::data::folder::Check;
use crate::data::source::stored;
use arrow::array::RecordBatch;
use arrow::compute::SortOptions;
use arrow::datatypes::FieldRef;
use arrow::row::{RowConverter, Rows, SortField};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Counts the released rows that are in the source's order: all rows or none. `session` must read
/// rows in stored order.
pub(super) async fn check(
    session: &SessionContext,
    known: &[Known],
    folders: &[String],
    unchanged: &[Unchanged],
) -> Result<Option<Check>> {
    if unchanged.is_empty() {
        return Ok(None);
    }
    let rows = |table: &str, of: fn(&Unchanged) -> &str| {
        let columns = unchanged.iter().enumerate().map(|(i, u)| format!("{} AS c{i}", of(u)));
        format!(
            "SELECT {} FROM {}",
            columns.collect::<Vec<_>>().join(", "),
            quote(table)
        )
    };
    let (released, whole) = (rows(CHECKED, |u| &u.released), rows(WHOLE, |u| &u.of_source));
    let kept = match is_subsequence(session, &released, &whole).await? {
        Some(n)
            if is_evidence(session, &released, &whole).await?
                && !is_sorted(session, known, folders, unchanged).await? =>
        {
            n
        }
        _ => 0,
    };
    Ok(Some(none_of("rows in the order of the source".into(), kept)))
}

/// Returns the number of rows of `released` if the rows are a subsequence of the rows of `whole`;
/// `None` otherwise.
async fn is_subsequence(session: &SessionContext, released: &str, whole: &str) -> Result<Option<u64>> {
    let mut released = Hashes::of(session, released).await?;
    let mut whole = Hashes::of(session, whole).await?;
    let mut found = 0;
    while let Some(wanted) = released.next().await? {
        loop {
            match whole.next().await? {
                Some(row) if row == wanted => break,
                Some(_) => {}
                None => return Ok(None),
            }
        }
        found += 1;
    }
    Ok(Some(found))
}

/// Returns true if chance is an unlikely explanation for a subsequence.
async fn is_evidence(session: &SessionContext, released: &str, whole: &str) -> Result<bool> {
    let counts = Hashes::of(session, whole).await?.counts().await?;
    let all = counts.values().sum::<u64>() as f64;
    // The terms are sorted, so that the rounding of their sum does not depend on the order of the
    // map.
    let mut waits: Vec<(f64, f64)> = vec![];
    for (row, n) in Hashes::of(session, released).await?.counts().await? {
        let share = counts.get(&row).map_or(1.0, |c| *c as f64 / all);
        waits.push((n as f64 / share, n as f64 * (1.0 - share) / (share * share)));
    }
    waits.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (mean, variance) = waits.iter().fold((0.0, 0.0), |(m, v), (a, b)| (m + a, v + b));
    Ok(all < mean - 5.0 * f64::sqrt(variance))
}

/// Returns true if the released rows of each class are contiguous in a partition, and ascend in all
/// columns or in the compared columns. Permuted and masked columns need not ascend.
async fn is_sorted(
    session: &SessionContext,
    known: &[Known],
    folders: &[String],
    unchanged: &[Unchanged],
) -> Result<bool> {
    let table = session.table(CHECKED).await?;
    let is_quasi = |c: &String| folders.contains(c) || known.iter().any(|k| k.column == *c);
    let names = table.schema().fields().iter().map(|f| f.name());
    let (quasi, others): (Vec<&String>, Vec<&String>) = names.partition(|c| is_quasi(c));
    let quoted = |columns: Vec<&String>| columns.into_iter().map(|c| quote(c)).collect::<Vec<_>>();
    let (quasi, others) = (quoted(quasi), quoted(others));
    let compared = unchanged.iter().filter(|u| !is_quasi(&u.column));
    let compared: Vec<String> = compared.map(|u| u.released.clone()).collect();
    Ok(ascend(session, &quasi, &others).await? || ascend(session, &quasi, &compared).await?)
}

/// Returns true if all rows with the same values of `class` are contiguous, and ascend in `values`.
/// `class` and `values` are SQL expressions over the released rows.
async fn ascend(session: &SessionContext, class: &[String], values: &[String]) -> Result<bool> {
    // The constants let rows be converted even if `class` or `values` is empty.
    let constant = ["0".to_string()];
    let columns = class.iter().chain(&constant).chain(values).chain(&constant).enumerate();
    let columns: Vec<String> = columns.map(|(i, column)| format!("{column} AS c{i}")).collect();
    let sql = format!("SELECT {} FROM {}", columns.join(", "), quote(CHECKED));
    let mut stream = stored(session, &sql).await?;
    let fields = stream.schema().fields().clone();
    let (classes, rest) = fields.split_at(class.len() + 1);
    let (classes, rest) = (ascending(classes)?, ascending(rest)?);
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mut last: Option<(Vec<u8>, Vec<u8>)> = None;
    while let Some(batch) = stream.next().await {
        let batch = batch.map_err(Error::from_data)?;
        let (own, row) = batch.columns().split_at(class.len() + 1);
        let (own, row) = (classes.convert_columns(own)?, rest.convert_columns(row)?);
        for (own, row) in own.iter().zip(row.iter()) {
            let before = last.as_ref().filter(|(same, _)| same == own.data());
            let goes_on = match before {
                Some((_, before)) => before.as_slice() <= row.data(),
                None => seen.insert(own.data().to_vec()),
            };
            if !goes_on {
                return Ok(false);
            }
            last = Some((own.data().to_vec(), row.data().to_vec()));
        }
    }
    Ok(true)
}

/// Returns a converter from rows to bytes. The bytes compare in the sort order of a release.
fn ascending(fields: &[FieldRef]) -> Result<RowConverter> {
    let options = SortOptions {
        descending: false,
        nulls_first: false,
    };
    let field = |f: &FieldRef| SortField::new_with_options(f.data_type().clone(), options);
    Ok(RowConverter::new(fields.iter().map(field).collect())?)
}

/// The rows of a query as hashes, one after the other.
struct Hashes {
    stream: SendableRecordBatchStream,
    converter: RowConverter,
    batch: Option<Rows>,
    at: usize,
}

impl Hashes {
    async fn of(session: &SessionContext, sql: &str) -> Result<Self> {
        let stream = stored(session, sql).await?;
        let fields = stream
            .schema()
            .fields()
            .iter()
            .map(|f| SortField::new(f.data_type().clone()))
            .collect();
        Ok(Self {
            stream,
            converter: RowConverter::new(fields)?,
            batch: None,
            at: 0,
        })
    }

    async fn next(&mut self) -> Result<Option<u64>> {
        loop {
            if let Some(batch) = self.batch.as_ref().filter(|b| self.at < b.num_rows()) {
                let mut hasher = DefaultHasher::new();
                batch.row(self.at).data().hash(&mut hasher);
                self.at += 1;
                return Ok(Some(hasher.finish()));
            }
            let Some(batch) = self.stream.next().await else {
                return Ok(None);
            };
            let batch: RecordBatch = batch.map_err(Error::from_data)?;
            (self.batch, self.at) = (Some(self.converter.convert_columns(batch.columns())?), 0);
        }
    }

    async fn counts(mut self) -> Result<HashMap<u64, u64>> {
        let mut counts = HashMap::new();
        while let Some(row) = self.next().await? {
            *counts.entry(row).or_default() += 1;
        }
        Ok(counts)
    }
}
