//! Mutates hierarchy files: CSV as people and programs write it. A file that can be read
//! generalizes a table, and the release must satisfy its model.

use super::mutate::{anywhere, bytes};
use super::{Bench, Input, quoted, refused};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

pub struct HierarchyFiles {
    bench: Bench,
}

const FILES: &[&str] = &[
    "1;1-2;*\n2;1-2;*\n3;3-4;*\n4;3-4;*\n",
    "1,low\r\n2,low\r\n3,high\r\n4,high\r\n",
    "value;group\n1;\"a;b\"\n2;\"a;b\"\n3;\"say \"\"hi\"\"\"\n4;c\n",
    "\u{feff}1;x;y;*\n2;x;y;*\n\n3;x;z;*\n4;x;z;*",
    "4\n3\n2\n1\n",
];

const OPTIONS: &[&str] = &[
    "",
    " OPTIONS (delimiter ',')",
    " OPTIONS (has_header true)",
    " OPTIONS (quote '''', delimiter ';')",
    " ON UNMAPPED SUPPRESS",
    " ON UNMAPPED TOP",
];

impl Input for HierarchyFiles {
    fn new() -> Self {
        let bench = Bench::new();
        let create = "CREATE TABLE people AS SELECT column1 AS age FROM (VALUES (1), (1), (2), (2), (3), (4), (NULL))";
        bench.prepare(create);
        Self { bench }
    }

    fn case(&mut self, rng: &mut ChaCha8Rng) -> Result<&'static str, String> {
        let file = FILES[rng.random_range(0..FILES.len())].as_bytes();
        let others: Vec<Vec<u8>> = FILES.iter().map(|f| f.as_bytes().to_vec()).collect();
        let mutated = bytes(rng, file, &others, anywhere);
        let (path, target) = (self.bench.path("h.csv"), self.bench.path("out"));
        std::fs::write(&path, &mutated).unwrap();
        let options = OPTIONS[rng.random_range(0..OPTIONS.len())];
        let _ = std::fs::remove_dir_all(&target);
        let _ = self.bench.run("DROP HIERARCHY IF EXISTS h");
        let create = format!("CREATE HIERARCHY h FROM {}{options}", quoted(&path));
        if let Err(e) = self.bench.run(&create) {
            return refused(&create, &e).map(|()| "refused");
        }
        let anonymize = format!(
            "ANONYMIZE people TO {} QUASI IDENTIFIERS (age USING h) SATISFYING k_anonymity(2) SUPPRESSING AT MOST 3 ROWS",
            quoted(&target)
        );
        for sql in [
            "DESCRIBE HIERARCHY h",
            "CHECK HIERARCHY h FOR people.age",
            "SELECT * FROM hierarchy_levels('h')",
            "SELECT generalize('h', age, 1) FROM people",
        ] {
            if let Err(e) = self.bench.run(sql) {
                refused(sql, &e)?;
            }
        }
        if let Err(e) = self.bench.run(&anonymize) {
            return refused(&anonymize, &e).map(|()| "read, not released");
        }
        for verify in [
            format!(
                "VERIFY {} QUASI IDENTIFIERS (age USING h) SATISFYING k_anonymity(2)",
                quoted(&target)
            ),
            format!(
                "VERIFY {} AGAINST people QUASI IDENTIFIERS (age USING h) SATISFYING k_anonymity(2)",
                quoted(&target)
            ),
        ] {
            if let Err(e) = self.bench.run(&verify) {
                return Err(format!(
                    "{:?}{options} releases, and {verify} says {e}",
                    String::from_utf8_lossy(&mutated)
                ));
            }
        }
        Ok("released")
    }
}
