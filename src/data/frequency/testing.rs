//! Random tables with their hierarchies, for tests of results that are computed from a frequency
//! set.
//!
//! Columns contain small numbers and NULLs. Tests compute their expected values from
//! [`Table::rows`] and [`Groups::label`] with simple loops; [`Table::base`] uses the code under
//! test.

use super::{Base, Columns, DetailRequest, FrequencySet, Scan};
use crate::base::spill::SpillSpace;
use crate::method::hierarchy::{Hierarchy, Lookup, OnNull, OnUnmapped, TOP, values};
use crate::method::lattice::{Lattice, Node};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Int64Type, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::UnboundedMemoryPool;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One row of a table.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub(crate) quasi_identifiers: Vec<Option<i64>>,
    pub(crate) sensitive: Option<i64>,
    pub(crate) entity: Option<i64>,
    pub(crate) label: Option<i64>,
}

/// A hierarchy over the values `0..n`. For each level between level 0 and the top, it contains the
/// index of the group of each value.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    values: i64,
    levels: Vec<Vec<u8>>,
}

/// A value that no hierarchy lists. Rows with this value are suppressed.
const UNMAPPED: i64 = 99;

impl Groups {
    /// Creates a hierarchy with no level between the values and the top.
    pub(crate) fn flat(values: i64) -> Self {
        Self { values, levels: vec![] }
    }

    /// Returns the level of the top.
    pub(crate) fn height(&self) -> u8 {
        self.levels.len() as u8 + 1
    }

    /// Returns the listed ground values.
    pub(crate) fn values(&self) -> std::ops::Range<i64> {
        0..self.values
    }

    /// Returns the label of a value at a level.
    pub(crate) fn label(&self, level: u8, value: Option<i64>) -> Option<String> {
        match level {
            0 => value.map(|v| v.to_string()),
            l if l == self.height() => Some(TOP.into()),
            l => value.map(|v| format!("{l}:{}", self.levels[usize::from(l) - 1][v as usize])),
        }
    }

    /// Converts this hierarchy to a [`Hierarchy`].
    pub(crate) fn hierarchy(&self) -> Hierarchy {
        let row = |v| (0..=self.height()).map(|l| self.label(l, Some(v))).collect();
        let rows: Vec<Vec<Option<String>>> = self.values().map(row).collect();
        let rule = values::listed(&rows).unwrap();
        Hierarchy::new("h", Arc::new(rule), OnUnmapped::Suppress, OnNull::Value).unwrap()
    }
}

/// A table with a hierarchy for each quasi-identifier and for the sensitive attribute, and with a
/// population.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) rows: Vec<Row>,
    pub(crate) groups: Vec<Groups>,
    pub(crate) tree: Groups,
    pub(crate) population: Vec<Vec<Option<i64>>>,
    /// True if classes count entities.
    pub(crate) per_entity: bool,
    /// True if the quasi-identifiers are strings.
    pub(crate) texts: bool,
}

/// The index of the sensitive attribute among the details of [`Table::base`].
pub(crate) const SENSITIVE: usize = 0;
/// The index of the class label among the details of [`Table::base`].
pub(crate) const LABEL: usize = 1;

impl Table {
    /// Returns the lattice of all nodes.
    pub(crate) fn lattice(&self) -> Lattice {
        Lattice::with_tops(&self.groups.iter().map(Groups::height).collect::<Vec<u8>>())
    }

    /// Returns the labels of a class. The key of the class contains the minimum ground code of each
    /// group, which may be the code of a suppressed value. Any other mapped code of the group has
    /// the labels of the class.
    pub(crate) fn class_key(&self, base: &Base, set: &FrequencySet, class: usize) -> Vec<Option<String>> {
        let node = set.node();
        let ground = (0..self.groups.len()).map(|column| {
            let lookup = base.key_schema.lookup(column);
            let representatives = &lookup.level(node.level(column)).representatives;
            let least = base.key_schema.layout().code(set.key(class), column);
            let alike = |c: &u32| representatives[*c as usize] == least && !lookup.is_unmapped(*c as usize);
            let code = (0..representatives.len() as u32).find(alike).unwrap();
            Self::ground(lookup.values(), code)
        });
        self.key(&ground.collect::<Vec<_>>(), node).unwrap()
    }

    /// Returns the labels of a row's quasi-identifiers at a node; `None` if a hierarchy suppresses
    /// the row.
    pub(crate) fn key(&self, quasi_identifiers: &[Option<i64>], node: &Node) -> Option<Vec<Option<String>>> {
        let columns = quasi_identifiers.iter().zip(&self.groups).zip(node.levels());
        columns
            .map(|((value, groups), level)| {
                value
                    .is_none_or(|v| groups.values().contains(&v))
                    .then(|| groups.label(*level, *value))
            })
            .collect()
    }

    /// Returns the ground value with this code.
    fn ground(values: &ArrayRef, code: u32) -> Option<i64> {
        let numbers = cast(values, &DataType::Int64).unwrap();
        let numbers = numbers.as_primitive::<Int64Type>();
        (!numbers.is_null(code as usize)).then(|| numbers.value(code as usize))
    }

    /// Returns the classes of a node: the rows with each key.
    pub(crate) fn classes(&self, node: &Node) -> BTreeMap<Vec<Option<String>>, Vec<&Row>> {
        let mut classes: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
        for row in &self.rows {
            if let Some(key) = self.key(&row.quasi_identifiers, node) {
                classes.entry(key).or_default().push(row);
            }
        }
        classes
    }

    /// Returns the details of [`Table::base`].
    fn details(&self) -> Vec<DetailRequest> {
        let attribute = match self.per_entity {
            true => DetailRequest::Pairs {
                entity: "e".into(),
                values: "s".into(),
            },
            false => DetailRequest::Values("s".into()),
        };
        let mut details = vec![attribute, DetailRequest::Values("c".into())];
        if self.per_entity {
            details.push(DetailRequest::Distinct("e".into()));
        }
        details
    }

    /// Scans the table in two partitions, and returns the base frequency set with all details and
    /// the population.
    pub(crate) fn base(&self) -> Base {
        let spill_space = SpillSpace::memory(Arc::new(UnboundedMemoryPool::default()));
        let (sample, population) = self.whole_scan(&spill_space, usize::MAX);
        let lookups = self.lookups(&population);
        Base::new(sample, Some(population), lookups, self.bottom(), &spill_space).unwrap()
    }

    /// Returns the base frequency set without details and population, in memory.
    pub(crate) fn bare_base(&self) -> Base {
        let spill_space = SpillSpace::memory(Arc::new(UnboundedMemoryPool::default()));
        let scan = self.bare_scan(&spill_space, usize::MAX);
        let lookups = self.lookups(&scan);
        Base::new(scan, None, lookups, self.bottom(), &spill_space).unwrap()
    }

    /// Returns the base set of [`Table::base`] in spill files. The table is scanned in small
    /// batches, with `share` bytes of combinations per partition.
    pub(crate) fn spilled_whole_base(&self, share: usize) -> Base {
        let spill_space = SpillSpace::unlimited();
        let (sample, population) = self.whole_scan(&spill_space, share);
        self.spilled((sample, Some(population)), &spill_space)
    }

    /// Returns the base set of [`Table::bare_base`] in spill files. The table is scanned as in
    /// [`Table::spilled_whole_base`].
    pub(crate) fn spilled_base(&self, share: usize) -> Base {
        let spill_space = SpillSpace::unlimited();
        let scan = self.bare_scan(&spill_space, share);
        self.spilled((scan, None), &spill_space)
    }

    fn spilled(&self, scans: (Scan, Option<Scan>), spill_space: &SpillSpace) -> Base {
        let lookups = self.lookups(&scans.0);
        Base::in_files(scans, lookups, self.bottom(), spill_space)
    }

    fn whole_scan(&self, spill_space: &SpillSpace, share: usize) -> (Scan, Scan) {
        let columns = self.columns(&self.details());
        let (first, second) = self.rows.split_at(self.rows.len() / 2);
        let people: Vec<Row> = self.population.iter().map(|q| Row::of(q.clone())).collect();
        runtime().block_on(async {
            let streams = vec![self.stream(first), self.stream(second)];
            let sample = Scan::within(&columns, streams, spill_space, share, Arc::default());
            let mut sample = sample.await.unwrap();
            let bare = columns.without_details();
            let population = Scan::within(&bare, vec![self.stream(&people)], spill_space, share, Arc::default());
            let population = population.await.unwrap();
            sample.refresh(&columns).unwrap();
            (sample, population)
        })
    }

    /// Scans the quasi-identifiers in two partitions, with `share` bytes of combinations each.
    pub(crate) fn bare_scan(&self, spill_space: &SpillSpace, share: usize) -> Scan {
        let (first, second) = self.rows.split_at(self.rows.len() / 3);
        let streams = vec![self.stream(first), self.stream(second)];
        let columns = self.columns(&[]);
        let scan = Scan::within(&columns, streams, spill_space, share, Arc::default());
        runtime().block_on(scan).unwrap()
    }

    fn bottom(&self) -> Node {
        Node::new(vec![0; self.groups.len()])
    }

    fn names(&self) -> Vec<String> {
        (0..self.groups.len()).map(|i| format!("q{i}")).collect()
    }

    fn schema(&self) -> SchemaRef {
        let quasi = if self.texts { DataType::Utf8 } else { DataType::Int64 };
        let quasi = self.names().into_iter().map(|n| Field::new(n, quasi.clone(), true));
        let others = ["s", "e", "c"].map(|n| Field::new(n, DataType::Int64, true));
        Arc::new(Schema::new(quasi.chain(others).collect::<Vec<_>>()))
    }

    fn columns(&self, details: &[DetailRequest]) -> Columns {
        Columns::new(&self.schema(), &self.names(), details).unwrap()
    }

    /// Returns a stream of the rows in small batches.
    fn stream(&self, rows: &[Row]) -> SendableRecordBatchStream {
        let schema = self.schema();
        let batch = |rows: &[Row]| {
            let column = |values: Vec<Option<i64>>| Arc::new(Int64Array::from(values)) as ArrayRef;
            let quasi = (0..self.groups.len()).map(|i| {
                let numbers = column(rows.iter().map(|r| r.quasi_identifiers[i]).collect());
                cast(&numbers, schema.field(i).data_type()).unwrap()
            });
            let others = [|r: &Row| r.sensitive, |r: &Row| r.entity, |r: &Row| r.label];
            let columns = quasi.chain(others.into_iter().map(|f| column(rows.iter().map(f).collect())));
            RecordBatch::try_new(Arc::clone(&schema), columns.collect()).unwrap()
        };
        let batches: Vec<_> = rows.chunks(7).map(|rows| Ok(batch(rows))).collect();
        let batches = futures::stream::iter(batches);
        Box::pin(RecordBatchStreamAdapter::new(schema, batches))
    }

    fn lookups(&self, scan: &Scan) -> Vec<(Arc<Lookup>, OnUnmapped)> {
        let columns = self.groups.iter().enumerate();
        columns
            .map(|(i, groups)| {
                let lookup = groups.hierarchy().bind(Arc::clone(scan.values(i))).unwrap();
                (Arc::new(lookup), OnUnmapped::Suppress)
            })
            .collect()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

impl Row {
    pub(crate) fn of(quasi_identifiers: Vec<Option<i64>>) -> Self {
        Self {
            quasi_identifiers,
            sensitive: None,
            entity: None,
            label: None,
        }
    }
}

/// Generates hierarchies of nested groups.
fn groups(values: std::ops::Range<usize>, levels: std::ops::Range<usize>) -> impl Strategy<Value = Groups> {
    values
        .prop_flat_map(move |n| {
            prop::collection::vec(prop::collection::vec(0u8..3, n), levels.clone()).prop_map(move |m| (n, m))
        })
        .prop_map(|(n, merges)| {
            let mut levels: Vec<Vec<u8>> = vec![];
            for merge in merges {
                let below = levels.last().cloned().unwrap_or_else(|| (0..n as u8).collect());
                levels.push(below.iter().map(|group| merge[usize::from(*group)] % n as u8).collect());
            }
            Groups {
                values: n as i64,
                levels,
            }
        })
}

fn value(values: i64, unmapped: u32) -> impl Strategy<Value = Option<i64>> {
    prop_oneof![
        20 => (0..values).prop_map(Some),
        2 => Just(None),
        unmapped => Just(Some(UNMAPPED)),
    ]
}

/// Generates tables of 0 to 39 rows. The population contains the sample.
pub(crate) fn table() -> impl Strategy<Value = Table> {
    let columns = prop::collection::vec(groups(1..5, 0..3), 1..4);
    (columns, groups(2..6, 0..3), any::<(bool, bool)>(), 1i64..30).prop_flat_map(
        |(groups, tree, (per_entity, texts), entities)| {
            let quasi: Vec<_> = groups
                .iter()
                .map(|g| value(g.values, u32::from(g.values % 2 == 0)))
                .collect();
            let other: Vec<_> = groups.iter().map(|g| value(g.values, 1)).collect();
            let row = (quasi, value(tree.values, 0), value(entities, 0), value(3, 0));
            let row = row.prop_map(|(quasi_identifiers, sensitive, entity, label)| Row {
                quasi_identifiers,
                sensitive,
                entity,
                label,
            });
            let rows = prop::collection::vec(row, 0..40);
            let others = prop::collection::vec(other, 0..20);
            (rows, others, Just(groups), Just(tree)).prop_map(move |(rows, others, groups, tree)| Table {
                population: rows.iter().map(|r| r.quasi_identifiers.clone()).chain(others).collect(),
                rows,
                groups,
                tree,
                per_entity,
                texts,
            })
        },
    )
}
