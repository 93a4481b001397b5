use super::*;
use arrow::array::{Array, DictionaryArray, Int32Array, StringArray};
use arrow::datatypes::Int32Type;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::memory_pool::{GreedyMemoryPool, UnboundedMemoryPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::collect;
use datafusion::prelude::{SessionConfig, SessionContext};
use proptest::prelude::*;
use std::collections::BTreeMap;

type Row = (u64, Option<u8>, Option<u8>);

fn input_schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("key", DataType::UInt64, false),
        Field::new_dictionary("text", DataType::Int32, DataType::Utf8, true),
        Field::new("number", DataType::Int32, true),
    ]))
}

fn plain_schema() -> Schema {
    Schema::new(vec![
        Field::new("key", DataType::UInt64, false),
        Field::new("text", DataType::Utf8, true),
        Field::new("number", DataType::Int32, true),
    ])
}

fn source(rows: &[Row]) -> Arc<dyn ExecutionPlan> {
    let batch = |rows: &[Row]| {
        let text = |v: Option<u8>| v.map(|v| format!("value {v}"));
        let columns: Vec<ArrayRef> = vec![
            Arc::new(rows.iter().map(|r| r.0).collect::<UInt64Array>()),
            Arc::new(
                rows.iter()
                    .map(|r| text(r.1))
                    .collect::<Vec<_>>()
                    .iter()
                    .map(|t| t.as_deref())
                    .collect::<DictionaryArray<Int32Type>>(),
            ),
            Arc::new(rows.iter().map(|r| r.2.map(i32::from)).collect::<Int32Array>()),
        ];
        RecordBatch::try_new(input_schema(), columns).unwrap()
    };
    let batches: Vec<RecordBatch> = rows.chunks(50).map(batch).collect();
    let memory = MemorySourceConfig::try_new(&[batches], input_schema(), None).unwrap();
    DataSourceExec::from_data_source(memory)
}

/// Returns a session with batches of `size` rows and a memory pool of `bytes` bytes; the pool is
/// unlimited if `bytes` is `None`.
fn session(size: usize, bytes: Option<usize>) -> SessionContext {
    let pool: Arc<dyn MemoryPool> = match bytes {
        Some(bytes) => Arc::new(GreedyMemoryPool::new(bytes)),
        None => Arc::new(UnboundedMemoryPool::default()),
    };
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc().unwrap();
    SessionContext::new_with_config_rt(SessionConfig::new().with_batch_size(size), runtime)
}

async fn run(plan: Arc<dyn ExecutionPlan>, session: &SessionContext) -> Vec<RecordBatch> {
    collect(plan, session.task_ctx()).await.unwrap()
}

fn rows_of(batches: &[RecordBatch]) -> Vec<Row> {
    let mut rows = vec![];
    for batch in batches {
        let keys = batch.column(0).as_primitive::<UInt64Type>();
        let texts: &StringArray = batch.column(1).as_string();
        let numbers = batch.column(2).as_primitive::<Int32Type>();
        for row in 0..batch.num_rows() {
            let text = texts
                .is_valid(row)
                .then(|| texts.value(row)["value ".len()..].parse().unwrap());
            let number = numbers.is_valid(row).then(|| numbers.value(row) as u8);
            rows.push((keys.value(row), text, number));
        }
    }
    rows
}

fn counted(rows: &[Row]) -> BTreeMap<Row, u64> {
    let mut counts = BTreeMap::new();
    rows.iter().for_each(|row| *counts.entry(*row).or_default() += 1);
    counts
}

fn row() -> impl Strategy<Value = Row> {
    (0u64..4, prop::option::of(0u8..3), prop::option::of(0u8..3))
}

proptest! {
    /// Folding and then repeating returns every row as often as it occurs, in batches of the
    /// session's size, both with and without memory for the table.
    #[test]
    fn folded_and_repeated_rows_are_the_rows(
        rows in prop::collection::vec(row(), 0..400),
        size in 1usize..60,
        limited in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let session = session(size, limited.then_some(0));
            let folded: Arc<dyn ExecutionPlan> = Arc::new(FoldExec::over_rows(source(&rows), &plain_schema()));
            let once = run(Arc::clone(&folded), &session).await;
            let distinct: usize = once.iter().map(RecordBatch::num_rows).sum();
            if !limited {
                prop_assert_eq!(distinct, counted(&rows).len());
                prop_assert!(once.iter().all(|b| b.num_rows() <= size));
            }
            let all: u64 = once.iter().flat_map(|b| b.column(3).as_primitive::<UInt64Type>().values().to_vec()).sum();
            prop_assert_eq!(all, rows.len() as u64);
            let repeated = Arc::new(RepeatExec::over_ordered(folded, Arc::new(plain_schema())));
            let batches = run(repeated, &session).await;
            prop_assert!(batches.iter().all(|b| (1..=size).contains(&b.num_rows())));
            prop_assert_eq!(counted(&rows_of(&batches)), counted(&rows));
            Ok(())
        })?;
    }
}

fn table(room: usize) -> Table {
    Table::new(with_rows(&plain_schema()), room).unwrap()
}

async fn batch_of(rows: &[Row]) -> RecordBatch {
    run(source(rows), &session(rows.len(), None)).await.remove(0)
}

#[tokio::test]
async fn a_table_that_is_full_begins_anew_and_one_that_finds_nothing_stops() {
    let mut seldom = table(1);
    seldom
        .add(&batch_of(&(0..40).map(|i| (i, None, None)).collect::<Vec<_>>()).await)
        .unwrap();
    assert!(seldom.is_full() && seldom.is_idle());
    let mut often = table(usize::MAX);
    often
        .add(&batch_of(&(0..40).map(|i| (i % 20, None, None)).collect::<Vec<_>>()).await)
        .unwrap();
    assert!(!often.is_full() && !often.is_idle());
    assert_eq!(often.take().unwrap().num_rows(), 20);
    assert_eq!(often.take().unwrap().num_rows(), 0, "what was taken is gone");
}

#[tokio::test]
async fn rows_that_seldom_repeat_go_by() {
    // The table may use a sixteenth of this pool, so it is full after the first batch.
    let session = session(50, Some(1 << 14));
    let rows: Vec<Row> = (0..2_000)
        .map(|i| (i, Some(1), None))
        .chain([(5, Some(1), None)])
        .collect();
    let folded = run(Arc::new(FoldExec::over_rows(source(&rows), &plain_schema())), &session).await;
    let total: usize = folded.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(total, rows.len(), "the row that was there twice is far behind");
    assert_eq!(session.runtime_env().memory_pool.reserved(), 0);
}

#[test]
fn what_is_equal_and_not_the_same_is_not_folded() {
    let is_foldable_as = |t: DataType| is_kept_by_grouping(&t);
    for kept in [
        DataType::Utf8,
        DataType::Binary,
        DataType::Boolean,
        DataType::Date32,
        DataType::Decimal128(10, 2),
        DataType::new_list(DataType::Int32, true),
        DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
    ] {
        assert_eq!(is_foldable_as(kept.clone()), !kept.is_nested(), "{kept}");
    }
    assert!(!is_foldable_as(DataType::Float64) && !is_foldable_as(DataType::Float32));
}

#[test]
fn what_folding_sets_aside_is_known_beforehand() {
    let pool = GreedyMemoryPool::new(PART * 100);
    let plan = FoldExec::over_rows(source(&[(1, None, None)]), &plain_schema());
    assert_eq!(set_aside(&plan, &pool), 100);
    assert_eq!(set_aside(source(&[(1, None, None)]).as_ref(), &pool), 0);
    assert_eq!(set_aside(&plan, &UnboundedMemoryPool::default()), TABLE);
}
