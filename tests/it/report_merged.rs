//! Tests the risk before a release in which a code hides several values of a column.

use crate::common::{collect, number};
use crate::report::{census, json, load, same_class_sizes, statement};

/// The classes of the source are formed from its original values, although a code hides some of
/// these values. The test covers whole numbers, floating-point numbers, decimals, and several
/// columns at once.
#[tokio::test]
async fn hidden_values_are_told_apart_before_the_release() {
    let scratch = tempfile::tempdir().unwrap();
    let (target, path) = (scratch.path().join("release"), scratch.path().join("report.json"));
    let context = census(2).await;
    let codes = [
        ("INT", "TOP CODE 60", "AS SUPPRESSION"),
        ("INT", "BOTTOM CODE 25 TOP CODE 60", "AS SUPPRESSION"),
        ("INT", "BOTTOM CODE 25", "AS PREFIX (4, 3)"),
        ("DOUBLE", "TOP CODE 60", "AS SUPPRESSION"),
        ("DECIMAL(5, 1)", "TOP CODE 60", "AS SUPPRESSION"),
        ("INT", "TOP CODE 17", "AS SUPPRESSION"),
    ];
    for (data_type, code, of_zip) in codes {
        let setup = format!(
            "CREATE OR REPLACE HIERARCHY age AS INTERVALS (5, 10, 20) {code}; CREATE OR REPLACE HIERARCHY zip {of_zip};
             CREATE OR REPLACE TABLE typed AS SELECT CAST(CASE WHEN age = 33 THEN NULL ELSE age END AS {data_type}) AS age, \
                sex, zip, marital_status, occupation, income, ssn FROM census"
        );
        collect(&context, &setup).await;
        let more = "SATISFYING k_anonymity(5)";
        let sql = statement(&target, &path, more).replace("FROM census", "FROM typed");
        let sql = sql
            .replace(".json' ", ".json' OVERWRITE ")
            .replace(", ssn FROM", " FROM");
        let report = json(&context, &sql, &path).await;
        load(&context, &target).await;
        same_class_sizes(&context, &report, "before", "typed", "count(*)").await;
        same_class_sizes(&context, &report, "after", "released", "count(*)").await;
        let rows = number(&collect(&context, "SELECT count(*) FROM typed").await);
        assert_eq!(report["release"]["rows_in"], rows as u64);
    }
}
