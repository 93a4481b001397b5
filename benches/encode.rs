//! Measures the first scan, which counts the rows of each distinct combination of quasi-identifier
//! values. The scan reads the generated bench table from memory: as strings, as dictionaries and as
//! numbers.

mod support {
    pub mod run;
}

use anonsql::internal::frequency::{Columns, Scan};
use anonsql::internal::generate::{BenchShape, GeneratedTable, generate};
use anonsql::internal::spill::SpillSpace;
use arrow::array::{ArrayRef, AsArray, Int64Array};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use std::collections::HashMap;
use std::sync::Arc;
use support::run::{is_quick, runtime};

type Batches = Vec<RecordBatch>;

/// Generates the bench table, and reads it into memory.
fn strings(rows: u64) -> Batches {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("bench.parquet");
    generate(GeneratedTable::Bench(BenchShape::default()), rows, 1, &path).expect("a generated table");
    let session = SessionContext::new();
    runtime(1)
        .block_on(async {
            let path = path.display().to_string();
            session
                .read_parquet(path.as_str(), ParquetReadOptions::default())
                .await?
                .collect()
                .await
        })
        .expect("the generated table can be read")
}

/// Returns the same table, with every column converted by `of`.
fn mapped(batches: &Batches, data_type: &DataType, mut of: impl FnMut(usize, &ArrayRef) -> ArrayRef) -> Batches {
    let field = |f: &Arc<Field>| Field::new(f.name(), data_type.clone(), f.is_nullable());
    let schema = Arc::new(Schema::new(
        batches[0].schema().fields().iter().map(field).collect::<Vec<_>>(),
    ));
    let mut map = |batch: &RecordBatch| {
        let columns = batch
            .columns()
            .iter()
            .enumerate()
            .map(|(i, column)| of(i, column))
            .collect();
        RecordBatch::try_new(Arc::clone(&schema), columns).expect("a batch")
    };
    batches.iter().map(&mut map).collect()
}

/// Replaces each distinct string in a column by a unique number.
fn numbers(batches: &Batches) -> Batches {
    let mut seen: HashMap<(usize, String), i64> = HashMap::new();
    mapped(batches, &DataType::Int64, |i, column| {
        let strings = cast(column, &DataType::Utf8View).expect("strings");
        let number = |value: Option<&str>| {
            let next = seen.len() as i64 * 37;
            value.map(|v| *seen.entry((i, v.into())).or_insert(next))
        };
        Arc::new(strings.as_string_view().iter().map(number).collect::<Int64Array>())
    })
}

/// Scans the table. Returns the number of rows that the scan counted.
fn scan(runtime: &tokio::runtime::Runtime, schema: &SchemaRef, streams: Vec<SendableRecordBatchStream>) -> u64 {
    let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
    let spill_space = SpillSpace::of(&TaskContext::default());
    let columns = Columns::new(schema, &names, &[]).expect("flat columns");
    let scan = runtime.block_on(Scan::read(&columns, streams, &spill_space, Arc::default()));
    scan.expect("the rows are counted").rows()
}

fn encode(c: &mut Criterion) {
    let rows = if is_quick() { 2_000 } else { 1_000_000 };
    let strings = strings(rows);
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let dictionaries = mapped(&strings, &dictionary, |_, column| {
        cast(column, &dictionary).expect("a dictionary")
    });
    let numbers = numbers(&strings);
    let mut group = c.benchmark_group(format!("encode/bench_{rows}x9"));
    group.throughput(Throughput::Elements(rows)).sample_size(10);
    for threads in [1, 2] {
        let runtime = runtime(threads);
        for (name, batches) in [
            ("strings", &strings),
            ("dictionaries", &dictionaries),
            ("numbers", &numbers),
        ] {
            let schema = batches[0].schema();
            let stream = |part: &[RecordBatch]| {
                let batches: Vec<_> = part.iter().cloned().map(Ok).collect();
                Box::pin(RecordBatchStreamAdapter::new(
                    Arc::clone(&schema),
                    futures::stream::iter(batches),
                )) as SendableRecordBatchStream
            };
            let streams = || {
                batches
                    .chunks(batches.len().div_ceil(threads))
                    .map(stream)
                    .collect::<Vec<_>>()
            };
            group.bench_function(format!("{name}/{threads}_threads"), |b| {
                b.iter_batched(
                    streams,
                    |streams| assert_eq!(scan(&runtime, &schema, streams), rows),
                    BatchSize::PerIteration,
                );
            });
        }
    }
    group.finish();
}

criterion_group!(benches, encode);
criterion_main!(benches);
