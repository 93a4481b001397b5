//! Generates and encodes row groups in parallel, and writes them in order.

use crate::base::error::{Error, Result};
use crate::base::pool::{Pool, map};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::fs::File;
use std::io::BufWriter;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;

/// The number of rows in a row group: small enough to hold several in memory, large enough for
/// dictionaries to pay off. It is a multiple of the block sizes of all tables.
pub(super) const GROUP_ROWS: u64 = 1 << 18;

/// A table whose rows are generated from their row numbers.
pub(super) trait GeneratedRows: Sync {
    /// Returns the columns of the table.
    fn schema(&self) -> SchemaRef;

    /// Returns the rows with these numbers, generated from the random stream `group`.
    fn rows(&self, group: u64, range: Range<u64>) -> Result<RecordBatch>;
}

/// Writes the first `total` rows of `table` to the file `out`. If this fails, it removes the
/// incomplete file.
pub(super) fn write(table: &dyn GeneratedRows, total: u64, threads: NonZeroUsize, out: &Path) -> Result<()> {
    let file = File::create(out).map_err(|e| Error::io(out.display(), e))?;
    let written = write_to(table, total, threads, file);
    if written.is_err() {
        // The first error is reported, and an error of the removal is ignored. A file that remains
        // has no footer, so it cannot be read.
        let _ = std::fs::remove_file(out);
    }
    written.map_err(|e| e.context(out.display()))
}

fn write_to(table: &dyn GeneratedRows, total: u64, threads: NonZeroUsize, file: File) -> Result<()> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_created_by("anonsql generate".into())
        .build();
    // Dictionary arrays only make writing faster. Without Arrow's metadata, readers see plain
    // strings.
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let writer = ArrowWriter::try_new_with_options(BufWriter::new(file), table.schema(), options)?;
    let (mut writer, factory) = writer.into_serialized_writer()?;
    let groups = total.div_ceil(GROUP_ROWS);
    let pool = Pool::new(threads.get());
    for first in (0..groups).step_by(threads.get()) {
        let together = (groups - first).min(threads.get() as u64);
        let encoded = |i| encode(table, &factory, first + i as u64, total);
        for chunks in pool.install(|| map(together as usize, encoded)) {
            let mut group = writer.next_row_group()?;
            for chunk in chunks? {
                chunk.append_to_row_group(&mut group)?;
            }
            group.close()?;
        }
    }
    writer.close()?;
    Ok(())
}

fn encode(
    table: &dyn GeneratedRows,
    factory: &ArrowRowGroupWriterFactory,
    group: u64,
    total: u64,
) -> Result<Vec<ArrowColumnChunk>> {
    let start = group * GROUP_ROWS;
    let batch = table.rows(group, start..total.min(start + GROUP_ROWS))?;
    let writers = factory.create_column_writers(group as usize)?;
    let schema = batch.schema();
    let columns = schema.fields().iter().zip(batch.columns());
    let mut chunks = Vec::with_capacity(writers.len());
    for (mut writer, (field, array)) in writers.into_iter().zip(columns) {
        for leaf in compute_leaves(field, array)? {
            writer.write(&leaf)?;
        }
        chunks.push(writer.close()?);
    }
    Ok(chunks)
}
