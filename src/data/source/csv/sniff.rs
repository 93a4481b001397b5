//! Detects the dialect of a CSV file from its first rows.
//!
//! A delimiter is possible if it gives every row the same number of fields, at least two, and all
//! quotes are where they are allowed. If several delimiters are possible, the one with the largest
//! share of columns of numbers, dates or times is chosen. The first line is a header unless one of
//! its fields has the type of the fields below it: text above numbers indicates a header, and
//! numbers above numbers indicate a row. It is an error if the rows do not determine the result.

use super::blanks;
use super::dialect::Dialect;
use super::kind::{Kinds, fits, float, is_value};
use super::lines::line;
use super::quotes::{Fault, Quotes};
use crate::base::error::{Error, Result};
use arrow::datatypes::DataType;
use csv::ByteRecord;
use std::cmp::Reverse;

/// The options that a statement gives for a CSV file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    pub(crate) delimiter: Option<u8>,
    pub(crate) quote: Option<u8>,
    pub(crate) escape: Option<u8>,
    pub(crate) comment: Option<u8>,
    pub(crate) has_header: Option<bool>,
    /// The text that stands for NULL, in addition to the empty text.
    pub(crate) null: Option<String>,
    pub(crate) trim: Option<bool>,
    /// Whether only the options of the statement apply. Missing options are then not detected.
    pub(crate) exact: bool,
}

/// The detected properties of a CSV file.
#[derive(Debug)]
pub(crate) struct Sniffed {
    pub(crate) dialect: Dialect,
    /// The names of the columns. They are `column_1` and so on if the file has no header.
    pub(crate) names: Vec<String>,
    /// The kinds of the texts in each column.
    pub(crate) kinds: Vec<Kinds>,
    /// Whether the first line is a header although the table's first file has no header.
    pub(crate) has_another_header: bool,
    /// The columns in which most texts begin or end with blanks that are part of the texts.
    pub(crate) padded: Vec<String>,
}

const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];
/// Words that stand for a missing value, in lower case.
const MISSING: [&str; 8] = ["na", "n/a", "null", "none", "nan", "?", "-", "."];

/// Detects the properties of a file. `sample` is the content of the file. If `whole` is false, it
/// is only the beginning of the content, and may end anywhere. At most `most` rows are read.
pub(crate) fn sniff(sample: &[u8], whole: bool, most: usize, asked: &Asked) -> Result<Sniffed> {
    let text = text(sample, whole)?;
    let mut dialect = dialect(text, whole, most, asked)?;
    let mut records = records(text, whole, most.saturating_add(1), &dialect);
    dialect.trim = asked.trim.unwrap_or_else(|| !asked.exact && blanks::separate(&records));
    if dialect.trim {
        records.iter_mut().for_each(ByteRecord::trim);
        blanks::before_quotes(&records, text, &dialect)?;
    }
    if let Some(has_header) = asked.has_header {
        dialect.has_header = has_header;
    } else {
        dialect.has_header = has_header(&records, asked)?;
    }
    described(dialect, &records, text, asked)
}

/// Detects the properties of another file of a table. `dialect` is the dialect of the table.
pub(crate) fn continued(sample: &[u8], whole: bool, dialect: Dialect, asked: &Asked) -> Result<Sniffed> {
    let text = text(sample, whole)?;
    let records = records(text, whole, usize::MAX, &dialect);
    let is_guessed = asked.has_header.is_none() && !dialect.has_header;
    let (names, _) = header_votes(&records, asked);
    Ok(Sniffed {
        has_another_header: is_guessed && records.len() > 1 && names > 0,
        ..described(dialect, &records, text, asked)?
    })
}

/// Removes the byte order mark. Fails if the sample is not UTF-8, or begins with Excel's `sep=`.
fn text(sample: &[u8], whole: bool) -> Result<&[u8]> {
    let convert = |from: &str| format!("write the file again as UTF-8: iconv -f {from} -t UTF-8 FILE > NEW");
    if sample.starts_with(&[0xff, 0xfe]) || sample.starts_with(&[0xfe, 0xff]) {
        return Err(Error::data(format!("the file is UTF-16; {}", convert("UTF-16"))));
    }
    let sample = sample.strip_prefix(b"\xef\xbb\xbf").unwrap_or(sample);
    if sample.get(..4).is_some_and(|start| start.eq_ignore_ascii_case(b"sep="))
        && matches!(sample.get(5), Some(b'\r' | b'\n'))
    {
        return Err(Error::data(
            "the first line, sep=, is for Excel and is not a row; write the file without it: tail -n +2 FILE > NEW",
        ));
    }
    match std::str::from_utf8(sample) {
        // A sample may end in the middle of a character.
        Err(e) if whole || e.error_len().is_some() => {
            let line = sample[..e.valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
            let convert = convert("WINDOWS-1252");
            Err(Error::data(format!(
                "line {line} is not UTF-8; {convert} (if it is Latin-1 or Windows-1252)"
            )))
        }
        _ => Ok(sample),
    }
}

/// Returns the first records of a sample. If the sample is not the whole file, its last record is
/// removed, because it may be incomplete.
fn records(text: &[u8], whole: bool, most: usize, dialect: &Dialect) -> Vec<ByteRecord> {
    let mut reader = dialect.records(text);
    // Reading from memory does not fail.
    let mut records: Vec<ByteRecord> = reader.byte_records().map_while(|r| r.ok()).take(most).collect();
    if !whole && records.len() < most && records.len() > 1 {
        records.pop();
    }
    records
}

/// Returns the possible quote characters, each with its escape character.
fn quotes(text: &[u8], asked: &Asked) -> Vec<(u8, Option<u8>)> {
    let has = |bytes: &[u8]| text.windows(bytes.len()).any(|w| w == bytes);
    let mut quotes = vec![(asked.quote.unwrap_or(b'"'), asked.escape)];
    if asked.escape.is_none() && !asked.exact && has(&[b'\\', quotes[0].0]) {
        quotes.push((quotes[0].0, Some(b'\\')));
    }
    if asked.quote.is_none() && !has(b"\"") && has(b"'") {
        quotes.push((b'\'', asked.escape));
    }
    quotes
}

fn dialect(text: &[u8], whole: bool, most: usize, asked: &Asked) -> Result<Dialect> {
    let delimiters = asked.delimiter.map_or(DELIMITERS.to_vec(), |d| vec![d]);
    let (mut ragged, mut faulty) = (None, None);
    for (quote, escape) in quotes(text, asked) {
        let with = |delimiter| Dialect {
            delimiter,
            quote,
            escape,
            comment: asked.comment,
            has_header: true,
            trim: false,
        };
        let is_even = |records: &[ByteRecord]| records.iter().all(|r| r.len() == records[0].len());
        let fields = |records: &[ByteRecord]| records.first().map_or(0, ByteRecord::len);
        let mut tried: Vec<(Dialect, Vec<ByteRecord>)> = vec![];
        for delimiter in &delimiters {
            let dialect = with(*delimiter);
            let records = records(text, whole, most.saturating_add(1), &dialect);
            match fault(text, whole, &dialect, fields(&records)) {
                None => tried.push((dialect, records)),
                Some(fault) => faulty = faulty.max(Some((fields(&records) > 1 && is_even(&records), Reverse(fault)))),
            }
        }
        let mut even: Vec<_> = tried.iter().filter(|(_, r)| is_even(r) && fields(r) > 1).collect();
        even.sort_by_key(|(_, records)| Reverse(share_of_values(records)));
        match even[..] {
            [(one, records), (other, others), ..] if share_of_values(records) == share_of_values(others) => {
                let name = Dialect::delimiter_text;
                return Err(Error::usage(format!(
                    "fields may be separated by {} or by {}; name the delimiter: OPTIONS (delimiter {})",
                    name(one.delimiter),
                    name(other.delimiter),
                    name(one.delimiter)
                )));
            }
            [(dialect, records), ..] => return Ok(with_single_quotes(*dialect, records, text, whole, asked)),
            [] => {}
        }
        // A table with several columns and a fault is not read as a single column.
        if let Some((dialect, _)) = tried.first()
            && faulty.is_none_or(|(is_table, _)| !is_table)
            && tried.iter().all(|(_, records)| is_even(records))
        {
            return Ok(*dialect);
        }
        let share = |records: &[ByteRecord]| {
            let even = records.iter().filter(|r| r.len() == fields(records)).count();
            (fields(records) > 1, even * 1000 / records.len().max(1))
        };
        let uneven = tried.into_iter().filter(|(_, records)| !is_even(records)).rev();
        ragged = ragged.or(uneven.max_by_key(|(_, records)| share(records)));
    }
    Err(match (ragged, faulty) {
        (_, Some((true, Reverse(fault)))) => Error::data(fault.to_string()),
        (Some((dialect, records)), _) => uneven(&dialect, &records, text),
        (None, Some((false, Reverse(fault)))) => Error::data(fault.to_string()),
        (None, None) => Error::internal("no delimiter is tried"),
    })
}

/// Returns the first fault of the quotes in a sample; `None` if it has no fault.
fn fault(text: &[u8], whole: bool, dialect: &Dialect, fields: usize) -> Option<Fault> {
    Quotes::new(*dialect, None, fields).fault(text, whole)
}

/// Returns the share of columns that contain only numbers, dates or times below the first record,
/// in thousandths. Numbers may have a decimal comma.
fn share_of_values(records: &[ByteRecord]) -> usize {
    let fields = records.first().map_or(0, ByteRecord::len);
    let rows = if records.len() > 1 { &records[1..] } else { records };
    let is_value = |field: &[u8]| {
        let is_value = |text: &str| is_value(text) || float(&text.replacen(',', ".", 1)).is_some();
        std::str::from_utf8(field).is_ok_and(|text| is_value(text.trim()))
    };
    let is_column = |i: &usize| {
        rows.iter()
            .all(|row| row.get(*i).is_some_and(|f| f.is_empty() || is_value(f)))
    };
    (0..fields).filter(is_column).count() * 1000 / fields.max(1)
}

/// Returns the dialect, with the quote `'` if all texts in a column are enclosed in such quotes.
fn with_single_quotes(dialect: Dialect, records: &[ByteRecord], text: &[u8], whole: bool, asked: &Asked) -> Dialect {
    let rows = records.get(1..).unwrap_or_default();
    let is_quoted = |field: &[u8]| field.len() > 1 && field.starts_with(b"'") && field.ends_with(b"'");
    let is_column = |i: usize| {
        rows.iter()
            .all(|row| row.get(i).is_some_and(|f| f.is_empty() || is_quoted(f)))
    };
    let has_text = |i: usize| rows.iter().any(|row| row.get(i).is_some_and(is_quoted));
    let single = Dialect {
        quote: b'\'',
        ..dialect
    };
    let may = asked.quote.is_none() && !text.contains(&b'"');
    let fields = records.first().map_or(0, ByteRecord::len);
    let is_single = may
        && (0..fields).any(|i| is_column(i) && has_text(i))
        && self::records(text, whole, records.len(), &single)
            .iter()
            .all(|r| r.len() == fields)
        && fault(text, whole, &single, fields).is_none();
    if is_single { single } else { dialect }
}

/// Returns the error for the first record with a different number of fields than the first record.
fn uneven(dialect: &Dialect, records: &[ByteRecord], text: &[u8]) -> Error {
    let first = records.first().map_or(0, ByteRecord::len);
    let other = records.iter().find(|r| r.len() != first);
    let (line, fields) = other.map_or((0, 0), |r| (line(r, text, dialect.comment), r.len()));
    Error::data(format!(
        "with {} between fields, line {line} has {} and the first line {}; put a field that contains the \
         delimiter in quotes, name the delimiter: OPTIONS (delimiter ';'), or what begins a line to skip: OPTIONS (comment '#')",
        Dialect::delimiter_text(dialect.delimiter),
        counted(fields),
        counted(first)
    ))
}

/// Returns the number of fields as text: `1 field`, `2 fields` and so on.
pub(super) fn counted(fields: usize) -> String {
    format!("{fields} field{}", if fields == 1 { "" } else { "s" })
}

fn is_missing(field: &str, asked: &Asked) -> bool {
    field.is_empty() || asked.null.as_deref() == Some(field) || MISSING.iter().any(|m| field.eq_ignore_ascii_case(m))
}

/// Returns how many fields of the first record look like names, and how many look like values.
fn header_votes(records: &[ByteRecord], asked: &Asked) -> (usize, usize) {
    let (mut names, mut values) = (0, 0);
    let Some((first, rows)) = records.split_first() else {
        return (names, values);
    };
    for (i, cell) in first.iter().map(String::from_utf8_lossy).enumerate() {
        if is_missing(&cell, asked) {
            continue;
        }
        let mut kinds = Kinds::default();
        let below = rows.iter().filter_map(|row| std::str::from_utf8(row.get(i)?).ok());
        below
            .filter(|field| !is_missing(field, asked))
            .for_each(|field| kinds.add(field));
        match kinds.data_type() {
            _ if rows.is_empty() => values += usize::from(is_value(&cell)),
            DataType::Utf8 => {}
            of if fits(&cell, &of) => values += 1,
            _ => names += 1,
        }
    }
    (names, values)
}

/// Returns true if the first record is a header. Fails if the rows do not decide this.
fn has_header(records: &[ByteRecord], asked: &Asked) -> Result<bool> {
    let (names, values) = header_votes(records, asked);
    if names > 0 && values > 0 {
        return Err(Error::usage(
            "the first line may name the columns or be a row: it has text above numbers and numbers above numbers; \
             write which it is: OPTIONS (has_header true)",
        ));
    }
    Ok(values == 0)
}

/// Returns the detected properties of a sample. `text` is the text from which `records` were read.
fn described(dialect: Dialect, records: &[ByteRecord], text: &[u8], asked: &Asked) -> Result<Sniffed> {
    let fields = records.first().map_or(0, ByteRecord::len);
    if let Some(()) = records.iter().find(|r| r.len() != fields).map(drop) {
        return Err(uneven(&dialect, records, text));
    }
    let (header, rows) = match dialect.has_header {
        true => (records.first(), records.get(1..).unwrap_or_default()),
        false => (None, records),
    };
    let name = |i: usize| {
        let named = header.and_then(|header| header.get(i)).map(String::from_utf8_lossy);
        let named = named.filter(|name| !name.trim().is_empty());
        named.map_or_else(|| format!("column_{}", i + 1), |name| name.into_owned())
    };
    let names: Vec<String> = (0..fields).map(name).collect();
    for (i, name) in names.iter().enumerate() {
        if let Some(other) = names[..i].iter().position(|other| other == name) {
            // The first line may be a row, so its texts are not repeated here.
            return Err(Error::usage(format!(
                "columns {} and {} have the same name in the first line; give one another, or, if the line is a row, write \
                 OPTIONS (has_header false)",
                other + 1,
                i + 1
            )));
        }
    }
    let mut kinds = vec![Kinds::default(); fields];
    for row in rows {
        for (field, kinds) in row.iter().zip(&mut kinds) {
            let field = String::from_utf8_lossy(field);
            if asked.null.as_deref() != Some(field.as_ref()) {
                kinds.add(&field);
            }
        }
    }
    Ok(Sniffed {
        padded: blanks::padded(rows, &names, asked.trim.is_some() || asked.exact),
        dialect,
        names,
        kinds,
        has_another_header: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::DataType::{Boolean, Date32, Float64, Int64, Utf8};

    fn of(text: &str) -> Result<Sniffed> {
        sniff(text.as_bytes(), true, 1000, &Asked::default())
    }

    #[test]
    fn delimiters_quotes_headers_and_types_are_found() {
        for (text, delimiter, quote, header, names, types) in [
            (
                "age,zip\n31,01234\n",
                b',',
                b'"',
                true,
                &["age", "zip"][..],
                &[Int64, Utf8][..],
            ),
            (
                "age;pay\r\n31;1,5\r\n",
                b';',
                b'"',
                true,
                &["age", "pay"],
                &[Int64, Utf8],
            ),
            ("a\tb\n1\tx\n", b'\t', b'"', true, &["a", "b"], &[Int64, Utf8]),
            ("a|b\ntrue|0.5\n", b'|', b'"', true, &["a", "b"], &[Boolean, Float64]),
            (
                "\u{feff}a,b\n2020-01-31,x\n",
                b',',
                b'"',
                true,
                &["a", "b"],
                &[Date32, Utf8],
            ),
            (
                "39,Ann\n40,Bob\n",
                b',',
                b'"',
                false,
                &["column_1", "column_2"],
                &[Int64, Utf8],
            ),
            (
                "name,town\nAnn,Bonn\n",
                b',',
                b'"',
                true,
                &["name", "town"],
                &[Utf8, Utf8],
            ),
            ("a;b\n\"1;2\";\"x\ny\"\n", b';', b'"', true, &["a", "b"], &[Utf8, Utf8]),
            ("a;b\n'1;2';'x'\n", b';', b'\'', true, &["a", "b"], &[Utf8, Utf8]),
            ("a;b\n'x';1\n'y';2\n", b';', b'\'', true, &["a", "b"], &[Utf8, Int64]),
            ("a,b\nO'Neil,1\n", b',', b'"', true, &["a", "b"], &[Utf8, Int64]),
            (
                "a,b\n\"x \\\"y, z\\\"\",1\n",
                b',',
                b'"',
                true,
                &["a", "b"],
                &[Utf8, Int64],
            ),
            ("age\n31\n34\n", b',', b'"', true, &["age"], &[Int64]),
            (",a\n1,x\n", b',', b'"', true, &["column_1", "a"], &[Int64, Utf8]),
            ("a,b\n", b',', b'"', true, &["a", "b"], &[Utf8, Utf8]),
            ("31,7\n", b',', b'"', false, &["column_1", "column_2"], &[Int64, Int64]),
            (
                "1,5;2\n2,5;3\n",
                b';',
                b'"',
                false,
                &["column_1", "column_2"],
                &[Utf8, Int64],
            ),
            ("a;b,c\n1,x;y\n", b',', b'"', true, &["a;b", "c"], &[Int64, Utf8]),
            ("a,b\nNA,1\n,2\n", b',', b'"', true, &["a", "b"], &[Utf8, Int64]),
        ] {
            let found = of(text).unwrap_or_else(|e| panic!("{text:?}: {e}"));
            let dialect = found.dialect;
            assert_eq!(
                (dialect.delimiter, dialect.quote, dialect.has_header),
                (delimiter, quote, header),
                "{text:?}"
            );
            assert_eq!(found.names, names, "{text:?}");
            let found: Vec<DataType> = found.kinds.into_iter().map(Kinds::data_type).collect();
            assert_eq!(found, types, "{text:?}");
        }
    }

    #[test]
    fn what_the_rows_leave_open_is_an_error_without_a_value() {
        for (text, said) in [
            (
                "a,b\n1\n2,Quixotica,3\n",
                "with ',' between fields, line 2 has 1 field and the first line 2 fields",
            ),
            ("a,b\n1,\"Quixotica\"y\n", "line 2 has a text after a closing quote"),
            ("a,b\n1,\"Quixotica\n", "line 2 has a quote that never closes"),
            ("a\n1\n\n", "line 3 is empty"),
            ("age\nQuixotica,1\n", "line 2 has 2 fields and the first line 1 field"),
            ("a,b;c\nQuixotica,x;y\n", "separated by ',' or by ';'"),
            ("name,2019\nQuixotica,5\n", "column_1"),
            ("age,2019\n31,5\n", "OPTIONS (has_header true)"),
            ("Quixotica,Quixotica\nx,y\n", "columns 1 and 2 have the same name"),
        ] {
            match of(text) {
                Ok(found) => assert_eq!(found.names[0], said, "{text:?}"),
                Err(e) => assert!(
                    e.to_string().contains(said) && !e.to_string().contains("Quixotica"),
                    "{text:?}: {e}"
                ),
            }
        }
        for (bytes, said) in [
            (&b"a,b\nQuixotica,M\xfcller\n"[..], "line 2 is not UTF-8"),
            (b"\xff\xfea\0,\0b\0", "UTF-16"),
        ] {
            let e = sniff(bytes, true, 1000, &Asked::default()).unwrap_err().to_string();
            assert!(
                e.contains(said) && e.contains("iconv") && !e.contains("Quixotica"),
                "{e}"
            );
        }
    }

    #[test]
    fn a_sample_that_ends_within_a_row_is_read_up_to_it() {
        let all = "a,b\n1,ä\n2,ö\n3,ü\n".as_bytes();
        for end in 10..all.len() {
            let found = sniff(&all[..end], false, 1000, &Asked::default()).unwrap();
            assert_eq!(found.names, ["a", "b"]);
            assert_eq!(found.kinds[0].data_type(), Int64);
        }
        let first = sniff(b"a\n1\nx\n", true, 1, &Asked::default()).unwrap();
        assert_eq!(first.kinds[0].data_type(), Int64);
    }

    #[test]
    fn what_is_asked_for_is_not_looked_for() {
        let asked = Asked {
            delimiter: Some(b';'),
            has_header: Some(false),
            null: Some("NA".into()),
            comment: Some(b'#'),
            ..Asked::default()
        };
        let found = sniff(b"# title\na,b;NA\nc,d;5\n", true, 1000, &asked).unwrap();
        assert_eq!(found.names, ["column_1", "column_2"]);
        assert_eq!(found.kinds[1].data_type(), Int64);
    }
}
