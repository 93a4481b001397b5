//! Tests that a node has the same classes whether anonsql groups the rows itself or DataFusion
//! executes the node's plan.

use crate::common::{collect, context};
use anonsql::AnonContext;
use arrow::util::pretty::pretty_format_batches;
use proptest::prelude::*;

/// Types of a quasi-identifier, each with a hierarchy of more than one level if the type has one.
const TYPES: &[(&str, &str)] = &[
    ("Int8", "numbers"),
    ("Int16", "numbers"),
    ("Int32", "numbers"),
    ("Int64", "numbers"),
    ("UInt8", "numbers"),
    ("UInt16", "numbers"),
    ("UInt32", "numbers"),
    ("UInt64", "numbers"),
    ("Float32", "numbers"),
    ("Float64", "numbers"),
    ("Decimal128(9, 2)", "numbers"),
    ("Utf8", "letters"),
    ("LargeUtf8", "letters"),
    ("Utf8View", "letters"),
    ("Dictionary(Int32, Utf8)", "letters"),
    ("Date32", "days"),
    ("Timestamp(Second, None)", "days"),
    ("Timestamp(Microsecond, None)", "days"),
    ("Boolean", ""),
    ("Time32(Second)", ""),
];

/// Returns a value of a type as SQL, derived from a small number.
fn value(data_type: &str, hierarchy: &str, number: Option<u8>) -> String {
    let Some(number) = number else {
        return format!("arrow_cast(NULL, '{data_type}')");
    };
    let plain = match (hierarchy, data_type) {
        ("letters", _) => format!("'{number:02}'"),
        ("days", _) => format!("'2024-{:02}-{:02}'", number % 12 + 1, number + 1),
        (_, "Boolean") => format!("{}", number % 2 == 0),
        (_, "Time32(Second)") => format!("'10:00:{number:02}'"),
        _ => number.to_string(),
    };
    format!("arrow_cast({plain}, '{data_type}')")
}

/// Returns the rows of a result as sorted texts, without times and without the figures of the
/// cache, which depend on the threads. Returns the error if no node satisfies the request.
async fn lines(context: &AnonContext, sql: &str) -> Result<Vec<String>, String> {
    let batches = context.sql(sql).await.map_err(|e| e.to_string())?;
    let text = pretty_format_batches(&batches).unwrap().to_string();
    let lines = text
        .lines()
        .filter(|line| !line.contains("frequency sets") && !line.starts_with("| time "));
    let mut lines: Vec<String> = lines.map(String::from).collect();
    lines.sort();
    Ok(lines)
}

/// Generates a table: the types of two quasi-identifiers, and rows with these and a sensitive
/// attribute.
fn table() -> impl Strategy<Value = ([usize; 2], Vec<[Option<u8>; 3]>)> {
    let cell = || prop::option::weighted(0.9, 0u8..8);
    let row = (cell(), cell(), cell()).prop_map(|(one, two, sensitive)| [one, two, sensitive]);
    let types = [0..TYPES.len(), 0..TYPES.len()];
    (types, prop::collection::vec(row, 1..25))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn datafusion_and_the_fused_form_find_the_same_classes(
        (types, rows) in table(),
        models in prop::sample::select(vec![
            "k_anonymity(2)",
            "k_anonymity(2) AND l_diversity(2) ON illness",
            "k_anonymity(3) AND t_closeness(0.4) ON illness",
        ]),
        suppressed in 0u64..4,
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let context = context(2);
            for hierarchy in ["numbers AS INTERVALS (2, 4)", "letters AS PREFIX (1)", "days AS TRUNCATE (MONTH, YEAR)"] {
                collect(&context, &format!("CREATE HIERARCHY {hierarchy}")).await;
            }
            let [one, two] = types.map(|at| TYPES[at]);
            let row = |[a, b, illness]: &[Option<u8>; 3]| {
                format!("({}, {}, {})", value(one.0, one.1, *a), value(two.0, two.1, *b), value("Utf8", "letters", *illness))
            };
            let rows: Vec<String> = rows.iter().map(row).collect();
            let rows = rows.join(", ");
            let names = "column1 AS a, column2 AS b, column3 AS illness";
            collect(&context, &format!("CREATE TABLE t AS SELECT {names} FROM (VALUES {rows})")).await;
            let using = |hierarchy: &str| if hierarchy.is_empty() { String::new() } else { format!(" USING {hierarchy}") };
            let request = format!(
                "ANONYMIZE t QUASI IDENTIFIERS (a{}, b{}) SENSITIVE (illness) SATISFYING {models} \
                 SUPPRESSING AT MOST {suppressed} ROWS",
                using(one.1), using(two.1)
            );
            let queries = [format!("LATTICE OF {request}"), format!("EXPLAIN ANALYZE {request} MINIMIZING height SEARCH USING exhaustive")];
            let mut found = vec![];
            for how in ["fused", "datafusion"] {
                collect(&context, &format!("SET anonsql.node_execution = '{how}'")).await;
                found.push((lines(&context, &queries[0]).await, lines(&context, &queries[1]).await));
            }
            prop_assert_eq!(&found[0], &found[1], "{}", queries[0]);
            Ok(())
        })?;
    }
}
