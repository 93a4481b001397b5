//! Every statement of anonsql that writes files, and the contents of its folder before and after.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The table of people, a file in the folder in which a statement runs.
const PEOPLE: &str = "people.csv";
/// The report, if the statement writes one beside the release.
const REPORT: &str = "report.md";

/// A statement that writes files, and the statement that fills its target beforehand.
pub struct Way {
    pub name: &'static str,
    /// The statement that is run before a case; empty if there is nothing to replace.
    before: &'static str,
    /// The statement that is interrupted.
    writes: &'static str,
    /// True if a second run would add to the first, or be refused.
    pub once: bool,
}

const K5: &str =
    "QUASI IDENTIFIERS (age USING age, sex) SENSITIVE (illness) SATISFYING k_anonymity(5) AT NODE (age 2, sex 0)";
const K20: &str = "QUASI IDENTIFIERS (age USING age, sex) SENSITIVE (illness) SATISFYING k_anonymity(20)";
const FRONT: &str = "QUASI IDENTIFIERS (age USING age, sex) SENSITIVE (illness) OPTIMIZING";
const TABLE: &str =
    "CREATE EXTERNAL TABLE kept (age VARCHAR, sex VARCHAR, illness VARCHAR) LOCATION 'table/' STORED AS";

/// `[5]`, `[20]` and `[front]` stand for the clauses in [`K5`], [`K20`] and [`FRONT`]. `[table]`
/// followed by a format stands for the declaration of a table of files.
pub const WAYS: &[Way] = &[
    once("TO", "", "ANONYMIZE 'people.csv' TO 'out' [20]"),
    once("TO, CSV", "", "ANONYMIZE 'people.csv' TO 'out' STORED AS CSV [20]"),
    once(
        "TO, PARTITIONED BY, REPORT beside",
        "",
        "ANONYMIZE 'people.csv' TO 'out' PARTITIONED BY (sex) [20] REPORT TO 'report.md'",
    ),
    way(
        "OVERWRITE",
        "ANONYMIZE 'people.csv' TO 'out' [5]",
        "ANONYMIZE 'people.csv' TO 'out' OVERWRITE [20]",
    ),
    way(
        "OVERWRITE, CSV in many files",
        "ANONYMIZE 'people.csv' TO 'out' STORED AS CSV [5]",
        "ANONYMIZE 'people.csv' TO 'out' STORED AS CSV OVERWRITE OPTIONS (rows_per_file 100) [20]",
    ),
    way(
        "OVERWRITE, PARTITIONED BY",
        "ANONYMIZE 'people.csv' TO 'out' PARTITIONED BY (sex) [5]",
        "ANONYMIZE 'people.csv' TO 'out' OVERWRITE PARTITIONED BY (age, sex) [20]",
    ),
    way(
        "OVERWRITE, CSV, PARTITIONED BY",
        "ANONYMIZE 'people.csv' TO 'out' STORED AS CSV PARTITIONED BY (sex) [5]",
        "ANONYMIZE 'people.csv' TO 'out' STORED AS CSV OVERWRITE PARTITIONED BY (age, sex) [20]",
    ),
    way(
        "OVERWRITE, REPORT inside",
        "ANONYMIZE 'people.csv' TO 'out' [5] REPORT TO 'out/_report.md'",
        "ANONYMIZE 'people.csv' TO 'out' OVERWRITE [20] REPORT TO 'out/_report.md'",
    ),
    way(
        "OVERWRITE, REPORT beside",
        "ANONYMIZE 'people.csv' TO 'out' [5] REPORT TO 'report.md'",
        "ANONYMIZE 'people.csv' TO 'out' OVERWRITE [20] REPORT TO 'report.md'",
    ),
    way(
        "COPY to Parquet",
        "COPY (ANONYMIZE 'people.csv' [5]) TO 'out.parquet'",
        "COPY (ANONYMIZE 'people.csv' [20]) TO 'out.parquet'",
    ),
    way(
        "COPY to CSV",
        "COPY (ANONYMIZE 'people.csv' [5]) TO 'out.csv'",
        "COPY (ANONYMIZE 'people.csv' [20]) TO 'out.csv'",
    ),
    way(
        "COPY to JSON",
        "COPY (ANONYMIZE 'people.csv' [5]) TO 'out.json'",
        "COPY (ANONYMIZE 'people.csv' [20]) TO 'out.json'",
    ),
    way(
        "COPY to Arrow",
        "COPY (ANONYMIZE 'people.csv' [5]) TO 'out.arrow'",
        "COPY (ANONYMIZE 'people.csv' [20]) TO 'out.arrow'",
    ),
    way(
        "COPY, REPORT",
        "COPY (ANONYMIZE 'people.csv' [5] REPORT TO 'report.md') TO 'out.csv'",
        "COPY (ANONYMIZE 'people.csv' [20] REPORT TO 'report.md') TO 'out.csv'",
    ),
    once(
        "COPY to a folder of Parquet",
        "",
        "COPY (ANONYMIZE 'people.csv' [20]) TO 'table/' STORED AS PARQUET",
    ),
    once(
        "COPY to a folder of CSV",
        "",
        "COPY (ANONYMIZE 'people.csv' [20]) TO 'table/' STORED AS CSV",
    ),
    once(
        "COPY to a folder of JSON",
        "",
        "COPY (ANONYMIZE 'people.csv' [20]) TO 'table/' STORED AS JSON",
    ),
    once(
        "COPY to a folder of Arrow",
        "",
        "COPY (ANONYMIZE 'people.csv' [20]) TO 'table/' STORED AS ARROW",
    ),
    once(
        "INSERT into Parquet",
        "[table] PARQUET; INSERT INTO kept ANONYMIZE 'people.csv' [5]",
        "[table] PARQUET; INSERT INTO kept ANONYMIZE 'people.csv' [20]",
    ),
    once(
        "INSERT into CSV",
        "[table] CSV; INSERT INTO kept ANONYMIZE 'people.csv' [5]",
        "[table] CSV; INSERT INTO kept ANONYMIZE 'people.csv' [20]",
    ),
    once(
        "INSERT into JSON",
        "[table] JSON; INSERT INTO kept ANONYMIZE 'people.csv' [5]",
        "[table] JSON; INSERT INTO kept ANONYMIZE 'people.csv' [20]",
    ),
    once(
        "INSERT into Arrow",
        "[table] ARROW; INSERT INTO kept ANONYMIZE 'people.csv' [5]",
        "[table] ARROW; INSERT INTO kept ANONYMIZE 'people.csv' [20]",
    ),
    once(
        "INSERT, REPORT",
        "[table] CSV; INSERT INTO kept ANONYMIZE 'people.csv' [5]",
        "[table] CSV; INSERT INTO kept ANONYMIZE 'people.csv' [20] REPORT TO 'report.md'",
    ),
    way(
        "CREATE TABLE AS, REPORT",
        "ANONYMIZE 'people.csv' [5] REPORT TO 'report.md'",
        "CREATE TABLE kept AS ANONYMIZE 'people.csv' [20] REPORT TO 'report.md'",
    ),
    way(
        "rows, REPORT",
        "ANONYMIZE 'people.csv' [5] REPORT TO 'report.md'",
        "ANONYMIZE 'people.csv' [20] REPORT TO 'report.md'",
    ),
    way(
        "PARETO FRONT OF, REPORT",
        "PARETO FRONT OF ANONYMIZE 'people.csv' [front] MAX k, MIN glm REPORT TO 'front.svg'",
        "PARETO FRONT OF ANONYMIZE 'people.csv' [front] MAX k, MIN height REPORT TO 'front.svg'",
    ),
];

const fn way(name: &'static str, before: &'static str, writes: &'static str) -> Way {
    Way {
        name,
        before,
        writes,
        once: false,
    }
}

/// Returns a way that can run only once: a second run would add to the target or be refused.
const fn once(name: &'static str, before: &'static str, writes: &'static str) -> Way {
    Way {
        once: true,
        ..way(name, before, writes)
    }
}

impl Way {
    /// Puts a folder into its state before the statement runs.
    pub fn prepare(&self, folder: &Path, run: impl Fn(&Path, &str)) {
        let mut people = String::from("age,sex,illness\n");
        for i in 0..600u32 {
            let mixed = i.wrapping_mul(2_654_435_761) >> 8;
            let (sex, illness) = (
                ["f", "m"][mixed as usize % 2],
                ["flu", "cold", "gout"][mixed as usize / 2 % 3],
            );
            people += &format!("{},{sex},{illness}\n", 20 + mixed / 7 % 40);
        }
        fs::write(folder.join(PEOPLE), people).unwrap();
        if !self.before.is_empty() {
            run(folder, &sql(self.before));
        }
    }

    /// Returns the statements that are interrupted.
    pub fn sql(&self) -> String {
        sql(self.writes)
    }
}

fn sql(text: &str) -> String {
    let text = text
        .replace("[5]", K5)
        .replace("[20]", K20)
        .replace("[table]", TABLE)
        .replace("[front]", FRONT);
    // Batches are small, so that everything that can be split over several files is split.
    format!("SET datafusion.execution.batch_size = 64; CREATE HIERARCHY age AS INTERVALS (5, 10, 20); {text}")
}

/// The contents of a folder for a reader: each output by its name, and the report separately.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    pub outputs: BTreeMap<String, Vec<u8>>,
    pub report: Option<Vec<u8>>,
}

impl Found {
    /// Reads a folder, without its hidden files.
    pub fn of(folder: &Path) -> Self {
        let mut found = Self::default();
        found.add(folder, "");
        found.outputs.remove(PEOPLE);
        found.report = found.outputs.remove(REPORT);
        // The files of a table have random names, so their contents are compared together: text by
        // its lines, other formats by whole files.
        let files = found.outputs.extract_if(.., |name, _| name.starts_with("table/"));
        let mut read: Vec<Vec<u8>> = vec![];
        for (name, content) in files {
            match name.rsplit_once('.').map_or("", |(_, extension)| extension) {
                "csv" | "json" => read.extend(content.split(|b| *b == b'\n').map(<[u8]>::to_vec)),
                "parquet" | "arrow" => read.push(content),
                // No reader of a table opens other files.
                _ => (),
            }
        }
        if !read.is_empty() {
            read.sort_unstable();
            found.outputs.insert("table".into(), read.concat());
        }
        found
    }

    fn add(&mut self, folder: &Path, prefix: &str) {
        for entry in fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if name.starts_with('.') {
                continue;
            }
            match entry.file_type().unwrap().is_dir() {
                true => self.add(&entry.path(), &format!("{name}/")),
                false => drop(self.outputs.insert(name, fs::read(entry.path()).unwrap())),
            }
        }
    }
}

/// Returns the names of the hidden files of a folder.
pub fn hidden(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap());
    names.filter(|n| n.starts_with('.')).collect()
}
