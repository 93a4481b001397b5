//! The clauses that statements share. Each clause is a constant that contains its first keywords,
//! its syntax, its effect, an example and its parser. After the source, clauses may come in any
//! order, each at most once.

use super::choice::{self, ChoiceClause, RecodingClause};
use super::constraint;
use super::file::{self, FileClause};
use super::goal::{self, ObjectiveClause};
use super::options;
use super::policy::PolicyClause;
use super::roles;
use super::source::{self, SourceClause};
use super::suppression;
use super::target::{self, TargetClause};
use crate::base::catalogue::Call;
use crate::base::error::{Error, Result};
use crate::data::formats::with_formats;
use crate::language::sql::cursor::Cursor;
use crate::language::sql::hint::{END, nearest};
use crate::method::masks::MaskPlace;
use datafusion::sql::sqlparser::tokenizer::Token;

/// A clause: its first keywords, its syntax, its effect, an example and its parser.
pub struct StatementClause {
    /// The first keywords of the clause.
    pub start: &'static str,
    /// The syntax of the clause. The placeholder `<formats>` stands for the keywords of the table
    /// formats.
    pub(crate) syntax: &'static str,
    /// The effect of the clause, in one line.
    pub summary: &'static str,
    /// An example of the clause.
    pub example: &'static str,
    read: fn(&mut Cursor, &mut Clauses) -> Result<()>,
}

impl StatementClause {
    /// Returns the syntax of the clause.
    pub fn syntax(&self) -> String {
        with_formats(self.syntax)
    }
}

/// The parsed clauses of a statement.
#[derive(Default)]
pub(crate) struct Clauses {
    pub(crate) target: Option<TargetClause>,
    pub(crate) using: Option<String>,
    pub(crate) policy: PolicyClause,
    pub(crate) recodings: Vec<RecodingClause>,
    pub(crate) searches: Vec<Call>,
    pub(crate) report: Option<FileClause>,
    pub(crate) objectives: Vec<ObjectiveClause>,
    pub(crate) epsilon: Vec<f64>,
    pub(crate) against: Option<SourceClause>,
    pub(crate) signed_by: Option<String>,
    pub(crate) testing: Option<SourceClause>,
    pub(crate) weight: Option<String>,
    pub(crate) per_row: bool,
}

impl Clauses {
    fn choose(&mut self, c: &Cursor, choice: ChoiceClause) -> Result<()> {
        if self.policy.choice != ChoiceClause::Default || !self.searches.is_empty() {
            return Err(c.error("only one of SEARCH USING, AT NODE and USING MANIFEST can be given"));
        }
        self.policy.choice = choice;
        Ok(())
    }
}

/// Parses the names of standards.
fn following(c: &mut Cursor) -> Result<Vec<String>> {
    let mut names = vec![];
    loop {
        let before = c.clone();
        let name = c.name("a standard, as SHOW STANDARDS lists them")?;
        if names.contains(&name) {
            return Err(before.error("this standard is named twice"));
        }
        names.push(name);
        if !c.take_token(&Token::Comma) {
            return Ok(names);
        }
    }
}

macro_rules! clauses {
    ($($name:ident: $start:literal, $syntax:literal, $summary:literal, $example:literal, $read:expr;)*) => {
        $(pub(crate) const $name: StatementClause = StatementClause { start: $start, syntax: $syntax, summary: $summary, example: $example, read: $read };)*
        /// Every clause of the language.
        pub const ALL: &[StatementClause] = &[$($name),*];
    };
}

clauses! {
    TO: "TO",
        "TO 'target' [STORED AS PARQUET | CSV | <formats>] [PARTITIONED BY (c, ...)] [OVERWRITE | APPEND | IF NOT EXISTS] [OPTIONS (key value, ...)]",
        "writes the release to a folder; without TO, the statement returns the rows",
        "TO 'released'", |c, s| { s.target = Some(target::read(c)?); Ok(()) };
    IDENTIFIERS: "IDENTIFIERS", "IDENTIFIERS (c [mask], ...)",
        "columns that name a person: each is dropped, or released as a mask of its value (SHOW MASKS)",
        "IDENTIFIERS (name)", |c, s| { s.policy.identifiers = c.list("column", roles::column(MaskPlace::Identifiers))?; Ok(()) };
    QUASI: "QUASI IDENTIFIERS", "QUASI IDENTIFIERS (c [USING hierarchy] [LEVELS a TO b] [WEIGHT w] [LABELS form], ...)",
        "columns that single people out together: each is generalized along its hierarchy, or suppressed without one",
        "QUASI IDENTIFIERS (age, zip)", |c, s| { s.policy.quasi_identifiers = c.list("column", roles::quasi)?; Ok(()) };
    SENSITIVE: "SENSITIVE",
        "SENSITIVE (c [USING hierarchy] [RANDOMIZED [WITHIN CLASS | WITHIN (c, ...) | WITH MATRIX table] | mask], ...)",
        "columns whose values nobody may learn about a person; models protect them, RANDOMIZED permutes them among \
         the rows, a mask changes the values (SHOW MASKS)",
        "SENSITIVE (diagnosis)", |c, s| { s.policy.sensitive = c.list("column", roles::sensitive)?; Ok(()) };
    CLASS: "CLASS", "CLASS (c)",
        "the class label of the metric cm and of top_down; it is released as it is", "CLASS (salary)", |c, s| { s.policy.class = Some(c.column()?); Ok(()) };
    KEEP: "KEEP", "KEEP (c [mask], ...)",
        "columns that are released as they are, or as a mask of their values (SHOW MASKS)",
        "KEEP (visits)", |c, s| { s.policy.keep = c.list("column", roles::column(MaskPlace::Values))?; Ok(()) };
    ENTITY: "ENTITY", "ENTITY (c)",
        "the column that identifies a person who can have several rows: classes count persons instead of rows", "ENTITY (patient)", |c, s| { s.policy.entity = Some(c.column()?); Ok(()) };
    SATISFYING: "SATISFYING", "SATISFYING model [ON column] [ON (c, ...) | ON ANY m] [AND model ...]",
        "the privacy models that the release must satisfy",
        "SATISFYING k_anonymity(5)", |c, s| { s.policy.satisfying = constraint::read(c)?; Ok(()) };
    FOLLOWING: "FOLLOWING", "FOLLOWING standard, ...",
        "the published standards that the release follows (SHOW STANDARDS)",
        "FOLLOWING hipaa_safe_harbor", |c, s| { s.policy.following = following(c)?; Ok(()) };
    SUPPRESSING: "SUPPRESSING", "SUPPRESSING AT MOST p PERCENT | n ROWS",
        "the most rows that may be suppressed; 0 without it",
        "SUPPRESSING AT MOST 1 PERCENT", |c, s| { s.policy.limit = Some(suppression::limit(c)?); Ok(()) };
    SUPPRESSED: "SUPPRESSED", "SUPPRESSED ROWS DROPPED | STARRED",
        "whether suppressed rows are left out (the default), or stay with * and NULL in their cells",
        "SUPPRESSED ROWS STARRED", |c, s| { s.policy.starred = Some(suppression::starred(c)?); Ok(()) };
    MINIMIZING: "MINIMIZING", "MINIMIZING metric | w * metric + w * metric ...",
        "the metric to minimize; glm without it",
        "MINIMIZING glm", |c, s| { s.policy.minimizing = goal::goals(c)?; Ok(()) };
    RECODING: "RECODING", "RECODING GLOBAL | LOCAL",
        "one level per column for all rows, or groups with labels of their own, which lose less; GLOBAL without it",
        "RECODING LOCAL", |c, s| { (s.policy.recoding, s.recodings) = choice::recoding(c)?; Ok(()) };
    SEARCH: "SEARCH", "SEARCH USING algorithm [(option => value, ...)]",
        "the algorithm that chooses the node or the groups; without it auto, or the best of several with RECODING LOCAL", "SEARCH USING flash", |c, s| {
        if !c.take("USING") {
            return Err(c.expected("SEARCH USING algorithm, such as SEARCH USING flash", ["USING"]));
        }
        let before = c.clone();
        let (choice, searches) = choice::search(c)?;
        s.choose(&before, choice)?;
        s.searches = searches;
        Ok(())
    };
    NODE: "AT", "AT NODE (c level, ...)",
        "applies these levels instead of searching, and checks them", "AT NODE (age 2, zip 1)", |c, s| {
        let before = c.clone();
        let node = choice::node(c)?;
        s.choose(&before, node)
    };
    POLICY: "USING POLICY", "USING POLICY name",
        "the clauses of a policy (CREATE POLICY): the roles, the models and the limits then come from the policy",
         "USING POLICY patients_v1",
        |c, s| { s.using = Some(c.name("a policy")?); Ok(()) };
    MANIFEST: "USING", "USING MANIFEST 'path' [ON DRIFT ERROR | WARN | SEARCH]",
        "applies the levels of an earlier release instead of searching, checks them, and names what drifted since",
        "USING MANIFEST 'released/_manifest.json' ON DRIFT SEARCH", |c, s| {
        let before = c.clone();
        let manifest = choice::manifest(c)?;
        s.choose(&before, manifest)
    };
    WITH: "WITH", "WITH (option = value, ...)",
        "options of the run", "WITH (seed = 42)", |c, s| { s.policy.options = options::read_with(c)?; Ok(()) };
    ACCEPTING: "ACCEPTING", "ACCEPTING WARNINGS ON (c, ...)",
        "the columns whose warnings are known and accepted", "ACCEPTING WARNINGS ON (invoice)",
        |c, s| { c.need("WARNINGS ON")?; s.policy.accepting = c.columns()?; Ok(()) };
    REPORT: "REPORT", "REPORT TO 'report.html' [OVERWRITE]",
        "writes a report for the person who approves the release; the end of the name sets the format: .html, .md or \
         .json", "REPORT TO 'report.html'", |c, s| {
        if c.looks_at_string() {
            return Err(c.expected_so("TO", Some("write REPORT TO 'report.html'".into())));
        }
        c.need("TO")?;
        s.report = Some(file::read(c, "a path in quotes")?);
        Ok(())
    };
    OPTIMIZING: "OPTIMIZING", "OPTIMIZING MAX | MIN property [ON column], ...",
        "the objectives of a Pareto front", "OPTIMIZING MAX k, MIN glm",
        |c, s| { s.objectives = goal::objectives(c)?; Ok(()) };
    EPSILON: "EPSILON", "EPSILON (e, ...)",
        "one tolerance per objective: of points that differ by less, only one is kept", "EPSILON (1, 0.01)", |c, s| {
        s.epsilon = c.list("number", |c| c.real("a number of at least 0"))?;
        Ok(())
    };
    AGAINST: "AGAINST", "AGAINST table | 'path' [OPTIONS (key value, ...)] | (query)",
        "the source of the release, to compare rows and their order with", "AGAINST raw", |c, s| { s.against = Some(source::read(c)?); Ok(()) };
    POPULATION: "POPULATION", "POPULATION table | 'path' [OPTIONS (key value, ...)] | (query)",
        "the table of people that the source is a sample of", "POPULATION census",
        |c, s| { s.policy.population = Some(source::read(c)?); Ok(()) };
    SIGNED: "SIGNED BY", "SIGNED BY 'key.pub'",
        "the file of the public key that the manifest of the release must be signed with", "SIGNED BY 'release.pub'",
        |c, s| { s.signed_by = Some(c.string("the path of a public key in quotes")?); Ok(()) };
    TESTING: "TESTING ON", "TESTING ON table | 'path' [OPTIONS (key value, ...)] | (query)",
        "raw rows to test classifiers on, which neither the source nor the release has", "TESTING ON held_out",
        |c, s| { s.testing = Some(source::read(c)?); Ok(()) };
    WEIGHT: "WEIGHT", "WEIGHT (c)",
        "the column of sampling weights: the number of people of the population that a row represents", "WEIGHT \
         (weight)",
        |c, s| { s.weight = Some(c.column()?); Ok(()) };
    PER_ROW: "PER ROW", "PER ROW",
        "one row of figures for each row, by its number, with the columns of KEEP alone", "PER ROW", |_, s| { s.per_row = true; Ok(()) };
}

/// Words of other tools, and other forms of keywords. Each is listed with the keywords of the
/// intended clause.
const MEANT: &[(&str, &str)] = &[
    ("QI", "QUASI IDENTIFIERS"),
    ("QIS", "QUASI IDENTIFIERS"),
    ("QID", "QUASI IDENTIFIERS"),
    ("KEYS", "QUASI IDENTIFIERS"),
    ("KEYVARS", "QUASI IDENTIFIERS"),
    ("IDENTIFYING", "IDENTIFIERS"),
    ("ID", "IDENTIFIERS"),
    ("INSENSITIVE", "KEEP"),
    ("NOTES", "KEEP (c REDACTED)"),
    ("WHERE", "SATISFYING"),
    ("HAVING", "SATISFYING"),
    ("ENFORCING", "SATISFYING"),
    ("INTO", "TO"),
    ("SUPPRESS", "SUPPRESSING AT MOST 1 PERCENT"),
    ("OPTIMIZE", "MINIMIZING"),
    ("ALGORITHM", "SEARCH USING"),
];

/// The words that belong to the clause TO, each with an example of its position.
const OF_TARGET: &[(&str, &str)] = &[
    ("STORED", "TO 'target' STORED AS CSV"),
    ("PARTITIONED", "TO 'target' PARTITIONED BY (c)"),
    ("OVERWRITE", "TO 'target' OVERWRITE"),
    ("APPEND", "TO 'target' APPEND"),
    ("IF", "TO 'target' IF NOT EXISTS"),
    ("OPTIONS", "TO 'target' OPTIONS (key value)"),
];

/// Returns the error for the word at the cursor, which starts no clause. The error names the clause
/// in `allowed` that the user probably meant, or what was expected.
fn unknown(c: &mut Cursor, allowed: &[&StatementClause], required: &[&StatementClause], seen: &[&str]) -> Error {
    // After the word `QUASI`, the intended clause is clear, and only the second word is wrong.
    if c.looks_at("QUASI")
        && let Err(error) = c.need(QUASI.start)
    {
        return error;
    }
    let is_allowed = |start: &str| {
        allowed
            .iter()
            .any(|a| start.split(' ').next() == a.start.split(' ').next())
    };
    let word = c.word_at(0).unwrap_or_default();
    let told = |all: &[(&str, &'static str)]| all.iter().find(|(w, _)| *w == word).map(|(_, meant)| *meant);
    if let Some(meant) = told(MEANT).filter(|meant| is_allowed(meant)) {
        return c.expected_so("a clause", Some(format!("did you mean {meant}?")));
    }
    if let Some(place) = told(OF_TARGET).filter(|_| is_allowed(TO.start)) {
        return c.expected_so("a clause", Some(format!("write {word} after the target: {place}")));
    }
    if word == "FORMAT" {
        let advice = "write FORMAT JSON after EXPLAIN, and STORED AS CSV after the target";
        return c.expected_so("a clause", Some(advice.into()));
    }
    let starts = || allowed.iter().map(|a| a.start);
    let what = match required.iter().find(|r| !seen.contains(&r.start)) {
        _ if nearest(&word, starts()).is_some() => format!("a clause or {END}"),
        Some(missing) => missing.syntax(),
        None => {
            let open: Vec<&str> = starts().filter(|start| !seen.contains(start)).collect();
            format!("{} or {END}", open.join(", "))
        }
    };
    c.expected(&what, starts())
}

/// Parses clauses up to the end of the statement, which errors call `what`. Fails if a clause is
/// not in `allowed` or is given twice, or if a clause in `required` is missing and the statement
/// has no policy.
pub(crate) fn read(
    c: &mut Cursor,
    what: &str,
    allowed: &[&StatementClause],
    required: &[&StatementClause],
) -> Result<Clauses> {
    let mut clauses = Clauses::default();
    let mut seen: Vec<&str> = vec![];
    loop {
        if c.at_end() {
            let may_follow = allowed.iter().filter(|a| !seen.contains(&a.start));
            may_follow.for_each(|a| c.offer(a.start));
            break;
        }
        let Some(clause) = ALL.iter().find(|clause| c.looks_at(clause.start)) else {
            return Err(unknown(c, allowed, required, &seen));
        };
        if !allowed.iter().any(|a| a.start == clause.start) {
            return Err(c.error(format_args!("{what} takes no {} clause", clause.start)));
        }
        if seen.contains(&clause.start) {
            return Err(c.error(format_args!("{} is given twice", clause.start)));
        }
        seen.push(clause.start);
        c.take(clause.start);
        (clause.read)(c, &mut clauses)?;
    }
    match required.iter().find(|r| !seen.contains(&r.start)) {
        // The policy may contain the missing clause.
        Some(_) if clauses.using.is_some() => Ok(clauses),
        Some(missing) => Err(c.error(format_args!(
            "{what} needs {}; example: {}",
            missing.start, missing.example
        ))),
        None => Ok(clauses),
    }
}
