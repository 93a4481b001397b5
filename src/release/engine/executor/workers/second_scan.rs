//! The second scan as plans for workers.

use super::cut::{Bucket, Placed, cut};
use crate::base::error::{Error, Result};
use crate::base::operator::{OperatorExec, project};
use crate::data::folder::partition_name;
use crate::data::recode::{
    BUCKET, ClassPlace, Deal, DecodeExec, PackedSortExec, Range, RecodeExec, RecodingPlan, unpacked,
};
use crate::release::cluster::{Sent, slices};
use crate::release::engine::apply::plan::{Arrangement, columns_read};
use crate::release::engine::decide::Decision;
use crate::release::engine::executor::interface::ToWrite;
use crate::release::job::{Format, Guarantees};
use arrow::datatypes::SchemaRef;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::union::UnionExec;
use std::sync::Arc;

/// The slices of the source, the recoding of their rows, and the buckets that receive the rows.
pub(super) struct SecondScan {
    slices: Vec<Arc<dyn ExecutionPlan>>,
    recoding: Arc<RecodingPlan>,
    /// The schema of the released columns, followed by the columns of the order key.
    pub(super) released: SchemaRef,
    arrangement: Arrangement,
    first: Vec<String>,
    /// The buckets of the release, in the order of their rows.
    pub(super) buckets: Vec<Bucket>,
}

/// Returns the second scan for workers, in about `wanted` slices of the source. Returns `None` if
/// only this machine can do the scan: the source does not consist of files that all workers can
/// reach, the classes do not determine how many rows a file has, a row depends on other rows, or
/// the release has no rows.
pub(super) async fn second_scan(release: &ToWrite<'_>, wanted: usize) -> Result<Option<SecondScan>> {
    let (job, rewrite, target) = (release.job, release.rewrite, release.target);
    let recoding = Arc::clone(&rewrite.recoding);
    let is_cut_by_classes = target.format == Format::Parquet && target.file_size.is_none();
    let is_row_by_row =
        rewrite.permutations.is_empty() && job.guarantees.of_rows().is_none() && job.guarantees.sampling().is_none();
    if !is_cut_by_classes || !is_row_by_row || !recoding.can_travel() || rewrite.is_of_classes {
        return Ok(None);
    }
    let first = target.partitioned_by.clone();
    let Some(classes) = placed(&job.guarantees, release.decision, &recoding, &first)? else {
        return Ok(None);
    };
    let begun = target.grows.as_ref().map_or(0, |standing| standing.output.len());
    let buckets = cut(&classes, target.rows_per_file.unwrap_or(u64::MAX), begun);
    if buckets.is_empty() {
        return Ok(None);
    }
    let read = columns_read(&job.input.source.rows, &recoding).await?;
    let Some(slices) = slices(&read, wanted, job.input.source.state().config()) else {
        return Ok(None);
    };
    let released = recoding.ordered_schema(&read.schema())?;
    let hidden = rewrite.hidden.clone();
    Ok(Some(SecondScan {
        slices,
        arrangement: Arrangement::of(&released, &recoding, &first, &hidden)?,
        recoding,
        released,
        first,
        buckets,
    }))
}

/// Returns the classes of a release in the order of the release, with the starred rows as one
/// class. Classes with the same released values become one class. Returns `None` if a column of
/// PARTITIONED BY is not a quasi-identifier.
fn placed(
    guarantees: &Guarantees,
    decision: &Decision,
    recoding: &RecodingPlan,
    first: &[String],
) -> Result<Option<Vec<Placed>>> {
    let counts = decision.classes.counts();
    let kept = decision.verdict.kept.iter().enumerate();
    let kept: Vec<usize> = kept
        .filter(|(i, kept)| **kept && counts[*i] > 0)
        .map(|(i, _)| i)
        .collect();
    let Some((places, stars)) = recoding.places(&decision.classes, &kept, first) else {
        return Ok(None);
    };
    let mut classes: Vec<(ClassPlace, u64)> = places.into_iter().zip(kept.iter().map(|i| counts[*i])).collect();
    let starred = decision.starred_rows(guarantees);
    if starred > 0 {
        let stars = stars.ok_or_else(|| Error::internal("starred rows without a place"))?;
        classes.push((stars, starred));
    }
    classes.sort_unstable();
    let mut alike: Vec<Placed> = vec![];
    for (place, rows) in classes {
        match alike.last_mut().filter(|last| last.place == place) {
            Some(last) => last.rows += rows,
            None => {
                let mut partition = String::new();
                for (name, text) in first.iter().zip(recoding.texts_of(&place, first)?) {
                    partition += &partition_name(name, text.as_deref())?;
                    partition.push('/');
                }
                alike.push(Placed { place, partition, rows });
            }
        }
    }
    Ok(Some(alike))
}

impl SecondScan {
    /// Returns as many plans as `plans`. Together, the plans read the source, recode it and add to
    /// each row the number of its bucket.
    pub(super) fn making(&self, plans: usize, ranges: Vec<Range>) -> Result<Vec<Arc<dyn ExecutionPlan>>> {
        let deal = self.recoding.deal(&self.first, ranges);
        let mut making = vec![];
        for part in 0..plans {
            let own: Vec<_> = self.slices.iter().skip(part).step_by(plans).cloned().collect();
            let read = match (own.len(), self.slices.first()) {
                (0, Some(first)) => Arc::new(EmptyExec::new(first.schema())),
                (0, None) => return Err(Error::internal("a source without slices")),
                (1, _) => Arc::clone(&own[0]),
                _ => UnionExec::try_new(own)?,
            };
            let recoded =
                RecodeExec::over_source(Sent::over(read), Arc::clone(&self.recoding), Arc::clone(&self.released));
            let rows = project(Arc::new(recoded), &self.arrangement.carried)?;
            making.push(Arc::new(OperatorExec::over(rows, deal.clone(), self.schema())) as _);
        }
        Ok(making)
    }

    /// Returns the column with the bucket number, by which rows are distributed to the workers.
    pub(super) fn bucket(&self) -> Arc<dyn PhysicalExpr> {
        Arc::new(Column::new(BUCKET, self.arrangement.carried.len()))
    }

    /// Returns the schema of the rows with their bucket number.
    pub(super) fn schema(&self) -> SchemaRef {
        Deal::schema(&self.arrangement.schema)
    }

    /// Returns the plan that orders the rows of some buckets, one bucket after the other. The
    /// recount checks the order. If `packed` is false, the rows are sorted without packing.
    pub(super) fn ordering(&self, rows: Arc<dyn ExecutionPlan>, packed: bool) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = self.schema();
        let bucket = self.arrangement.carried.len();
        let sorted: Vec<usize> = [bucket]
            .into_iter()
            .chain(self.arrangement.sorted.iter().copied())
            .collect();
        let ordered = match packed {
            true => Arc::new(PackedSortExec::over_rows(rows, sorted, schema)) as _,
            false => unpacked(rows, &sorted, &schema)?,
        };
        let released = Deal::schema(&self.released);
        let rows = DecodeExec::over_ordered(ordered, Arc::clone(&self.recoding), released);
        Ok(Arc::new(rows))
    }
}
