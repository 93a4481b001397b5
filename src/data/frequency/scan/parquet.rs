//! Uses the dictionaries of Parquet files in the first scan. A column that a file stores as a
//! dictionary with indices is read in this form, so that a value is looked up once per dictionary
//! instead of once per row.
//!
//! DataFusion has no option for this. The Arrow schema of each file determines the type that the
//! reader returns for a column. The schema of the table must have the same type, or else the
//! dictionary is decoded again.

use crate::base::error::Result;
use crate::method::canonical::is_spelled;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{
    FileScanConfig, FileScanConfigBuilder, FileSource, ParquetFileReaderFactory, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::table_schema::TableSchema;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionExprs;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::projection::ProjectionExec;
use parquet::arrow::parquet_to_arrow_schema;
use parquet::basic::Type as PhysicalType;
use parquet::file::metadata::ParquetMetaData;
use std::collections::HashMap;
use std::sync::Arc;

/// The maximum number of bytes per value in a column that is read as a dictionary. If a column
/// chunk has more bytes per value, it consists mostly of dictionary values, and reading it as a
/// dictionary would cost more than it saves.
const BYTES_A_VALUE: i64 = 4;

/// Returns a plan that returns the same rows, but reads string columns as dictionaries if every
/// file of the scan stores them as dictionaries. Only a scan of Parquet files, with or without a
/// projection to some of its columns, is changed; any other plan is returned unchanged.
pub async fn read_dictionaries(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(projection) = plan.downcast_ref::<ProjectionExec>() {
        return Ok(match projection.expr().iter().all(|e| is_read(&e.expr)) {
            true => match scan(projection.input()).await? {
                Some(input) => Arc::new(ProjectionExec::try_new(projection.expr().to_vec(), input)?),
                None => plan,
            },
            false => plan,
        });
    }
    Ok(scan(&plan).await?.unwrap_or(plan))
}

async fn scan(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(source) = plan.downcast_ref::<DataSourceExec>() else {
        return Ok(None);
    };
    let Some((config, parquet)) = source.downcast_to_file_source::<ParquetSource>() else {
        return Ok(None);
    };
    let (Some(projection), Some(reader)) = (parquet.projection(), parquet.parquet_file_reader_factory()) else {
        return Ok(None);
    };
    let unusual = parquet.filter().is_some() || config.limit.is_some() || config.expr_adapter_factory.is_some();
    let Some(columns) = strings(projection, parquet.table_schema()).filter(|c| !unusual && !c.is_empty()) else {
        return Ok(None);
    };
    let files = Files::read(config, parquet, reader.as_ref()).await?;
    let columns: Vec<String> = columns.into_iter().filter(|c| files.all_have_dictionary(c)).collect();
    if columns.is_empty() {
        return Ok(None);
    }
    let schema = as_dictionaries(parquet.table_schema().file_schema(), &columns);
    let table = TableSchema::builder(schema)
        .with_table_partition_cols(parquet.table_schema().table_partition_cols().clone())
        .build();
    let fresh = ParquetSource::new(table)
        .with_table_parquet_options(parquet.table_parquet_options().clone())
        .with_parquet_file_reader_factory(Arc::clone(reader));
    let Some(fresh) = fresh.try_pushdown_projection(projection)? else {
        return Ok(None);
    };
    let groups = config.file_groups.iter().map(|group| {
        let files = group.files().iter().map(|file| files.with_dictionaries(file, &columns));
        files.collect::<Result<Vec<PartitionedFile>>>().map(Into::into)
    });
    let groups = groups.collect::<Result<Vec<_>>>()?;
    let config = FileScanConfigBuilder::new(config.object_store_url.clone(), fresh)
        .with_file_groups(groups)
        .with_batch_size(config.batch_size)
        .build();
    Ok(Some(DataSourceExec::from_data_source(config)))
}

/// Returns true if an expression is a column, or a column whose values are converted to their
/// canonical form.
fn is_read(expr: &Arc<dyn PhysicalExpr>) -> bool {
    expr.is::<Column>() || is_spelled(expr)
}

/// Returns the string columns of the files that the projection returns unchanged. Returns `None` if
/// an expression of the projection is neither a column nor the canonical form of a column.
fn strings(projection: &ProjectionExprs, table: &TableSchema) -> Option<Vec<String>> {
    let mut names = vec![];
    for projected in projection.iter() {
        let Some(column) = projected.expr.downcast_ref::<Column>() else {
            is_spelled(&projected.expr).then_some(())?;
            continue;
        };
        let is_string =
            |f: &&Arc<Field>| matches!(f.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        let fields = table.file_schema().fields();
        if let Some(field) = fields.get(column.index()).filter(is_string) {
            names.push(field.name().clone());
        }
    }
    Some(names)
}

fn as_dictionaries(schema: &Schema, columns: &[String]) -> SchemaRef {
    let field = |f: &Arc<Field>| match columns.contains(f.name()) {
        true => Arc::new(f.as_ref().clone().with_data_type(DataType::Dictionary(
            Box::new(DataType::Int32),
            Box::new(DataType::Utf8),
        ))),
        false => Arc::clone(f),
    };
    let fields: Vec<Arc<Field>> = schema.fields().iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// The footers of the files of a scan, by path.
struct Files(HashMap<String, Arc<ParquetMetaData>>);

impl Files {
    async fn read(
        config: &FileScanConfig,
        source: &ParquetSource,
        factory: &dyn ParquetFileReaderFactory,
    ) -> Result<Self> {
        let mut footers = HashMap::new();
        for (partition, group) in config.file_groups.iter().enumerate() {
            for file in group.files() {
                let path = file.object_meta.location.to_string();
                if footers.contains_key(&path) {
                    continue;
                }
                let mut reader = factory.create_reader(partition, file.clone(), None, source.metrics())?;
                let footer = reader
                    .get_metadata(None)
                    .await
                    .map_err(datafusion::error::DataFusionError::from)?;
                footers.insert(path, footer);
            }
        }
        Ok(Self(footers))
    }

    /// Returns true if every row group of every file stores the column as strings, encoded with a
    /// small dictionary. A column that contains only NULLs may have no string type in its file; the
    /// result is then false.
    fn all_have_dictionary(&self, column: &str) -> bool {
        let row_groups = self.0.values().flat_map(|footer| footer.row_groups());
        row_groups.into_iter().all(|group| {
            let path = |c: &&parquet::file::metadata::ColumnChunkMetaData| c.column_path().parts() == [column];
            group.columns().iter().find(path).is_some_and(|chunk| {
                chunk.dictionary_page_offset().is_some()
                    && chunk.column_type() == PhysicalType::BYTE_ARRAY
                    && chunk.uncompressed_size() <= BYTES_A_VALUE * chunk.num_values().max(1) + 4096
            })
        })
    }

    /// Returns the file with an Arrow schema that makes the reader return `columns` as
    /// dictionaries.
    fn with_dictionaries(&self, file: &PartitionedFile, columns: &[String]) -> Result<PartitionedFile> {
        let Some(footer) = self.0.get(file.object_meta.location.as_ref()) else {
            return Ok(file.clone());
        };
        let footer = footer.file_metadata();
        let schema = parquet_to_arrow_schema(footer.schema_descr(), footer.key_value_metadata())
            .map_err(datafusion::error::DataFusionError::from)?;
        Ok(file.clone().with_arrow_schema(as_dictionaries(&schema, columns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::canonical::spelled_once;
    use arrow::array::{ArrayRef, Float64Array, Int64Array, NullArray, StringArray};
    use arrow::record_batch::RecordBatch;
    use arrow::util::pretty::pretty_format_batches;
    use datafusion::physical_plan::collect;
    use datafusion::prelude::{ParquetReadOptions, SessionContext, col};
    use parquet::arrow::ArrowWriter;
    use std::path::Path;

    const ROWS: usize = 20_000;

    fn write(path: &Path, with_city: bool) {
        let text =
            |of: &dyn Fn(usize) -> Option<String>| Arc::new((0..ROWS).map(of).collect::<StringArray>()) as ArrayRef;
        let mut columns = vec![
            ("id", text(&|i| Some(format!("person number {i}")))),
            (
                "age",
                Arc::new((0..ROWS as i64).map(|i| i % 90).collect::<Int64Array>()) as ArrayRef,
            ),
            (
                "pay",
                Arc::new((0..ROWS).map(|i| Some(i as f64 / 8.0)).collect::<Float64Array>()) as ArrayRef,
            ),
        ];
        if with_city {
            columns.push(("city", text(&|i| (i % 7 > 0).then(|| format!("city {}", i % 13)))));
        }
        let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true))).unwrap();
        let mut writer = ArrowWriter::try_new(std::fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
    }

    /// Returns the types of the resulting columns, after checking that the rows are unchanged.
    async fn types(folder: &Path, columns: &[&str]) -> Vec<DataType> {
        let session = SessionContext::new();
        let options = ParquetReadOptions::default().table_partition_cols(vec![("year".into(), DataType::Utf8)]);
        let rows = session.read_parquet(folder.to_str().unwrap(), options).await.unwrap();
        let rows = spelled_once(rows).unwrap().select_columns(columns).unwrap();
        // A scan returns its files only once, so each of the two executions needs its own plan.
        let plan = rows.clone().create_physical_plan().await.unwrap();
        let fast = read_dictionaries(rows.create_physical_plan().await.unwrap())
            .await
            .unwrap();
        let show = async |plan: Arc<dyn ExecutionPlan>| {
            let batches = collect(plan, session.task_ctx()).await.unwrap();
            let mut lines: Vec<String> = pretty_format_batches(&batches)
                .unwrap()
                .to_string()
                .lines()
                .map(String::from)
                .collect();
            lines.sort();
            lines
        };
        let (slow, lines) = (show(plan).await, show(Arc::clone(&fast)).await);
        assert!(
            lines == slow && lines.len() > ROWS,
            "{} lines, not {}",
            lines.len(),
            slow.len()
        );
        fast.schema().fields().iter().map(|f| f.data_type().clone()).collect()
    }

    fn is_dictionary(data_type: &DataType) -> bool {
        matches!(data_type, DataType::Dictionary(..))
    }

    #[tokio::test]
    async fn a_column_of_nulls_without_a_type_is_read_beside_texts() {
        let folder = tempfile::tempdir().unwrap();
        for (year, cities) in [
            ("2024", Arc::new(NullArray::new(ROWS)) as ArrayRef),
            (
                "2025",
                Arc::new((0..ROWS).map(|_| Some("Bonn")).collect::<StringArray>()),
            ),
        ] {
            let path = folder.path().join(format!("year={year}/part.parquet"));
            std::fs::create_dir(path.parent().unwrap()).unwrap();
            let batch = RecordBatch::try_from_iter_with_nullable([("city", cities, true)]).unwrap();
            let mut writer = ArrowWriter::try_new(std::fs::File::create(path).unwrap(), batch.schema(), None).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
        }
        assert!(
            types(folder.path(), &["city", "year"])
                .await
                .iter()
                .all(|t| !is_dictionary(t))
        );
    }

    #[tokio::test]
    async fn strings_that_repeat_are_read_as_dictionaries() {
        let folder = tempfile::tempdir().unwrap();
        for year in ["2024", "2025"] {
            std::fs::create_dir(folder.path().join(format!("year={year}"))).unwrap();
            write(&folder.path().join(format!("year={year}/part.parquet")), true);
        }
        let types = types(folder.path(), &["city", "year", "id", "age", "pay"]).await;
        let read: Vec<bool> = types.iter().map(is_dictionary).collect();
        assert_eq!(read, [true, false, false, false, false], "{types:?}");
    }

    #[tokio::test]
    async fn a_file_without_the_column_leaves_it_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        for (year, with_city) in [("2024", true), ("2025", false)] {
            std::fs::create_dir(folder.path().join(format!("year={year}"))).unwrap();
            write(&folder.path().join(format!("year={year}/part.parquet")), with_city);
        }
        assert!(!types(folder.path(), &["city", "age"]).await.iter().any(is_dictionary));
    }

    #[tokio::test]
    async fn what_is_computed_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("part.parquet"), true);
        let session = SessionContext::new();
        let rows = session
            .read_parquet(folder.path().to_str().unwrap(), ParquetReadOptions::default())
            .await
            .unwrap();
        let filtered = rows.filter(col("age").gt(datafusion::prelude::lit(80))).unwrap();
        let plan = filtered.create_physical_plan().await.unwrap();
        let schema = read_dictionaries(Arc::clone(&plan)).await.unwrap().schema();
        assert_eq!(schema, plan.schema());
    }
}
