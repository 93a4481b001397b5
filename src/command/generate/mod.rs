//! Invented tables of any size, for the quickstart, the tests and the benches.
//!
//! The same table, rows and seed give the same bytes on any number of threads: every row group has
//! its own ChaCha stream, numbered by its position, and values depend only on integer arithmetic.
//! Row groups are generated and encoded in parallel and written in order, so that memory does not
//! grow with the number of rows.
//!
//! Every person, name and number is invented. The categories are ordinary words with rough, skewed
//! shares.

mod bench;
mod census;
mod draw;
mod hierarchies;
mod medical;
mod names;
mod patients;
mod population;
mod vocabulary;
mod write;

pub use bench::BenchShape;
pub use hierarchies::write_hierarchies;

use crate::base::error::{Error, Result};
use std::num::NonZeroUsize;
use std::path::Path;
use std::str::FromStr;

/// The seed of the tables in `data/`.
pub const SAMPLE_SEED: u64 = 42;
/// The number of people in `data/census.parquet`.
pub const SAMPLE_PEOPLE: u64 = 30_000;
/// The number of visits in `data/patients.parquet`; there are 3 patients for every 8 visits.
pub const SAMPLE_VISITS: u64 = 8_000;

/// A table that can be generated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GeneratedTable {
    /// One row per person: identifiers, demographic quasi-identifiers, work and income.
    Census,
    /// One row per hospital visit, several per patient.
    Patients,
    /// Only categorical quasi-identifiers, as strings, with a set number of distinct combinations.
    Bench(BenchShape),
}

impl GeneratedTable {
    /// The names that [`GeneratedTable::from_str`] accepts.
    pub const NAMES: [&'static str; 3] = ["census", "patients", "bench"];
}

impl FromStr for GeneratedTable {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name.to_ascii_lowercase().as_str() {
            "census" => Ok(Self::Census),
            "patients" => Ok(Self::Patients),
            "bench" => Ok(Self::Bench(BenchShape::default())),
            _ => Err(Error::unknown("generated table", name, Self::NAMES)),
        }
    }
}

/// Writes `rows` rows of the table `kind` to the Parquet file `out`, on all cores.
pub fn generate(kind: GeneratedTable, rows: u64, seed: u64, out: &Path) -> Result<()> {
    generate_with_threads(
        kind,
        rows,
        seed,
        std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN),
        out,
    )
}

/// Writes the same file as [`generate`], but on the given number of threads. This number affects
/// the time and the memory, but not the bytes.
pub fn generate_with_threads(
    kind: GeneratedTable,
    rows: u64,
    seed: u64,
    threads: NonZeroUsize,
    out: &Path,
) -> Result<()> {
    match kind {
        GeneratedTable::Census => write::write(&census::Census::new(seed), rows, threads, out),
        GeneratedTable::Patients => write::write(&patients::Patients::new(seed), rows, threads, out),
        GeneratedTable::Bench(shape) => write::write(&bench::Bench::new(shape, rows, seed)?, rows, threads, out),
    }
}

/// Writes the content of `data/` into the folder `dir`, which must exist: both sample tables and
/// `hierarchies/`.
pub fn write_samples(dir: &Path) -> Result<()> {
    generate(
        GeneratedTable::Census,
        SAMPLE_PEOPLE,
        SAMPLE_SEED,
        &dir.join("census.parquet"),
    )?;
    generate(
        GeneratedTable::Patients,
        SAMPLE_VISITS,
        SAMPLE_SEED,
        &dir.join("patients.parquet"),
    )?;
    write_hierarchies(&dir.join("hierarchies"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;

    #[test]
    fn the_bytes_depend_on_the_seed_and_not_on_the_threads() -> Result<()> {
        let dir = tempfile::tempdir().map_err(|e| Error::io("a scratch folder", e))?;
        let bytes = |kind: GeneratedTable, seed: u64, threads: usize| -> Result<Vec<u8>> {
            let (path, threads) = (
                dir.path().join("t.parquet"),
                NonZeroUsize::new(threads).unwrap_or(NonZeroUsize::MIN),
            );
            generate_with_threads(kind, write::GROUP_ROWS + 1_000, seed, threads, &path)?;
            std::fs::read(&path).map_err(|e| Error::io("the table", e))
        };
        for name in GeneratedTable::NAMES {
            let kind = name.parse()?;
            let one = bytes(kind, 1, 1)?;
            assert!(one == bytes(kind, 1, 3)?, "{name}: other bytes with 3 threads");
            assert!(one != bytes(kind, 2, 1)?, "{name}: the same bytes with another seed");
        }
        Ok(())
    }

    #[test]
    fn a_table_without_rows_can_be_read() -> Result<()> {
        let dir = tempfile::tempdir().map_err(|e| Error::io("a scratch folder", e))?;
        let path = dir.path().join("empty.parquet");
        for name in GeneratedTable::NAMES {
            generate(name.parse()?, 0, 1, &path)?;
            let file = std::fs::File::open(&path).map_err(|e| Error::io("the table", e))?;
            let table = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file)?;
            assert_eq!(table.metadata().file_metadata().num_rows(), 0);
        }
        Ok(())
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = generate(GeneratedTable::Census, 1, 1, Path::new("/nowhere/at/all.parquet")).err();
        assert_eq!(error.as_ref().map(Error::kind), Some(ErrorKind::Io));
        assert!(error.is_some_and(|e| e.to_string().contains("/nowhere/at/all.parquet")));
    }
}
