//! Mutates statements from the tests and from help, word by word. A statement that parses is
//! printed as a text that parses to the same statement.
//!
//! An input is mutated further if its result is new: an error not seen before, or a tree with two
//! neighbouring names not seen together before. This replaces coverage, which stable Rust does not
//! report.

use super::mutate::words;
use super::{Input, scratch};
use anonsql::error::Error;
use anonsql::internal::hierarchy::KINDS;
use anonsql::internal::session::{self, Statement};
use anonsql::internal::sql;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::thread::Builder;
use tempfile::TempDir;

pub struct Statements {
    /// Inputs that parse, or that are written to parse.
    corpus: Vec<Vec<String>>,
    /// Inputs that are refused, each with a different error.
    refused: Vec<Vec<String>>,
    dictionary: Vec<String>,
    /// Hashes of the errors and of the pairs of neighbouring names seen so far.
    seen: HashSet<u64>,
    folder: TempDir,
}

/// The largest size of `corpus`, and of `refused`.
const KEPT: usize = 10_000;
/// An input is kept only if it has fewer words than this.
const SHORT: usize = 400;

impl Input for Statements {
    fn new() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slt");
        let mut corpus = vec![];
        scripts(&root, &mut corpus);
        corpus.extend(
            session::STATEMENTS
                .iter()
                .flat_map(|s| [s.example.to_string(), s.syntax(KINDS)])
                .map(|text| split(&text)),
        );
        // A statement with the greatest allowed depth.
        corpus.push(split(&format!("SELECT {}", ["x"; 1_900].join(" OR "))));
        assert!(corpus.len() > 300, "the statements of {} are missing", root.display());
        let mut dictionary: Vec<String> = session::keywords().iter().map(|k| k.to_string()).collect();
        let more = "( ) , ; ' \" $$ [ ] { } . .. = => -> :: : - -- /* */ + * % 0 1 -1 1e308 1e999 18446744073709551616 0x7f \
            'a' '' '''' E'\\n' U&'x' \"A b\" \"\" \u{0} \u{202e} é 💣 NULL TRUE SELECT FROM WHERE UNION EXPLAIN ANALYZE COPY \
            INSERT INTO VALUES CREATE TABLE EXTERNAL STORED PARQUET LOCATION WITH CASE WHEN THEN END NOT INTERVAL CAST \
            ARRAY < > OVER PARTITION BY LATERAL JOIN VIEW SET PREPARE EXECUTE DESCRIBE SHOW BEGIN";
        dictionary.extend(more.split_whitespace().map(str::to_string));
        Self {
            corpus,
            refused: vec![],
            dictionary,
            seen: HashSet::new(),
            folder: scratch(),
        }
    }

    fn case(&mut self, rng: &mut ChaCha8Rng) -> Result<&'static str, String> {
        let (one, other) = (self.draw(rng), self.draw(rng));
        let mutated = words(rng, one, other, &self.dictionary);
        let between = if rng.random_range(0..20) == 0 { "" } else { " " };
        let text = mutated.join(between);
        // If a statement ends the process, this file still contains its text.
        std::fs::write(self.folder.path().join("statement.sql"), &text).unwrap();
        let (how, signs) = answered(&text)?;
        let kept = match how {
            "read" => &mut self.corpus,
            _ => &mut self.refused,
        };
        if kept.len() < KEPT && mutated.len() < SHORT {
            let seen = &mut self.seen;
            if signs.into_iter().filter(|sign| seen.insert(*sign)).count() > 0 {
                kept.push(mutated);
            }
        }
        Ok(how)
    }
}

impl Statements {
    /// Draws an input, mostly one that parses, because most changes make an input invalid.
    fn draw(&self, rng: &mut ChaCha8Rng) -> &[String] {
        let from = match rng.random_range(0..4) {
            0 if !self.refused.is_empty() => &self.refused,
            _ => &self.corpus,
        };
        &from[rng.random_range(0..from.len())]
    }
}

/// Parses a text. Returns a name for the result, and hashes that identify the result: the hash of
/// the error without its quotations from the text, or the hashes of the pairs of names in the tree.
fn answered(text: &str) -> Result<(&'static str, Vec<u64>), String> {
    sql::is_complete(text);
    let refused = |error: Error| Ok(("refused", vec![hash(&shape(&error.to_string()))]));
    let statements = match session::parse_each(text) {
        Ok(statements) => statements,
        Err(e) => return refused(e),
    };
    let mut signs = vec![];
    for statement in statements {
        match statement {
            Ok(statement) => {
                reads_back(text, &statement)?;
                signs.extend(pairs(&statement));
            }
            Err(e) => return refused(e),
        }
    }
    Ok(("read", signs))
}

fn reads_back(text: &str, statement: &Statement) -> Result<(), String> {
    let printed = statement.to_string();
    match session::parse(&printed) {
        Ok(again) if is_same(&again, statement) => Ok(()),
        Ok(_) => Err(format!("{text:?} prints as {printed:?}, which is another statement")),
        Err(e) => Err(format!("{text:?} prints as {printed:?}: {e}")),
    }
}

/// Compares the statements, on a separate thread if they are deep: comparing takes more stack than
/// reading or printing.
fn is_same(again: &[Statement], statement: &Statement) -> bool {
    let compare = || again == std::slice::from_ref(statement);
    if !statement.is_deep() {
        return compare();
    }
    std::thread::scope(|scope| {
        let thread = Builder::new().stack_size(sql::ROOM);
        thread.spawn_scoped(scope, compare).unwrap().join().unwrap()
    })
}

/// Returns hashes of all pairs of consecutive names of types and fields in the tree.
fn pairs(statement: &Statement) -> Vec<u64> {
    if statement.is_deep() {
        return vec![];
    }
    let tree = format!("{statement:?}");
    let outside_quotes = tree.split('"').step_by(2);
    let names = outside_quotes.flat_map(|part| part.split(|c: char| !c.is_alphabetic() && c != '_'));
    let names: Vec<&str> = names
        .filter(|name| !name.is_empty() && !["Span", "Location", "line", "column", "start", "end"].contains(name))
        .collect();
    names.windows(2).map(|pair| hash(&pair)).collect()
}

fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

/// Returns the text of an error without positions and without quotations.
fn shape(said: &str) -> String {
    let mut parts = said.split('"');
    let mut out = String::new();
    while let Some(part) = parts.next() {
        out.extend(part.chars().filter(|c| !c.is_ascii_digit()));
        parts.next();
    }
    out.chars().take(120).collect()
}

/// Adds the statements of the logic tests in `folder` to `corpus`.
fn scripts(folder: &Path, corpus: &mut Vec<Vec<String>>) {
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            scripts(&path, corpus);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        for record in text.split("\n\n") {
            let mut lines = record.lines().skip_while(|l| l.starts_with('#'));
            let is_statement = lines
                .next()
                .is_some_and(|l| l.starts_with("statement") || l.starts_with("query"));
            let statement: Vec<&str> = lines.take_while(|l| *l != "----").collect();
            if is_statement && !statement.is_empty() {
                corpus.push(split(&statement.join("\n")));
            }
        }
    }
}

/// Splits a text into words: names and numbers, strings, and every other character by itself.
fn split(text: &str) -> Vec<String> {
    let mut words = vec![];
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '\'' | '"' => rest[1..].find(first).map_or(rest.len(), |end| end + 2),
            c if c.is_alphanumeric() || c == '_' => rest
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        words.push(rest[..end].to_string());
        rest = rest[end..].trim_start();
    }
    words
}
