//! Statements: texts of the tests and of help, mutated word by word. What reads prints as what reads the same.
//!
//! An input that is answered in a new way, by another error or another kind of statement, is mutated further.

use super::Input;
use super::mutate::words;
use anonsql::sql::{self, Statement};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;
use std::path::Path;

pub struct Statements {
    corpus: Vec<Vec<String>>,
    dictionary: Vec<String>,
    /// The ways in which inputs were answered.
    seen: HashSet<String>,
}

/// Inputs that are kept beyond those of the beginning.
const KEPT: usize = 5_000;

impl Input for Statements {
    fn new() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slt");
        let mut corpus = vec![];
        scripts(&root, &mut corpus);
        corpus.extend(
            sql::statement::STATEMENTS
                .iter()
                .flat_map(|s| [s.example, s.syntax])
                .map(split),
        );
        assert!(corpus.len() > 300, "the statements of {} are missing", root.display());
        let mut dictionary: Vec<String> = sql::keywords().iter().map(|k| k.to_string()).collect();
        let more = "( ) , ; ' \" $$ [ ] { } . .. = => -> :: : - -- /* */ + * % 0 1 -1 1e308 1e999 18446744073709551616 0x7f \
            'a' '' '''' E'\\n' U&'x' \"A b\" \"\" \u{0} \u{202e} é 💣 NULL TRUE SELECT FROM WHERE UNION EXPLAIN ANALYZE COPY \
            INSERT INTO VALUES CREATE TABLE EXTERNAL STORED PARQUET LOCATION WITH CASE WHEN THEN END NOT INTERVAL CAST \
            ARRAY < > OVER PARTITION BY LATERAL JOIN VIEW SET PREPARE EXECUTE DESCRIBE SHOW BEGIN";
        dictionary.extend(more.split_whitespace().map(str::to_string));
        Self {
            corpus,
            dictionary,
            seen: HashSet::new(),
        }
    }

    fn case(&mut self, rng: &mut ChaCha8Rng) -> Result<&'static str, String> {
        let one = &self.corpus[rng.random_range(0..self.corpus.len())];
        let other = &self.corpus[rng.random_range(0..self.corpus.len())];
        let mutated = words(rng, one, other, &self.dictionary);
        let between = if rng.random_range(0..20) == 0 { "" } else { " " };
        let text = mutated.join(between);
        let how = answered(&text)?;
        if self.corpus.len() < KEPT && mutated.len() < 400 && self.seen.insert(how.clone()) {
            self.corpus.push(mutated);
        }
        Ok(match how.starts_with("read") {
            true => "read",
            false => "refused",
        })
    }
}

/// How a text is answered: by the kinds of its statements, or by an error without what it repeats of the text.
fn answered(text: &str) -> Result<String, String> {
    sql::is_complete(text);
    let statements = match sql::parse_each(text) {
        Ok(statements) => statements,
        Err(e) => return Ok(shape(&e.to_string())),
    };
    let mut how = String::from("read");
    for statement in statements {
        match statement {
            Ok(statement) => how += &format!(" {:?}", std::mem::discriminant(&reads_back(text, statement)?)),
            Err(e) => return Ok(shape(&e.to_string())),
        }
    }
    Ok(how)
}

fn reads_back(text: &str, statement: Statement) -> Result<Statement, String> {
    let printed = statement.to_string();
    match sql::parse(&printed) {
        Ok(again) if again == [statement.clone()] => Ok(statement),
        Ok(_) => Err(format!("{text:?} prints as {printed:?}, which is another statement")),
        Err(e) => Err(format!("{text:?} prints as {printed:?}: {e}")),
    }
}

/// An error without places, and without what it quotes.
fn shape(said: &str) -> String {
    let mut parts = said.split('"');
    let mut out = String::new();
    while let Some(part) = parts.next() {
        out.extend(part.chars().filter(|c| !c.is_ascii_digit()));
        parts.next();
    }
    out.chars().take(120).collect()
}

/// The statements of the logic tests.
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

/// The words of a text: names and numbers, strings, and every other sign by itself.
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
