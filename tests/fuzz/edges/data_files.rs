//! Mutates data files: Parquet in several layouts, CSV and JSON, also compressed, and Arrow. Each
//! file is read by whole statements. A release from a mutated file must pass VERIFY, and a changed
//! released file must not.

use super::mutate::{anywhere, bytes};
use super::{Bench, Input, SECRET, context, last_panic, quoted, refused};
use anonsql::error::ErrorKind;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

pub struct DataFiles {
    bench: Bench,
    sources: Vec<Source>,
    released: PathBuf,
    /// The files of the release with their content, read once.
    parts: Vec<(PathBuf, Vec<u8>)>,
    cases: u64,
}

/// A file that is mutated.
struct Source {
    format: &'static str,
    /// The options with which the file is written and, if it is text, read.
    options: &'static str,
    /// The columns that are kept; age and born are quasi-identifiers.
    kept: &'static str,
    bytes: Vec<u8>,
}

const COLUMNS: &str = "zip, illness, bmi, cost, ill, seen, city, small";
/// The kept columns of a text file, whose types are not declared.
const OF_TEXT: &str = "zip, illness, bmi";
/// The columns that can be delta encoded.
const NUMBERS: &str = "small, seen";

/// The number of cases after which a session is replaced: a session remembers every file it has
/// read.
const CASES_OF_A_SESSION: u64 = 200;

/// The clauses that a release of a source must satisfy.
const PROMISED: &str = "QUASI IDENTIFIERS (age, born) SATISFYING k_anonymity(2)";

/// The formats of sources, each with its options of COPY.
const LAYOUTS: &[(&str, &str)] = &[
    ("parquet", ""),
    (
        "parquet",
        "'format.compression' 'uncompressed', 'format.dictionary_enabled' 'false'",
    ),
    (
        "parquet",
        "'format.compression' 'zstd(1)', 'format.writer_version' '2.0', 'format.data_pagesize_limit' '64'",
    ),
    (
        "parquet",
        "'format.compression' 'snappy', 'format.encoding' 'delta_binary_packed', 'format.dictionary_enabled' 'false'",
    ),
    (
        "parquet",
        "'format.max_row_group_size' '8', 'format.bloom_filter_on_write' 'true', 'format.statistics_enabled' 'page'",
    ),
    ("csv", ""),
    ("csv", "'format.compression' 'gzip'"),
    ("csv", "'format.compression' 'zstd'"),
    ("json", ""),
    ("json", "'format.compression' 'xz'"),
    ("arrow", ""),
];

impl Input for DataFiles {
    fn new() -> Self {
        let bench = Bench::new();
        bench.prepare(&format!(
            "CREATE TABLE people AS SELECT column1 AS age, column2 AS zip, column3 AS illness, CAST(column1 AS DOUBLE) / 3 AS bmi,
             CAST(column1 AS DECIMAL(9, 2)) AS cost, DATE '2020-01-01' + column1 AS born, column1 > 40 AS ill,
             CAST(column1 AS TIMESTAMP) AS seen, arrow_cast(column2, 'Dictionary(Int32, Utf8)') AS city,
             CAST(column1 AS SMALLINT) AS small FROM (VALUES {})",
            (0..40)
                .map(|i| match i % 7 {
                    6 => format!("({}, NULL, '{SECRET}')", 20 + i % 5),
                    _ => format!("({}, '{}', 'flu {}')", 20 + i % 5, 1000 + i % 3, i % 4),
                })
                .collect::<Vec<_>>()
                .join(", ")
        ));
        let mut sources = vec![];
        for (number, (format, options)) in LAYOUTS.iter().enumerate() {
            let path = bench.path(format!("source{number}.{format}"));
            let kept = match *format {
                "csv" | "json" => OF_TEXT,
                _ if options.contains("delta") => NUMBERS,
                _ => COLUMNS,
            };
            bench.prepare(&format!(
                "COPY (SELECT age, born, {kept} FROM people) TO {} STORED AS {}{}",
                quoted(&path),
                format.to_uppercase(),
                clause(options)
            ));
            let bytes = std::fs::read(&path).unwrap();
            sources.push(Source {
                format,
                options,
                kept,
                bytes,
            });
        }
        let released = bench.path("released");
        bench.prepare(&format!(
            "ANONYMIZE people TO {} QUASI IDENTIFIERS (age, zip) SENSITIVE (illness) KEEP (bmi, born, cost, ill, seen, city, small) 
             SATISFYING k_anonymity(2)",
            quoted(&released)
        ));
        let parts = std::fs::read_dir(&released).unwrap().flatten().map(|e| e.path());
        let parts = parts.filter(|p| p.extension().is_some_and(|e| e == "parquet"));
        let parts = parts.map(|p| (p.clone(), std::fs::read(p).unwrap())).collect();
        Self {
            bench,
            sources,
            released,
            parts,
            cases: 0,
        }
    }

    fn case(&mut self, rng: &mut ChaCha8Rng) -> Result<&'static str, String> {
        self.cases += 1;
        if self.cases.is_multiple_of(CASES_OF_A_SESSION) {
            self.bench.context = context();
        }
        match rng.random_range(0..5) {
            0 => self.released(rng),
            _ => self.source(rng),
        }
    }
}

impl DataFiles {
    /// Mutates a source. Every release from it must pass VERIFY.
    fn source(&mut self, rng: &mut ChaCha8Rng) -> Result<&'static str, String> {
        let Source {
            format,
            options,
            kept,
            bytes: original,
        } = &self.sources[rng.random_range(0..self.sources.len())];
        let others: Vec<Vec<u8>> = self.sources.iter().map(|source| source.bytes.clone()).collect();
        let mutated = match *format {
            "csv" | "json" if options.is_empty() => bytes(rng, original, &others, anywhere),
            _ => bytes(rng, original, &others, in_structure),
        };
        // Each case has its own name, because sessions remember the content of a path.
        let name = format!("case{}", self.cases);
        let packed = ["gzip", "zstd", "xz"]
            .into_iter()
            .find(|packed| options.contains(packed));
        let packed = packed.filter(|_| matches!(*format, "csv" | "json"));
        let ending = packed.map_or(String::new(), |packed| format!(".{packed}"));
        let path = self.bench.path(format!("{name}.{format}{ending}"));
        std::fs::write(&path, &mutated).unwrap();
        let is_table = self.run(&format!(
            "CREATE EXTERNAL TABLE {name} STORED AS {} LOCATION {}{}",
            format.to_uppercase(),
            quoted(&path),
            packed.map_or(String::new(), |_| clause(options))
        ))?;
        let read = is_table && self.run(&format!("SELECT * FROM {name}"))?;
        let source = quoted(&path);
        let target = self.bench.path(format!("{name}-out"));
        let done = self.statements(&source, kept, &target, read);
        let _ = std::fs::remove_dir_all(&target);
        let _ = std::fs::remove_file(&path);
        done
    }

    fn statements(&self, source: &str, kept: &str, target: &Path, read: bool) -> Result<&'static str, String> {
        self.run(&format!("RISK OF {source} QUASI IDENTIFIERS (age)"))?;
        self.run(&format!("SUGGEST ROLES FOR {source}"))?;
        let anonymize = format!(
            "ANONYMIZE {source} TO {} QUASI IDENTIFIERS (age, born) KEEP ({kept}) SATISFYING k_anonymity(2) 
             SUPPRESSING AT MOST 100 PERCENT",
            quoted(target)
        );
        if !self.run(&anonymize)? {
            return Ok(if read { "read, not released" } else { "refused" });
        }
        for verify in [
            format!("VERIFY {} {PROMISED}", quoted(target)),
            format!("VERIFY {} {PROMISED} AGAINST {source}", quoted(target)),
        ] {
            if let Err(e) = self.bench.run(&verify) {
                return Err(format!("{anonymize} succeeded, and {verify} says {e}"));
            }
        }
        Ok("released")
    }

    /// Makes at least one change to a released file. VERIFY must then fail.
    fn released(&mut self, rng: &mut ChaCha8Rng) -> Result<&'static str, String> {
        let (path, original) = &self.parts[rng.random_range(0..self.parts.len())];
        let mutated = bytes(rng, original, &[], in_structure);
        if mutated == *original {
            return Ok("unchanged");
        }
        let folder = self.bench.path(format!("released{}", self.cases));
        std::fs::create_dir(&folder).unwrap();
        for entry in std::fs::read_dir(&self.released).unwrap().flatten() {
            std::fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
        }
        std::fs::write(folder.join(path.file_name().unwrap()), mutated).unwrap();
        let verify = format!(
            "VERIFY {} QUASI IDENTIFIERS (age, zip) SATISFYING k_anonymity(2)",
            quoted(&folder)
        );
        let answer = self.bench.run(&verify);
        let _ = std::fs::remove_dir_all(&folder);
        match answer {
            Ok(_) => Err(format!("{verify}: a changed file passes")),
            Err(e) if e.kind() == ErrorKind::Verification => Ok("found out"),
            Err(e) => refused(&verify, &e).map(|()| "found out"),
        }
    }

    /// Runs a statement, and returns true if it was not refused.
    fn run(&self, sql: &str) -> Result<bool, String> {
        let run = || self.bench.run(sql);
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(Ok(_)) => Ok(true),
            Ok(Err(e)) => refused(sql, &e).map(|()| false),
            Err(_) => Err(format!("{sql}: a panic came through: {}", last_panic())),
        }
    }
}

/// Returns the OPTIONS clause, or an empty text without options.
fn clause(options: &str) -> String {
    match options.is_empty() {
        true => String::new(),
        false => format!(" OPTIONS ({options})"),
    }
}

/// Draws a position in a file. It is mostly near the end or the beginning, where the structure of
/// the file is, and sometimes anywhere.
fn in_structure(rng: &mut ChaCha8Rng, len: usize) -> usize {
    match rng.random_range(0..10) {
        0..5 => len - 1 - rng.random_range(0..len.min(1_500)),
        5 => len - 1 - rng.random_range(0..len.min(12)),
        6 => rng.random_range(0..len.min(64)),
        _ => anywhere(rng, len),
    }
}
