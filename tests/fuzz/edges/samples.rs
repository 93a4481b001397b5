//! Makes differentially private releases of random tables. The sample depends on the table alone,
//! every released class is a large enough class of the source, and the manifest omits facts that
//! would weaken the guarantee.

use super::{Bench, Input, context, quoted, refused};
use anonsql::manifest::Manifest;
use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use arrow::record_batch::RecordBatch;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;

pub struct Samples {
    bench: Bench,
}

/// The number of rows of each class.
type Classes = BTreeMap<Vec<Option<String>>, i64>;

impl Input for Samples {
    fn new() -> Self {
        let bench = Bench::new();
        std::fs::write(bench.path("secret"), "0123456789abcdef").unwrap();
        Self { bench }
    }

    fn case(&mut self, rng: &mut ChaCha8Rng) -> Result<&'static str, String> {
        // A session that is reused would remember the tables and hierarchies of the previous case.
        self.bench.context = context();
        let unmapped = ["ON UNMAPPED TOP", "ON UNMAPPED SUPPRESS"][rng.random_range(0..2)];
        let nulls = ["", " NULLS AS TOP"][rng.random_range(0..2)];
        self.bench.prepare(&format!(
            "CREATE HIERARCHY a AS VALUES {} {unmapped}{nulls}; CREATE HIERARCHY z AS PREFIX (2, 1) {unmapped}{nulls}",
            (0..50)
                .map(|v| format!("('{v}', '{}', '{}')", v / 5 * 5, v / 25))
                .collect::<Vec<_>>()
                .join(", ")
        ));
        let (rows, widest, towns) = (
            rng.random_range(1..400),
            rng.random_range(1..56),
            rng.random_range(1..40),
        );
        let value = |n: Option<u32>, text: fn(u32) -> String| n.map_or("NULL".into(), text);
        let mut people: Vec<String> = (0..rows)
            .map(|_| {
                // Hierarchy `a` does not list values of 50 and more.
                let a = rng.random_bool(0.97).then(|| rng.random_range(0..widest));
                let z = rng.random_bool(0.97).then(|| rng.random_range(0..towns));
                format!(
                    "({}, {})",
                    value(a, |a| a.to_string()),
                    value(z, |z| format!("'t{}x{z}'", z % 3))
                )
            })
            .collect();
        // Level 0 would release the values that ON UNMAPPED TOP turns into `*`.
        let lowest = u8::from(unmapped == "ON UNMAPPED TOP");
        let (la, lz) = (rng.random_range(lowest..=3), rng.random_range(lowest..=3));
        let epsilon = rng.random_range(0.2..2.0f64);
        let beta = rng.random_range(0.02..0.98) * (1.0 - (-epsilon).exp());
        let model = format!(
            "differential_privacy({epsilon}, 0.001, beta => {beta}, secret => 'file:{}')",
            self.bench.path("secret").display()
        );
        let mut released = vec![];
        for partitions in [1, 3] {
            let table = format!("p{partitions}");
            self.bench.prepare(&format!(
                "SET datafusion.execution.target_partitions = {partitions}; \
                 CREATE TABLE {table} AS SELECT CAST(column1 AS BIGINT) AS a, CAST(column2 AS VARCHAR) AS z FROM (VALUES {})",
                people.join(", ")
            ));
            let folder = self.bench.path(format!("out{partitions}"));
            let sql = format!(
                "ANONYMIZE {table} TO {} OVERWRITE QUASI IDENTIFIERS (a USING a, z USING z) SATISFYING {model} AT NODE (a {la}, z {lz})",
                quoted(&folder)
            );
            let _ = std::fs::remove_dir_all(&folder);
            if let Err(error) = self.bench.run(&sql) {
                refused(&sql, &error)?;
                return Err(format!("{sql}: {error}"));
            }
            let verify = format!(
                "VERIFY {} AGAINST {table} QUASI IDENTIFIERS (a USING a, z USING z) SATISFYING {model}",
                quoted(&folder)
            );
            self.bench.run(&verify).map_err(|e| format!("{verify}: {e}"))?;
            let manifest = Manifest::read(&folder)
                .map_err(|e| e.to_string())?
                .ok_or("no manifest")?;
            let told = manifest.rows_in.is_some() || manifest.rows_suppressed.is_some() || !manifest.metrics.is_empty();
            if told || !manifest.input.is_empty() {
                return Err(format!("{sql}: the manifest tells of the source"));
            }
            let k = manifest.differential_privacy.ok_or("no budget")?.k as i64;
            self.bench.prepare(&format!(
                "CREATE EXTERNAL TABLE released_{table} STORED AS PARQUET LOCATION {}",
                quoted(&folder.join(""))
            ));
            let classes = self.classes("a", "z", &format!("released_{table}"))?;
            let all = self.classes(
                &format!("generalize('a', a, {la})"),
                &format!("generalize('z', z, {lz})"),
                &table,
            )?;
            for (labels, n) in &classes {
                let source = all.get(labels).copied().unwrap_or(0);
                if *n < k || *n > source {
                    return Err(format!(
                        "{sql}: {n} rows of {labels:?}, of which there are {source}, with k = {k}"
                    ));
                }
            }
            released.push(classes);
            let turn = rng.random_range(0..people.len());
            people.rotate_left(turn);
        }
        match released[0] == released[1] {
            true if released[0].is_empty() => Ok("nobody"),
            true => Ok("released"),
            false => Err(format!(
                "the same table has two samples: {:?} {:?}",
                released[0], released[1]
            )),
        }
    }
}

impl Samples {
    fn classes(&self, a: &str, z: &str, from: &str) -> Result<Classes, String> {
        let sql = format!("SELECT CAST({a} AS VARCHAR), CAST({z} AS VARCHAR), count(*) FROM {from} GROUP BY 1, 2");
        let batches = self.bench.run(&sql).map_err(|e| format!("{sql}: {e}"))?;
        let text = |batch: &RecordBatch, column: usize, row: usize| {
            let texts = arrow::compute::cast(batch.column(column), &arrow::datatypes::DataType::Utf8).unwrap();
            let texts = texts.as_string::<i32>();
            arrow::array::Array::is_valid(texts, row).then(|| texts.value(row).to_string())
        };
        let class = |batch: &RecordBatch, row: usize| {
            let count = batch.column(2).as_primitive::<Int64Type>().value(row);
            (vec![text(batch, 0, row), text(batch, 1, row)], count)
        };
        Ok(batches
            .iter()
            .flat_map(|b| (0..b.num_rows()).map(move |row| class(b, row)))
            .collect())
    }
}
