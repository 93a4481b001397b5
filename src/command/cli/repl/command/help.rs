//! `\?`: shows help on commands, statements, and all names that statements can use.

use super::entry::{CommandArgument, Entry, Flow, Shell, bare};
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::language::session::{Registry, STATEMENTS, functions};
use crate::language::sql::clause::list::ALL as CLAUSES;
use std::fmt::Write;

pub(super) const ENTRY: Entry = Entry {
    name: "\\?",
    words: &["help"],
    usage: "[NAME]",
    summary: "this help, or help on a statement, clause, model, metric, search, kind of hierarchy or function",
    argument: CommandArgument::Topic,
    run,
};

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    let topic = bare(argument);
    let registry = shell.runner.context().registry();
    let text = match topic {
        "" => overview(&registry, shell.commands),
        _ => on(&registry, topic)?,
    };
    shell.runner.say(text.trim_end())?;
    Ok(Flow::Go)
}

pub(super) fn topics(registry: &Registry) -> Vec<&'static str> {
    let named = sections(registry).flat_map(|(_, all)| all).map(|i| i.name);
    let clauses = CLAUSES.iter().map(|c| c.start);
    STATEMENTS.iter().map(|s| s.name).chain(clauses).chain(named).collect()
}

/// Returns the descriptions of all names that a statement can use, grouped under headings.
fn sections(registry: &Registry) -> impl Iterator<Item = (&'static str, Vec<Info>)> {
    let functions = ("Functions", functions());
    registry.sections().into_iter().chain([functions])
}

/// Formats the list of commands.
pub(super) fn listed(commands: &[Entry]) -> String {
    let mut text = String::new();
    let commands = commands.iter().map(|c| (format!("{} {}", c.name, c.usage), c.summary));
    section(&mut text, "Commands", commands.collect());
    text
}

/// Formats the lists of all names that a statement can use.
pub(super) fn named(registry: &Registry) -> String {
    let mut text = String::new();
    for (title, all) in registry.sections() {
        infos(&mut text, title, &all);
    }
    text
}

fn overview(registry: &Registry, commands: &[Entry]) -> String {
    let statements = STATEMENTS.iter().map(|s| (s.name.to_string(), s.summary));
    let mut text = listed(commands);
    section(
        &mut text,
        "Statements, besides those of DataFusion",
        statements.collect(),
    );
    let clauses = CLAUSES.iter().map(|c| (c.start.to_string(), c.summary));
    section(&mut text, "Clauses", clauses.collect());
    for (title, all) in sections(registry) {
        infos(&mut text, title, &all);
    }
    text + "\\? NAME shows more about one of them."
}

fn infos(text: &mut String, title: &str, all: &[Info]) {
    section(
        text,
        title,
        all.iter().map(|i| (i.name.to_string(), i.summary)).collect(),
    );
}

fn section(text: &mut String, title: &str, lines: Vec<(String, &str)>) {
    let width = lines
        .iter()
        .map(|(name, _)| name.chars().count())
        .filter(|w| *w <= 24)
        .max()
        .unwrap_or(0);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{title}:");
    for (name, summary) in lines {
        let _ = writeln!(text, "  {name:<width$}  {summary}");
    }
    text.push('\n');
}

/// Returns the help on a topic, which may be the name of several entries.
fn on(registry: &Registry, topic: &str) -> Result<String> {
    let statements = STATEMENTS.iter().filter(|s| s.name.eq_ignore_ascii_case(topic));
    let mut texts: Vec<String> = statements
        .map(|s| {
            format!(
                "{}: {}\n\n{}\n\nExample:\n  {}\n",
                s.name,
                s.summary,
                s.syntax(registry.hierarchy_kinds.entries()),
                s.example
            )
        })
        .collect();
    for clause in CLAUSES.iter().filter(|c| c.start.eq_ignore_ascii_case(topic)) {
        let (start, summary, syntax, example) = (clause.start, clause.summary, clause.syntax(), clause.example);
        texts.push(format!("{start}: {summary}\n\n{syntax}\n\nExample:\n  {example}\n"));
    }
    for (_, all) in sections(registry) {
        texts.extend(all.iter().filter(|i| i.name.eq_ignore_ascii_case(topic)).map(on_info));
    }
    if texts.is_empty() {
        return Err(Error::unknown("help on", topic, topics(registry)));
    }
    Ok(texts.join("\n"))
}

fn on_info(info: &Info) -> String {
    let mut text = format!("{}: {}\n", info.name, info.summary);
    for param in info.params {
        let default = param.default.map_or("required".into(), |d| format!("default {d}"));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}: {} ({}; {default})", param.name, param.summary, param.kind);
    }
    text + &format!("\nExample:\n  {}\n\nReference: {}\n", info.example, info.reference)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::cli::repl::command::COMMANDS;

    #[test]
    fn help_lists_everything_and_knows_more_about_it() {
        let registry = Registry::default();
        let all = overview(&registry, COMMANDS);
        for command in COMMANDS {
            assert!(
                all.contains(command.name) && all.contains(command.summary),
                "{}",
                command.name
            );
        }
        for topic in topics(&registry) {
            assert!(all.contains(topic), "{topic}");
            assert!(on(&registry, topic).unwrap().contains("Example:"), "{topic}");
        }
        assert!(
            on(&registry, "ANONYMISE")
                .unwrap_err()
                .to_string()
                .contains("ANONYMIZE")
        );
    }
}
