//! What the classes of a release disclose of its sensitive attributes.
//!
//! These are figures of the released rows, beside the promises, which are recounted by queries of
//! their own. Rows are counted once for all attributes, as the first scan counts a source, and the
//! rows before suppression are one more class. Where that is not possible, the queries of
//! l-diversity and t-closeness give the same figures, one by one.

use super::facts::Facts;
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{Base, BaseSet, Columns, DetailRequest, FrequencySet, Scan};
use crate::hierarchy::{Hierarchy, OnUnmapped};
use crate::job::{Constraint, Sensitive};
use crate::key::KeySchema;
use crate::lattice::Node;
use crate::model::{self, Class, Subject};
use crate::pool::Pool;
use crate::quoting::quote;
use crate::recount::{Promise, ReleasedTable, steady};
use crate::report::Disclosure;
use crate::spill::SpillSpace;
use arrow::array::AsArray;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_plan::execute_stream_partitioned;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The figures of an attribute. Without a class, there is no least and no greatest.
#[derive(Debug, Default, PartialEq)]
struct Disclosed {
    least_distinct: Option<u64>,
    rows_in_uniform_classes: u64,
    greatest_distance: Option<f64>,
}

impl Facts<'_> {
    /// Returns the disclosure of each sensitive attribute by the classes of the released rows.
    pub(super) async fn disclosure(&self) -> Result<Vec<Disclosure>> {
        let job = self.job;
        let (session, released) = (&self.recounted.session, &self.recounted.released);
        // A generalized or masked attribute is left out: its values no longer compare with the
        // distribution in the source.
        let is_generalized = |s: &Sensitive| Some(s.column.as_str()) == self.generalized_attribute();
        let is_comparable = |s: &&Sensitive| !is_generalized(s) && job.mask(&s.column).is_none();
        let attributes: Vec<&str> = job
            .sensitive
            .iter()
            .filter(is_comparable)
            .map(|s| s.column.as_str())
            .collect();
        let counted = match job.entity {
            // Classes then count entities, of which one can have several values.
            Some(_) => None,
            None => match counted(session, released, &attributes).await {
                Err(e) if e.kind() == ErrorKind::Resources => None,
                counted => counted?,
            },
        };
        let mut found = vec![];
        for (i, attribute) in attributes.iter().enumerate() {
            let disclosed = match &counted {
                Some((base, _memory)) => disclosed(base, i)?,
                None => queried(session, released, attribute).await?,
            };
            let full = job.constraints.iter().filter(|c| c.is_of_classes());
            let is_of = |c: &&Constraint| c.attribute.as_deref() == Some(attribute);
            found.push(Disclosure {
                attribute: attribute.to_string(),
                models: full.filter(is_of).map(|c| c.describe(&job.quasi_identifiers)).collect(),
                least_distinct: disclosed.least_distinct,
                rows_in_uniform_classes: disclosed.rows_in_uniform_classes,
                greatest_distance: disclosed.greatest_distance.map(steady),
            });
        }
        Ok(found)
    }
}

/// Returns the query for the rows of a release, and for those of the whole table if it is known:
/// `keys` are the quasi-identifiers, and at last whether a row is one of the whole table.
fn with_whole(released: &ReleasedTable, keys: &[String], attributes: &[&str]) -> String {
    let named = released.quasi_identifiers.iter().zip(keys);
    let named = named.map(|(column, key)| format!("{} AS {key}", quote(column)));
    let values: Vec<String> = (0..)
        .zip(attributes)
        .map(|(i, column)| format!("{} AS v{i}", quote(column)))
        .collect();
    let own = named.chain(["false AS w".into()]).chain(values.iter().cloned());
    let sql = format!(
        "SELECT {} FROM {}",
        own.collect::<Vec<_>>().join(", "),
        released.released()
    );
    let Some(whole) = &released.whole else {
        return sql;
    };
    let nulls = keys[1..].iter().map(|_| "NULL".to_string());
    let all = nulls.chain(["true".into()]).chain(values);
    format!(
        "{sql} UNION ALL SELECT {} FROM {}",
        all.collect::<Vec<_>>().join(", "),
        quote(whole)
    )
}

/// Counts the classes with the values of each attribute; the last column of the keys says whether a
/// class is the whole table. Returns `None` if a column has values that cannot be coded, or if the
/// classes do not fit in memory.
async fn counted(
    session: &SessionContext,
    released: &ReleasedTable,
    attributes: &[&str],
) -> Result<Option<(Base, MemoryReservation)>> {
    let keys: Vec<String> = (0..released.quasi_identifiers.len())
        .map(|i| format!("g{i}"))
        .chain(["w".into()])
        .collect();
    let rows = session.sql(&with_whole(released, &keys, attributes)).await?;
    let plan = rows.create_physical_plan().await?;
    let values = (0..attributes.len()).map(|i| DetailRequest::Values(format!("v{i}")));
    let Ok(columns) = Columns::new(&plan.schema(), &keys, &values.collect::<Vec<_>>()) else {
        return Ok(None);
    };
    let context = session.task_ctx();
    let spill_space = SpillSpace::of(&context);
    let streams = execute_stream_partitioned(plan, Arc::clone(&context)).map_err(Error::from_data)?;
    let scan = Scan::read(&columns, streams, &spill_space, Default::default()).await?;
    let (memory, has_whole) = (spill_space.reservation("anonsql disclosure"), released.whole.is_some());
    let merge = move || {
        let lookup = |(column, key): (usize, &String)| {
            let lookup = Hierarchy::suppression_of(key)?.bind(Arc::clone(scan.values(column)))?;
            Ok((Arc::new(lookup), OnUnmapped::Error))
        };
        let lookups = keys.iter().enumerate().map(lookup).collect::<Result<Vec<_>>>()?;
        let bottom = Node::new(vec![0; keys.len()]);
        let mut base = Base::new(scan, None, lookups, bottom, &spill_space)?;
        if let (BaseSet::Held(set), true) = (base.set.clone(), has_whole) {
            // Classes are compared with the rows before suppression, and not with those and the
            // released ones together.
            for (attribute, detail) in base.attributes.iter_mut().zip(set.details()) {
                attribute.counts.fill(0);
                for (code, n) in divide(&base.key_schema, &set)
                    .0
                    .into_iter()
                    .flat_map(|class| detail.class(class))
                {
                    attribute.counts[code as usize] += n;
                }
            }
        }
        Ok(base)
    };
    let base = Pool::of(context.session_config())
        .compute("counting what is disclosed", merge)
        .await?;
    Ok(match &base.set {
        BaseSet::Held(set) if memory.try_resize(set.bytes()).is_ok() => Some((base, memory)),
        _ => None,
    })
}

/// Returns the classes of the rows before suppression, of which there is at most one, and those of
/// the released rows.
fn divide(key_schema: &KeySchema, set: &FrequencySet) -> (Vec<usize>, Vec<usize>) {
    let (layout, marker) = (key_schema.layout(), key_schema.lookups().len() - 1);
    let markers = key_schema.lookup(marker).values().as_boolean();
    (0..set.len()).partition(|class| markers.value(layout.code(set.key(*class), marker) as usize))
}

/// Returns the figures of attribute number `attribute`. Distances are the models' own, in whole
/// numbers.
fn disclosed(base: &Base, attribute: usize) -> Result<Disclosed> {
    let set = base.held()?;
    let detail = &set.details()[attribute];
    let farthest = model::weakest_t_closeness(model::CATEGORICAL).prepare(&Subject {
        base,
        attribute: Some(attribute),
        hierarchy: None,
    })?;
    let mut found = Disclosed::default();
    for class in divide(&base.key_schema, set).1 {
        let (size, histogram) = (set.counts()[class], detail.class(class).collect::<Vec<_>>());
        let distinct = histogram.len() as u64;
        let distance = farthest.reached(&Class {
            size,
            population: 0,
            histogram: &histogram,
            labels: &[],
        });
        found.least_distinct = Some(found.least_distinct.map_or(distinct, |least| least.min(distinct)));
        found.greatest_distance = found.greatest_distance.into_iter().chain(distance).reduce(f64::max);
        found.rows_in_uniform_classes += if distinct == 1 { size } else { 0 };
    }
    Ok(found)
}

/// Returns the figures of an attribute from the queries of the models.
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
    use proptest::prelude::*;

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
        ];
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap()
    }

    proptest! {
        /// The figures of one scan are those of the audits of the models.
        #[test]
        fn counts_and_queries_agree(
            rows in prop::collection::vec((0u8..3, prop::option::of(0u8..2), prop::option::of(0u8..3), prop::option::of(0u8..3)), 0..24),
            suppressed in 0usize..6,
            has_whole in any::<bool>(),
        ) {
            let released = &rows[suppressed.min(rows.len())..];
            let session = SessionContext::new();
            session.register_batch("released", batch(released)).unwrap();
            session.register_batch("whole", batch(&rows)).unwrap();
            let mut table = ReleasedTable::of("released", &["age".into(), "zip".into()], &["v".into(), "pay".into()], None);
            table.whole = has_whole.then(|| "whole".into());
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let (base, _memory) = counted(&session, &table, &["v", "pay"]).await.unwrap().unwrap();
                for (i, attribute) in ["v", "pay"].iter().enumerate() {
                    let steady = |d: Disclosed| Disclosed { greatest_distance: d.greatest_distance.map(steady), ..d };
                    let asked = steady(queried(&session, &table, attribute).await.unwrap());
                    assert_eq!(steady(disclosed(&base, i).unwrap()), asked);
                }
            });
        }
    }
}
