//! FROM file: a hierarchy in a CSV file, as written by ARX and anjana.
//!
//! The file has one row per ground value and one column per level, level 0 first. The delimiter is
//! `;`, or a tab if the first line has no `;`, or `,` if the first line has neither. A first line
//! that names the columns is not a row. Such a line is detected (see `header`), or declared by an
//! option. Lines may end in CRLF, fields may be quoted, and blank lines are skipped. If a space
//! follows every delimiter, these spaces are not part of the labels. It is an error if a row has
//! more or fewer fields than the first row, or if the file is not UTF-8; the error names the line.
//! A file may be compressed; its extension indicates the compression.
//!
//! Example: `CREATE HIERARCHY age FROM 'age.csv' OPTIONS (delimiter ';', has_header false)`.
//!
//! Reference: ARX, Prasser and Kohlmayer, 2015, doi:10.1007/978-3-319-23633-9_6 (its hierarchy
//! files); RFC 4180.

use super::clause::{Clause, Item, Kind, Part, Takes};
use super::header::is_header;
use super::listed::{Listed, Origin};
use super::places::Places;
use crate::base::catalogue::{self, Info, Kind as ParamKind, Param, Value};
use crate::base::error::{Error, Result};
use crate::base::location;
use crate::base::quoting::literal;
use arrow::array::{Array, ArrayRef, StringArray, StringBuilder};
use csv::{ByteRecord, ReaderBuilder};
use std::fmt;
use std::sync::Arc;

/// The options for reading a hierarchy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileOptions {
    /// The delimiter between fields. If `None`, it is detected from the first line.
    pub delimiter: Option<u8>,
    /// True if the first line names the columns. If `None`, this is detected from the lines.
    pub has_header: Option<bool>,
    /// The quote character around fields that contain a delimiter.
    pub quote: u8,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self {
            delimiter: None,
            has_header: None,
            quote: b'"',
        }
    }
}

/// The options of FROM.
pub const OPTIONS: Info = Info {
    name: "a hierarchy file",
    summary: "options of a hierarchy file",
    params: &[
        Param {
            name: "delimiter",
            summary: "the delimiter between fields; without it, the first of `;`, a tab and `,` in the first line",
            kind: ParamKind::Character,
            default: Some(""),
        },
        Param {
            name: "has_header",
            summary: "whether the first line names the columns; without it, this is detected",
            kind: ParamKind::Boolean,
            default: Some(""),
        },
        Param {
            name: "quote",
            summary: "the quote around a field that contains a delimiter; without it, `\"`",
            kind: ParamKind::Character,
            default: Some(""),
        },
    ],
    example: "OPTIONS (delimiter ';', has_header false)",
    reference: "RFC 4180",
};

impl FileOptions {
    /// Checks the options that a statement gives, and returns them.
    fn new(options: &[(String, Value)]) -> Result<Self> {
        let options = catalogue::Arguments::of_options(&OPTIONS, options)?;
        let character = |name| options.given(name, catalogue::Arguments::character);
        Ok(Self {
            delimiter: character("delimiter")?,
            has_header: options.given("has_header", catalogue::Arguments::boolean)?,
            quote: character("quote")?.unwrap_or(Self::default().quote),
        })
    }
}

/// Writes a space and the OPTIONS clause with the options that differ from the default.
impl fmt::Display for FileOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |byte: u8| literal(&char::from(byte).to_string());
        let mut options = vec![];
        if let Some(delimiter) = self.delimiter {
            options.push(format!("delimiter {}", text(delimiter)));
        }
        if let Some(has_header) = self.has_header {
            options.push(format!("has_header {has_header}"));
        }
        if self.quote != Self::default().quote {
            options.push(format!("quote {}", text(self.quote)));
        }
        if options.is_empty() {
            return Ok(());
        }
        write!(f, " OPTIONS ({})", options.join(", "))
    }
}

/// The file extensions of table formats other than CSV.
const OF_TABLES: &[&str] = &["parquet", "pq", "arrow", "feather", "avro", "json", "ndjson", "xlsx"];

/// Reads the hierarchy in the file at `path`.
#[cfg(any(test, feature = "internal-api"))]
pub fn read(path: &str, options: &FileOptions) -> Result<Listed> {
    of_bytes(path, None, options)
}

/// Reads the hierarchy in the local file at `path`. If `path` is a URL, `object` is the content of
/// the object at that URL, and the hierarchy is read from `object` instead.
fn of_bytes(path: &str, object: Option<&[u8]>, options: &FileOptions) -> Result<Listed> {
    let ending = path.rsplit('.').next().unwrap_or_default();
    if OF_TABLES.iter().any(|other| ending.eq_ignore_ascii_case(other)) {
        return Err(Error::usage(format!(
            "hierarchy file {path}: FROM reads CSV; for a table in another format, select the values and their labels: \
             AS SELECT value, label FROM {}",
            literal(path)
        )));
    }
    let what = format!("hierarchy file {path}");
    let (bytes, whole) = match object {
        Some(object) => (location::decompressed(path, object, &what)?, None),
        None => {
            // The clause contains the absolute path, so that it recreates the hierarchy from any
            // working directory.
            let whole = std::path::absolute(location::expanded(path)?.as_ref()).ok();
            let whole = whole.and_then(|whole| whole.into_os_string().into_string().ok());
            (location::read(path, &what)?, whole)
        }
    };
    let origin = Origin {
        kind: KIND.info.name,
        clause: Some(format!("FROM {}{options}", literal(whole.as_deref().unwrap_or(path)))),
    };
    columns(&bytes, options)
        .and_then(|(ground, labels, places)| Listed::try_new(origin, &ground, &labels, places))
        .map_err(|e| e.context(what))
}

/// Returns the ground values, the labels at each level, and the line numbers of the rows in a file.
fn columns(bytes: &[u8], options: &FileOptions) -> Result<(ArrayRef, Vec<ArrayRef>, Places)> {
    let delimiter = options.delimiter.unwrap_or_else(|| delimiter(bytes, options.quote));
    let mut reader = ReaderBuilder::new()
        .delimiter(delimiter)
        .quote(options.quote)
        .has_headers(false)
        .flexible(true)
        .from_reader(bytes);
    let mut builders: Vec<StringBuilder> = vec![];
    let mut record = ByteRecord::new();
    let mut lines = vec![];
    while reader.read_byte_record(&mut record).map_err(|e| malformed(&e))? {
        let line = record.position().map_or(0, csv::Position::line);
        if builders.is_empty() {
            builders.resize_with(record.len(), StringBuilder::new);
        }
        if record.len() != builders.len() {
            return Err(Error::data(format!(
                "line {line} has {} columns, the first has {}",
                record.len(),
                builders.len()
            )));
        }
        for (field, builder) in record.iter().zip(&mut builders) {
            let text =
                std::str::from_utf8(field).map_err(|_| Error::data(format!("line {line} is not valid UTF-8")))?;
            builder.append_value(text);
        }
        lines.push(line);
    }
    let mut columns = builders.iter_mut().map(|b| b.finish());
    let Some(ground) = columns.next() else {
        return Err(Error::data("the file has no rows"));
    };
    let labels = without_blanks(columns.collect());
    let names = usize::from(options.has_header.unwrap_or_else(|| is_header(&ground, &labels)));
    if ground.len() == names {
        return Err(Error::data("the file has no rows"));
    }
    lines.drain(..names);
    let rows = |column: StringArray| Arc::new(column.slice(names, column.len() - names)) as ArrayRef;
    Ok((
        rows(ground),
        labels.into_iter().map(rows).collect(),
        Places::Lines(lines),
    ))
}

/// Returns the delimiter that the first line uses: the first of `;`, a tab and `,` that occurs
/// outside quotes, or `;` if none of them occurs.
fn delimiter(bytes: &[u8], quote: u8) -> u8 {
    let mut lines = bytes.split(|b| *b == b'\n');
    let line = lines.find(|line| !line.trim_ascii().is_empty()).unwrap_or_default();
    // The text outside the quoted parts.
    let plain: Vec<&[u8]> = line.split(|b| *b == quote).step_by(2).collect();
    let has = |delimiter: &&u8| plain.iter().any(|part| part.contains(delimiter));
    b";\t,".iter().find(has).copied().unwrap_or(b';')
}

/// Removes the leading spaces of the labels if a space follows every delimiter, as in `Private,
/// working`. The first line is not considered if there are others, because it may name the columns.
fn without_blanks(labels: Vec<StringArray>) -> Vec<StringArray> {
    let follows = |label: Option<&str>| label.is_some_and(|label| label.starts_with(' '));
    let is_separated = |level: &StringArray| level.iter().skip(usize::from(level.len() > 1)).all(follows);
    if !labels.iter().all(is_separated) {
        return labels;
    }
    let trimmed = |level: StringArray| level.iter().map(|label| label.map(str::trim_start)).collect();
    labels.into_iter().map(trimmed).collect()
}

/// Returns the error for a file that the CSV reader could not parse. The message of the CSV reader
/// is not used, because it may quote the file.
fn malformed(error: &csv::Error) -> Error {
    match error.position() {
        Some(position) => Error::data(format!("line {} is not valid CSV", position.line())),
        None => Error::data("the file is not valid CSV"),
    }
}

/// The entry of the kind in the catalogue.
pub(super) const KIND: Kind = Kind {
    info: Info {
        name: "file",
        summary: "a CSV file: one row per ground value, one column per level",
        params: &[],
        example: "CREATE HIERARCHY age FROM 'age.csv' OPTIONS (delimiter ';', has_header false)",
        reference: "Prasser and Kohlmayer (ARX), 2015, doi:10.1007/978-3-319-23633-9_6; RFC 4180",
    },
    clause: Clause {
        start: "FROM",
        syntax: "FROM 'file.csv' [OPTIONS (key value, ...)]",
        parts: &[
            Part::First("file", Takes::One(Item::Path, "a file in quotes")),
            Part::Maybe("OPTIONS", Takes::Options),
        ],
    },
    build: |given| {
        let options = FileOptions::new(given.options("OPTIONS"))?;
        Ok(Arc::new(of_bytes(
            &given.texts("file").concat(),
            given.object("file"),
            &options,
        )?))
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;
    use crate::method::hierarchy::GeneralizationRule;
    use std::path::Path;

    fn written(content: &[u8]) -> (tempfile::TempDir, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.csv");
        std::fs::write(&path, content).unwrap();
        (folder, path.to_string_lossy().into_owned())
    }

    fn load(content: &[u8], options: &FileOptions) -> Result<Listed> {
        let (_folder, path) = written(content);
        read(&path, options)
    }

    /// Returns the labels of a value at all levels, joined into one string.
    fn labels(table: &Listed, value: &str) -> String {
        let values: ArrayRef = Arc::new(StringArray::from(vec![value]));
        let labels = table.labels(&values).unwrap();
        labels
            .iter()
            .map(|l| if l.is_null(0) { "-" } else { l.value(0) })
            .collect::<Vec<_>>()
            .join("|")
    }

    #[test]
    fn blanks_that_follow_every_delimiter_are_no_part_of_labels() {
        for (content, own) in [
            (
                "work,group\nPrivate, working, *\n?, none, *\n".replace("group", "group,top"),
                ["working", "none"],
            ),
            ("Private, working, *\n?, none, *\n".to_string(), ["working", "none"]),
            ("Private, working,*\n?, none,*\n".to_string(), [" working", " none"]),
        ] {
            let listed = load(content.as_bytes(), &FileOptions::default()).unwrap();
            let values: ArrayRef = Arc::new(StringArray::from(vec!["Private", "?"]));
            let labels = listed.labels(&values).unwrap();
            assert_eq!(labels[0], StringArray::from(own.to_vec()), "{content}");
        }
    }

    #[test]
    fn both_delimiters_line_ends_and_quotes_are_read() {
        for content in [
            "a;x;*\nb;y;*\n",
            "a,x,*\r\nb,y,*\r\n",
            "\u{feff}a;x;*\n\nb;y;*",
            "\n\"a\";\"x\";*\r\nb;y;*",
            "a\tx\t*\nb\ty\t*\n",
            "\"a\",x,*\nb,y,*\n",
        ] {
            let table = load(content.as_bytes(), &FileOptions::default()).unwrap();
            assert_eq!(
                (labels(&table, "a"), labels(&table, "b")),
                ("x|*".into(), "y|*".into()),
                "{content:?}"
            );
        }
        let table = load(b"\"a;\"\"b\";x,y;*\nc;z;*", &FileOptions::default()).unwrap();
        assert_eq!(labels(&table, "a;\"b"), "x,y|*");
        // A delimiter in quotes does not separate fields.
        let table = load(b"\"a;b\",x,*\nc,y,*\n", &FileOptions::default()).unwrap();
        assert_eq!(labels(&table, "a;b"), "x|*");
        let table = load(b"a, b\tx\t*\nc\ty\t*\n", &FileOptions::default()).unwrap();
        assert_eq!(labels(&table, "a, b"), "x|*");
    }

    #[test]
    fn options_are_read_and_written() {
        let read = |options: &[(&str, Value)]| {
            let owned: Vec<(String, Value)> = options.iter().map(|(k, v)| (k.to_string(), v.clone())).collect();
            FileOptions::new(&owned)
        };
        let text = |text: &str| Value::Text(text.to_string());
        assert_eq!(read(&[]).unwrap(), FileOptions::default());
        assert_eq!(FileOptions::default().to_string(), "");
        let options = read(&[
            ("DELIMITER", text("\\t")),
            ("has_header", Value::Word("TRUE".into())),
            ("quote", text("'")),
        ])
        .unwrap();
        assert_eq!(
            options.to_string(),
            " OPTIONS (delimiter '\t', has_header true, quote '''')"
        );
        let table = load(b"value\tgroup\na\t'x\ty'\nb\tz\n", &options).unwrap();
        assert_eq!(
            (labels(&table, "a"), labels(&table, "value")),
            ("x\ty|*".into(), "-|-".into())
        );
        assert!(table.sql().starts_with("FROM '"), "{}", table.sql());
        let refused = |name: &str, value: Value| read(&[(name, value)]).unwrap_err().to_string();
        assert!(refused("delimitor", text(";")).contains("\"delimiter\""));
        for wrong in ["ab", "\n", "é"] {
            assert!(refused("delimiter", text(wrong)).contains("one ASCII character"));
        }
        assert!(refused("has_header", Value::Word("yes".into())).contains("true or false"));
    }

    #[test]
    fn bad_files_are_told_by_line_and_never_quoted() {
        for (content, said) in [
            (&b"a;x;*\nb;*\n"[..], "line 2 has 2 columns, the first has 3"),
            (
                b"a;x;*\n\"b\nc\";y;*\nd;x;*;*\n",
                "line 4 has 4 columns, the first has 3",
            ),
            (b"a;x;*\nsecret\xff;y;*\n", "line 2 is not valid UTF-8"),
            (b"", "the file has no rows"),
            (b"\n\r\n", "the file has no rows"),
            (
                b"secret;x;*\nsecret;x;*\n",
                "1 ground values are repeated; list every ground value once: lines 1 and 2 have the same value",
            ),
            (b"a;;*\n", "1 labels of level 1 are NULL or empty, the first in line 1"),
        ] {
            let e = load(content, &FileOptions::default()).unwrap_err().to_string();
            assert!(e.contains(said) && e.contains("h.csv") && !e.contains("secret"), "{e}");
        }
        let header = FileOptions {
            has_header: Some(true),
            ..FileOptions::default()
        };
        assert!(load(b"a;b\n", &header).unwrap_err().to_string().contains("no rows"));
        let e = read("/nowhere/age.csv", &FileOptions::default()).unwrap_err();
        assert!(
            e.kind() == ErrorKind::Io && e.to_string().contains("/nowhere/age.csv"),
            "{e}"
        );
    }

    #[test]
    fn the_shared_hierarchies_are_read_as_they_are() {
        let Some(data) = std::env::var_os("ANONSQL_SHARED")
            .map(|s| Path::new(&s).join("data"))
            .filter(|d| d.is_dir())
        else {
            assert!(
                std::env::var("CI").as_deref() != Ok("true"),
                "ANONSQL_SHARED/data is needed under CI=true"
            );
            eprintln!("ignored: ANONSQL_SHARED/data is not there");
            return;
        };
        let sorted = |path: &Path| {
            let mut paths: Vec<_> = std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path()).collect();
            paths.sort();
            paths
        };
        let mut heights = std::collections::BTreeMap::new();
        for folder in sorted(&data).into_iter().filter(|p| p.is_dir()) {
            for path in sorted(&folder)
                .into_iter()
                .filter(|p| p.extension().is_some_and(|e| e == "csv"))
            {
                let text = std::fs::read_to_string(&path).unwrap();
                let table = read(&path.to_string_lossy(), &FileOptions::default()).unwrap();
                assert_eq!(table.listed(), Some(text.lines().count() as u64), "{path:?}");
                // The files use no quotes, so splitting a line at the delimiters gives the expected
                // labels.
                let rows: Vec<Vec<&str>> = text.lines().map(|l| l.split(';').collect()).collect();
                let ground: ArrayRef = Arc::new(rows.iter().map(|r| Some(r[0])).collect::<StringArray>());
                let labels = table.labels(&ground).unwrap();
                assert_eq!(labels.len() + 1, rows[0].len(), "{path:?}");
                for (i, row) in rows.iter().enumerate() {
                    assert!(
                        labels.iter().zip(&row[1..]).all(|(l, field)| l.value(i) == *field),
                        "{path:?}"
                    );
                }
                let name = |p: &Path| p.file_stem().unwrap().to_string_lossy().into_owned();
                heights.insert((name(&folder), name(&path)), labels.len());
            }
        }
        let nodes = |folder: &str| {
            let of = heights.iter().filter(|((f, _), _)| f == folder);
            of.map(|(_, height)| height + 1).product::<usize>()
        };
        assert_eq!((nodes("adult_arx_hier"), nodes("adult_pbg")), (12_960, 17_920));
        assert!(heights.len() >= 80, "{}", heights.len());
    }
}
