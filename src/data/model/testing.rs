//! A random table in a DataFusion session, with its release, its population and its hierarchies.
//! Tests run the audits of models in this session.

use super::brute::{Released, leaves};
use super::{LabelSpans, Relation, Tree};
use crate::data::frequency::testing::{Row, Table};
use crate::method::hierarchy::TOP;
use crate::method::lattice::Node;
use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::Float64Type;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// Returns a session with these tables: the released rows of some classes of a node, the whole
/// table, the population, and the tree of the sensitive attribute.
pub(super) fn session(table: &Table, node: &Node, released: &Released) -> SessionContext {
    let session = SessionContext::new();
    let numbers = |values: Vec<Option<i64>>| Arc::new(Int64Array::from(values)) as ArrayRef;
    let texts = |values: Vec<Option<String>>| Arc::new(StringArray::from(values)) as ArrayRef;
    let register = |name: &str, columns: Vec<(String, ArrayRef)>| {
        let columns = columns.into_iter().map(|(name, values)| (name, values, true));
        session
            .register_batch(name, RecordBatch::try_from_iter_with_nullable(columns).unwrap())
            .unwrap();
    };
    let width = table.groups.len();
    let keys = |keys: Vec<&Vec<Option<String>>>| -> Vec<(String, ArrayRef)> {
        let column = |i: usize| {
            (
                format!("g{}", width - i),
                texts(keys.iter().map(|k| k[i].clone()).collect()),
            )
        };
        (0..width).map(column).collect()
    };
    let rows: Vec<(&Vec<Option<String>>, &Row)> = released
        .iter()
        .flat_map(|(key, rows)| rows.iter().map(move |r| (key, *r)))
        .collect();
    let mut columns = keys(rows.iter().map(|r| r.0).collect());
    columns.push(("n".into(), numbers(rows.iter().map(|r| r.1.sensitive).collect())));
    columns.push(("v".into(), numbers(rows.iter().map(|r| r.1.entity).collect())));
    register("released", columns);
    let all = |f: fn(&Row) -> Option<i64>| numbers(table.rows.iter().map(f).collect());
    register(
        "whole",
        vec![("n".into(), all(|r| r.sensitive)), ("v".into(), all(|r| r.entity))],
    );
    let people: Vec<_> = table.population.iter().filter_map(|q| table.key(q, node)).collect();
    register("people", keys(people.iter().collect()));
    let mut values: Vec<Option<i64>> = table.tree.values().map(Some).collect();
    values.push(None);
    let mut columns = vec![("value".to_string(), numbers(values.clone()))];
    for level in 1..=table.tree.height() {
        let labels = values.iter().map(|v| table.tree.label(level, *v)).collect();
        columns.push((format!("level{level}"), texts(labels)));
    }
    register("tree", columns);
    session
}

/// Returns the relation of a table in the session. Some column names are names that audits use with
/// another meaning.
pub(super) fn relation(table: &Table) -> Relation {
    Relation {
        released: "released".into(),
        group: (0..table.groups.len())
            .map(|i| format!("\"g{}\"", table.groups.len() - i))
            .collect(),
        attribute: Some("\"n\"".into()),
        entity: table.per_entity.then(|| "\"v\"".into()),
        whole: Some("whole".into()),
        attribute_tree: Some(Tree {
            relation: "tree".into(),
            value: "\"value\"".into(),
            leaves: vec![],
            levels: (1..=table.tree.height()).map(|l| format!("level{l}")).collect(),
        }),
        population: Some("people".into()),
        labels: vec![],
        ladders: vec![],
    }
}

/// Registers one relation in `session` for each quasi-identifier. The relation contains the number
/// of leaves under each label at the level of `node`. Returns the relations.
pub(super) fn labels(session: &SessionContext, table: &Table, node: &Node) -> Vec<LabelSpans> {
    let column = |i: usize| {
        let values: Vec<Option<i64>> = table.groups[i].values().map(Some).chain([None]).collect();
        let labels: std::collections::BTreeSet<_> = values
            .iter()
            .map(|v| table.groups[i].label(node.level(i), *v))
            .collect();
        let under = labels.iter().map(|l| leaves(table, i, node.level(i), l) as i64);
        let under = Arc::new(under.collect::<Int64Array>()) as ArrayRef;
        let texts = Arc::new(labels.iter().cloned().collect::<StringArray>()) as ArrayRef;
        let batch =
            RecordBatch::try_from_iter_with_nullable([("label", texts, true), ("leaves", under, true)]).unwrap();
        session.register_batch(format!("labels_{i}"), batch).unwrap();
        LabelSpans::Listed {
            relation: format!("labels_{i}"),
            of: leaves(table, i, table.groups[i].height(), &Some(TOP.into())),
        }
    };
    (0..table.groups.len()).map(column).collect()
}

/// Returns the only number in the result of a query; `None` for NULL.
pub(super) fn run(session: &SessionContext, sql: &str) -> Option<f64> {
    let found = values(session, sql);
    assert!(found.len() == 1, "one number: {sql}");
    found[0]
}

pub(super) fn numbers(session: &SessionContext, sql: &str) -> Vec<f64> {
    values(session, sql).into_iter().flatten().collect()
}

/// Returns the only column in the result of a query.
fn values(session: &SessionContext, sql: &str) -> Vec<Option<f64>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let batches = runtime.block_on(async {
        let frame = session.sql(sql).await.unwrap_or_else(|e| panic!("{e}\n{sql}"));
        frame.collect().await.unwrap_or_else(|e| panic!("{e}\n{sql}"))
    });
    let column = |batch: &RecordBatch| {
        assert!(batch.num_columns() == 1, "one column: {sql}");
        let values = arrow::compute::cast(batch.column(0), &arrow::datatypes::DataType::Float64).unwrap();
        values.as_primitive::<Float64Type>().iter().collect::<Vec<_>>()
    };
    batches.iter().flat_map(column).collect()
}

/// Returns the number of rows in the population that belong to a class.
pub(super) fn people_in_classes(table: &Table, node: &Node) -> usize {
    table.population.iter().filter(|q| table.key(q, node).is_some()).count()
}
