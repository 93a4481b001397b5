//! Mutates manifests as bytes and as JSON. Some of the mutated manifests are sealed again, as a
//! forger would do. VERIFY and USING MANIFEST return a result or an error for each of them. VERIFY
//! confirms only what was written. A release that USING MANIFEST makes satisfies its model.

use super::mutate::{anywhere, bytes};
use super::{Bench, Input, quoted, refused};
use anonsql::internal::folder::{MANIFEST, Manifest};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use sha2::{Digest, Sha256};

pub struct Manifests {
    bench: Bench,
    /// The two texts of each entry in [`REQUESTS`], and the manifest of its release.
    releases: Vec<(&'static str, &'static str, Vec<u8>)>,
}

/// Requests: the quasi-identifiers of each, and its other clauses.
const REQUESTS: &[(&str, &str)] = &[
    (
        "QUASI IDENTIFIERS (age USING age, sex)",
        "SENSITIVE (illness) SUPPRESSING AT MOST 50 PERCENT",
    ),
    (
        "QUASI IDENTIFIERS (age, sex)",
        "KEEP (illness) SUPPRESSING AT MOST 50 PERCENT SEARCH USING mondrian",
    ),
    (
        "QUASI IDENTIFIERS (age USING age)",
        "IDENTIFIERS (illness) KEEP (sex) SUPPRESSED ROWS STARRED",
    ),
];

impl Input for Manifests {
    fn new() -> Self {
        let bench = Bench::new();
        bench.prepare("CREATE TABLE people AS SELECT column1 AS age, column2 AS sex, column3 AS illness FROM (VALUES
            (20, 'f', 'flu'), (21, 'f', 'flu'), (22, 'm', 'cold'), (23, 'm', 'flu'), (27, 'f', 'cold'), (28, 'm', 'flu'))");
        bench.prepare("CREATE HIERARCHY age AS INTERVALS (5, 10)");
        let mut releases = vec![];
        for (number, (quasi, rest)) in REQUESTS.iter().enumerate() {
            let target = bench.path(format!("release{number}"));
            bench.prepare(&format!(
                "ANONYMIZE people TO {} {quasi} {rest} SATISFYING k_anonymity(2)",
                quoted(&target)
            ));
            releases.push((*quasi, *rest, std::fs::read(target.join(MANIFEST)).unwrap()));
        }
        Self { bench, releases }
    }

    fn case(&mut self, rng: &mut ChaCha8Rng) -> Result<&'static str, String> {
        let number = rng.random_range(0..self.releases.len());
        let (quasi, rest, original) = &self.releases[number];
        let mut json: Value = serde_json::from_slice(original).unwrap();
        let mutated = match rng.random_range(0..8) {
            0 => bytes(rng, original, &[self.releases[0].2.clone()], anywhere),
            1 => {
                (0..rng.random_range(1..4)).for_each(|_| change(rng, &mut json));
                serde_json::to_vec(&json).unwrap()
            }
            2 => {
                change(rng, &mut json);
                sealed(json.clone())
            }
            _ => {
                (0..rng.random_range(1..3)).for_each(|_| forge(rng, &mut json));
                sealed(json.clone())
            }
        };
        let release = self.bench.path(format!("release{number}"));
        std::fs::write(release.join(MANIFEST), &mutated).unwrap();
        let mut how = match Manifest::read(&release) {
            Ok(_) => "read",
            Err(e) => refused("reading", &e).map(|()| "refused")?,
        };
        let promised = format!("{quasi} SATISFYING k_anonymity(2)");
        for (against, done) in [("", "verified"), (" AGAINST people", "verified against its source")] {
            let verify = format!("VERIFY {}{against} {promised}", quoted(&release));
            match self.bench.run(&verify) {
                Err(e) => refused(&verify, &e)?,
                Ok(_) => {
                    how = done;
                    let written = serde_json::from_slice(original).unwrap();
                    confirmed(
                        &Manifest::read(&release).unwrap().unwrap(),
                        &written,
                        !against.is_empty(),
                    )
                    .map_err(|what| format!("{verify} confirms {what} of {}", String::from_utf8_lossy(&mutated)))?;
                }
            }
        }
        let target = self.bench.path("out");
        let _ = std::fs::remove_dir_all(&target);
        let rest = rest.split(" SEARCH").next().unwrap_or(rest);
        let replay = format!(
            "ANONYMIZE people TO {} {quasi} {rest} SATISFYING k_anonymity(2) USING MANIFEST {}",
            quoted(&target),
            quoted(&release.join(MANIFEST))
        );
        match self.bench.run(&replay) {
            Err(e) => refused(&replay, &e)?,
            Ok(_) => {
                let verify = format!("VERIFY {} {promised}", quoted(&target));
                if let Err(e) = self.bench.run(&verify) {
                    return Err(format!(
                        "{replay} succeeded, and {verify} says {e}: {}",
                        String::from_utf8_lossy(&mutated)
                    ));
                }
            }
        }
        Ok(how)
    }
}

/// Checks that VERIFY confirmed only what was written. The error names the first field that
/// differs. Levels that the manifest leaves out, and groups with the same labels, are not compared:
/// VERIFY reports them as not checked.
fn confirmed(read: &Manifest, written: &Manifest, is_against: bool) -> Result<(), String> {
    let names = |m: &Manifest| -> Vec<_> { m.columns.iter().map(|c| (c.name.clone(), c.role)).collect() };
    let is_level = |(column, level): (&String, &u8)| written.node.get(column) == Some(level);
    let same = [
        ("rows_in", read.rows_in == written.rows_in),
        ("rows_out", read.rows_out == written.rows_out),
        ("rows_suppressed", read.rows_suppressed == written.rows_suppressed),
        (
            "suppressed_rows",
            read.rows_suppressed == Some(0) || read.suppressed_rows == written.suppressed_rows,
        ),
        (
            "classes",
            read.classes == written.classes || written.partition.is_some() && read.classes > written.classes,
        ),
        ("reached_k", read.reached_k == written.reached_k),
        ("columns", names(read) == names(written)),
        ("output", read.output == written.output),
        ("node", !is_against || read.node.iter().all(is_level)),
        ("entity", read.entity == written.entity),
        ("randomized", read.randomized == written.randomized),
        ("partition", read.partition.is_some() == written.partition.is_some()),
    ];
    match same.iter().find(|(_, is_same)| !is_same) {
        Some((what, _)) => Err(format!("another {what}")),
        None => Ok(()),
    }
}

/// Returns the text of a manifest with a correct seal, as its writer would compute it.
fn sealed(mut json: Value) -> Vec<u8> {
    if json["sha256"].is_string() {
        json["sha256"] = Value::String(String::new());
        let text = serde_json::to_string_pretty(&json).unwrap();
        json["sha256"] = Value::String(hex::encode(Sha256::digest(text)));
    }
    serde_json::to_vec_pretty(&json).unwrap()
}

/// Replaces one value somewhere in the tree with another value of the same type, which the reader
/// accepts.
fn forge(rng: &mut ChaCha8Rng, json: &mut Value) {
    match json {
        Value::Object(fields) if !fields.is_empty() => {
            let at = rng.random_range(0..fields.len());
            fields
                .values_mut()
                .nth(at)
                .into_iter()
                .for_each(|value| forge(rng, value));
        }
        Value::Array(items) if !items.is_empty() => {
            let (one, other) = (rng.random_range(0..items.len()), rng.random_range(0..items.len()));
            match rng.random_range(0..6) {
                0 => drop(items.remove(one)),
                1 => items.push(items[one].clone()),
                2 => items.swap(one, other),
                _ => forge(rng, &mut items[one]),
            }
        }
        Value::Bool(is) => *is = !*is,
        Value::Number(number) => {
            let near = number
                .as_u64()
                .map(|n| [n.saturating_sub(1), n.saturating_add(1), n / 2]);
            let edges = [0, 1, 2, 3, 255, 1 << 32, u64::MAX - 1, u64::MAX];
            *json = match (near, rng.random_range(0..4)) {
                (Some(near), 0..3) => serde_json::json!(near[rng.random_range(0..3)]),
                _ => serde_json::json!(edges[rng.random_range(0..edges.len())]),
            };
        }
        Value::String(text) => {
            let words: Vec<String> = text.split(' ').map(str::to_string).collect();
            let known = [
                "age",
                "sex",
                "illness",
                "k_anonymity(1)",
                "quasi-identifier",
                "keep",
                "dropped",
                "starred",
                "",
            ];
            let known = known.map(str::to_string);
            *text = super::mutate::words(rng, &words, &words, &known).join(" ");
        }
        _ => {}
    }
}

/// Makes one change somewhere in the tree: it removes a part, doubles it, changes its type, or
/// makes it far too large.
fn change(rng: &mut ChaCha8Rng, json: &mut Value) {
    let deeper = rng.random_range(0..5) > 0;
    match json {
        Value::Object(fields) if deeper && !fields.is_empty() => {
            let at = rng.random_range(0..fields.len());
            match (
                rng.random_range(0..8),
                fields.iter().nth(at).map(|(key, value)| (key.clone(), value.clone())),
            ) {
                (0, Some((key, _))) => drop(fields.remove(&key)),
                (1, Some((key, value))) => drop(fields.insert(format!("{key}\u{1b}"), value)),
                (_, Some((key, _))) => fields.get_mut(&key).into_iter().for_each(|value| change(rng, value)),
                (_, None) => {}
            }
        }
        Value::Array(items) if deeper && !items.is_empty() => {
            let at = rng.random_range(0..items.len());
            match rng.random_range(0..6) {
                0 => drop(items.remove(at)),
                1 => items.push(items[at].clone()),
                2 => *items = vec![items[at].clone(); 3_000],
                _ => change(rng, &mut items[at]),
            }
        }
        other => {
            *other = match (rng.random_range(0..10), &*other) {
                (0, _) => Value::Null,
                (1, _) => Value::Bool(true),
                (2, _) => serde_json::json!(-1),
                (3, _) => serde_json::json!(u64::MAX),
                (4, _) => serde_json::json!(1e308),
                (5, _) => serde_json::json!("\u{1b}[2J ../../etc/passwd '; DROP"),
                (6, _) => (0..100).fold(Value::Null, |inner, _| Value::Array(vec![inner])),
                (7, Value::String(text)) => Value::String(text.repeat(1_000)),
                (_, Value::String(text)) => {
                    let changed = bytes(rng, text.as_bytes(), &[], anywhere);
                    Value::String(String::from_utf8_lossy(&changed).into_owned())
                }
                (_, Value::Number(n)) => serde_json::json!(n.as_i64().unwrap_or(0).wrapping_add(1)),
                (_, value) => Value::Array(vec![value.clone(); 2]),
            }
        }
    }
}
