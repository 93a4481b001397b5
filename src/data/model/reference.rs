//! Tests of the models against optima on the Adult data set (ANONSQL_SHARED/reference), which
//! others found by brute force.

use super::*;
use crate::base::catalogue::{Argument, Value};
use crate::base::spill::SpillSpace;
use crate::data::frequency::{Base, Columns, DetailRequest, FrequencySet, Scan};
use crate::method::hierarchy::{Hierarchy, OnNull, OnUnmapped, file};
use crate::method::lattice::{Lattice, Node};
use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use arrow::record_batch::RecordBatch;
use datafusion::execution::memory_pool::UnboundedMemoryPool;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SENSITIVE: &str = "occupation";

fn shared() -> Option<PathBuf> {
    let shared = std::env::var_os("ANONSQL_SHARED").map(PathBuf::from);
    let found = shared.filter(|s| s.join("reference").is_dir());
    assert!(
        found.is_some() || std::env::var("CI").as_deref() != Ok("true"),
        "ANONSQL_SHARED is needed under CI=true"
    );
    if found.is_none() {
        eprintln!("ignored: ANONSQL_SHARED is not there");
    }
    found
}

fn hierarchy(shared: &Path, column: &str) -> Hierarchy {
    let path = shared.join(format!("data/adult_arx_hier/{column}.csv"));
    let table = file::read(&path.to_string_lossy(), &file::FileOptions::default()).unwrap();
    Hierarchy::new(column, Arc::new(table), OnUnmapped::Error, OnNull::Value).unwrap()
}

/// Returns the Adult data set with all columns except the sensitive column as quasi-identifiers, in
/// file order.
fn adult(shared: &Path) -> (Vec<String>, Base) {
    let text = std::fs::read_to_string(shared.join("data/adult_arx.csv")).unwrap();
    let mut lines = text.lines();
    let header: Vec<String> = lines.next().unwrap().split(',').map(Into::into).collect();
    let rows: Vec<Vec<&str>> = lines.map(|l| l.split(',').collect()).collect();
    let column = |i: usize| Arc::new(rows.iter().map(|r| Some(r[i])).collect::<StringArray>()) as ArrayRef;
    let fields: Vec<Field> = header.iter().map(|n| Field::new(n, DataType::Utf8, true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), (0..header.len()).map(column).collect()).unwrap();
    let names: Vec<String> = header.into_iter().filter(|n| n != SENSITIVE).collect();
    let details = [DetailRequest::Values(SENSITIVE.into())];
    let columns = Columns::new(&schema, &names, &details).unwrap();
    let stream = RecordBatchStreamAdapter::new(Arc::clone(&schema), futures::stream::iter(vec![Ok(batch)]));
    let spill_space = SpillSpace::memory(Arc::new(UnboundedMemoryPool::default()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let scan = runtime
        .block_on(Scan::read(
            &columns,
            vec![Box::pin(stream)],
            &spill_space,
            Arc::default(),
        ))
        .unwrap();
    let bind = |(i, name): (usize, &String)| {
        let lookup = hierarchy(shared, name).bind(Arc::clone(scan.values(i))).unwrap();
        (Arc::new(lookup), OnUnmapped::Error)
    };
    let lookups = names.iter().enumerate().map(bind).collect();
    let bottom = Node::new(vec![0; names.len()]);
    let base = Base::new(scan, None, lookups, bottom, &spill_space).unwrap();
    (names, base)
}

/// Builds the model of a call such as `alpha_k(0.4, 5)`.
fn model(call: &str) -> Box<dyn PrivacyModel> {
    let (name, args) = call.trim_end_matches(')').split_once('(').unwrap();
    let argument = |text: &str| Argument {
        name: None,
        value: match (text.parse(), text.parse()) {
            (Ok(whole), _) => Value::Integer(whole),
            (_, Ok(real)) => Value::Real(real),
            _ => Value::Word(text.into()),
        },
    };
    build(&Call {
        name: name.into(),
        args: args.split(", ").map(argument).collect(),
    })
    .unwrap()
}

/// One line of the reference file, with its prepared model.
struct Line {
    given: Json,
    predicate: Box<dyn Predicate>,
}

impl Line {
    fn number(&self, field: &str) -> u64 {
        self.given[field].as_u64().unwrap()
    }

    /// Returns the discernibility, the suppressed rows and the number of classes of a node.
    fn evaluate(&self, base: &Base, set: &FrequencySet) -> (u128, u64, u64) {
        let (mut squares, mut suppressed, mut classes) = (0, 0, 0);
        for (i, n) in set.counts().iter().enumerate() {
            let histogram: Vec<(u32, u64)> = set.details()[0].class(i).collect();
            let class = Class {
                size: *n,
                population: 0,
                labels: &[],
                histogram: &histogram,
            };
            if *n >= 5 && self.predicate.holds(&class) {
                squares += u128::from(*n) * u128::from(*n);
                classes += 1;
            } else {
                suppressed += n;
            }
        }
        (
            squares + u128::from(suppressed) * u128::from(base.rows),
            suppressed,
            classes,
        )
    }

    fn expected(&self) -> (u128, u64, u64) {
        let fields = ["value", "suppressed_rows", "classes"].map(|f| self.number(f));
        (u128::from(fields[0]), fields[1], fields[2])
    }
}

fn lines(shared: &Path, base: &Base) -> Vec<Line> {
    let text = std::fs::read_to_string(shared.join("reference/adult_sensitive_given.jsonl")).unwrap();
    let tree = hierarchy(shared, SENSITIVE)
        .bind(Arc::clone(&base.attributes[0].values))
        .unwrap();
    let subject = Subject {
        base,
        attribute: Some(0),
        hierarchy: Some(&tree),
    };
    let line = |text: &str| {
        let given: Json = serde_json::from_str(text).unwrap();
        Line {
            predicate: model(given["model"].as_str().unwrap()).prepare(&subject).unwrap(),
            given,
        }
    };
    text.lines().map(line).collect()
}

#[test]
fn the_optimal_nodes_have_the_given_value_and_suppressed_rows() {
    let Some(shared) = shared() else { return };
    let (names, base) = adult(&shared);
    let lines = lines(&shared, &base);
    assert_eq!(lines.len(), 22);
    for line in lines {
        let levels = names.iter().map(|n| line.given["node"][n].as_u64().unwrap() as u8);
        let (set, _) = base
            .held()
            .unwrap()
            .roll_up(&base.key_schema, &Node::new(levels.collect()));
        assert_eq!(line.evaluate(&base, &set), line.expected(), "{}", line.given);
    }
}

#[test]
#[ignore = "looks at every node of a lattice of 4,320: seconds"]
fn no_other_node_is_better() {
    let Some(shared) = shared() else { return };
    let (_, base) = adult(&shared);
    let lines = lines(&shared, &base);
    let mut best = vec![(u128::MAX, 0u64, 0u64, 0u64); lines.len()];
    let tops: Vec<u8> = base.key_schema.lookups().iter().map(|l| l.top()).collect();
    for node in Lattice::with_tops(&tops).iter() {
        let (set, _) = base.held().unwrap().roll_up(&base.key_schema, &node);
        for (line, best) in lines.iter().zip(&mut best) {
            let limit = (line.given["suppression_limit"].as_f64().unwrap() * base.rows as f64).floor() as u64;
            let (value, suppressed, classes) = line.evaluate(&base, &set);
            if suppressed <= limit && value <= best.0 {
                let ties = if value == best.0 { best.3 + 1 } else { 1 };
                *best = (value, suppressed, classes, ties);
            }
        }
    }
    for (line, best) in lines.iter().zip(best) {
        let (value, suppressed, classes) = line.expected();
        assert_eq!(
            best,
            (value, suppressed, classes, line.number("cooptimal_nodes")),
            "{}",
            line.given
        );
    }
}
