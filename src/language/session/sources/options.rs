//! `OPTIONS` after a path: properties of a file that the statement gives. They replace the
//! properties that the file's name and first rows indicate.

use super::format::DataFormat;
use super::partitions::HiveTypes;
use super::stated;
use crate::base::catalogue::{Arguments, Info, Kind, Param, Value};
use crate::base::error::{Error, Result};
use crate::data::source::csv::Asked;
use arrow::datatypes::DataType;
use datafusion::datasource::file_format::file_compression_type::FileCompressionType;
use std::collections::BTreeMap;

const fn word(name: &'static str, summary: &'static str, words: &'static [&'static str]) -> Param {
    param(name, summary, Kind::Word(words))
}

const fn param(name: &'static str, summary: &'static str, kind: Kind) -> Param {
    Param {
        name,
        summary,
        kind,
        default: Some(""),
    }
}

/// The description of the options that may follow a path.
pub(in crate::language::session) const OPTIONS: Info = Info {
    name: "OPTIONS",
    summary: "how a file is read",
    params: &[
        word("format", "the format, whatever the file name shows", DataFormat::NAMES),
        word(
            "compression",
            "how the file is compressed",
            &["none", "gzip", "zstd", "bzip2", "xz"],
        ),
        param(
            "schema_infer_max_rec",
            "the number of rows from which types are inferred",
            Kind::Integer { min: 1, max: i64::MAX },
        ),
        param("delimiter", "the character between the fields of CSV", Kind::Character),
        param("quote", "the character around a quoted field of CSV", Kind::Character),
        param(
            "escape",
            "the character before a quote within a field of CSV",
            Kind::Character,
        ),
        param(
            "comment",
            "the first character of a line of CSV that is skipped",
            Kind::Character,
        ),
        param(
            "has_header",
            "whether the first line of CSV names the columns",
            Kind::Boolean,
        ),
        param(
            "null_value",
            "the text that is NULL in CSV, besides the empty text",
            Kind::Name,
        ),
        param(
            "trim",
            "whether blanks around the fields of CSV are removed; the default is true if they follow every delimiter",
            Kind::Boolean,
        ),
        param(
            "types",
            "text reads all of CSV and JSON as text; 'zip TEXT, age INT' gives types to columns; the types of other \
             columns are inferred (infer)",
            Kind::Name,
        ),
        param(
            "hive_types",
            "the types of columns that are folder names: 'year BIGINT, day DATE'",
            Kind::Name,
        ),
        param(
            "hive_types_autocast",
            "whether numbers and dates are recognised in folder names (true)",
            Kind::Boolean,
        ),
    ],
    example: "OPTIONS (delimiter ';', has_header false)",
    reference: "",
};

/// The options that apply to CSV files only.
const OF_CSV: &[&str] = &[
    "delimiter",
    "quote",
    "escape",
    "comment",
    "has_header",
    "null_value",
    "trim",
];

/// The options that apply to text files only.
const OF_TEXTS: &[&str] = &["schema_infer_max_rec", "types"];

/// The default number of rows from which types are inferred.
const ROWS: usize = 10_000;

/// The properties of a file that are given by the statement.
#[derive(Debug)]
pub(super) struct PathOptions {
    pub(super) format: Option<DataFormat>,
    pub(super) compression: Option<FileCompressionType>,
    /// The number of rows from which types are inferred.
    pub(super) rows: usize,
    pub(super) csv: Asked,
    pub(super) all_text: bool,
    /// The types that the statement gives to columns, by column name.
    pub(super) types: BTreeMap<String, DataType>,
    /// The types of partition columns, whose values are encoded in folder names.
    pub(super) hive: HiveTypes,
    /// The first given option that applies to CSV files only.
    of_csv: Option<&'static str>,
    /// The first given option that applies to text files only.
    of_texts: Option<&'static str>,
}

impl PathOptions {
    /// Checks the options of a path. A name may have the prefix `format.`, as in CREATE EXTERNAL
    /// TABLE.
    pub(super) fn bind(options: &[(String, Value)]) -> Result<Self> {
        let plain = |name: &str| {
            let name = name.to_ascii_lowercase();
            name.strip_prefix("format.").map_or(name.clone(), String::from)
        };
        let options: Vec<(String, Value)> = options.iter().map(|(name, v)| (plain(name), v.clone())).collect();
        let given = Arguments::of_options(&OPTIONS, &options)?;
        let byte = |name: &str| given.given(name, Arguments::character);
        let is_given = |name: &&&str| options.iter().any(|(given, _)| given == **name);
        let first_of = |names: &[&'static str]| names.iter().find(is_given).copied();
        let format = given.given("format", Arguments::word)?.and_then(DataFormat::called);
        let compression = given.given("compression", Arguments::word)?;
        let rows = given.given("schema_infer_max_rec", Arguments::count)?;
        let types = given.given("types", Arguments::word)?;
        let is_called = |word: &str| types.is_some_and(|types| types.eq_ignore_ascii_case(word));
        Ok(Self {
            format,
            compression: compression.map(|name| match name {
                "gzip" => FileCompressionType::GZIP,
                "zstd" => FileCompressionType::ZSTD,
                "bzip2" => FileCompressionType::BZIP2,
                "xz" => FileCompressionType::XZ,
                _ => FileCompressionType::UNCOMPRESSED,
            }),
            rows: rows.map_or(ROWS, |rows| usize::try_from(rows).unwrap_or(usize::MAX)),
            csv: Asked {
                delimiter: byte("delimiter")?,
                quote: byte("quote")?,
                escape: byte("escape")?,
                comment: byte("comment")?,
                has_header: given.given("has_header", Arguments::boolean)?,
                null: given.given("null_value", Arguments::word)?.map(String::from),
                trim: given.given("trim", Arguments::boolean)?,
                exact: false,
            },
            all_text: is_called("text"),
            types: match types {
                Some(text) if !is_called("text") && !is_called("infer") => stated::types("types", text)?,
                _ => BTreeMap::new(),
            },
            hive: HiveTypes {
                stated: given
                    .given("hive_types", Arguments::word)?
                    .map_or(Ok(BTreeMap::new()), |text| stated::types("hive_types", text))?,
                are_inferred: given.given("hive_types_autocast", Arguments::boolean)?.unwrap_or(true),
            },
            of_csv: first_of(OF_CSV),
            of_texts: first_of(OF_TEXTS),
        })
    }

    /// Fails with `ErrorKind::Usage` if the statement gives a type to a column that the files do
    /// not have.
    pub(super) fn check_types<'a>(&self, columns: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
        let unknown = |name: &&String| columns.clone().all(|column| column != name.as_str());
        match self.types.keys().find(unknown) {
            Some(name) => Err(Error::unknown("column of types", name, columns)),
            None => Ok(()),
        }
    }

    /// Fails with `ErrorKind::Usage` if an option has no effect on files of the given format.
    pub(super) fn check(&self, format: DataFormat) -> Result<()> {
        let of_csv = self.of_csv.filter(|_| !format.is_csv());
        let without_effect = of_csv.or(self.of_texts.filter(|_| !format.is_text()));
        match without_effect {
            Some(name) => Err(Error::usage(format!(
                "option {name} has no effect on {format}; leave it out"
            ))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_with_and_without_their_prefix() {
        let text = |name: &str, value: &str| (name.to_string(), Value::Text(value.into()));
        let read = PathOptions::bind(&[text("format.delimiter", r"\t"), text("FORMAT", "CSV")]).unwrap();
        assert_eq!((read.csv.delimiter, read.format), (Some(b'\t'), Some(DataFormat::Csv)));
        for (name, value, said) in [
            ("delimeter", ";", "did you mean \"delimiter\""),
            ("delimiter", ";;", "must be one ASCII character in quotes"),
            ("format", "excel", "format of OPTIONS"),
            (
                "types",
                "number",
                "types of OPTIONS gives each column a type: types 'year BIGINT, day DATE'",
            ),
            ("types", "age NUMBER", "there is no type of types \"NUMBER\""),
            (
                "types",
                "zip TEXT, \"a b\" decimal(5, 2)",
                "there is no type of types \"DECIMAL(5, 2)\"",
            ),
        ] {
            let e = PathOptions::bind(&[text(name, value)]).unwrap_err().to_string();
            assert!(e.contains(said), "{e}");
        }
        let e = read.check(DataFormat::Parquet).unwrap_err().to_string();
        assert_eq!(e, "option delimiter has no effect on Parquet; leave it out");
        assert!(read.check(DataFormat::Tsv).is_ok());
    }
}
