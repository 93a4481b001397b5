//! The data of six people and a job for this data, for tests of jobs and of single stages.

use crate::base::catalogue::{Argument, Call, Value};
use crate::data::source::Pins;
use crate::method::hierarchy::{Hierarchy, LabelForm, OnNull, OnUnmapped, values};
use crate::release::job::{
    Choice, Constraint, Existing, Format, Goal, Guarantees, Input, Job, Output, QuasiIdentifier, Roles, Scope,
    Sensitive, SourceTable, SuppressionLimit, Target,
};
use crate::{data::metric, data::model};
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::prelude::SessionContext;
use std::path::Path;
use std::sync::Arc;

/// The age, zip and illness of each person.
pub(crate) const PEOPLE: [(i64, &str, &str); 6] = [
    (31, "a", "flu"),
    (34, "a", "cold"),
    (37, "b", "flu"),
    (39, "b", "ache"),
    (52, "a", "cold"),
    (58, "b", "flu"),
];

/// Returns the rows of people.
pub(crate) fn batch(people: &[(i64, &str, &str)]) -> RecordBatch {
    let text =
        |of: fn(&(i64, &str, &str)) -> String| Arc::new(people.iter().map(|p| Some(of(p))).collect::<StringArray>());
    let ages: Int64Array = people.iter().map(|p| Some(p.0)).collect();
    RecordBatch::try_from_iter([
        ("age", Arc::new(ages) as ArrayRef),
        ("zip", text(|p| p.1.to_string())),
        ("illness", text(|p| p.2.to_string())),
    ])
    .unwrap()
}

/// Returns a source table of these rows.
pub(crate) fn source(rows: RecordBatch) -> SourceTable {
    SourceTable {
        name: "people".into(),
        rows: SessionContext::new().read_batch(rows).unwrap(),
        files: vec![],
        depends: None,
        pins: Pins::default(),
    }
}

/// Returns a hierarchy with these labels.
fn hierarchy(name: &str, rows: &[&[&str]]) -> Arc<Hierarchy> {
    let rows: Vec<Vec<Option<String>>> = rows
        .iter()
        .map(|row| row.iter().map(|label| Some((*label).to_string())).collect())
        .collect();
    let rule = values::listed(&rows).unwrap();
    Arc::new(Hierarchy::new(name, Arc::new(rule), OnUnmapped::Error, OnNull::Value).unwrap())
}

fn quasi_identifier(column: &str, rows: &[&[&str]]) -> QuasiIdentifier {
    QuasiIdentifier {
        column: column.into(),
        hierarchy: hierarchy(column, rows),
        levels: None,
        weight: 1.0,
        labels: LabelForm::Text,
    }
}

/// Returns a constraint of a model with one number as its argument.
pub(crate) fn constraint(name: &str, bound: i64, attribute: Option<&str>) -> Constraint {
    let call = Call {
        name: name.into(),
        args: vec![Argument {
            name: None,
            value: Value::Integer(bound),
        }],
    };
    Constraint {
        model: model::build(&call).unwrap(),
        meaning: "",
        call,
        attribute: attribute.map(str::to_string),
        scope: Scope::All,
    }
}

/// Returns a job that generalizes the people's ages to decades. It forms one class of four rows
/// with three illnesses, and one class of two rows with two illnesses.
pub(crate) fn job() -> Job {
    let ages: &[&[&str]] = &[
        &["31", "30s", "*"],
        &["34", "30s", "*"],
        &["37", "30s", "*"],
        &["39", "30s", "*"],
        &["52", "50s", "*"],
        &["58", "50s", "*"],
    ];
    Job {
        input: Input {
            source: source(batch(&PEOPLE)),
            population: None,
            entity: None,
        },
        roles: Roles {
            identifiers: vec![],
            masks: vec![],
            quasi_identifiers: vec![
                quasi_identifier("age", ages),
                quasi_identifier("zip", &[&["a", "*"], &["b", "*"]]),
            ],
            item_sets: vec![],
            sensitive: vec![Sensitive {
                column: "illness".into(),
                hierarchy: None,
                randomization: None,
            }],
            class_label: None,
            keep: vec![],
        },
        guarantees: Guarantees {
            constraints: vec![
                constraint("k_anonymity", 2, None),
                constraint("l_diversity", 2, Some("illness")),
            ],
            standards: vec![],
            suppression: SuppressionLimit::NONE,
            starred: false,
            accepted: vec![],
            strict: false,
        },
        goal: Goal {
            metric_name: "glm".into(),
            metric: metric::build(&Call::bare("glm")).unwrap(),
            terms: vec![],
            choice: Choice::Node(vec![1, 1]),
            seed: 0,
            time_limit: None,
            node_limit: None,
        },
        output: Output {
            statement: "ANONYMIZE people".into(),
            statement_sha256: String::new(),
            policy: None,
            target: None,
            report: None,
        },
    }
}

/// Returns a target: a new folder of Parquet files.
pub(crate) fn target(path: &Path) -> Target {
    Target {
        path: path.into(),
        stored: None,
        format: Format::Parquet,
        partitioned_by: vec![],
        existing: Existing::Fail,
        grows: None,
        read_again: false,
        waiting: None,
        rows_per_file: None,
        file_size: None,
        footer: false,
        key: None,
        full_statement: false,
    }
}
