//! Computes the number of the line in which a record begins. The line number that the CSV reader
//! reports may be too low: it does not include empty lines and comments that the reader skips
//! directly before the record.

use csv::ByteRecord;
use std::io::{BufRead, BufReader, Read};

/// Returns the number of the line in which a record begins. `bytes` must be the bytes from which
/// the record was read. Lines that begin with `comment` are skipped.
pub(super) fn line(record: &ByteRecord, bytes: impl Read, comment: Option<u8>) -> u64 {
    let Some(before) = record.position() else {
        return 0;
    };
    let mut bytes = BufReader::new(bytes);
    let passed = std::io::copy(&mut bytes.by_ref().take(before.byte()), &mut std::io::sink());
    passed.map_or(before.line(), |_| before.line() + skipped(bytes, comment))
}

/// Returns the number of lines that a reader skips before the next record.
fn skipped(mut bytes: impl BufRead, comment: Option<u8>) -> u64 {
    let mut lines = 0;
    loop {
        let next = bytes.fill_buf().ok().and_then(|buffer| buffer.first().copied());
        let end = match next {
            Some(b'\n') => true,
            // This byte belongs to the line break of the previous line.
            Some(b'\r') => false,
            Some(byte) if Some(byte) == comment => {
                let passed = bytes.skip_until(b'\n');
                lines += u64::from(passed.is_ok());
                continue;
            }
            _ => return lines,
        };
        bytes.consume(1);
        lines += u64::from(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use csv::ReaderBuilder;

    #[test]
    fn a_record_begins_below_what_is_passed_over() {
        for end in ["\n", "\r\n"] {
            let text = "\n\na,b\n\n# said\n\n\"x\ny\",2\n3,4\n\n5,6\n".replace('\n', end);
            let mut reader = ReaderBuilder::new()
                .has_headers(false)
                .comment(Some(b'#'))
                .from_reader(text.as_bytes());
            let records: Vec<ByteRecord> = reader.byte_records().map(Result::unwrap).collect();
            let lines = records.iter().map(|record| line(record, text.as_bytes(), Some(b'#')));
            assert_eq!(lines.collect::<Vec<_>>(), [3, 7, 9, 11], "{end:?}");
        }
    }
}
