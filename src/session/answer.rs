//! What a statement answers: a schema and a stream of record batches.

use crate::engine::Release;
use crate::error::{Error, ErrorKind, Result};
use crate::folder::RandomizedColumn;
use crate::source::{SOURCE, reading};
use arrow::array::{ArrayRef, Float64Array, StringArray, UInt64Array};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::dataframe::DataFrame;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::TryStreamExt;
use std::path::Path;
use std::sync::Arc;

/// The answer to one statement.
#[must_use = "a VERIFY that fails says so in its answer: collect it, or ask `verified`"]
pub struct Answer {
    /// The columns.
    pub schema: SchemaRef,
    /// The rows.
    pub rows: SendableRecordBatchStream,
    /// The checks of VERIFY that failed, as its rows name them.
    pub failed: Vec<String>,
}

impl Answer {
    /// One batch.
    pub(super) fn of(batch: RecordBatch) -> Result<Self> {
        Self::batches(batch.schema(), vec![batch])
    }

    /// Batches at hand.
    pub(super) fn batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Result<Self> {
        let stream = futures::stream::iter(batches.into_iter().map(Ok));
        let rows = Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&schema), stream));
        Ok(Self {
            schema,
            rows,
            failed: vec![],
        })
    }

    /// One row of a column `result` that says what was done.
    pub(super) fn done(text: impl Into<String>) -> Result<Self> {
        let column: ArrayRef = Arc::new(StringArray::from(vec![text.into()]));
        Self::of(RecordBatch::try_from_iter([("result", column)])?)
    }

    /// The rows of a query.
    pub(super) async fn query(frame: DataFrame) -> Result<Self> {
        let schema = Arc::new(frame.schema().as_arrow().clone());
        let rows = reading(SOURCE, async { Ok(frame.execute_stream().await?) }).await?;
        Ok(Self {
            schema,
            rows,
            failed: vec![],
        })
    }

    /// An error of kind Verification where a check of VERIFY failed.
    pub fn verified(&self) -> Result<()> {
        let message = match self.failed.as_slice() {
            [] => return Ok(()),
            [one] => format!("a check of VERIFY does not hold: {one}"),
            several => format!("{} checks of VERIFY do not hold: {}", several.len(), several.join("; ")),
        };
        Err(Error::new(ErrorKind::Verification, message))
    }

    /// All rows at once. A VERIFY that failed is an error here: its rows are for whoever reads them one by one and asks
    /// [`Answer::verified`].
    pub async fn collect(self) -> Result<Vec<RecordBatch>> {
        self.verified()?;
        let schema = self.schema;
        let batches: Vec<RecordBatch> = self.rows.try_collect().await.map_err(Error::from)?;
        Ok(if batches.is_empty() {
            vec![RecordBatch::new_empty(schema)]
        } else {
            batches
        })
    }
}

/// The summary row of ANONYMIZE ... TO; all but the target is NULL when an existing target was kept.
pub(super) fn summary(target: &Path, release: Option<&Release>) -> Result<Answer> {
    let count = |f: fn(&Release) -> Option<u64>| Arc::new(UInt64Array::from(vec![release.and_then(f)])) as ArrayRef;
    let text = |f: fn(&Release) -> String| Arc::new(StringArray::from(vec![release.map(f)])) as ArrayRef;
    let outcome = if release.is_some() {
        "released"
    } else {
        "kept: the target exists"
    };
    let mut columns = vec![
        (
            "target",
            Arc::new(StringArray::from(vec![target.display().to_string()])) as ArrayRef,
            true,
        ),
        ("outcome", Arc::new(StringArray::from(vec![outcome])) as ArrayRef, true),
        ("rows_in", count(|r| Some(r.rows_in)), true),
        ("rows_out", count(|r| Some(r.rows_out)), true),
        ("suppressed", count(|r| Some(r.rows_suppressed)), true),
        ("classes", count(|r| Some(r.classes)), true),
        ("k", count(|r| r.reached_k), true),
        ("node", text(|r| r.node.clone()), true),
        ("metric", text(|r| r.metric.clone()), true),
        (
            "value",
            Arc::new(Float64Array::from(vec![release.map(|r| r.value)])) as ArrayRef,
            true,
        ),
        ("proof", text(|r| r.proof.clone()), true),
        ("nodes", count(|r| Some(r.nodes)), true),
    ];
    // What only some releases have to say has columns only there.
    if release.is_some_and(|r| !r.randomized.is_empty()) {
        let bits = |c: &RandomizedColumn| {
            let (before, after) = (c.information_before, c.information_after);
            format!("{}: {before:.4} to {after:.4} bits", c.column)
        };
        let cost = |r: &Release| r.randomized.iter().map(bits).collect::<Vec<_>>().join(", ");
        let cost: StringArray = vec![release.map(cost)].into();
        columns.push(("information_on_classes", Arc::new(cost), true));
    }
    if let Some(personal) = release.and_then(|r| r.personal.as_ref()) {
        let levels = personal
            .rows_by_level
            .iter()
            .enumerate()
            .map(|(level, rows)| format!("{level}: {rows}"));
        let levels: StringArray = vec![Some(levels.collect::<Vec<_>>().join(", "))].into();
        columns.push(("rows_by_sensitive_level", Arc::new(levels), true));
        let unmet = UInt64Array::from(vec![personal.limits_not_met]);
        columns.push(("limits_not_met", Arc::new(unmet), true));
    }
    Answer::of(RecordBatch::try_from_iter_with_nullable(columns)?)
}
