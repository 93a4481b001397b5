//! Recognizes the format of a file by the extension of its name and by its first bytes.

use crate::base::error::{Error, Result};
use crate::base::location::{compression_name, without_compression};
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use std::fmt;

/// The format of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DataFormat {
    Parquet,
    Csv,
    /// CSV with tabs as delimiters.
    Tsv,
    Json,
    Avro,
    Arrow,
}

/// Every format with its name and its file name extensions.
const FORMATS: &[(DataFormat, &str, &[&str])] = &[
    (DataFormat::Parquet, "Parquet", &["parquet", "pq", "parq", "pqt"]),
    (DataFormat::Csv, "CSV", &["csv"]),
    (DataFormat::Tsv, "TSV", &["tsv", "tab"]),
    (DataFormat::Json, "JSON", &["json", "ndjson", "jsonl"]),
    (DataFormat::Avro, "Avro", &["avro"]),
    (DataFormat::Arrow, "Arrow IPC", &["arrow", "arrows", "ipc", "feather"]),
];

/// A kind of file content that is recognized by its first bytes.
enum Content {
    Data(DataFormat),
    Compressed(FileCompressionType),
    Other(&'static str),
}

const CONTENTS: &[(&[u8], Content)] = &[
    (b"PAR1", Content::Data(DataFormat::Parquet)),
    (b"Obj\x01", Content::Data(DataFormat::Avro)),
    (b"ARROW1", Content::Data(DataFormat::Arrow)),
    (b"\x1f\x8b", Content::Compressed(FileCompressionType::GZIP)),
    (b"\x28\xb5\x2f\xfd", Content::Compressed(FileCompressionType::ZSTD)),
    (b"BZh", Content::Compressed(FileCompressionType::BZIP2)),
    (b"\xfd7zXZ\0", Content::Compressed(FileCompressionType::XZ)),
    (
        b"PK\x03\x04",
        Content::Other("a ZIP archive, as .xlsx and .ods are; unpack it, or save the sheet as CSV"),
    ),
    (
        b"\xd0\xcf\x11\xe0",
        Content::Other("an Excel or Access file; save it as CSV"),
    ),
    (b"7z\xbc\xaf", Content::Other("a 7z archive; unpack it")),
    (
        b"SQLite format 3",
        Content::Other("an SQLite database; write the table as CSV: sqlite3 -csv -header FILE 'SELECT * FROM t'"),
    ),
    (b"$FL", Content::Other("an SPSS file; save it as CSV or Parquet")),
    (
        b"<stata_dta>",
        Content::Other("a Stata file; save it as CSV or Parquet"),
    ),
    (
        b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60",
        Content::Other("a SAS file; save it as CSV or Parquet"),
    ),
    (b"ORC", Content::Other("an ORC file; write it as Parquet")),
    (
        b"\x89HDF",
        Content::Other("an HDF5 file; write the table as CSV or Parquet"),
    ),
    (b"%PDF", Content::Other("a PDF")),
];

impl DataFormat {
    /// The names of the formats that OPTIONS accepts.
    pub(super) const NAMES: &'static [&'static str] = &["parquet", "csv", "tsv", "json", "ndjson", "avro", "arrow"];

    /// Returns the format with this name or file name extension, ignoring case.
    pub(super) fn called(name: &str) -> Option<Self> {
        let found = FORMATS
            .iter()
            .find(|(.., endings)| endings.iter().any(|e| name.eq_ignore_ascii_case(e)));
        found.map(|(format, ..)| *format)
    }

    /// Returns the format and the compression that a file name indicates.
    pub(super) fn of_name(name: &str) -> (Option<Self>, FileCompressionType) {
        let (stem, compression) = without_compression(name);
        let ending = stem.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
        (ending.and_then(|(_, ending)| Self::called(ending)), compression)
    }

    /// Returns true if files of the format are text. Only text files may be compressed as a whole.
    pub(super) fn is_text(self) -> bool {
        matches!(self, DataFormat::Csv | DataFormat::Tsv | DataFormat::Json)
    }

    pub(super) fn is_csv(self) -> bool {
        matches!(self, DataFormat::Csv | DataFormat::Tsv)
    }

    /// Returns the format of a file. `head` contains the first bytes of the file, after
    /// decompression. `named` is the format that the file name or the statement indicates. Fails if
    /// the content does not have this format, or if neither `named` nor the content indicates a
    /// format. The error says what to write instead.
    pub(super) fn of_content(named: Option<Self>, head: &[u8]) -> Result<Self> {
        let content = CONTENTS
            .iter()
            .find(|(start, _)| head.starts_with(start))
            .map(|(_, content)| content);
        match (named, content) {
            (Some(named), Some(Content::Data(found))) if named == *found => Ok(named),
            (None, Some(Content::Data(found))) => Ok(*found),
            (Some(named), Some(Content::Data(found))) => Err(Error::usage(format!(
                "its name says {named}, but its content is {found}; write OPTIONS (format {}) after the path, \
                 or give it another name",
                found.name()
            ))),
            (_, Some(Content::Compressed(compression))) => Err(Error::usage(format!(
                "it is compressed with {0}, and its name does not say so; write OPTIONS (compression {0}) after the \
                 path, \
                 or give it another name",
                compression_name(*compression)
            ))),
            (_, Some(Content::Other(what))) => Err(Error::usage(format!("it is {what}"))),
            (Some(named), None) if !named.is_text() && is_text(head) => Err(Error::data(format!(
                "its name says {named}, but its content is text; if it is CSV, write OPTIONS (format csv) after \
                 the path"
            ))),
            (Some(named), None) => Ok(named),
            (None, None) => Err(Error::usage(format!(
                "its name does not show the format; known endings are {}; write the format after the path: OPTIONS \
                 (format csv)",
                endings()
            ))),
        }
    }

    fn name(self) -> &'static str {
        FORMATS
            .iter()
            .find(|(format, ..)| *format == self)
            .map_or("", |(.., endings)| endings[0])
    }
}

impl fmt::Display for DataFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = FORMATS.iter().find(|(format, ..)| format == self);
        f.write_str(found.map_or("", |(_, name, _)| name))
    }
}

fn endings() -> String {
    let endings = FORMATS.iter().flat_map(|(.., endings)| endings.iter());
    let endings: Vec<String> = endings.map(|ending| format!(".{ending}")).collect();
    format!("{}, and texts also with .gz, .zst, .bz2 and .xz", endings.join(", "))
}

/// Returns true if a file with this beginning consists of lines of text.
fn is_text(head: &[u8]) -> bool {
    let is_printed = |b: &u8| !b.is_ascii_control() || matches!(b, b'\n' | b'\r' | b'\t');
    head.iter().all(is_printed) && head.contains(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_format_and_compression() {
        for (name, format, compression) in [
            ("a/b.csv", Some(DataFormat::Csv), FileCompressionType::UNCOMPRESSED),
            ("A.CSV.GZ", Some(DataFormat::Csv), FileCompressionType::GZIP),
            ("a.tsv.zst", Some(DataFormat::Tsv), FileCompressionType::ZSTD),
            ("a.jsonl.bz2", Some(DataFormat::Json), FileCompressionType::BZIP2),
            (
                "a.snappy.parquet",
                Some(DataFormat::Parquet),
                FileCompressionType::UNCOMPRESSED,
            ),
            ("a.avro", Some(DataFormat::Avro), FileCompressionType::UNCOMPRESSED),
            ("a.feather", Some(DataFormat::Arrow), FileCompressionType::UNCOMPRESSED),
            ("a.csv/b", None, FileCompressionType::UNCOMPRESSED),
            ("a.gz", None, FileCompressionType::GZIP),
            ("a.xlsx", None, FileCompressionType::UNCOMPRESSED),
        ] {
            assert_eq!(DataFormat::of_name(name), (format, compression), "{name}");
        }
        assert!(DataFormat::NAMES.iter().all(|name| DataFormat::called(name).is_some()));
    }

    #[test]
    fn content_that_is_another_is_told() {
        for (named, head, said) in [
            (
                Some(DataFormat::Csv),
                &b"PAR1..."[..],
                "says CSV, but its content is Parquet; write OPTIONS (format parquet)",
            ),
            (Some(DataFormat::Parquet), b"age,sex\n1,f\n", "content is text"),
            (Some(DataFormat::Csv), b"\x1f\x8b\x08", "OPTIONS (compression gzip)"),
            (Some(DataFormat::Csv), b"PK\x03\x04..", "ZIP archive"),
            (None, b"PK\x03\x04..", "ZIP archive"),
            (None, b"age,sex\n1,f\n", "OPTIONS (format csv)"),
        ] {
            let e = DataFormat::of_content(named, head).unwrap_err().to_string();
            assert!(e.contains(said), "{e}");
        }
        for (named, head, found) in [
            (None, &b"Obj\x01"[..], DataFormat::Avro),
            (Some(DataFormat::Json), b"[{", DataFormat::Json),
            (Some(DataFormat::Parquet), b"PAR1", DataFormat::Parquet),
            (Some(DataFormat::Parquet), b"PAR0", DataFormat::Parquet),
        ] {
            assert_eq!(DataFormat::of_content(named, head).unwrap(), found);
        }
    }
}
