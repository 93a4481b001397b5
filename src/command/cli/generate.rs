//! Implements `anonsql generate`, which writes invented tables.

use super::args::Generate;
use crate::base::error::{Error, Result};
use crate::command::generate::{self, BenchShape, GeneratedTable, SAMPLE_PEOPLE, SAMPLE_SEED, SAMPLE_VISITS};

/// The default number of columns in a bench table, which is the number in the Adult table.
const BENCH_COLUMNS: usize = 9;

/// Writes the requested table, or the folder of sample tables.
pub fn run(args: &Generate) -> Result<()> {
    if args.table.eq_ignore_ascii_case("sample") {
        let given = args.rows.is_some() || args.seed.is_some() || args.columns.is_some() || args.combinations.is_some();
        if given {
            return Err(Error::usage(
                "generate sample takes --out only: its tables are always the same",
            ));
        }
        std::fs::create_dir_all(args.out.join("hierarchies")).map_err(|e| Error::io(args.out.display(), e))?;
        return generate::write_samples(&args.out);
    }
    let mut table: GeneratedTable = args.table.parse()?;
    match &mut table {
        GeneratedTable::Bench(shape) => {
            *shape = BenchShape::new(args.columns.unwrap_or(BENCH_COLUMNS), args.combinations)?
        }
        _ if args.columns.is_some() || args.combinations.is_some() => {
            return Err(Error::usage("--columns and --combinations are for the bench table"));
        }
        _ => {}
    }
    let rows = args.rows.unwrap_or(if table == GeneratedTable::Patients {
        SAMPLE_VISITS
    } else {
        SAMPLE_PEOPLE
    });
    let seed = args.seed.unwrap_or(SAMPLE_SEED);
    match args.threads {
        Some(threads) => generate::generate_with_threads(table, rows, seed, threads, &args.out),
        None => generate::generate(table, rows, seed, &args.out),
    }
}
