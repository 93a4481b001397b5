//! The request of the benches: k-anonymity of a table whose hierarchies are files.

use anonsql::internal::catalogue::{Argument, Call, Value};
use anonsql::internal::hierarchy::{Hierarchy, LabelForm, OnNull, OnUnmapped, file};
use anonsql::internal::job::{
    Choice, Constraint, Goal, Guarantees, Input, Job, Output, QuasiIdentifier, Roles, Scope, SourceTable,
    SuppressionLimit,
};
use anonsql::internal::{metric, model, search};
use std::path::Path;
use std::sync::Arc;

/// Returns a call of `name` with these arguments.
pub fn call(name: &str, values: &[Value]) -> Call {
    let args = values.iter().map(|value| Argument {
        name: None,
        value: value.clone(),
    });
    Call {
        name: name.into(),
        args: args.collect(),
    }
}

/// Returns a job with `k_anonymity(k)` that minimizes `metric`. The hierarchy of each column is the
/// file of that column in `folder`.
pub fn job(
    source: SourceTable,
    columns: &[&str],
    folder: &Path,
    k: i64,
    suppression: SuppressionLimit,
    metric: &str,
) -> Job {
    let quasi_identifier = |column: &&str| {
        let path = folder.join(format!("{column}.csv")).display().to_string();
        let rule = file::read(&path, &file::FileOptions::default()).expect("a hierarchy");
        let hierarchy = Hierarchy::new(*column, Arc::new(rule), OnUnmapped::Error, OnNull::Value);
        QuasiIdentifier {
            column: (*column).into(),
            hierarchy: Arc::new(hierarchy.expect("a hierarchy")),
            levels: None,
            weight: 1.0,
            labels: LabelForm::Text,
        }
    };
    let k_anonymity = call("k_anonymity", &[Value::Integer(k)]);
    let auto = Call::bare("auto");
    Job {
        input: Input {
            source,
            population: None,
            entity: None,
        },
        roles: Roles {
            identifiers: vec![],
            masks: vec![],
            quasi_identifiers: columns.iter().map(quasi_identifier).collect(),
            item_sets: vec![],
            sensitive: vec![],
            class_label: None,
            keep: vec![],
        },
        guarantees: Guarantees {
            constraints: vec![Constraint {
                model: model::build(&k_anonymity).expect("k_anonymity"),
                meaning: "",
                call: k_anonymity,
                attribute: None,
                scope: Scope::All,
            }],
            standards: vec![],
            suppression,
            starred: false,
            accepted: vec![],
            strict: false,
        },
        goal: Goal {
            metric_name: metric.into(),
            metric: metric::build(&Call::bare(metric)).expect("a metric"),
            terms: vec![],
            choice: Choice::Search {
                search: search::build(&auto).expect("auto"),
                call: auto,
            },
            seed: 0,
            time_limit: None,
            node_limit: None,
        },
        output: Output {
            statement: String::new(),
            statement_sha256: String::new(),
            policy: None,
            target: None,
            report: None,
        },
    }
}
