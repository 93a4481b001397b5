//! Computes the completions that the tab key offers at the cursor.

use super::command::{self, CommandArgument};
use super::follow;
use super::lex::{Piece, PieceClass, pieces};
use super::names::Names;
use super::sources::{closing, sources};
use crate::base::plain;
use crate::base::quoting::ident;
use crate::language::session::STATEMENTS;
use crate::language::sql::Expectation;
use std::collections::BTreeSet;

/// The completions that are offered at the cursor.
#[derive(Debug, PartialEq, Eq)]
pub enum Completion {
    /// Paths of files.
    Files,
    /// Words, and the byte offset in the line where the replaced text starts. A chosen word
    /// replaces the text from this offset to the cursor. Keywords end with a space.
    Words(usize, Vec<String>),
}

/// Returns the completions at byte offset `pos` of `line`. `before` contains the lines of the
/// statement before this line.
pub fn candidates(names: &Names, before: &str, line: &str, pos: usize) -> Completion {
    let typed = &line[..pos];
    if let Some((name, argument)) = command::read(typed).filter(|_| before.is_empty() || typed.starts_with('\\')) {
        return of_command(names, typed, name, argument);
    }
    let text = format!("{before}{typed}");
    let all = pieces(&text);
    let start = match all.last() {
        Some(p) if p.open && p.class == PieceClass::Text => return Completion::Files,
        Some(p) if p.open && p.class == PieceClass::Comment => return Completion::Words(pos, vec![]),
        Some(p) if p.class == PieceClass::Word || p.open => p.range.start,
        _ => text.len(),
    };
    let Some(in_line) = start.checked_sub(before.len()) else {
        // The cursor is in a quoted name that begins on an earlier line.
        return Completion::Words(pos, vec![]);
    };
    let whole = format!("{text}{}", &line[pos..]);
    let statement = Statement::around(&whole, start);
    let typed = &text[start..];
    let found = words(in_line, typed, |some| statement.next(names, some));
    // The session has hundreds of functions, so they are only offered after their first letter, and
    // only if nothing else matches.
    let nothing = matches!(&found, Completion::Words(_, words) if words.is_empty());
    match nothing && !typed.is_empty() && statement.takes_expression() {
        true => words(in_line, typed, |_| names.functions()),
        false => found,
    }
}

/// Returns the completions for a command or its argument.
fn of_command(names: &Names, typed: &str, name: &str, argument: &str) -> Completion {
    let start = typed.len() - argument.len();
    let entry = command::COMMANDS.iter().find(|c| c.name == name);
    let Some(entry) = entry.filter(|_| typed.trim_start().len() > name.len()) else {
        let all = || command::COMMANDS.iter().map(|c| c.name.into()).collect();
        return words(typed.len() - typed.trim_start().len(), name, |_| all());
    };
    match entry.argument {
        CommandArgument::File | CommandArgument::Shell => Completion::Files,
        CommandArgument::Name => words(start, argument, |_| [names.tables(), names.hierarchies()].concat()),
        CommandArgument::Topic => words(start, argument, |_| strings(command::topics(&names.registry()))),
        CommandArgument::Words(all) => words(start, argument, |_| strings(all.iter().copied())),
        CommandArgument::None => Completion::Words(typed.len(), vec![]),
    }
}

/// An incomplete statement, with the position of the cursor.
struct Statement<'t> {
    text: &'t str,
    /// The words and symbols before the cursor.
    before: Vec<&'t str>,
    /// The byte offset of the cursor in the text.
    at: usize,
}

impl<'t> Statement<'t> {
    /// Returns the statement in `text` that contains byte offset `at`. An ANONYMIZE after an
    /// unclosed `(` is treated as a separate statement.
    fn around(text: &'t str, at: usize) -> Self {
        let all: Vec<Piece> = pieces(text)
            .into_iter()
            .filter(|p| p.class != PieceClass::Comment)
            .collect();
        let part = |p: &Piece| &text[p.range.clone()];
        let is_end = |p: &&Piece| part(p) == ";";
        let mut begin = all
            .iter()
            .filter(|p| p.range.end <= at)
            .rfind(is_end)
            .map_or(0, |p| p.range.end);
        let end = all
            .iter()
            .filter(|p| p.range.start >= at)
            .find(is_end)
            .map_or(text.len(), |p| p.range.start);
        let words = |begin: usize| {
            let inside = |p: &&Piece| p.range.start >= begin && p.range.end <= at && !part(p).trim().is_empty();
            all.iter().filter(inside).cloned().collect::<Vec<_>>()
        };
        let before = words(begin);
        let inner = before.windows(2).enumerate().find(|(i, two)| {
            part(&two[0]) == "("
                && part(&two[1]).eq_ignore_ascii_case("ANONYMIZE")
                && closing(text, &before, *i).is_none()
        });
        if let Some((_, two)) = inner {
            begin = two[1].range.start;
        }
        Self {
            text: &text[begin..end],
            before: words(begin).iter().map(part).collect(),
            at: at - begin,
        }
    }

    /// Returns the words that may follow at the cursor. `some` tells whether the user has already
    /// typed the beginning of a word.
    fn next(&self, names: &Names, some: bool) -> Vec<String> {
        if let [.., table, "."] = self.before[..] {
            let table = table.trim_matches('"');
            return match names.columns(table) {
                columns if columns.is_empty() => self.columns(names),
                columns => quoted(columns),
            };
        }
        let expected = names.expected(&self.text[..self.at]);
        let mut all: Vec<String> = expected.iter().flat_map(|e| self.meant(names, e)).collect();
        // If a keyword is offered by itself, longer sequences of keywords that begin with it are
        // removed.
        let offered: BTreeSet<String> = all.iter().cloned().collect();
        all.retain(|text| {
            let first = text.split_once(' ').filter(|(_, rest)| !rest.is_empty());
            first.is_none_or(|(first, _)| !offered.contains(&format!("{first} ")))
        });
        if !self.is_ours() {
            all.extend(self.followed(names));
        }
        if all.is_empty() && !some {
            // Here, only a symbol can follow.
            all.extend(expected.iter().filter_map(|e| match e {
                Expectation::Symbol(symbol) => Some(symbol.clone()),
                _ => None,
            }));
        }
        all
    }

    /// Returns true if the cursor is in a statement that anonsql adds to SQL, but not in a query
    /// inside this statement.
    fn is_ours(&self) -> bool {
        let begins = |start: &&str| {
            let mut before = self.before.iter();
            let mut words = start.split(' ').filter(|w| *w != "*");
            words.all(|w| before.next().is_some_and(|b| b.eq_ignore_ascii_case(w)))
        };
        let wraps = || self.before.iter().any(|w| w.eq_ignore_ascii_case("ANONYMIZE"));
        (STATEMENTS.iter().flat_map(|s| s.starts).any(begins) || wraps()) && !self.is_in_query()
    }

    /// Returns true if the cursor is in a query inside a statement.
    fn is_in_query(&self) -> bool {
        // An entry is true if a SELECT has occurred. The first entry is for the text outside all
        // brackets, and each further entry is for an open bracket.
        let mut open = vec![false];
        for word in &self.before {
            match (*word, open.last_mut()) {
                ("(", _) => open.push(false),
                (")", _) => open.truncate(open.len().saturating_sub(1)),
                (word, Some(select)) => *select |= word.eq_ignore_ascii_case("SELECT"),
                _ => {}
            }
        }
        open.contains(&true)
    }

    /// Returns true if the statement is a statement of DataFusion, and an expression may follow at
    /// the cursor.
    fn takes_expression(&self) -> bool {
        !self.is_ours() && follow::next(&self.before).names == Some(follow::Names::Columns)
    }

    /// Returns the completions that correspond to an expectation of the parser.
    fn meant(&self, names: &Names, expected: &Expectation) -> Vec<String> {
        let what = match expected {
            Expectation::Keywords(words) => return vec![format!("{words} ")],
            Expectation::Name(what) => what,
            Expectation::Text | Expectation::Symbol(_) => return vec![],
        };
        let registry = names.registry();
        let of: &[(&str, &dyn Fn() -> Vec<String>)] = &[
            ("column", &|| self.columns(names)),
            ("hierarchy", &|| quoted(names.hierarchies())),
            ("policy", &|| quoted(names.policies())),
            ("table", &|| quoted(names.tables())),
            ("model", &|| strings(registry.models.names())),
            ("metric", &|| strings(registry.metrics.names())),
            ("search", &|| {
                strings(registry.searches.names().chain(registry.partitioners.names()))
            }),
        ];
        let meant = of
            .iter()
            .find(|(word, _)| what.split(|c: char| !c.is_alphabetic()).any(|w| w == *word));
        meant.map_or(vec![], |(_, all)| all())
    }

    /// Returns the words that may follow at the cursor in a statement of DataFusion.
    fn followed(&self, names: &Names) -> Vec<String> {
        let next = follow::next(&self.before);
        let mut all: Vec<String> = next.keywords.iter().map(|w| format!("{w} ")).collect();
        all.extend(match next.names {
            Some(follow::Names::Tables) => quoted(names.tables()),
            Some(follow::Names::Columns) => self.columns(names),
            None => vec![],
        });
        all
    }

    /// Returns the columns of the sources in the statement, or the columns of all tables if there
    /// is no source yet.
    fn columns(&self, names: &Names) -> Vec<String> {
        let sources = sources(self.text);
        let all: Vec<String> = match sources.is_empty() {
            true => names.tables().iter().flat_map(|t| names.columns(t)).collect(),
            false => sources.iter().flat_map(|s| names.columns_of(s)).collect(),
        };
        quoted(all)
    }
}

fn strings(names: impl IntoIterator<Item = &'static str>) -> Vec<String> {
    names.into_iter().map(String::from).collect()
}

fn quoted(names: Vec<String>) -> Vec<String> {
    names.iter().map(|n| ident(n).to_string()).collect()
}

/// Returns the words that begin with the text `typed`, ignoring case and quotes. They replace the
/// line from byte offset `start`. Words with control characters are removed, and keywords get the
/// case of the typed text. `all` returns all words; its argument tells whether the typed text is
/// not empty.
fn words(start: usize, typed: &str, all: impl Fn(bool) -> Vec<String>) -> Completion {
    let lower = typed.starts_with(|c: char| c.is_lowercase());
    let prefix = typed.trim_start_matches('"').to_lowercase();
    let fits = |w: &String| w.trim_start_matches('"').to_lowercase().starts_with(&prefix) && !w.contains(plain::acts);
    let found = all(!typed.is_empty()).into_iter().filter(fits);
    let cased = |w: String| if lower && w.ends_with(' ') { w.to_lowercase() } else { w };
    let found: BTreeSet<String> = found.map(cased).collect();
    Completion::Words(start, found.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::metric::METRICS;
    use crate::language::session::AnonContext;
    use datafusion::prelude::SessionContext;
    use tokio::runtime::Runtime;

    /// Returns the completions at the position of `|` in a text.
    fn found(text: &str) -> Vec<String> {
        found_after("", text)
    }

    fn found_after(before: &str, text: &str) -> Vec<String> {
        let runtime = Runtime::new().unwrap();
        let context = AnonContext::new(crate::language::session::enable_path_tables(SessionContext::new()));
        runtime
            .block_on(context.sql(
                "CREATE TABLE people AS SELECT 1 AS age, 'x' AS \"Zip Code\"; CREATE TABLE other AS SELECT 1 AS ago;
                 CREATE HIERARCHY age_groups AS VALUES (1, 'any')",
            ))
            .unwrap();
        let names = Names::new(context, runtime.handle().clone());
        let (left, right) = text.split_once('|').unwrap_or((text, ""));
        match candidates(&names, before, &format!("{left}{right}"), left.len()) {
            Completion::Words(_, words) => words,
            Completion::Files => vec!["<files>".into()],
        }
    }

    #[test]
    fn clauses_decide_what_fits() {
        assert_eq!(found("SELECT * FROM pe"), ["people"]);
        assert_eq!(found("ANONYMIZE people MINIMIZING gl"), ["glm"]);
        let metrics = found("ANONYMIZE people MINIMIZING ");
        assert!(
            metrics.iter().all(|w| METRICS.iter().any(|m| m.info.name == w)),
            "{metrics:?}"
        );
        assert_eq!(found("ANONYMIZE people SATISFYING k_"), ["k_anonymity", "k_map"]);
        assert_eq!(found("ANONYMIZE people SEARCH USING fl"), ["flash"]);
        assert_eq!(found("ANONYMIZE people QUASI IDENTIFIERS (age USING "), ["age_groups"]);
        assert_eq!(found("DROP HIERARCHY "), ["IF EXISTS ", "age_groups"]);
        assert_eq!(found("SELECT people.a"), ["age"]);
        assert_eq!(found("SELECT people.\"z"), ["\"Zip Code\""]);
        assert_eq!(found("VERIFY "), ["other", "people"]);
    }

    #[test]
    fn only_what_can_come_next_is_offered() {
        let clauses = found("ANONYMIZE people QUASI IDENTIFIERS (age) ");
        assert!(
            clauses.contains(&"SATISFYING ".into()) && clauses.contains(&"TO ".into()),
            "{clauses:?}"
        );
        assert!(
            !clauses.contains(&"QUASI IDENTIFIERS ".into()),
            "given already: {clauses:?}"
        );
        assert!(clauses.len() < 20, "{clauses:?}");
        assert_eq!(found("ANONYMIZE people QUASI "), ["IDENTIFIERS "]);
        assert_eq!(found("ANONYMIZE people QUASI IDENTIFIERS "), ["("]);
        assert_eq!(
            found("ANONYMIZE people QUASI IDENTIFIERS (age "),
            ["LABELS ", "LEVELS ", "USING ", "WEIGHT "]
        );
        assert_eq!(found("ANONYMIZE people SUPPRESSING AT MOST 1 "), ["PERCENT ", "ROWS "]);
        assert_eq!(
            found("COPY (ANONYMIZE people SUPPRESSED ROWS "),
            ["DROPPED ", "STARRED "]
        );
        assert_eq!(
            found("CREATE TABLE t AS ANONYMIZE people SUPPRESSED ROWS "),
            ["DROPPED ", "STARRED "]
        );
        assert_eq!(found("SELECT 1; SELECT age FROM people GROUP "), ["BY "]);
        for (text, most) in [
            ("", 26),
            ("CREATE ", 8),
            ("SELECT age ", 8),
            ("SELECT age FROM people ", 10),
        ] {
            let words = found(text);
            assert!(!words.is_empty() && words.len() <= most, "{text}: {words:?}");
        }
    }

    #[test]
    fn words_keep_the_case_they_are_typed_in() {
        assert_eq!(found("ANONYM"), ["ANONYMIZE "]);
        assert_eq!(found("anonym"), ["anonymize "]);
    }

    #[test]
    fn columns_come_from_what_the_statement_reads() {
        assert_eq!(found("ANONYMIZE people QUASI IDENTIFIERS (ag"), ["age"]);
        assert_eq!(found("SELECT ag"), ["age", "ago"]);
        assert_eq!(found("SELECT ag| FROM people"), ["age"]);
        assert_eq!(found("ANONYMIZE (SELECT age AS years FROM people) KEEP (ye"), ["years"]);
        assert_eq!(
            found("SELECT age FROM other; SELECT ag| FROM people; SELECT 1"),
            ["age"]
        );
        assert_eq!(found_after("ANONYMIZE people\n", "KEEP (ag"), ["age"]);
    }

    #[test]
    fn columns_of_a_file_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("some.csv");
        std::fs::write(&file, "first_name,last name\na,b\n").unwrap();
        let file = file.display();
        assert_eq!(found(&format!("SELECT first_| FROM '{file}'")), ["first_name"]);
        assert_eq!(
            found(&format!("ANONYMIZE '{file}' QUASI IDENTIFIERS (first_name, la")),
            ["\"last name\""]
        );
        assert_eq!(found(&format!("SELECT first_n| FROM '{file}.missing'")), [""; 0]);
    }

    #[test]
    fn functions_are_offered_by_their_first_letters() {
        assert!(found("SELECT concat_w").contains(&"concat_ws".to_string()));
        assert_eq!(
            found("SELECT age FROM people WHERE ag"),
            ["age"],
            "and columns come first"
        );
    }

    #[test]
    fn paths_stand_in_quotes_and_comments_are_left_alone() {
        assert_eq!(found("SELECT * FROM 'da"), ["<files>"]);
        assert_eq!(found("\\i da"), ["<files>"]);
        assert!(found("SELECT 1 -- sel").is_empty());
    }

    #[test]
    fn commands_are_completed_with_their_arguments() {
        assert_eq!(found("\\ti"), ["\\timing"]);
        assert_eq!(found("\\d peo"), ["people"]);
        assert_eq!(found("\\format js"), ["json"]);
        assert_eq!(found_after("SELECT\n", "\\ti"), ["\\timing"]);
    }
}
