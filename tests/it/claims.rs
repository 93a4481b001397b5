//! Tests sort orders and keys that sources declare. No count depends on these declarations.

use crate::common::{collect, context, number, with_paths};
use arrow::array::{ArrayRef, Int64Array, RecordBatch, StructArray};
use arrow::datatypes::{DataType, Field};
use arrow::util::pretty::pretty_format_batches;
use datafusion::common::{Constraint, Constraints};
use datafusion::datasource::MemTable;
use parquet::arrow::ArrowWriter;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// Writes a file with row groups of three rows. The file claims that each row group is sorted by
/// the leaf column with index `sorted`.
fn write(path: &Path, columns: Vec<(&str, ArrayRef)>, sorted: i32) {
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let ascending = SortingColumn {
        column_idx: sorted,
        descending: false,
        nulls_first: false,
    };
    let properties = WriterProperties::builder()
        .set_sorting_columns(Some(vec![ascending]))
        .set_max_row_group_row_count(Some(3))
        .build();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
}

fn numbers(values: [i64; 6]) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values(values))
}

/// Each row group is sorted. DataFusion assumes this order for the whole file.
#[tokio::test]
async fn the_order_of_row_groups_is_not_that_of_the_file() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("t.parquet");
    let columns = vec![("a", numbers([1, 2, 3, 1, 2, 3])), ("b", numbers([7, 7, 7, 7, 7, 7]))];
    write(&path, columns, 0);
    assert_counts(&path).await;
}

/// A field of a struct is sorted. DataFusion confuses the field with the column of the same name.
#[tokio::test]
async fn the_order_of_a_nested_column_is_not_that_of_its_namesake() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("t.parquet");
    let inner = Arc::new(Field::new("a", DataType::Int64, false));
    let nested = StructArray::from(vec![(inner, numbers([1, 2, 3, 4, 5, 6]))]);
    let columns = vec![
        ("s", Arc::new(nested) as ArrayRef),
        ("a", numbers([1, 2, 3, 1, 2, 3])),
        ("b", numbers([7, 7, 7, 7, 7, 7])),
    ];
    write(&path, columns, 0);
    assert_counts(&path).await;
}

/// A program may register a table whose declared primary key is not unique.
#[tokio::test]
async fn the_keys_of_a_registered_table_are_not_believed() {
    let context = context(2);
    let columns = vec![("a", numbers([1, 1, 1, 2, 2, 2])), ("b", numbers([1, 2, 3, 1, 2, 3]))];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let keys = Constraints::new_unverified(vec![Constraint::PrimaryKey(vec![0])]);
    let table = MemTable::try_new(rows.schema(), vec![vec![rows]]).unwrap();
    let table = Arc::new(table.with_constraints(keys));
    context.session().register_table("keyed", table).unwrap();
    let counted = collect(&context, "SELECT count(*) FROM (SELECT a, b FROM keyed GROUP BY a, b)").await;
    assert_eq!(number(&counted), 6.0);
    let groups = "SELECT count(*) FROM (SELECT a, count(*) AS n FROM keyed GROUP BY a) WHERE n = 3";
    assert_eq!(number(&collect(&context, groups).await), 2.0);
    collect(&context, "CREATE HIERARCHY halves AS QUANTILES (2) OF keyed.a").await;
    let halves = "SELECT count(*) FROM keyed WHERE (a = 1) = (generalize('halves', a, 1) = '<2')";
    assert_eq!(number(&collect(&context, halves).await), 6.0);
    let verify = "VERIFY keyed QUASI IDENTIFIERS (a, b) SATISFYING k_anonymity(2)";
    assert!(context.sql(verify).await.is_err());
}

/// Neither a statement on a table with a false key nor the recount of its release relies on the
/// key.
#[tokio::test]
async fn the_keys_of_a_released_table_are_not_believed() {
    let context = context(2);
    let columns = vec![
        ("a", numbers([1, 1, 1, 2, 2, 2])),
        ("b", numbers([7, 7, 7, 7, 7, 8])),
        ("person", numbers([1, 2, 3, 4, 5, 6])),
    ];
    let rows = RecordBatch::try_from_iter(columns).unwrap();
    let keys = Constraints::new_unverified(vec![Constraint::PrimaryKey(vec![1])]);
    let table = MemTable::try_new(rows.schema(), vec![vec![rows]]).unwrap();
    let table = Arc::new(table.with_constraints(keys));
    context.session().register_table("keyed", table).unwrap();
    for (model, holds) in [
        ("delta_disclosure(2, present)", true),
        ("t_closeness(0.17)", true),
        ("t_closeness(0.16)", false),
        ("beta_likeness(1)", true),
    ] {
        let anonymize = format!(
            "ANONYMIZE keyed QUASI IDENTIFIERS (a) SENSITIVE (b) KEEP (person) ENTITY (person) SATISFYING {model} ON b \
             AT NODE (a 0)"
        );
        let released = context.sql(&anonymize).await;
        match (released, holds) {
            (Ok(_), true) => {}
            (Ok(_), false) => panic!("{model} holds"),
            (Err(refused), true) => panic!("{model}: {refused}"),
            (Err(refused), false) => assert!(!refused.to_string().contains("recount"), "{model}: {refused}"),
        }
    }
}

/// Checks the results of statements on a file in which each value of `a` occurs in two rows, with
/// the same `b`. A batch has two rows.
async fn assert_counts(path: &Path) {
    let context = with_paths(1);
    collect(&context, "SET datafusion.execution.batch_size = 2").await;
    let path = path.display();
    let groups = collect(&context, &format!("SELECT a, count(*) FROM '{path}' GROUP BY a")).await;
    let groups: usize = groups.iter().map(|batch| batch.num_rows()).sum();
    assert_eq!(groups, 3);
    let ordered = collect(&context, &format!("SELECT a FROM '{path}' ORDER BY a")).await;
    let ordered = pretty_format_batches(&ordered).unwrap().to_string();
    let ordered: Vec<&str> = ordered
        .split(|c: char| !c.is_ascii_digit())
        .filter(|n| !n.is_empty())
        .collect();
    assert_eq!(ordered, ["1", "1", "2", "2", "3", "3"]);
    let holds = "k_anonymity(2)";
    let verify = format!("VERIFY '{path}' QUASI IDENTIFIERS (a) SENSITIVE (b) SATISFYING");
    context.sql(&format!("{verify} {holds}")).await.unwrap();
    let refused = context.sql(&format!("{verify} l_diversity(2) ON b")).await.unwrap_err();
    assert!(refused.to_string().contains("l_diversity(2)"), "{refused}");
}
