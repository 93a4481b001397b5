//! The pages of the reference, from the catalogues.

use super::source::definition;
use anonsql::command::cli;
use anonsql::error::EXIT_CODES;
use anonsql::extend::{Info, Param};
use anonsql::internal::session::{STATEMENTS, functions, options};
use anonsql::internal::sql::clause::list::ALL as CLAUSES;
use anonsql::internal::{hierarchy, masks, metric, model, objective, partition, search, standard};

/// Returns every page: its file and its text.
pub fn all() -> Vec<(&'static str, String)> {
    vec![
        ("statements.md", statements()),
        ("models.md", models()),
        ("metrics.md", metrics()),
        ("searches.md", searches()),
        ("hierarchies.md", hierarchies()),
        ("options.md", options_page()),
        ("masks.md", masks_page()),
        ("standards.md", standards_page()),
        ("functions.md", functions_page()),
        ("commands.md", commands()),
        ("exit-codes.md", exit_codes()),
    ]
}

/// Returns a page with a title and an introduction.
fn page(title: &str, introduction: &str) -> String {
    format!(
        "<!-- Made from the catalogues by tests/it/reference. Change those, not this page. -->\n\n# {title}\n\n{introduction}\n"
    )
}

fn fenced(text: &str) -> String {
    format!("\n```text\n{text}\n```\n")
}

/// Returns a text with its first letter in upper case, and with a full stop.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    format!("{}{}.", first.collect::<String>(), letters.as_str())
}

/// Returns a row of a table, with `|` escaped.
fn row(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |\n", cells.join(" | "))
}

fn table(head: &[&str]) -> String {
    let rule = vec!["---"; head.len()];
    format!("\n{}| {} |\n", row(head), rule.join(" | "))
}

fn parameters(params: &[Param]) -> String {
    if params.is_empty() {
        return String::new();
    }
    let mut text = table(&["argument", "value", "default", "effect"]);
    for param in params {
        let default = match param.default {
            None => "required",
            Some("") => "",
            Some(default) => default,
        };
        text += &row(&[
            &format!("`{}`", param.name),
            &param.kind.to_string(),
            default,
            param.summary,
        ]);
    }
    text
}

/// Returns a section on one entry of a catalogue, with the definition from the file in `folder`
/// that implements the entry.
fn entry(folder: &str, info: &Info) -> String {
    let mut text = format!("\n## {}\n\n{}\n", info.name, sentence(info.summary));
    for paragraph in definition(folder, info.name) {
        text += &format!("\n{paragraph}\n");
    }
    text += &parameters(info.params);
    text += &fenced(info.example);
    text + &format!("\nSource: {}.\n", info.reference.trim_end_matches('.'))
}

fn statements() -> String {
    let mut text = page(
        "Statements",
        "Everything that DataFusion's SQL can do works too. Keywords may be in any case; a name with other characters than \
         letters, digits and `_` stands in double quotes, a path or a text in single ones.",
    );
    for statement in STATEMENTS {
        text += &format!("\n## {}\n\n{}\n", statement.name, sentence(statement.summary));
        text += &fenced(&statement.syntax(hierarchy::KINDS));
        text += &format!("\nExample:\n{}", fenced(statement.example));
    }
    text += "\n## Clauses\n\nClauses stand in any order after the source, each at most once.\n";
    text += &table(&["clause", "effect", "example"]);
    for clause in CLAUSES {
        text += &row(&[
            &format!("`{}`", clause.syntax()),
            clause.summary,
            &format!("`{}`", clause.example),
        ]);
    }
    text
}

fn models() -> String {
    let mut text = page(
        "Privacy models",
        "A model is a promise that every equivalence class of a release keeps. `SATISFYING` names one or more, joined by \
         `AND`; `ON column` names the sensitive attribute, `ON (a, b)` some of the quasi-identifiers, `ON ANY 2` any two of them. \
         `SHOW MODELS` lists them.",
    );
    text.extend(model::MODELS.iter().map(|e| entry("data/model", &e.info)));
    text
}

fn metrics() -> String {
    let mut text = page(
        "Metrics and objectives",
        "`MINIMIZING` names a metric, or a weighted sum such as `0.7 * glm + 0.3 * dm`; `OPTIMIZING` names metrics and \
         objectives. `SHOW METRICS` and `SHOW OBJECTIVES` list them.",
    );
    text.extend(metric::METRICS.iter().map(|e| entry("data/metric", &e.info)));
    text += "\n# Objectives of a Pareto front\n";
    text.extend(objective::OBJECTIVES.iter().map(|o| entry("data/objective", &o.info)));
    text
}

fn searches() -> String {
    let mut text = page(
        "Searches",
        "`SEARCH USING` names the algorithm that chooses how values are generalized; `SHOW SEARCHES` lists them. The first \
         ones choose one level per column for the whole table.",
    );
    text.extend(search::SEARCHES.iter().map(|e| entry("method/search", &e.info)));
    text += "\n# Local recoding\n\nThese algorithms divide the rows into groups, and label each group on its own. They lose \
             less, and equal values may get different labels.\n";
    text.extend(
        partition::PARTITIONERS
            .iter()
            .map(|e| entry("method/partition", &e.info)),
    );
    text
}

fn hierarchies() -> String {
    let mut text = page(
        "Hierarchies",
        "`CREATE HIERARCHY` makes a hierarchy of one of these kinds; `SHOW HIERARCHY KINDS` lists them. The top level, `*`, is \
         added where it is missing. `ON UNMAPPED` and `NULLS` say what becomes of values that a hierarchy does not know.",
    );
    for kind in hierarchy::KINDS {
        text += &format!("\n## {}\n\n{}\n", kind.info.name, sentence(kind.info.summary));
        text += &fenced(kind.clause.syntax);
        for paragraph in definition("method/hierarchy", kind.info.name) {
            text += &format!("\n{paragraph}\n");
        }
        text += &fenced(kind.info.example);
        text += &format!("\nSource: {}.\n", kind.info.reference.trim_end_matches('.'));
    }
    text
}

fn masks_page() -> String {
    let mut text = page(
        "Masks",
        "`IDENTIFIERS (column mask)` releases a column of identifiers as a mask of its values, and drops it without one. \
         `SENSITIVE (column mask)` and `KEEP (column mask)` release a column as a mask, and as it is without one. `SHOW MASKS` \
         lists the masks. No model counts a masked column. NULL stays NULL.",
    );
    for kind in masks::MASKS {
        text += &format!("\n## {}\n\n{}\n", kind.clause.start, sentence(kind.info.summary));
        let places: Vec<&str> = kind.places.iter().map(|place| place.name()).collect();
        text += &format!("\nIn {}.\n", places.join(", "));
        text += &fenced(kind.clause.syntax);
        for paragraph in definition("method/masks", kind.info.name) {
            text += &format!("\n{paragraph}\n");
        }
        text += &format!("\nNot promised: {}\n", kind.limits.1);
        text += &fenced(kind.info.example);
        text += &format!("\nSource: {}.\n", kind.info.reference.trim_end_matches('.'));
    }
    text
}

fn standards_page() -> String {
    let mut text = page(
        "Standards",
        "`FOLLOWING standard` refuses what a published standard does not allow, beside the privacy models. `SHOW STANDARDS` \
         lists them.",
    );
    for standard in standard::STANDARDS {
        text += &format!("\n## {}\n\n{}\n", standard.info.name, sentence(standard.info.summary));
        for paragraph in definition("method/standard", standard.info.name) {
            text += &format!("\n{paragraph}\n");
        }
        text += &format!("\nNot checked: {}.\n", standard.unchecked);
        text += &fenced(standard.info.example);
        text += &format!("\nSource: {}.\n", standard.info.reference.trim_end_matches('.'));
    }
    text
}

fn options_page() -> String {
    let mut text = page(
        "Options and settings",
        "`SHOW OPTIONS` lists them. A setting holds for the session.",
    );
    let mut clause = "";
    for option in options() {
        if option.clause != clause {
            clause = option.clause;
            text += &format!("\n## {clause}\n");
            text += &table(&["name", "value", "default", "effect"]);
        }
        let name = format!("`{}`", option.name);
        let (value, default) = (option.value.unwrap_or_default(), option.default.unwrap_or_default());
        text += &row(&[&name, &value, &default, option.summary]);
    }
    text
}

fn functions_page() -> String {
    let mut text = page(
        "Functions",
        "Functions are for tools that can only send SELECT, such as dbt and BI tools.",
    );
    for info in functions() {
        text += &format!("\n## {}\n\n{}\n", info.name, sentence(info.summary));
        text += &fenced(info.example);
    }
    text
}

fn commands() -> String {
    let mut text = page(
        "Commands of the session",
        "A line that starts with a backslash is a command of the interactive session.",
    );
    text += &table(&["command", "effect"]);
    for (name, usage, summary) in cli::described_commands() {
        text += &row(&[&format!("`{}`", format!("{name} {usage}").trim_end()), summary]);
    }
    text
}

fn exit_codes() -> String {
    let mut text = page(
        "Exit codes",
        "A script stops at its first error, and the command ends with its exit code.",
    );
    text += &table(&["code", "meaning"]);
    for (code, meaning) in EXIT_CODES {
        text += &row(&[&code.to_string(), meaning]);
    }
    text
}
