//! Tests of every property on hand-made classes.

use super::{Entry, OBJECTIVES, ReleasedClasses};
use crate::base::catalogue::Arguments;
use crate::data::frequency::testing::{Groups, Row, Table};
use crate::data::model::{self, Class, Subject};

/// Released classes, each with its size and its sensitive values, and the number of suppressed
/// rows.
struct Classes(Vec<(u64, Vec<(u32, u64)>)>, u64);

impl ReleasedClasses for Classes {
    fn suppressed(&self) -> u64 {
        self.1
    }

    fn each_class(&self, read: &mut dyn FnMut(&Class)) {
        for (size, histogram) in &self.0 {
            read(&Class {
                labels: &[],
                size: *size,
                population: 0,
                histogram,
            });
        }
    }
}

fn entry(name: &str) -> &'static Entry {
    OBJECTIVES.iter().find(|e| e.info.name == name).unwrap()
}

/// Returns the value of a property that reads class sizes or counts of sensitive values.
fn value(name: &str, classes: &Classes) -> f64 {
    let entry = entry(name);
    let arguments = Arguments::bind(&entry.info, &[]).unwrap();
    let property = (entry.build)(&arguments, "disease").unwrap();
    let table = Table {
        rows: vec![Row::of(vec![Some(0)])],
        groups: vec![Groups::flat(1)],
        tree: Groups::flat(1),
        population: vec![],
        per_entity: false,
        texts: false,
    };
    let base = table.base();
    let subject = Subject {
        base: &base,
        attribute: None,
        hierarchy: None,
    };
    property.prepare(&subject).unwrap().value(classes)
}

#[test]
fn values_are_those_of_the_released_classes() {
    let classes = Classes(vec![(3, vec![(0, 2), (1, 1)]), (5, vec![(0, 5)])], 7);
    assert_eq!(value("k", &classes), 3.0);
    assert_eq!(value("highest_risk", &classes), 1.0 / 3.0);
    assert_eq!(value("s_l", &classes), 4.0 + 1.0 + 25.0);
    assert_eq!(value("suppressed", &classes), 7.0);
}

#[test]
fn nothing_released_is_nobody_at_risk() {
    let nothing = Classes(vec![], 9);
    assert_eq!((value("k", &nothing), value("highest_risk", &nothing)), (0.0, 0.0));
}

#[test]
fn the_model_of_a_value_is_one() {
    let named: Vec<String> = OBJECTIVES
        .iter()
        .filter_map(|e| (e.model)(0.25, &[]))
        .map(|call| {
            assert!(model::build(&call).is_ok() || call.args[0].value.to_string() == "0");
            call.name
        })
        .collect();
    assert_eq!(named, ["k_anonymity", "l_diversity", "t_closeness", "k_anonymity"]);
    assert_eq!(
        (entry("highest_risk").model)(0.25, &[]).unwrap().to_string(),
        "k_anonymity(4)"
    );
}
