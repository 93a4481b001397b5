//! Handles blanks before and after the fields of a CSV file, as in `39, State-gov, 77516` in the
//! tables of UCI.

use super::dialect::Dialect;
use super::lines::line;
use crate::base::error::{Error, Result};
use crate::method::warning::mostly_padded;
use csv::ByteRecord;

/// Returns true if blanks separate fields and are not part of the fields: at least three of four
/// delimiters must be followed by a blank. The others may have no blank, because their rows may
/// have been written by hand. The first record is ignored if there are other records.
pub(super) fn separate(records: &[ByteRecord]) -> bool {
    let rows = match records {
        [_, rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    let (mut all, mut separated) = (0u64, 0u64);
    let after = rows.iter().flat_map(|row| row.iter().skip(1));
    for field in after.filter(|field| !field.is_empty()) {
        all += 1;
        separated += u64::from(field.starts_with(b" "));
    }
    all > 0 && separated * 4 >= all * 3
}

/// Returns the columns in which most texts begin or end with blanks. Returns no columns if
/// `is_said` is true, because the statement then specifies how blanks are treated.
pub(super) fn padded(rows: &[ByteRecord], names: &[String], is_said: bool) -> Vec<String> {
    if is_said {
        return vec![];
    }
    let is_padded = |i: usize| mostly_padded(rows.iter().filter_map(|row| std::str::from_utf8(row.get(i)?).ok()));
    let padded = names.iter().enumerate().filter(|(i, _)| is_padded(*i));
    padded.map(|(_, name)| name.clone()).collect()
}

/// Fails with `ErrorKind::Data` if a field, without its leading and trailing blanks, is enclosed in
/// quotes. Readers treat a quote after a blank as part of the field. They then treat a delimiter
/// inside the quotes as the end of the field.
pub(super) fn before_quotes(records: &[ByteRecord], text: &[u8], dialect: &Dialect) -> Result<()> {
    let quote = [dialect.quote];
    let is_quoted = |field: &[u8]| field.len() > 1 && field.starts_with(&quote) && field.ends_with(&quote);
    match records.iter().find(|record| record.iter().any(is_quoted)) {
        Some(record) => Err(Error::data(format!(
            "line {} has a quote after a blank, which a CSV reader does not read as a quote; write the file \
             without blanks before quotes, or read every blank and quote with OPTIONS (trim false)",
            line(record, text, dialect.comment)
        ))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_separate_only_if_they_follow_the_delimiters() {
        let records =
            |rows: &[&[&str]]| -> Vec<ByteRecord> { rows.iter().map(|row| ByteRecord::from(row.to_vec())).collect() };
        for (rows, expected) in [
            (&[&["39", " Private", " ?"][..], &["50", " ?", " x"]][..], true),
            (&[&["39", " Private"]], true),
            (&[&["age", "work"], &["39", " Private"]], true),
            (&[&["age", "work"], &["39", " Private"], &["39", "Private"]], false),
            (&[&["39", " Private", "x"]], false),
            // One row was written by hand, without blanks after the delimiters.
            (
                &[&["38", "a"], &["39", " a"], &["40", " b"], &["41", "c"], &["42", " d"]],
                true,
            ),
            (&[&["age", "work"], &["39", ""]], false),
            (&[&[" a"], &[" b"]], false),
            (&[], false),
        ] {
            assert_eq!(separate(&records(rows)), expected, "{rows:?}");
        }
    }
}
