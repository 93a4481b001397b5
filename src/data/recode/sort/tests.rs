use super::*;
use arrow::array::{
    ArrayRef, AsArray, BooleanArray, DictionaryArray, Float64Array, Int32Array, ListArray, StringArray, UInt64Array,
};
use arrow::compute::{SortColumn, SortOptions, cast, concat_batches, lexsort_to_indices, take_record_batch};
use arrow::datatypes::{DataType, Int32Type};
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::collect;
use datafusion::prelude::{SessionConfig, SessionContext};
use proptest::prelude::*;

/// A row with a key, a string, a number and a flag.
type Row = (u64, Option<u16>, Option<i16>, Option<bool>);

fn text(value: u16) -> String {
    format!("{value} is a text")
}

fn batch(rows: &[Row]) -> RecordBatch {
    let texts: Vec<Option<String>> = rows.iter().map(|r| r.1.map(text)).collect();
    let labels: DictionaryArray<Int32Type> = texts.iter().map(Option::as_deref).collect();
    let number = |r: &Row| r.2.map(|n| f64::from(n) / 4.0);
    let columns: [(&str, ArrayRef, bool); 5] = [
        (
            "key",
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|r| r.0))),
            false,
        ),
        ("label", Arc::new(labels), true),
        ("text", Arc::new(StringArray::from(texts)), true),
        (
            "number",
            Arc::new(rows.iter().map(number).collect::<Float64Array>()),
            true,
        ),
        (
            "flag",
            Arc::new(rows.iter().map(|r| r.3).collect::<BooleanArray>()),
            true,
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// Returns the schema of the input, but with plain labels instead of a dictionary.
fn plain() -> SchemaRef {
    let schema = batch(&[]).schema();
    let field = |f: &Arc<Field>| match f.name().as_str() {
        "label" => Arc::new(f.as_ref().clone().with_data_type(DataType::Utf8)),
        _ => Arc::clone(f),
    };
    Arc::new(Schema::new(schema.fields().iter().map(field).collect::<Vec<_>>()))
}

/// Returns the rows of these partitions, sorted by the operator with `bytes` bytes of memory.
async fn sorted(
    partitions: &[Vec<RecordBatch>],
    schema: SchemaRef,
    columns: &[usize],
    bytes: usize,
    threads: usize,
) -> Result<RecordBatch> {
    let read = partitions[0][0].schema();
    let input = MemorySourceConfig::try_new_exec(partitions, read, None).unwrap();
    let pool = Arc::new(GreedyMemoryPool::new(bytes));
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(pool).build_arc().unwrap();
    let config = SessionConfig::new().with_batch_size(64).with_target_partitions(threads);
    let session = SessionContext::new_with_config_rt(config, Arc::clone(&runtime));
    let plan = Arc::new(PackedSortExec::over_rows(input, columns.to_vec(), Arc::clone(&schema)));
    let batches = collect(plan, session.task_ctx()).await?;
    assert_eq!(runtime.memory_pool.reserved(), 0);
    Ok(concat_batches(&schema, &batches).unwrap())
}

/// Returns the rows as sorted by Arrow.
fn by_arrow(batches: &[RecordBatch], schema: &SchemaRef, columns: &[usize]) -> RecordBatch {
    let all = concat_batches(&batches[0].schema(), batches).unwrap();
    let typed = all.columns().iter().zip(schema.fields());
    let typed = typed.map(|(column, field)| cast(column, field.data_type()).unwrap());
    let all = RecordBatch::try_new(Arc::clone(schema), typed.collect()).unwrap();
    let options = SortOptions {
        descending: false,
        nulls_first: false,
    };
    let by = columns.iter().map(|column| SortColumn {
        values: cast(all.column(*column), &plain_type(all.column(*column).data_type())).unwrap(),
        options: Some(options),
    });
    let order = lexsort_to_indices(&by.collect::<Vec<_>>(), None).unwrap();
    take_record_batch(&all, &order).unwrap()
}

fn plain_type(data_type: &DataType) -> DataType {
    crate::method::canonical::plain(data_type)
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (
        prop_oneof![0u64..3, Just(u64::MAX)],
        prop::option::of(0u16..300),
        prop::option::of(-9i16..9),
        prop::option::of(any::<bool>()),
    );
    prop::collection::vec(row, 1..600)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Rows are sorted correctly for any number of partitions and threads and any amount of memory,
    /// even if they cannot be packed because memory is short.
    #[test]
    fn rows_come_in_the_order_of_their_columns(
        rows in rows(),
        columns in Just([0usize, 1, 2, 3, 4]).prop_shuffle(),
        partitions in 1usize..4,
        threads in 1usize..3,
        bytes in prop_oneof![Just(1usize << 40), 1usize << 22..1 << 23],
        labels: bool,
    ) {
        let batches: Vec<RecordBatch> = rows.chunks(70).map(batch).collect();
        let each = batches.len().div_ceil(partitions);
        let partitioned: Vec<Vec<RecordBatch>> = batches.chunks(each).map(<[RecordBatch]>::to_vec).collect();
        let schema = if labels { batches[0].schema() } else { plain() };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let found = runtime.block_on(sorted(&partitioned, Arc::clone(&schema), &columns, bytes, threads)).unwrap();
        let expected = by_arrow(&batches, &schema, &columns);
        // Dictionaries are compared by the values that they encode.
        for (found, expected) in found.columns().iter().zip(expected.columns()) {
            let data_type = plain_type(found.data_type());
            prop_assert_eq!(&cast(found, &data_type).unwrap(), &cast(expected, &data_type).unwrap());
        }
    }
}

/// Tests more rows than fit in memory, and a column with more values than fit in memory.
#[tokio::test]
async fn rows_beyond_memory_are_sorted_too() {
    for values in [50, 60_000u32] {
        let text = |i: u32| text((i.wrapping_mul(40_503) % values) as u16);
        let batch = |start: u32| {
            let rows = start..start + 1_000;
            let texts = StringArray::from_iter_values(rows.clone().map(text));
            let numbers = Int32Array::from_iter_values(rows.map(|i| i.wrapping_mul(48_271) as i32));
            let columns: [(&str, ArrayRef); 2] = [("text", Arc::new(texts)), ("number", Arc::new(numbers))];
            RecordBatch::try_from_iter(columns).unwrap()
        };
        let batches: Vec<RecordBatch> = (0..120).map(|i| batch(i * 1_000)).collect();
        let schema = batches[0].schema();
        let partitions = [batches[..60].to_vec(), batches[60..].to_vec()];
        let expected = by_arrow(&batches, &schema, &[0, 1]);
        for bytes in [600_000, 6_000_000, 1 << 40] {
            if values > 50 && bytes == 600_000 {
                continue;
            }
            let found = sorted(&partitions, Arc::clone(&schema), &[0, 1], bytes, 2)
                .await
                .unwrap();
            assert!(found == expected, "{values} values in {bytes} bytes");
        }
    }
}

#[tokio::test]
async fn nested_columns_are_sorted_by_datafusion() {
    let lists = (0..100).map(|i| (i % 7 != 0).then(|| vec![Some(i % 5), None]));
    let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists));
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter_values((0..100).rev()));
    let batch = RecordBatch::try_from_iter([("list", lists), ("number", numbers)]).unwrap();
    let found = sorted(&[vec![batch.clone()]], batch.schema(), &[1, 0], 1 << 30, 1)
        .await
        .unwrap();
    let ascending: Vec<i32> = found.column(1).as_primitive::<Int32Type>().values().to_vec();
    assert_eq!(ascending, (0..100).collect::<Vec<_>>());
    assert_eq!(&found.column(0).slice(99, 1), &batch.column(0).slice(0, 1));
}
