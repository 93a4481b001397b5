//! Tests releases whose rows are read and written by workers on loopback. The workers are processes
//! of the command, or planted workers.

mod lost;
mod planted;
mod same;
mod stores;
mod tls;
mod travels;
mod workers;

use crate::common::anonsql;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use workers::Workers;

/// The number of rows in every source.
pub const ROWS: u64 = 200_000;

/// The secret of the hashes. No output may show it.
pub const SECRET: &str = "quixotica-of-the-cluster";

/// The query for the people, who are written to eight Parquet files. It has NULLs, both zeros,
/// repeated texts, and a text that differs in every row.
pub const PEOPLE: &str = "SELECT value / 2 AS person, CASE WHEN value % 97 = 0 THEN NULL ELSE 18 + (value % 1009) * (value % 1013) % 61 END AS age, \
    'z' || (value * 13 % 40) AS zip, CASE value % 3 WHEN 0 THEN 0.0 WHEN 1 THEN -0.0 ELSE 1.5 END AS score, \
    'name ' || value AS name, 'illness ' || (value * 31 % 11) AS illness, \
    CASE WHEN value % 5 = 0 THEN NULL ELSE 'note ' || (value % 1000) END AS note";

/// Writes the source into a folder.
pub fn people(folder: &Path) {
    let mut sql = String::new();
    let part = ROWS / 8;
    for i in 0..8 {
        let range = format!("range({}, {})", i * part, (i + 1) * part);
        sql += &format!("COPY ({PEOPLE} FROM {range}) TO 'people/{i}.parquet';");
    }
    anonsql(folder).args(["-q", "-c", &sql]).assert().success();
}

/// The hierarchies and the table that every statement uses.
pub const SETUP: &str = "CREATE HIERARCHY age AS INTERVALS (5, 10, 20); CREATE HIERARCHY zip AS PREFIX (1); \
    CREATE EXTERNAL TABLE people STORED AS PARQUET LOCATION 'people/';";

/// Returns the checksum of each file of a release, by name, except the manifest.
pub fn sums(folder: &Path) -> BTreeMap<String, String> {
    fn add(folder: &Path, below: &Path, sums: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(below).unwrap().display().to_string();
            if path.is_dir() {
                add(&path, below, sums);
            } else if name != "_manifest.json" {
                sums.insert(name, hex::encode(Sha256::digest(std::fs::read(&path).unwrap())));
            }
        }
    }
    let mut sums = BTreeMap::new();
    add(folder, folder, &mut sums);
    assert!(!sums.is_empty(), "{}", folder.display());
    sums
}

/// Returns the entries of a folder whose names are not in `known`.
pub fn strangers(folder: &Path, known: &[&str]) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let is_known = |path: &PathBuf| known.iter().any(|name| path.ends_with(name));
    entries.filter(|path| !is_known(path)).collect()
}

/// Returns the command that runs a statement after the setup, with or without workers.
pub fn driver(folder: &Path, workers: Option<&Workers>, sql: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anonsql"));
    command
        .current_dir(folder)
        .env("ANONSQL_HISTORY", "")
        .env("XDG_CONFIG_HOME", folder.join("config"))
        .env("SALT", SECRET)
        .args(["-q", "--threads", "2", "-c", &format!("{SETUP} {sql}")])
        .stdin(Stdio::null());
    if let Some(workers) = workers {
        command.args(["--cluster", &workers.urls()]);
    }
    command
}
