//! What the classes of a release disclose of its sensitive attributes.
//!
//! These are figures of the released rows, beside the promises, which are recounted by queries of
//! their own. Rows are counted once for all attributes, as the first scan counts a source, and so are
//! the values of the rows before suppression. Where that is not possible, the queries of
//! l-diversity and t-closeness give the same figures, one by one.

use super::facts::Facts;
use crate::canonical::plain;
use crate::error::{Error, ErrorKind, Result};
use crate::frequency::{Base, BaseSet, Columns, DetailRequest, Marginals, Scan};
use crate::hierarchy::{Hierarchy, OnUnmapped};
use crate::job::{Constraint, Sensitive};
use crate::lattice::Node;
use crate::model::{self, Class, Subject};
use crate::pool::{Pool, map};
use crate::quoting::quote;
use crate::recount::{Promise, ReleasedTable, coded_plan, steady};
use crate::report::Disclosure;
use crate::risk::Histogram;
use crate::spill::SpillSpace;
use arrow::datatypes::SchemaRef;
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
    /// Returns the disclosure of each sensitive attribute by the classes of the released rows, and the
    /// sizes of these if they were counted with it.
    pub(super) async fn disclosure(&self) -> Result<(Vec<Disclosure>, Option<Histogram>)> {
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
        let (mut of_attributes, mut sizes) = (vec![], None);
        match counted {
            Some((base, _memory)) => {
                // A file of text has NULL and the empty text alike, which a class does not.
                let is_told = released.empty_is_null.is_empty() && released.null_labels.is_empty();
                sizes = is_told.then(|| sizes_in(&base)).transpose()?;
                let number = attributes.len();
                let figures = move || {
                    map(number, |i| disclosed(&base, i))
                        .into_iter()
                        .collect::<Result<Vec<_>>>()
                };
                let pool = Pool::of(&session.copied_config());
                of_attributes.extend(pool.compute("measuring what is disclosed", figures).await?);
            }
            None => {
                for attribute in &attributes {
                    of_attributes.push(queried(session, released, attribute).await?);
                }
            }
        }
        let mut found = vec![];
        for (attribute, disclosed) in attributes.iter().zip(of_attributes) {
            let full = job.constraints.iter().filter(|c| c.is_of_classes());
            let is_of = |c: &&Constraint| c.attribute.as_deref() == Some(*attribute);
            found.push(Disclosure {
                attribute: attribute.to_string(),
                models: full.filter(is_of).map(|c| c.describe(&job.quasi_identifiers)).collect(),
                least_distinct: disclosed.least_distinct,
                rows_in_uniform_classes: disclosed.rows_in_uniform_classes,
                greatest_distance: disclosed.greatest_distance.map(steady),
            });
        }
        Ok((found, sizes))
    }
}

/// Returns the query for the rows of a release: `keys` are the quasi-identifiers.
fn rows_of(released: &ReleasedTable, keys: &[String], attributes: &[&str]) -> String {
    let named = released.quasi_identifiers.iter().map(|column| quote(column));
    // Without a quasi-identifier, all rows are one class.
    let named = match released.quasi_identifiers.is_empty() {
        true => vec!["true".to_string()],
        false => named.collect(),
    };
    let named = named.iter().zip(keys).map(|(column, key)| format!("{column} AS {key}"));
    let values = (0..)
        .zip(attributes)
        .map(|(i, column)| format!("{} AS v{i}", quote(column)));
    let all: Vec<String> = named.chain(values).collect();
    format!("SELECT {} FROM {}", all.join(", "), released.released())
}

/// Returns the sizes of the classes of a table, counted like the first scan. Returns `None` if that is
/// not possible.
pub(super) async fn sizes(session: &SessionContext, table: &ReleasedTable) -> Result<Option<Histogram>> {
    match counted(session, table, &[]).await {
        Ok(Some((base, _memory))) => Ok(Some(sizes_in(&base)?)),
        Ok(None) => Ok(None),
        Err(e) if e.kind() == ErrorKind::Resources => Ok(None),
        Err(e) => Err(e),
    }
}

fn sizes_in(base: &Base) -> Result<Histogram> {
    let classes = base.held()?.counts().iter().filter(|rows| **rows > 0);
    Ok(classes.map(|rows| (*rows, 1)).collect())
}

/// Counts the classes with the values of each attribute, and the values of the rows before
/// suppression, with whose distribution classes are compared. Returns `None` if a column has values
/// that cannot be coded, or if the classes do not fit in memory.
async fn counted(
    session: &SessionContext,
    released: &ReleasedTable,
    attributes: &[&str],
) -> Result<Option<(Base, MemoryReservation)>> {
    let keys: Vec<String> = (0..released.quasi_identifiers.len().max(1))
        .map(|i| format!("g{i}"))
        .collect();
    let plan = coded_plan(session, &rows_of(released, &keys, attributes)).await?;
    let values = (0..attributes.len()).map(|i| DetailRequest::Values(format!("v{i}")));
    let Ok(columns) = Columns::new(&plan.schema(), &keys, &values.collect::<Vec<_>>()) else {
        return Ok(None);
    };
    let context = session.task_ctx();
    let spill_space = SpillSpace::of(&context);
    let whole = match released.whole.as_deref().filter(|_| !attributes.is_empty()) {
        Some(whole) => {
            let columns: Vec<String> = attributes.iter().map(|column| quote(column)).collect();
            let sql = format!("SELECT {} FROM {}", columns.join(", "), quote(whole));
            Some(coded_plan(session, &sql).await?)
        }
        None => None,
    };
    let counts = match whole {
        Some(whole) if !are_alike(&plan.schema(), &whole.schema()) => return Ok(None),
        Some(whole) => {
            let streams = execute_stream_partitioned(whole, Arc::clone(&context)).map_err(Error::from_data)?;
            let dictionaries = columns.details.iter().flat_map(|(_, shared)| shared.iter().cloned());
            Some(Marginals::read(dictionaries.collect(), streams, spill_space.pool()).await?)
        }
        None => None,
    };
    let streams = execute_stream_partitioned(plan, Arc::clone(&context)).map_err(Error::from_data)?;
    let scan = Scan::read(&columns, streams, &spill_space, Default::default()).await?;
    let memory = spill_space.reservation("anonsql disclosure");
    let merge = move || {
        let lookup = |(column, key): (usize, &String)| {
            let lookup = Hierarchy::suppression_of(key)?.bind(Arc::clone(scan.values(column)))?;
            Ok((Arc::new(lookup), OnUnmapped::Error))
        };
        let lookups = keys.iter().enumerate().map(lookup).collect::<Result<Vec<_>>>()?;
        let bottom = Node::new(vec![0; keys.len()]);
        let mut base = Base::new(scan, None, lookups, bottom, &spill_space)?;
        if let Some(counts) = counts {
            // Classes are compared with the rows before suppression. The dictionaries are those of
            // both scans.
            for (i, attribute) in base.attributes.iter_mut().enumerate() {
                attribute.counts = counts.of(i)?.1;
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

/// Returns true if the last columns of the released rows have the types of the whole table's.
fn are_alike(released: &SchemaRef, whole: &SchemaRef) -> bool {
    let own = released.fields().iter().rev().zip(whole.fields().iter().rev());
    own.into_iter().all(|(own, other)| {
        let (own, other) = (plain(own.data_type()), plain(other.data_type()));
        own == other || own.is_string() && other.is_string()
    })
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
    for class in 0..set.len() {
        let (size, histogram) = (set.counts()[class], detail.class(class).collect::<Vec<_>>());
        let distinct = histogram.len() as u64;
        let class = Class {
            size,
            population: 0,
            histogram: &histogram,
            labels: &[],
        };
        let farther = farthest.reached_above(&class, found.greatest_distance.unwrap_or(-1.0));
        found.least_distinct = Some(found.least_distinct.map_or(distinct, |least| least.min(distinct)));
        found.greatest_distance = farther.or(found.greatest_distance);
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
