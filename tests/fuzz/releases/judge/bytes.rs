//! Finds bytes of values that are in no released row: in buffers, in files and in messages.
//!
//! Values of the tables contain markers, `ZQX` and six letters or digits, each in few rows. A
//! marker that is in no released row must not be in any output.

use arrow::array::{Array, ArrayData, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use parquet::column::page::Page;
use parquet::file::reader::{FileReader, SerializedFileReader};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The beginning of a marker, and its length.
pub const MARK: &str = "ZQX";
pub const LENGTH: usize = 9;

/// Returns the markers in these bytes.
pub fn markers(bytes: &[u8]) -> BTreeSet<String> {
    let found = memchr::memmem::find_iter(bytes, MARK.as_bytes());
    let whole = found.filter_map(|at| bytes.get(at..at + LENGTH));
    whole
        .filter(|m| m.iter().all(u8::is_ascii_alphanumeric))
        .map(|m| String::from_utf8_lossy(m).into_owned())
        .collect()
}

/// Returns the markers in every buffer of batches, whether or not a row uses it.
pub fn in_batches(batches: &[RecordBatch]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for column in batches.iter().flat_map(RecordBatch::columns) {
        in_data(&column.to_data(), &mut found);
    }
    let schemas = batches.iter().map(|b| format!("{:?}", b.schema()));
    schemas.for_each(|s| found.extend(markers(s.as_bytes())));
    found
}

fn in_data(data: &ArrayData, found: &mut BTreeSet<String>) {
    data.buffers().iter().for_each(|b| found.extend(markers(b.as_slice())));
    data.child_data().iter().for_each(|child| in_data(child, found));
}

/// Returns the dictionary entries that no row uses, by column. Whatever its type, such an entry is
/// a value of a row that is not released. The rows of one batch may be returned in several batches,
/// which share their dictionary.
pub fn unused_entries(batches: &[RecordBatch]) -> Vec<String> {
    let (mut shown, mut held) = (BTreeSet::new(), BTreeSet::new());
    for batch in batches {
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let DataType::Dictionary(_, values) = field.data_type() else {
                continue;
            };
            let plain = arrow::compute::cast(column, values);
            let rows = plain.into_iter().flat_map(|c| texts(&c));
            shown.extend(rows.map(|text| (field.name().clone(), text)));
            held.extend(
                texts(column.as_any_dictionary().values())
                    .into_iter()
                    .map(|text| (field.name().clone(), text)),
            );
        }
    }
    held.difference(&shown)
        .map(|(column, text)| format!("{column}: {text}"))
        .collect()
}

fn texts(values: &ArrayRef) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let shown = ArrayFormatter::try_new(values.as_ref(), &options);
    shown
        .into_iter()
        .flat_map(|f| (0..values.len()).map(|i| f.value(i).to_string()).collect::<Vec<_>>())
        .collect()
}

/// Returns every file under a folder.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut found, mut left) = (vec![], vec![folder.to_path_buf()]);
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => left.push(path),
                path => found.push(path),
            }
        }
    }
    found.sort();
    found
}

/// Returns the markers in the names and the bytes of files, and in the decompressed pages of
/// Parquet.
pub fn in_files(files: &[PathBuf]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for path in files {
        found.extend(markers(path.display().to_string().as_bytes()));
        found.extend(markers(&std::fs::read(path).unwrap_or_default()));
        if path.extension().is_some_and(|e| e == "parquet") {
            in_pages(path, &mut found);
        }
    }
    found
}

fn in_pages(path: &Path, found: &mut BTreeSet<String>) {
    let Some(reader) = std::fs::File::open(path)
        .ok()
        .and_then(|f| SerializedFileReader::new(f).ok())
    else {
        return;
    };
    for group in 0..reader.num_row_groups() {
        let Ok(group) = reader.get_row_group(group) else {
            continue;
        };
        for column in 0..group.num_columns() {
            let Ok(mut pages) = group.get_column_page_reader(column) else {
                continue;
            };
            while let Ok(Some(page)) = pages.get_next_page() {
                let bytes = match &page {
                    Page::DataPage { buf, .. } | Page::DataPageV2 { buf, .. } | Page::DictionaryPage { buf, .. } => buf,
                };
                found.extend(markers(bytes));
            }
        }
    }
}
