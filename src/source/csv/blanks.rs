//! Blanks around the fields of a CSV file: `39, State-gov, 77516`, as the tables of UCI are written.

use csv::ByteRecord;

/// Returns true if a blank follows every delimiter, so that the blanks separate fields and are no part of them. The
/// first record may be an exception, because it may have been written by hand.
pub(super) fn separate(records: &[ByteRecord]) -> bool {
    let rows = match records {
        [_, rest @ ..] if !rest.is_empty() => rest,
        all => all,
    };
    let after = || rows.iter().flat_map(|row| row.iter().skip(1));
    after().any(|field| !field.is_empty()) && after().all(|field| field.is_empty() || field.starts_with(b" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_separate_only_if_they_follow_every_delimiter() {
        let records =
            |rows: &[&[&str]]| -> Vec<ByteRecord> { rows.iter().map(|row| ByteRecord::from(row.to_vec())).collect() };
        for (rows, expected) in [
            (&[&["39", " Private", " ?"][..], &["50", " ?", " x"]][..], true),
            (&[&["39", " Private"]], true),
            (&[&["age", "work"], &["39", " Private"]], true),
            (&[&["age", "work"], &["39", " Private"], &["39", "Private"]], false),
            (&[&["39", " Private", "x"]], false),
            (&[&["age", "work"], &["39", ""]], false),
            (&[&[" a"], &[" b"]], false),
            (&[], false),
        ] {
            assert_eq!(separate(&records(rows)), expected, "{rows:?}");
        }
    }
}
