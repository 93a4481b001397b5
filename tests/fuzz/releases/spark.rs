//! Writes Parquet as Spark does by default: a timestamp without a zone is an INT96 with the day and
//! the nanoseconds within the day.

use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, TimeUnit, TimestampMicrosecondType};
use parquet::arrow::ArrowSchemaConverter;
use parquet::arrow::arrow_writer::{ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::{Repetition, Type as Physical};
use parquet::data_type::{Int96, Int96Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};
use std::io::Write;
use std::sync::Arc;

/// The type of a column that Spark writes as INT96.
pub const TIME: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

/// The Julian day of 1970-01-01.
const EPOCH: i64 = 2_440_588;
const MICROSECONDS_OF_A_DAY: i64 = 86_400_000_000;

/// Writes rows as one row group.
pub fn write(rows: &RecordBatch, to: impl Write + Send) -> Result<()> {
    let (arrow, properties) = (rows.schema(), Arc::new(WriterProperties::default()));
    let plain = ArrowSchemaConverter::new().convert(&arrow)?;
    let fields = plain.root_schema().get_fields().iter().zip(arrow.fields());
    let fields = fields.map(|(node, field)| match *field.data_type() == TIME {
        true => int96(field.name()),
        false => Ok(Arc::clone(node)),
    });
    let root = Type::group_type_builder("spark_schema").with_fields(fields.collect::<Result<_>>()?);
    let mut file = SerializedFileWriter::new(to, Arc::new(root.build()?), properties)?;
    let mut writers = ArrowRowGroupWriterFactory::new(&file, Arc::clone(&arrow))
        .create_column_writers(0)?
        .into_iter();
    let mut group = file.next_row_group()?;
    for (field, values) in arrow.fields().iter().zip(rows.columns()) {
        if *field.data_type() == TIME {
            // The Arrow writer of this column does not support INT96, so it is skipped.
            writers.next();
            let mut column = group.next_column()?.ok_or_else(missing)?;
            let (times, levels) = times(values);
            column.typed::<Int96Type>().write_batch(&times, Some(&levels), None)?;
            column.close()?;
            continue;
        }
        for leaf in compute_leaves(field, values)? {
            let mut writer = writers.next().ok_or_else(missing)?;
            writer.write(&leaf)?;
            writer.close()?.append_to_row_group(&mut group)?;
        }
    }
    group.close()?;
    file.close().map(drop)
}

fn missing() -> ParquetError {
    ParquetError::General("a column has no writer".into())
}

fn int96(name: &str) -> Result<TypePtr> {
    let column = Type::primitive_type_builder(name, Physical::INT96).with_repetition(Repetition::OPTIONAL);
    Ok(Arc::new(column.build()?))
}

/// Returns the times of a column that are not NULL, and a level for each value: 0 for NULL, else 1.
fn times(values: &ArrayRef) -> (Vec<Int96>, Vec<i16>) {
    let values = values.as_primitive::<TimestampMicrosecondType>();
    let time = |at: i64| {
        let nanoseconds = (at.rem_euclid(MICROSECONDS_OF_A_DAY) * 1_000) as u64;
        let day = (at.div_euclid(MICROSECONDS_OF_A_DAY) + EPOCH) as u32;
        let mut time = Int96::new();
        time.set_data(nanoseconds as u32, (nanoseconds >> 32) as u32, day);
        time
    };
    let levels = (0..values.len()).map(|i| i16::from(values.is_valid(i)));
    (values.iter().flatten().map(time).collect(), levels.collect())
}
