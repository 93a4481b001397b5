//! INT96 times, the oldest type of times in Parquet, which Spark, Hive and Impala write. An INT96
//! value stores a day and the nanoseconds within the day.
//!
//! Arrow has no such type. By default, DataFusion reads INT96 as nanoseconds since 1970, and a time
//! after 2262 silently becomes another time: 9999-12-31 becomes 1816-03-29. Therefore, a session
//! reads INT96 as microseconds. It is an error if a time has digits below a microsecond or does not
//! fit in 64 bits. To find such times, the columns are read a second time by the low-level Parquet
//! reader, where values still have 96 bits.
//!
//! Old versions of Spark write dates and times in the hybrid calendar, which is Julian before 1582,
//! and state this in the metadata of the file. Newer versions do so on request. Such a file can be
//! read, but it is an error if the file contains a date or time that may differ between the two
//! calendars.

use super::times::{Fault, StoredTimes, first_fault};
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use arrow::datatypes::{DataType, SchemaRef, TimeUnit};
use bytes::Bytes;
use chrono::{DateTime, Utc};
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::parquet::Int96Coercer;
use datafusion::datasource::physical_plan::{
    FileScanConfig, FileScanConfigBuilder, FileSource, ParquetFileReaderFactory, ParquetSource,
};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result as DfResult;
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::metrics::ExecutionPlanMetricsSet;
use datafusion::prelude::SessionConfig;
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::arrow::parquet_to_arrow_schema;
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::schema::types::ColumnDescriptor;
use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

/// The name of the unit in DataFusion's options.
const MICROSECONDS: &str = "us";

/// Makes a session read INT96 as microseconds, unless the session already sets another unit.
pub(crate) fn read_in_microseconds(config: &mut SessionConfig) {
    let parquet = &mut config.options_mut().execution.parquet;
    parquet.coerce_int96.get_or_insert_with(|| MICROSECONDS.to_string());
}

/// Adds the check of times to a reader of Parquet files. Returns any other operator unchanged.
pub(super) fn with_checked_times(plan: Arc<dyn ExecutionPlan>) -> Arc<dyn ExecutionPlan> {
    let Some((config, parquet, checked)) = checked_reader(&plan) else {
        return plan;
    };
    let parquet = parquet.with_parquet_file_reader_factory(Arc::new(checked));
    let config = FileScanConfigBuilder::from(config.clone()).with_source(Arc::new(parquet));
    DataSourceExec::from_data_source(config.build())
}

/// Checks the times in all files of a plan before the plan runs. This function is for a plan whose
/// readers cannot be replaced, such as the plan of a Delta table with deletion vectors.
pub(super) async fn check_times(plan: &Arc<dyn ExecutionPlan>) -> DfResult<()> {
    let mut readers = vec![];
    plan.apply(|plan| {
        if let Some((config, _, checked)) = checked_reader(plan) {
            let files = config.file_groups.iter().flat_map(|group| group.files().to_vec());
            readers.extend(files.map(|file| checked.create_reader(0, file, None, &ExecutionPlanMetricsSet::new())));
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    for reader in readers {
        reader?.get_metadata(None).await?;
    }
    Ok(())
}

/// Returns the scan of a Parquet reader, and a reader factory that includes the check; `None` if
/// the operator does not read Parquet files.
fn checked_reader(plan: &Arc<dyn ExecutionPlan>) -> Option<(&FileScanConfig, ParquetSource, CheckedTimes)> {
    let source = plan.downcast_ref::<DataSourceExec>();
    let (config, parquet) = source.and_then(|s| s.downcast_to_file_source::<ParquetSource>())?;
    let inner = Arc::clone(parquet.parquet_file_reader_factory()?);
    // The reader of a table format may lack the options of the session.
    let mut options = parquet.table_parquet_options().clone();
    options
        .global
        .coerce_int96
        .get_or_insert_with(|| MICROSECONDS.to_string());
    let parquet = parquet.clone().with_table_parquet_options(options);
    let what = Arc::new(What::of(config, &parquet));
    Some((config, parquet, CheckedTimes { inner, what }))
}

/// The columns that a scan reads from its files, and the unit and zone in which the scan reads
/// their times.
#[derive(Debug)]
struct What {
    /// The prefix of file paths in errors.
    root: String,
    schema: SchemaRef,
    /// The names of the columns of `schema` that are read; `None` for all columns.
    read: Option<HashSet<String>>,
    unit: Option<TimeUnit>,
    zone: Option<Arc<str>>,
    /// The parts of files that have passed the check.
    checked: Mutex<HashSet<Part>>,
}

/// A part of a file: the path of the file, the time of its last change, and the range of bytes;
/// `None` for the whole file.
type Part = (String, DateTime<Utc>, Option<(i64, i64)>);

impl What {
    fn of(config: &FileScanConfig, parquet: &ParquetSource) -> Self {
        let options = &parquet.table_parquet_options().global;
        let schema = Arc::clone(config.file_schema());
        let names = |indices: Vec<usize>| {
            let names = indices.into_iter().filter_map(|i| schema.fields().get(i));
            names.map(|field| field.name().clone()).collect::<HashSet<String>>()
        };
        let mut read = parquet.projection().map(|columns| names(columns.column_indices()));
        if let (Some(read), Some(filter)) = (&mut read, parquet.filter()) {
            read.extend(
                collect_columns(&filter)
                    .into_iter()
                    .map(|column| column.name().to_string()),
            );
        }
        let url = config.object_store_url.as_str();
        Self {
            root: match url.starts_with("file:") {
                true => "/".to_string(),
                false => url.to_string(),
            },
            read,
            unit: match options.coerce_int96.as_deref().map(str::to_lowercase).as_deref() {
                Some("s") => Some(TimeUnit::Second),
                Some("ms") => Some(TimeUnit::Millisecond),
                Some(MICROSECONDS) => Some(TimeUnit::Microsecond),
                _ => None,
            },
            zone: options.coerce_int96_tz.as_deref().map(Arc::from),
            checked: Mutex::default(),
            schema,
        }
    }

    /// Returns true if the scan may read a column of a file. Also returns true for a column that
    /// the table does not have.
    fn has(&self, column: &str) -> bool {
        let Some(read) = &self.read else { return true };
        read.contains(column) || self.schema.column_with_name(column).is_none()
    }

    /// Returns the indices of the columns that are read and whose times must be checked, each with
    /// the stored form of its times.
    fn columns(&self, metadata: &ParquetMetaData) -> Result<Vec<(usize, StoredTimes)>> {
        let described = metadata.file_metadata().schema_descr();
        let is_read = |i: &usize| {
            let path = described.column(*i);
            path.path().parts().first().is_some_and(|root| self.has(root))
        };
        let read: Vec<usize> = (0..described.num_columns()).filter(is_read).collect();
        let old = match has_old_calendar(metadata, LEGACY_TIMES, &["2."]) {
            true => read
                .iter()
                .filter_map(|i| Some((*i, in_old_calendar(&described.column(*i))?)))
                .collect(),
            false => vec![],
        };
        Ok([old, self.of_96_bits(metadata, &read)?].concat())
    }

    /// Returns the columns of `read` that have the type INT96, each with the unit in which it is
    /// read.
    fn of_96_bits(&self, metadata: &ParquetMetaData, read: &[usize]) -> Result<Vec<(usize, StoredTimes)>> {
        let file = metadata.file_metadata();
        let described = file.schema_descr();
        let has_96_bits = |i: &usize| described.column(*i).physical_type() == Type::INT96;
        let columns: Vec<usize> = read.iter().copied().filter(has_96_bits).collect();
        if columns.is_empty() {
            return Ok(vec![]);
        }
        let arrow = parquet_to_arrow_schema(described, file.key_value_metadata())?;
        let coerced = self.unit.and_then(|unit| {
            Int96Coercer::new(described, &arrow, &unit)
                .with_timezone(self.zone.clone())
                .coerce()
        });
        let mut types = vec![];
        for field in coerced.as_ref().unwrap_or(&arrow).fields() {
            leaves(field.data_type(), &mut types);
        }
        let is_old = has_old_calendar(metadata, LEGACY_INT96, &["2.", "3.0."]);
        let stored = columns.into_iter().map(|i| match types.get(i) {
            Some(DataType::Timestamp(unit, _)) if types.len() == described.num_columns() => {
                Ok((i, StoredTimes::Int96 { unit: *unit, is_old }))
            }
            _ => Err(Error::data(format!(
                "column {:?} has times in a form that is not read; write the file again with TIMESTAMP",
                described.column(i).path().string()
            ))),
        });
        stored.collect()
    }
}

/// Appends the leaf types of `data_type` to `types`.
fn leaves<'a>(data_type: &'a DataType, types: &mut Vec<&'a DataType>) {
    match data_type {
        DataType::Struct(fields) => fields.iter().for_each(|field| leaves(field.data_type(), types)),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => leaves(item.data_type(), types),
        leaf => types.push(leaf),
    }
}

#[derive(Debug)]
struct CheckedTimes {
    inner: Arc<dyn ParquetFileReaderFactory>,
    what: Arc<What>,
}

impl ParquetFileReaderFactory for CheckedTimes {
    fn create_reader(
        &self,
        partition: usize,
        file: PartitionedFile,
        hint: Option<usize>,
        metrics: &ExecutionPlanMetricsSet,
    ) -> DfResult<Box<dyn AsyncFileReader + Send>> {
        let range = file.range.as_ref().map(|range| (range.start, range.end));
        let part = (file.path().to_string(), file.object_meta.last_modified, range);
        Ok(Box::new(Reader {
            inner: self.inner.create_reader(partition, file, hint, metrics)?,
            what: Arc::clone(&self.what),
            part,
        }))
    }
}

struct Reader {
    inner: Box<dyn AsyncFileReader + Send>,
    what: Arc<What>,
    part: Part,
}

impl Reader {
    /// Fails if this part of the file contains a time that its type cannot represent or that may
    /// differ between the two calendars, or if the file has two columns with the same name.
    async fn check(&mut self, metadata: &ParquetMetaData) -> ParquetResult<()> {
        if self.what.checked.lock().contains(&self.part) {
            return Ok(());
        }
        let (root, (path, _, range)) = (&self.what.root, &self.part);
        let doing = format!("cannot read \"{root}{path}\"");
        if let Some(name) = named_twice(metadata) {
            let text = format!(
                "two columns are called {name:?}, of which only one would be read; write the file again with a name for each"
            );
            return Err(external(Error::data(text).context(&doing)));
        }
        let columns = self.what.columns(metadata).map_err(|e| external(e.context(&doing)))?;
        let mut chunks = vec![];
        for group in metadata.row_groups() {
            for &(column, stored) in columns.iter().filter(|_| is_in(group, range.as_ref())) {
                chunks.push((group.column(column).clone(), group.num_rows(), stored));
            }
        }
        for (chunk, rows, stored) in chunks {
            let (start, length) = chunk.byte_range();
            let bytes = self.inner.get_bytes(start..start.saturating_add(length)).await?;
            let name = chunk.column_path().string();
            let found = blocking("reading times", move || first_fault(bytes, &chunk, rows, stored));
            if let Some(fault) = found.await.map_err(external)? {
                return Err(external(told(&name, stored, &fault).context(&doing)));
            }
        }
        self.what.checked.lock().insert(self.part.clone());
        Ok(())
    }
}

impl AsyncFileReader for Reader {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, ParquetResult<Bytes>> {
        self.inner.get_bytes(range)
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, ParquetResult<Vec<Bytes>>> {
        self.inner.get_byte_ranges(ranges)
    }

    fn get_metadata<'a>(
        &'a mut self,
        options: Option<&'a ArrowReaderOptions>,
    ) -> BoxFuture<'a, ParquetResult<Arc<ParquetMetaData>>> {
        async move {
            let metadata = self.inner.get_metadata(options).await?;
            self.check(&metadata).await?;
            Ok(metadata)
        }
        .boxed()
    }
}

/// Returns the name of a column that occurs twice in a file; `None` if all names are different.
fn named_twice(metadata: &ParquetMetaData) -> Option<&str> {
    let mut names = HashSet::new();
    let mut fields = metadata.file_metadata().schema().get_fields().iter();
    fields
        .find(|field| !names.insert(field.name()))
        .map(|field| field.name())
}

fn external(error: Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

/// Returns the error for a time that cannot be read.
fn told(column: &str, stored: StoredTimes, fault: &Fault) -> Error {
    let nanoseconds = matches!(
        stored,
        StoredTimes::Int96 {
            unit: TimeUnit::Nanosecond,
            ..
        }
    );
    let (what, setting) = match stored {
        StoredTimes::Int96 { .. } => ("time before 1900", "int96RebaseModeInWrite"),
        StoredTimes::OldDays => ("date before 1582-10-15", "datetimeRebaseModeInWrite"),
        StoredTimes::OldTicks { .. } => ("time before 1900", "datetimeRebaseModeInWrite"),
    };
    Error::data(match fault {
        Fault::Digits => format!(
            "column {column:?} has a time with nanoseconds, and such columns are read in microseconds; \
             SET datafusion.execution.parquet.coerce_int96 = 'ns', or CAST them where the file is written"
        ),
        Fault::Range if nanoseconds => format!(
            "column {column:?} has a time before 1678 or after 2261, which 64-bit nanoseconds cannot represent; \
             SET datafusion.execution.parquet.coerce_int96 = 'us', or write the column as TIMESTAMP"
        ),
        Fault::Range => format!("column {column:?} has a time that no timestamp can hold; write the file again"),
        Fault::Calendar => format!(
            "column {column:?} has a {what} in the calendar of old versions of Spark, in which it is another day; \
             write the file again with spark.sql.parquet.{setting} = 'CORRECTED'"
        ),
    })
}

/// The key with which Spark marks a file whose INT96 times are in the old calendar.
const LEGACY_INT96: &str = "org.apache.spark.legacyINT96";
/// The key with which Spark marks a file whose other dates and times are in the old calendar.
const LEGACY_TIMES: &str = "org.apache.spark.legacyDateTime";

/// Returns true if Spark marked the file with `key`, or wrote the file with one of `versions`,
/// which always used the old calendar.
fn has_old_calendar(metadata: &ParquetMetaData, key: &str, versions: &[&str]) -> bool {
    let entries = metadata.file_metadata().key_value_metadata();
    entries.into_iter().flatten().any(|entry| match entry.key.as_str() {
        "org.apache.spark.version" => {
            let version = entry.value.as_deref().unwrap_or_default();
            versions.iter().any(|old| version.starts_with(old))
        }
        said => said == key,
    })
}

/// Returns the stored form of the times of a column in a file with the old calendar; `None` if
/// Spark does not convert the column's values.
fn in_old_calendar(column: &ColumnDescriptor) -> Option<StoredTimes> {
    if let Some(LogicalType::Timestamp(time)) = column.logical_type_ref()
        && !time.is_adjusted_to_u_t_c
    {
        return None;
    }
    match column.converted_type() {
        ConvertedType::DATE => Some(StoredTimes::OldDays),
        ConvertedType::TIMESTAMP_MILLIS => Some(StoredTimes::OldTicks { per_second: 1_000 }),
        ConvertedType::TIMESTAMP_MICROS => Some(StoredTimes::OldTicks { per_second: 1_000_000 }),
        _ => None,
    }
}

/// Returns true if DataFusion assigns a row group to the part of its file with this range of bytes;
/// `None` stands for the whole file.
fn is_in(group: &RowGroupMetaData, range: Option<&(i64, i64)>) -> bool {
    let (Some((start, end)), Some(column)) = (range, group.columns().first()) else {
        return true;
    };
    let first = column
        .dictionary_page_offset()
        .unwrap_or_else(|| column.data_page_offset());
    (*start..*end).contains(&first)
}
