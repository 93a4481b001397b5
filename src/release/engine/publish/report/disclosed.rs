//! The disclosure of one attribute by the classes of a release, and the plans that read their rows.

use crate::base::error::{Error, Result};
use crate::base::quoting::quote;
use crate::base::spill::SpillSpace;
use crate::data::frequency::{Base, Columns, DetailRequest, Marginals, Scan};
use crate::data::model::{self, Class, Predicate, Subject};
use crate::method::canonical::plain;
use crate::method::hierarchy::{Hierarchy, OnUnmapped};
use crate::method::lattice::Node;
use crate::method::risk::Histogram;
use crate::release::recount::{ReleasedTable, coded_plan};
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, execute_stream_partitioned};
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The figures of an attribute. `least_distinct` and `greatest_distance` are `None` if there is no
/// class.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Disclosed {
    pub(super) least_distinct: Option<u64>,
    pub(super) rows_in_uniform_classes: u64,
    pub(super) greatest_distance: Option<f64>,
}

impl Disclosed {
    /// Adds a class of `size` rows, with the number of rows of each of its values. `farthest` is
    /// the predicate that [`distances`] returned for the attribute.
    pub(super) fn add(&mut self, size: u64, histogram: &[(u32, u64)], farthest: &dyn Predicate) {
        let distinct = histogram.len() as u64;
        let class = Class {
            size,
            population: 0,
            histogram,
            labels: &[],
        };
        let farther = farthest.reached_above(&class, self.greatest_distance.unwrap_or(-1.0));
        self.least_distinct = Some(self.least_distinct.map_or(distinct, |least| least.min(distinct)));
        self.greatest_distance = farther.or(self.greatest_distance);
        self.rows_in_uniform_classes += if distinct == 1 { size } else { 0 };
    }

    /// Adds the figures of other classes.
    pub(super) fn merge(&mut self, other: Self) {
        let least = [self.least_distinct, other.least_distinct].into_iter().flatten();
        self.least_distinct = least.min();
        let distances = [self.greatest_distance, other.greatest_distance].into_iter().flatten();
        self.greatest_distance = distances.reduce(f64::max);
        self.rows_in_uniform_classes += other.rows_in_uniform_classes;
    }
}

/// The disclosure of each attribute by the classes of a release, and the sizes of the classes.
pub(super) struct Counted {
    /// The disclosure of each attribute, in the order of the attributes.
    pub(super) disclosed: Vec<Disclosed>,
    /// The sizes of the classes.
    pub(super) sizes: Histogram,
}

/// Returns the predicate that measures how far the classes are from the whole table in the
/// attribute with index `attribute`. The distances are computed with integers, as in the models.
pub(super) fn distances(base: &Base, attribute: usize) -> Result<Box<dyn Predicate>> {
    model::weakest_t_closeness(model::CATEGORICAL).prepare(&Subject {
        base,
        attribute: Some(attribute),
        hierarchy: None,
    })
}

/// The plans that read the rows of a release with some attributes, and the rows of the source.
pub(super) struct ReadingPlans {
    /// Reads the quasi-identifiers of the release, and then the attributes.
    pub(super) released: Arc<dyn ExecutionPlan>,
    /// Reads the attributes of the rows before suppression, if these rows are known.
    pub(super) whole: Option<Arc<dyn ExecutionPlan>>,
    /// The names of the quasi-identifiers in the plan's rows.
    pub(super) keys: Vec<String>,
    pub(super) columns: Columns,
}

impl ReadingPlans {
    /// Builds the plans that read the rows, with the rows of the release in `partitions`
    /// partitions. Returns `None` if a column has values that cannot be coded, or a different type
    /// than in the source.
    pub(super) async fn of(
        session: &SessionContext,
        partitions: usize,
        released: &ReleasedTable,
        attributes: &[&str],
    ) -> Result<Option<Self>> {
        let keys: Vec<String> = (0..released.quasi_identifiers.len().max(1))
            .map(|i| format!("g{i}"))
            .collect();
        let plan = coded_plan(session, partitions, &rows_of(released, &keys, attributes)).await?;
        let whole = match released.whole.as_deref().filter(|_| !attributes.is_empty()) {
            Some(whole) => {
                let columns: Vec<String> = attributes.iter().map(|column| quote(column)).collect();
                let sql = format!("SELECT {} FROM {}", columns.join(", "), quote(whole));
                Some(coded_plan(session, session.copied_config().target_partitions(), &sql).await?)
            }
            None => None,
        };
        let values = (0..attributes.len()).map(|i| DetailRequest::Values(format!("v{i}")));
        let Ok(columns) = Columns::new(&plan.schema(), &keys, &values.collect::<Vec<_>>()) else {
            return Ok(None);
        };
        let own = Self {
            released: plan,
            whole,
            keys,
            columns,
        };
        Ok(Some(own).filter(Self::is_of_the_same_types))
    }

    /// Builds the plans like [`ReadingPlans::of`]. In each partition, the rows of the release are
    /// consecutive rows of the files.
    pub(super) async fn in_order(
        session: &SessionContext,
        released: &ReleasedTable,
        attributes: &[&str],
    ) -> Result<Option<Self>> {
        let partitions = session.copied_config().target_partitions();
        let found = Self::of(session, partitions, released, attributes).await?;
        match found {
            Some(own) if !are_consecutive(own.released.as_ref()) => Self::of(session, 1, released, attributes).await,
            found => Ok(found),
        }
    }

    /// Returns true if the attributes have the same types in the release and in the source.
    fn is_of_the_same_types(&self) -> bool {
        let (own, whole) = (self.released.schema(), self.whole.as_ref().map(|whole| whole.schema()));
        let fields = whole.iter().flat_map(|whole| whole.fields().iter().rev());
        own.fields().iter().rev().zip(fields).all(|(own, other)| {
            let (own, other) = (plain(own.data_type()), plain(other.data_type()));
            own == other || own.is_string() && other.is_string()
        })
    }

    /// Counts the values of the source, with the dictionaries of the release.
    pub(super) async fn count_whole(
        &self,
        spill_space: &SpillSpace,
        session: &SessionContext,
    ) -> Result<Option<Marginals>> {
        let Some(whole) = &self.whole else {
            return Ok(None);
        };
        let streams = execute_stream_partitioned(Arc::clone(whole), session.task_ctx()).map_err(Error::from_data)?;
        let dictionaries = self
            .columns
            .details
            .iter()
            .flat_map(|(_, shared)| shared.iter().cloned());
        Marginals::read(dictionaries.collect(), streams, spill_space.pool())
            .await
            .map(Some)
    }
}

/// Returns true if the rows of each partition are consecutive rows of the files. The rows are not
/// consecutive if an operator distributes the rows among the partitions.
fn are_consecutive(plan: &dyn ExecutionPlan) -> bool {
    !plan.is::<RepartitionExec>() && plan.children().iter().all(|child| are_consecutive(child.as_ref()))
}

/// Returns the query for the rows of a release. `keys` are the names of the quasi-identifiers in
/// the result.
fn rows_of(released: &ReleasedTable, keys: &[String], attributes: &[&str]) -> String {
    // Without a quasi-identifier, all rows are one class.
    let named: Vec<String> = match released.quasi_identifiers.is_empty() {
        true => vec!["true".into()],
        false => released.quasi_identifiers.iter().map(|column| quote(column)).collect(),
    };
    let named = named.iter().zip(keys).map(|(column, key)| format!("{column} AS {key}"));
    let values = (0..)
        .zip(attributes)
        .map(|(i, column)| format!("{} AS v{i}", quote(column)));
    let all: Vec<String> = named.chain(values).collect();
    format!("SELECT {} FROM {}", all.join(", "), released.released())
}

/// Returns the classes of a scan. If the rows before suppression were counted, the classes are
/// compared with these rows.
pub(super) fn base_of(
    scan: Scan,
    keys: &[String],
    counts: Option<Vec<Vec<u64>>>,
    spill_space: &SpillSpace,
) -> Result<Base> {
    let lookup = |(column, key): (usize, &String)| {
        let lookup = Hierarchy::suppression_of(key)?.bind(Arc::clone(scan.values(column)))?;
        Ok((Arc::new(lookup), OnUnmapped::Error))
    };
    let lookups = keys.iter().enumerate().map(lookup).collect::<Result<Vec<_>>>()?;
    let bottom = Node::new(vec![0; keys.len()]);
    let mut base = Base::new(scan, None, lookups, bottom, spill_space)?;
    if let Some(counts) = counts {
        for (attribute, counts) in base.attributes.iter_mut().zip(counts) {
            attribute.counts = counts;
        }
    }
    Ok(base)
}
