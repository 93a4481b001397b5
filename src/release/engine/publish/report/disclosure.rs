//! The disclosure of the sensitive attributes by the classes of a release.
//!
//! These figures of the released rows are reported beside the promises, which separate queries
//! recount. One scan counts the values of the source. Another scan counts the released rows for all
//! attributes: class by class if the rows are in the order of their classes, and otherwise as the
//! first scan counts a source. If neither is possible, the queries of l-diversity and t-closeness
//! give the same figures, one by one.

use super::disclosed::{Counted, Disclosed, ReadingPlans, base_of, distances};
use super::facts::ReleaseToMeasure;
use super::ordered::ordered;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::{Pool, map};
use crate::base::spill::SpillSpace;
use crate::data::frequency::{Base, BaseSet, Marginals, Scan};
use crate::data::model;
use crate::method::risk::Histogram;
use crate::method::utility::to_two_decimals;
use crate::release::engine::publish::few::is_of_few;
use crate::release::job::{Constraint, Job, Sensitive};
use crate::release::recount::{KnownSource, Promise, ReleasedTable, steady};
use crate::release::report::Disclosure;
use datafusion::physical_plan::execute_stream_partitioned;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

impl ReleaseToMeasure<'_> {
    /// Returns the disclosure of each sensitive attribute by the classes of the released rows, and
    /// the sizes of the classes if they were counted in the same scan. `known` are the columns of
    /// the source that were read before.
    pub(super) async fn disclosure(&self, known: Option<&KnownSource>) -> Result<(Vec<Disclosure>, Option<Histogram>)> {
        let (job, session, released) = (self.job, self.session, self.released);
        let attributes = comparable(job);
        let of_source = (attributes.as_slice(), known);
        // Under ENTITY, classes count entities, and one entity can have several values.
        let classes = self.written.settled.verdict.released_classes();
        let counted = match job.input.entity {
            Some(_) => None,
            None => within_memory(counted(session, released, of_source, classes).await)?,
        };
        // In a text file, NULL and the empty text are the same, but classes in memory distinguish
        // them.
        let is_told = released.empty_is_null.is_empty() && released.null_labels.is_empty();
        let (of_attributes, sizes) = match counted {
            Some(counted) => (counted.disclosed, Some(counted.sizes).filter(|_| is_told)),
            None => {
                let mut of_attributes = vec![];
                for attribute in &attributes {
                    of_attributes.push(queried(session, released, attribute).await?);
                }
                (of_attributes, None)
            }
        };
        // The distance of a class from the source depends on the values of the suppressed rows.
        let suppressed = self.written.settled.verdict.suppressed;
        let is_of_few = is_of_few(job, suppressed);
        let given = |distance: f64| match is_of_few {
            true => to_two_decimals(steady(distance)),
            false => steady(distance),
        };
        let mut found = vec![];
        for (attribute, disclosed) in attributes.iter().zip(of_attributes) {
            let full = job.guarantees.constraints.iter().filter(|c| c.is_of_classes());
            let is_of = |c: &&Constraint| c.attribute.as_deref() == Some(*attribute);
            found.push(Disclosure {
                attribute: attribute.to_string(),
                models: full
                    .filter(is_of)
                    .map(|c| c.describe(&job.roles.quasi_identifiers))
                    .collect(),
                least_distinct: disclosed.least_distinct,
                rows_in_uniform_classes: disclosed.rows_in_uniform_classes,
                greatest_distance: disclosed.greatest_distance.map(given),
            });
        }
        Ok((found, sizes))
    }
}

/// Returns the sensitive attributes whose disclosure is measured. A generalized or masked attribute
/// is left out: its values can no longer be compared with the distribution in the source.
pub(super) fn comparable(job: &Job) -> Vec<&str> {
    let generalized = job.guarantees.generalized_attribute();
    let is_comparable = |s: &&Sensitive| Some(s.column.as_str()) != generalized && job.roles.mask(&s.column).is_none();
    let sensitive = job.roles.sensitive.iter().filter(is_comparable);
    sensitive.map(|s| s.column.as_str()).collect()
}

/// Returns the sizes of the classes of a table, counted as the first scan counts a source. Returns
/// `None` if the classes cannot be counted in this way.
pub(super) async fn sizes(session: &SessionContext, table: &ReleasedTable) -> Result<Option<Histogram>> {
    let counted = within_memory(counted_in_memory(session, table, &[]).await)?;
    Ok(counted.map(|counted| counted.sizes))
}

/// Returns `None` in place of a memory error.
pub(super) fn within_memory<T>(found: Result<Option<T>>) -> Result<Option<T>> {
    match found {
        Err(e) if e.kind() == ErrorKind::Resources => Ok(None),
        found => found,
    }
}

/// Counts the classes of a release with the values of each attribute. `classes` is the number of
/// classes, and `known` are the columns of the source that were read before. Returns `None` if a
/// column has values that cannot be coded, or if the classes do not fit in memory.
async fn counted(
    session: &SessionContext,
    released: &ReleasedTable,
    (attributes, known): (&[&str], Option<&KnownSource>),
    classes: u64,
) -> Result<Option<Counted>> {
    match within_memory(ordered(session, released, (attributes, known), classes).await)? {
        None => counted_in_memory(session, released, attributes).await,
        ordered => Ok(ordered),
    }
}

/// Counts the classes as the first scan counts a source, for rows in any order.
async fn counted_in_memory(
    session: &SessionContext,
    released: &ReleasedTable,
    attributes: &[&str],
) -> Result<Option<Counted>> {
    let partitions = session.copied_config().target_partitions();
    let Some(reading) = ReadingPlans::of(session, partitions, released, attributes).await? else {
        return Ok(None);
    };
    let context = session.task_ctx();
    let spill_space = SpillSpace::of(&context);
    let whole = reading.count_whole(&spill_space, session).await?;
    let ReadingPlans {
        released,
        keys,
        columns,
        ..
    } = reading;
    let streams = execute_stream_partitioned(released, Arc::clone(&context)).map_err(Error::from_data)?;
    let scan = Scan::read(&columns, streams, &spill_space, Default::default()).await?;
    let (memory, number) = (spill_space.reservation("anonsql disclosure"), attributes.len());
    let count = move || {
        // Both scans share the dictionaries.
        let counts = |whole: Marginals| (0..number).map(|i| Ok(whole.of(i)?.1)).collect::<Result<Vec<_>>>();
        let counts = whole.map(counts).transpose()?;
        let base = base_of(scan, &keys, counts, &spill_space)?;
        let BaseSet::Held(set) = &base.set else {
            return Ok(None);
        };
        if memory.try_resize(set.bytes()).is_err() {
            return Ok(None);
        }
        let disclosed = map(number, |i| disclosed(&base, i)).into_iter();
        let sizes = set.counts().iter().filter(|rows| **rows > 0);
        Ok(Some(Counted {
            disclosed: disclosed.collect::<Result<_>>()?,
            sizes: sizes.map(|rows| (*rows, 1)).collect(),
        }))
    };
    let pool = Pool::of(context.session_config());
    pool.compute("measuring what is disclosed", count).await
}

/// Returns the disclosure of the attribute with index `attribute` by all classes of `base`.
fn disclosed(base: &Base, attribute: usize) -> Result<Disclosed> {
    let set = base.held()?;
    let (detail, farthest) = (&set.details()[attribute], distances(base, attribute)?);
    let mut found = Disclosed::default();
    for class in 0..set.len() {
        let histogram: Vec<(u32, u64)> = detail.class(class).collect();
        found.add(set.counts()[class], &histogram, farthest.as_ref());
    }
    Ok(found)
}

/// Returns the figures of an attribute, computed by the audit queries of the models.
async fn queried(session: &SessionContext, released: &ReleasedTable, attribute: &str) -> Result<Disclosed> {
    let (fewest, farthest) = (
        model::weakest_l_diversity(),
        model::weakest_t_closeness(model::CATEGORICAL),
    );
    let promise = |model: &'static str, by| Promise {
        name: model.into(),
        model: by,
        groupings: vec![released.quasi_identifiers.clone()],
        attribute: Some(attribute.to_string()),
        hierarchy: None,
    };
    let promises = [promise("l", fewest.as_ref()), promise("t", farthest.as_ref())];
    let reached = released.check(session, &promises).await?;
    Ok(Disclosed {
        least_distinct: reached[0].reached.map(|l| l as u64),
        rows_in_uniform_classes: released.rows_in_uniform_classes(session, attribute).await?,
        greatest_distance: reached[1].reached,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
    use datafusion::datasource::MemTable;
    use datafusion::prelude::SessionConfig;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    type Row = (u8, Option<u8>, Option<u8>, Option<u8>);

    fn batch(rows: &[Row]) -> RecordBatch {
        let text = |value: Option<u8>| value.map(|v| v.to_string());
        let columns: Vec<(&str, ArrayRef)> = vec![
            (
                "age",
                Arc::new(rows.iter().map(|r| Some(i64::from(r.0))).collect::<Int64Array>()),
            ),
            ("zip", Arc::new(rows.iter().map(|r| text(r.1)).collect::<StringArray>())),
            ("v", Arc::new(rows.iter().map(|r| text(r.2)).collect::<StringArray>())),
            (
                "pay",
                Arc::new(
                    rows.iter()
                        .map(|r| r.3.map(|v| f64::from(v) - 1.0))
                        .collect::<Float64Array>(),
                ),
            ),
            (
                "score",
                Arc::new(rows.iter().map(|r| r.2.map(i64::from)).collect::<Int64Array>()),
            ),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap()
    }

    /// Returns the number of runs of equal keys in the partitions. Runs of one key at the ends of
    /// partitions count as one run.
    fn ordered_runs(partitions: &[&[Row]]) -> u64 {
        let (mut inside, mut at_ends) = (0, BTreeSet::new());
        for rows in partitions {
            let keys = rows.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
            let keys: Vec<_> = keys.map(|run| (run[0].0, run[0].1)).collect();
            inside += keys.len().saturating_sub(2) as u64;
            at_ends.extend(keys.first().into_iter().chain(keys.last()).copied());
        }
        inside + at_ends.len() as u64
    }

    proptest! {
        /// Tests that the figures of one scan equal the figures of the models' audits.
        #[test]
        fn counts_and_queries_agree(
            rows in prop::collection::vec((0u8..3, prop::option::of(0u8..2), prop::option::of(0u8..3), prop::option::of(0u8..3)), 0..24),
            suppressed in 0usize..6,
            has_whole in any::<bool>(),
            is_sorted in any::<bool>(),
            split in any::<prop::sample::Index>(),
        ) {
            let mut rows = rows;
            if is_sorted {
                rows.sort();
            }
            let released = &rows[suppressed.min(rows.len())..];
            let session = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(2));
            let (one, other) = released.split_at(split.index(released.len() + 1));
            let runs = ordered_runs(&[one, other]);
            let parts = vec![vec![batch(one)], vec![batch(other)]];
            let parts = MemTable::try_new(batch(released).schema(), parts).unwrap();
            session.register_table("released", Arc::new(parts)).unwrap();
            session.register_batch("whole", batch(&rows)).unwrap();
            let mut table = ReleasedTable::of("released", &["age".into(), "zip".into()], &["v".into(), "pay".into(), "score".into()], None);
            table.whole = has_whole.then(|| "whole".into());
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let found = counted_in_memory(&session, &table, &["v", "pay", "score"]).await.unwrap().unwrap();
                let classes = found.sizes.iter().map(|(_, classes)| classes).sum();
                let attributes = ["v", "pay", "score"];
                let known = KnownSource::read(&session, "whole", &attributes, true).await.unwrap();
                assert!(known.is_some());
                let in_order = ordered(&session, &table, (attributes.as_slice(), None), classes).await.unwrap();
                let with_known = ordered(&session, &table, (attributes.as_slice(), known.as_ref()), classes);
                let with_known = with_known.await.unwrap();
                assert_eq!(in_order.is_some(), has_whole && runs == classes);
                assert_eq!(with_known.is_some(), in_order.is_some());
                let steady = |d: Disclosed| Disclosed { greatest_distance: d.greatest_distance.map(steady), ..d };
                let asked = [
                    steady(queried(&session, &table, "v").await.unwrap()),
                    steady(queried(&session, &table, "pay").await.unwrap()),
                    steady(queried(&session, &table, "score").await.unwrap()),
                ];
                for counted in [Some(found), in_order, with_known].into_iter().flatten() {
                    let sizes: Vec<(u64, u64)> = counted.sizes.iter().collect();
                    let expected = table.histogram(&session, &table.quasi_identifiers).await.unwrap();
                    assert_eq!(sizes, expected.iter().collect::<Vec<_>>());
                    assert_eq!(counted.disclosed.into_iter().map(steady).collect::<Vec<_>>(), asked);
                }
            });
        }
    }
}
