//! Reads the local files of a CSV table again, to find the line of an error.

use super::dialect::Dialect;
use super::lines::line;
use super::sniff::counted;
use crate::base::error::Error;
use crate::base::location::{not_decompressed, open};
use csv::ByteRecord;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use std::path::PathBuf;

/// The local files of a CSV table.
#[derive(Debug, Clone)]
pub(crate) struct CsvFiles {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) dialect: Dialect,
    pub(crate) compression: FileCompressionType,
    /// The number of columns in the files.
    pub(crate) columns: usize,
}

impl CsvFiles {
    /// Returns the error for the first record that has a wrong number of fields or is not UTF-8;
    /// `None` if there is no such record.
    pub(crate) fn fault(&self) -> Option<Error> {
        self.first(|record, _| {
            let fields = record.len();
            if fields != self.columns {
                return Some(format!(
                    "has {}, and the table has {} columns; put a field that contains the delimiter in quotes, \
                     or name the delimiter: OPTIONS (delimiter ';')",
                    counted(fields),
                    self.columns
                ));
            }
            let is_text = record.iter().all(|field| std::str::from_utf8(field).is_ok());
            (!is_text).then(|| "is not UTF-8; write the file again as UTF-8: iconv -f WINDOWS-1252 -t UTF-8".into())
        })
    }

    /// Returns the error for the first field of the column with index `column` for which `wrong`
    /// returns true. Empty fields are skipped. `why` describes the fault.
    pub(super) fn first_field(&self, column: usize, wrong: impl Fn(&str) -> bool, why: &str) -> Option<Error> {
        self.first(|record, is_first| {
            let is_header = is_first && self.dialect.has_header;
            let field = record.get(column).and_then(|field| std::str::from_utf8(field).ok());
            let is_wrong = !is_header && field.is_some_and(|field| !field.is_empty() && wrong(field));
            is_wrong.then(|| why.to_string())
        })
    }

    /// Returns the error for the first record for which `why` returns a reason. The second argument
    /// of `why` is true if the record is the first record of its file.
    fn first(&self, why: impl Fn(&ByteRecord, bool) -> Option<String>) -> Option<Error> {
        let mut record = ByteRecord::new();
        for path in &self.paths {
            let told = |what: &str| Error::data(format!("cannot read {:?}: {what}", path.display().to_string()));
            let mut is_first = true;
            let mut records = self.dialect.records(open(path.to_str()?, self.compression).ok()?);
            loop {
                match records.read_byte_record(&mut record) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(_) if self.compression.is_compressed() => {
                        return Some(told(not_decompressed(self.compression).message()));
                    }
                    Err(_) => return None,
                }
                if let Some(why) = why(&record, std::mem::take(&mut is_first)) {
                    let bytes = open(path.to_str()?, self.compression).ok()?;
                    let line = line(&record, bytes, self.dialect.comment);
                    return Some(told(&format!("line {line} {why}")));
                }
            }
        }
        None
    }
}
