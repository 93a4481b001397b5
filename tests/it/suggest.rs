//! Tests the result of SUGGEST ROLES. Its script runs unchanged, it is the same every time, and it
//! shows no data value.

use crate::common::{collect, context, shared};
use anonsql::AnonContext;
use arrow::array::{Array, ArrayRef, AsArray};
use std::path::Path;

/// Returns the rows of the result: column, role, reason, loss, statement.
async fn suggest(context: &AnonContext, source: &str) -> Vec<[Option<String>; 5]> {
    let mut rows = vec![];
    for batch in collect(context, &format!("SUGGEST ROLES FOR {source}")).await {
        let text = |c: &ArrayRef| arrow::compute::cast(c, &arrow::datatypes::DataType::Utf8).unwrap();
        let columns = batch.columns().iter().map(text).collect::<Vec<_>>();
        let columns = columns.iter().map(|c| c.as_string::<i32>()).collect::<Vec<_>>();
        for row in 0..batch.num_rows() {
            rows.push([0, 1, 2, 3, 4].map(|i| (!columns[i].is_null(row)).then(|| columns[i].value(row).to_string())));
        }
    }
    rows
}

/// Runs the proposal for a file. Returns the role of each column.
async fn carried_out(file: &Path) -> Vec<(String, String)> {
    let source = format!("'{}'", file.display());
    let context = context(2);
    let rows = suggest(&context, &source).await;
    // In a build that is not optimised, a trial may reach its time limit. The facts about a column
    // do not depend on this limit.
    let again = suggest(&crate::common::context(1), &source).await;
    let known = |rows: &[[Option<String>; 5]]| {
        let columns = rows.iter().filter(|row| row[0].is_some());
        columns
            .map(|[c, role, why, _, s]| [c, role, why, s].map(Clone::clone))
            .collect::<Vec<_>>()
    };
    assert_eq!(known(&rows), known(&again), "{source}");
    let [columns @ .., anonymize, check] = &rows[..] else {
        panic!("{source}")
    };
    assert!(check[4].as_ref().unwrap().starts_with("VERIFY "));
    for [_, role, _, loss, statement] in columns {
        let is_quasi_identifier = role.as_deref() == Some("quasi-identifier");
        assert_eq!(
            (statement.is_some(), loss.is_some()),
            (is_quasi_identifier, is_quasi_identifier)
        );
        if let Some(statement) = statement {
            collect(&context, statement).await;
        }
    }
    // Without TO, the statement returns the rows and writes no folder.
    let statement = anonymize[4].as_ref().unwrap();
    let (before, target) = statement.split_once(" TO 'out/").unwrap();
    let (_, after) = target.split_once(" OVERWRITE").unwrap();
    let statement = format!("{before}{after}");
    let released = collect(&context, &statement).await;
    assert!(released.iter().map(|b| b.num_rows()).sum::<usize>() > 0, "{statement}");
    columns
        .iter()
        .map(|[column, role, ..]| (column.clone().unwrap(), role.clone().unwrap()))
        .collect()
}

#[tokio::test]
async fn the_proposal_runs_as_it_stands() {
    for file in ["data/census.parquet", "data/patients.parquet"] {
        let roles = carried_out(Path::new(file)).await;
        for (column, role) in roles {
            let expected = match column.as_str() {
                "name" | "ssn" | "patient_id" => "identifier",
                "salary_class" | "income" | "diagnosis" | "cost" => "sensitive",
                _ => "quasi-identifier",
            };
            assert_eq!(role, expected, "{file}: {column}");
        }
    }
}

#[tokio::test]
#[cfg_attr(not(has_shared), ignore = "needs ../shared; set ANONSQL_SHARED to the folder")]
async fn the_proposal_runs_on_the_tables_of_the_papers() {
    for (file, sensitive) in [
        (
            "data/adult_train_30162.parquet",
            &["capital-gain", "capital-loss", "salary-class"][..],
        ),
        (
            "data/pima.parquet",
            &[
                "pregnancies",
                "glucose",
                "blood_pressure",
                "skin_thickness",
                "insulin",
                "bmi",
                "diabetes_pedigree",
                "outcome",
            ],
        ),
    ] {
        let roles = carried_out(&shared(file)).await;
        let found: Vec<&str> = roles
            .iter()
            .filter(|(_, r)| r == "sensitive")
            .map(|(c, _)| c.as_str())
            .collect();
        assert_eq!(found, sensitive, "{file}");
        assert!(roles.iter().any(|(_, r)| r == "quasi-identifier"));
    }
}

#[tokio::test]
async fn no_value_is_shown() {
    let context = context(2);
    for file in ["data/census.parquet", "data/patients.parquet"] {
        let source = format!("'{file}'");
        let said: Vec<String> = suggest(&context, &source)
            .await
            .into_iter()
            .flatten()
            .flatten()
            .collect();
        let paths = AnonContext::new(anonsql::internal::session::enable_path_tables(
            datafusion::prelude::SessionContext::new(),
        ));
        let mut searched = 0;
        for batch in collect(&paths, &format!("SELECT * FROM {source}")).await {
            for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
                let texts = arrow::compute::cast(column, &arrow::datatypes::DataType::Utf8).unwrap();
                // The result contains numbers and lowercase words whatever the table is. So values
                // that are only digits or only lowercase letters are not searched for.
                let plain =
                    |v: &str| v.chars().all(|c| c.is_ascii_lowercase()) || v.chars().all(|c| c.is_ascii_digit());
                let values = texts.as_string::<i32>().iter().flatten();
                let values = values.filter(|v| v.len() > 4 && !plain(v));
                for value in values.step_by(31) {
                    searched += 1;
                    assert!(!said.iter().any(|s| s.contains(value)), "{}: {value}", field.name());
                }
            }
        }
        assert!(searched > 500, "{searched}");
    }
}
