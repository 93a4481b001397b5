//! Tests hierarchical t-closeness on two million rows. Products of such counts far exceed 32 bits,
//! and floating point would round them. Separate code recounts the release in whole numbers.

use crate::common::{Numbers, collect, context};
use anonsql::internal::generate::{GeneratedTable, generate};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::DataType;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};

const ROWS: u64 = 2_000_000;

/// Assigns a code to each distinct text, including NULL, in order of appearance.
#[derive(Default)]
struct Codes(HashMap<Option<String>, usize>);

impl Codes {
    fn of(&mut self, text: Option<&str>) -> usize {
        let next = self.0.len();
        match self.0.get(&text.map(str::to_string)) {
            Some(code) => *code,
            None => *self.0.entry(text.map(str::to_string)).or_insert(next),
        }
    }
}

/// Reads columns of a Parquet file, and passes the codes of each row to `row`.
fn read(file: &Path, columns: &[&str], codes: &mut [Codes], mut row: impl FnMut(&[usize])) {
    let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(file).unwrap()).unwrap();
    let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().copied());
    for batch in builder.with_projection(mask).build().unwrap() {
        let batch: RecordBatch = batch.unwrap();
        let text = |name: &&str| arrow::compute::cast(batch.column_by_name(name).unwrap(), &DataType::Utf8).unwrap();
        let texts: Vec<ArrayRef> = columns.iter().map(text).collect();
        let texts: Vec<_> = texts.iter().map(|t| t.as_string::<i32>()).collect();
        let mut found = vec![0; columns.len()];
        for i in 0..batch.num_rows() {
            for ((found, text), codes) in found.iter_mut().zip(&texts).zip(codes.iter_mut()) {
                *found = codes.of((!text.is_null(i)).then(|| text.value(i)));
            }
            row(&found);
        }
    }
}

/// The inner nodes of the hierarchy, by level from 1. A node is the list of its children, and a
/// child is the list of its leaves.
struct Tree {
    levels: Vec<Vec<Vec<Vec<usize>>>>,
}

impl Tree {
    /// Reads a file with lines `leaf;group;...;*`. A leaf without a line (NULL) is its own child of
    /// the top.
    fn read(file: &str, leaves: &Codes) -> Self {
        let text = std::fs::read_to_string(file).unwrap();
        let lines: HashMap<&str, Vec<&str>> = text
            .lines()
            .map(|line| (line.split(';').next().unwrap(), line.split(';').collect()))
            .collect();
        let height = lines.values().next().unwrap().len() - 1;
        let label = |leaf: &Option<String>, level: usize| match leaf {
            _ if level == height => "*".to_string(),
            Some(leaf) => format!("={}", lines[leaf.as_str()][level]),
            None => "NULL".to_string(),
        };
        let mut levels = vec![];
        for level in 1..=height {
            let mut nodes: HashMap<String, HashMap<String, Vec<usize>>> = HashMap::new();
            for (leaf, code) in &leaves.0 {
                let children = nodes.entry(label(leaf, level)).or_default();
                children.entry(label(leaf, level - 1)).or_default().push(*code);
            }
            levels.push(nodes.into_values().map(|c| c.into_values().collect()).collect());
        }
        Self { levels }
    }

    /// Returns the distance of a class from the table as a fraction, as definitions.md defines it:
    /// the sum, over the inner nodes, of level / height times the smaller of the children's total
    /// surplus and total deficit. With the counts n of s in the class and c of N in the table, p -
    /// q is (n N - c s) / (s N).
    fn distance(&self, class: &[i128], table: &[i128]) -> (i128, i128) {
        let (s, all): (i128, i128) = (class.iter().sum(), table.iter().sum());
        let extra = |leaves: &Vec<usize>| leaves.iter().map(|i| class[*i] * all - table[*i] * s).sum::<i128>();
        let mut work = 0;
        for (level, nodes) in (1..).zip(&self.levels) {
            for children in nodes {
                let extras = children.iter().map(extra);
                let (surplus, deficit) = extras.fold((0, 0), |(up, down), e| (up + e.max(0), down + (-e).max(0)));
                work += level * surplus.min(deficit);
            }
        }
        (work, self.levels.len() as i128 * s * all)
    }

    /// Returns the distance of every class from the table.
    fn distances<'a>(
        &'a self,
        classes: &'a HashMap<Vec<usize>, Vec<i128>>,
        table: &'a [i128],
    ) -> impl Iterator<Item = (i128, i128)> + 'a {
        classes.values().map(|class| self.distance(class, table))
    }
}

/// Adds a row to the counts of its class.
fn count(classes: &mut HashMap<Vec<usize>, Vec<i128>>, key: &[usize], value: usize) {
    let counts = match classes.get_mut(key) {
        Some(counts) => counts,
        None => classes.entry(key.to_vec()).or_default(),
    };
    counts.resize(counts.len().max(value + 1), 0);
    counts[value] += 1;
}

fn exceeds((numerator, denominator): (i128, i128)) -> bool {
    10 * numerator > 2 * denominator
}

#[tokio::test]
async fn no_class_of_two_million_rows_is_further_than_t() {
    let scratch = tempfile::tempdir().unwrap();
    let source = scratch.path().join("patients.parquet");
    generate(GeneratedTable::Patients, ROWS, 3, &source).unwrap();
    let context = context(2);
    let target = scratch.path().join("released");
    let hierarchies = "CREATE HIERARCHY birth_year AS INTERVALS (5, 10, 20);
        CREATE HIERARCHY zip AS PREFIX (3, 2, 1);
        CREATE HIERARCHY diagnosis FROM 'data/hierarchies/diagnosis.csv'";
    collect(&context, hierarchies).await;
    let satisfying = "SENSITIVE (diagnosis USING diagnosis) SATISFYING t_closeness(0.2, hierarchical) ON diagnosis";
    let released = collect(
        &context,
        &format!(
            "ANONYMIZE '{}' TO '{}' IDENTIFIERS (patient_id, name, visited_at, ward, cost, insurer) \
             QUASI IDENTIFIERS (birth_year USING birth_year, sex, zip USING zip) {} SUPPRESSING AT MOST 5 PERCENT",
            source.display(),
            target.display(),
            satisfying.replace("SATISFYING", "SATISFYING k_anonymity(2) AND")
        ),
    )
    .await;
    let summary = Numbers::of(&released);
    assert_eq!(summary.get("rows_in", 0), ROWS as f64);

    let columns = ["birth_year", "diagnosis", "sex", "zip"];
    let mut codes: [Codes; 4] = Default::default();
    let mut table = vec![];
    let mut finest: HashMap<Vec<usize>, Vec<i128>> = HashMap::new();
    read(&source, &columns, &mut codes, |row| {
        table.resize(table.len().max(row[1] + 1), 0);
        table[row[1]] += 1;
        count(&mut finest, &[row[0], row[2]], row[1]);
    });
    let tree = Tree::read("data/hierarchies/diagnosis.csv", &codes[1]);
    let mut classes: HashMap<Vec<usize>, Vec<i128>> = HashMap::new();
    let parts: Vec<PathBuf> = std::fs::read_dir(&target).unwrap().map(|e| e.unwrap().path()).collect();
    for part in parts.iter().filter(|p| p.extension().is_some_and(|e| e == "parquet")) {
        read(part, &columns, &mut codes, |row| {
            count(&mut classes, &[row[0], row[2], row[3]], row[1])
        });
    }
    let pad =
        |classes: &mut HashMap<Vec<usize>, Vec<i128>>| classes.values_mut().for_each(|c| c.resize(table.len(), 0));
    pad(&mut classes);
    pad(&mut finest);

    let rows: i128 = classes.values().flatten().sum();
    assert_eq!(rows as f64, summary.get("rows_out", 0));
    assert_eq!(classes.len() as f64, summary.get("classes", 0));
    assert!(classes.len() > 10, "{} classes", classes.len());
    assert_eq!(tree.distances(&classes, &table).filter(|d| exceeds(*d)).count(), 0);
    // The same code detects classes that are too far from the table, such as the classes over the
    // raw year of birth and sex.
    let further = tree.distances(&finest, &table).filter(|d| exceeds(*d)).count();
    assert!(further > 10, "{further}");

    // VERIFY computes the maximum of these distances in floating point.
    let verify = format!(
        "VERIFY '{}' QUASI IDENTIFIERS (birth_year, sex, zip) {satisfying} AGAINST '{}'",
        target.display(),
        source.display()
    );
    let reached = Numbers::of(&collect(&context, &verify).await).get("reached", 0);
    let worst = tree.distances(&classes, &table).map(|(n, d)| n as f64 / d as f64);
    let worst = worst.fold(0.0, f64::max);
    assert!((reached - worst).abs() < 1e-9, "{reached} {worst}");
}
