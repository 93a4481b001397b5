//! Creates the session of a case: its tables, in memory or over its files, and the population.

use super::arrays;
use super::case::{Case, Claim, Randomize, Source, Storage};
use super::print::{literal, quote};
use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, SchemaRef, TimeUnit};
use datafusion::common::{Column, Constraint, Constraints};
use datafusion::datasource::MemTable;
use datafusion::prelude::{CsvReadOptions, Expr, ParquetReadOptions, SessionConfig, SessionContext};
use std::path::Path;
use std::sync::Arc;

/// Returns a session with the tables of a case, as the statement reads them or, if `is_plain`, as
/// the judge does.
pub async fn session(case: &Case, folder: &Path, is_plain: bool) -> datafusion::error::Result<SessionContext> {
    let mut config = SessionConfig::new().with_target_partitions(case.partitions);
    if is_plain && matches!(case.storage, Storage::Spark(_)) {
        config.options_mut().execution.parquet.coerce_int96 = Some("us".into());
    }
    config.options_mut().execution.listing_table_ignore_subdirectory = false;
    let config = config.with_batch_size([7, 64, 8192][case.seed as usize % 3]);
    let session = anonsql::internal::session::enable_path_tables(SessionContext::new_with_config(config));
    let whole = arrays::batch(&case.table);
    match case.storage {
        Storage::Memory(batches) => {
            session.register_table("t", Arc::new(memory(&whole, batches)?))?;
        }
        Storage::Parquet(_) | Storage::Spark(_) => {
            let path = folder.join("in").display().to_string();
            session
                .register_parquet("t", path, ParquetReadOptions::default())
                .await?;
        }
        Storage::Csv => {
            let path = folder.join("in/t.csv").display().to_string();
            match case.seed.is_multiple_of(2) {
                // The statement names the file. Another fuzzer tests the types of the file's texts.
                true => {
                    let file = session.sql(&format!("SELECT * FROM {}", literal(&path))).await?;
                    session.register_table("t", file.into_view())?;
                }
                false => session.register_csv("t", path, CsvReadOptions::default()).await?,
            }
        }
    }
    if case.request.population {
        // The rows are sorted, because the order in which files are read is not fixed.
        let t = session.table("t").await?;
        let columns = t
            .schema()
            .iter()
            .map(|(table, f)| Expr::from((table, f)).sort(true, false))
            .collect();
        let t = t.sort(columns)?.collect().await?;
        let schema = session.table("t").await?.schema().as_arrow().clone().into();
        let t = arrow::compute::concat_batches(&schema, &t)?;
        let more: arrow::array::UInt32Array = case.more_people.iter().map(|i| Some(*i as u32)).collect();
        let people = arrow::compute::take_record_batch(&t, &more)?;
        let mut people = vec![t, people];
        if case.people_of_other_types && !is_plain {
            people = people.iter().map(with_other_types).collect::<Result<_, _>>()?;
        }
        let schema = people[0].schema();
        session.register_table("people", Arc::new(MemTable::try_new(schema, vec![people])?))?;
    }
    if case.request.sensitive().any(|(.., r)| r == Some(&Randomize::Matrix)) {
        session.register_batch("matrix", matrix(case.table.rows())?)?;
    }
    if let Source::Join(column) = &case.source {
        let sql = format!("CREATE TABLE keys AS SELECT DISTINCT {} AS key FROM t", quote(column));
        session.sql(&sql).await?.collect().await?;
    }
    // This step is last, because DataFusion would trust the claim in the queries above: a DISTINCT
    // over a false key would return a row twice.
    if let (Storage::Memory(batches), Some(claim)) = (case.storage, case.claim.filter(|_| !is_plain)) {
        session.deregister_table("t")?;
        let table = claimed(memory(&whole, batches)?, claim, &whole.schema());
        session.register_table("t", Arc::new(table))?;
    }
    Ok(session)
}

/// Returns the table with a false claim about its rows.
fn claimed(table: MemTable, claim: Claim, schema: &SchemaRef) -> MemTable {
    match claim {
        Claim::Key(at) => table.with_constraints(Constraints::new_unverified(vec![Constraint::PrimaryKey(vec![at])])),
        Claim::Order(at) => {
            let column = Expr::Column(Column::from_name(schema.field(at).name()));
            table.with_sort_order(vec![vec![column.sort(true, true)]])
        }
    }
}

/// Returns the same rows in other types, if those can represent every value.
fn with_other_types(rows: &RecordBatch) -> arrow::error::Result<RecordBatch> {
    let schema = rows.schema();
    let columns = schema.fields().iter().zip(rows.columns()).map(|(field, values)| {
        let other = match field.data_type() {
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => DataType::Int64,
            DataType::Int64 | DataType::UInt32 | DataType::UInt64 => DataType::Decimal128(25, 2),
            DataType::Decimal128(10, 2) => DataType::Decimal256(30, 4),
            DataType::Utf8 => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8View)),
            DataType::LargeUtf8 | DataType::Utf8View => DataType::Utf8,
            DataType::Dictionary(_, of) => of.as_ref().clone(),
            DataType::Date32 => DataType::Timestamp(TimeUnit::Millisecond, None),
            DataType::Timestamp(TimeUnit::Second, zone) => DataType::Timestamp(TimeUnit::Millisecond, zone.clone()),
            same => same.clone(),
        };
        let options = CastOptions {
            safe: false,
            ..CastOptions::default()
        };
        // If a value does not fit the other type, its column stays unchanged.
        let values = cast_with_options(values, &other, &options).unwrap_or_else(|_| Arc::clone(values));
        (field.name().clone(), values, true)
    });
    RecordBatch::try_from_iter_with_nullable(columns.collect::<Vec<_>>())
}

/// Returns a square matrix with some equal entries.
fn matrix(rows: usize) -> arrow::error::Result<RecordBatch> {
    let column = |j: usize| {
        (0..rows)
            .map(|i| ((i * 31 + j * 17) % 11) as f64)
            .collect::<arrow::array::Float64Array>()
    };
    let columns = (0..rows).map(|j| (format!("m{j}"), Arc::new(column(j)) as ArrayRef));
    RecordBatch::try_from_iter(columns.collect::<Vec<_>>())
}

/// Returns a table in memory. Its rows are divided into this many batches, each in its own
/// partition.
fn memory(whole: &RecordBatch, batches: usize) -> datafusion::error::Result<MemTable> {
    let rows = whole.num_rows();
    let cut = |i: usize| rows * i / batches;
    let partitions = (0..batches)
        .map(|i| vec![whole.slice(cut(i), cut(i + 1) - cut(i))])
        .collect();
    MemTable::try_new(whole.schema(), partitions)
}
