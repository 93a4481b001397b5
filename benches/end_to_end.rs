//! Measures the whole job of a release, from Parquet to verified Parquet: both scans, the search,
//! the ordered write, the recount, the manifest and the swap of the target. The job reads the
//! generated bench table with the hierarchies in data/.

mod support {
    pub mod run;
}

use anonsql::AnonContext;
use anonsql::internal::generate::{BenchShape, GeneratedTable, generate, write_hierarchies};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use datafusion::prelude::{SessionConfig, SessionContext};
use std::path::Path;
use support::run::{is_quick, runtime};

const COLUMNS: [&str; 9] = [
    "sex",
    "age",
    "race",
    "marital_status",
    "education",
    "native_country",
    "workclass",
    "occupation",
    "salary_class",
];

async fn context(folder: &Path, threads: usize) -> AnonContext {
    let config = SessionConfig::new().with_target_partitions(threads);
    let context = AnonContext::new(SessionContext::new_with_config(config));
    for column in COLUMNS {
        let path = folder.join(format!("hierarchies/{column}.csv"));
        let statement = format!("CREATE HIERARCHY {column} FROM '{}'", path.display());
        context.sql(&statement).await.expect("a hierarchy");
    }
    context
}

fn end_to_end(c: &mut Criterion) {
    let rows = if is_quick() { 2_000 } else { 1_000_000 };
    let folder = tempfile::tempdir().expect("a scratch folder");
    let source = folder.path().join("bench.parquet");
    generate(GeneratedTable::Bench(BenchShape::default()), rows, 1, &source).expect("a generated table");
    write_hierarchies(&folder.path().join("hierarchies")).expect("the hierarchies");
    let columns: Vec<String> = COLUMNS.iter().map(|c| format!("{c} USING {c}")).collect();
    let mut group = c.benchmark_group(format!("end_to_end/bench_{rows}x9"));
    group.throughput(Throughput::Elements(rows)).sample_size(10);
    for threads in [1, 2] {
        let runtime = runtime(threads);
        let context = runtime.block_on(context(folder.path(), threads));
        for (metric, k) in [("glm", 5), ("dm", 150)] {
            let target = folder.path().join("out");
            let statement = format!(
                "ANONYMIZE '{}' TO '{}' OVERWRITE QUASI IDENTIFIERS ({}) SATISFYING k_anonymity({k}) \
                 SUPPRESSING AT MOST 5 PERCENT MINIMIZING {metric}",
                source.display(),
                target.display(),
                columns.join(", ")
            );
            let summary = runtime.block_on(context.sql(&statement)).expect("a release");
            let text = arrow::util::pretty::pretty_format_batches(&summary).expect("a summary");
            println!("{metric}, k {k}, {threads} threads:\n{text}");
            group.bench_function(format!("{metric}/k{k}/{threads}_threads"), |b| {
                b.iter(|| runtime.block_on(context.sql(&statement)).expect("a release"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, end_to_end);
criterion_main!(benches);
