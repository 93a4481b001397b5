//! `\?`: what can be typed.

use super::{Argument, COMMANDS, Entry, Flow, Shell, bare};
use crate::catalogue::{self, Info};
use crate::error::{Error, Result};
use crate::hierarchy::KINDS;
use crate::metric::METRICS;
use crate::model::MODELS;
use crate::objective::OBJECTIVES;
use crate::partition::PARTITIONERS;
use crate::search::SEARCHES;
use crate::session::STATEMENTS;
use std::fmt::Write;

pub(super) const ENTRY: Entry = Entry {
    name: "\\?",
    word: Some("help"),
    usage: "[NAME]",
    summary: "this help, or help on a statement, model, metric, search or kind of hierarchy",
    argument: Argument::Topic,
    run,
};

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    let topic = bare(argument);
    let text = if topic.is_empty() { overview() } else { on(topic)? };
    shell.runner.say(text.trim_end())?;
    Ok(Flow::Go)
}

/// Everything of an open set, in the order of help.
fn infos() -> [(&'static str, Vec<&'static Info>); 6] {
    [
        ("Privacy models", infos_of(MODELS)),
        ("Metrics", infos_of(METRICS)),
        (
            "Objectives of a Pareto front, besides the metrics",
            OBJECTIVES.iter().map(|o| &o.info).collect(),
        ),
        ("Searches", infos_of(SEARCHES)),
        ("Searches by local recoding", infos_of(PARTITIONERS)),
        ("Kinds of hierarchies", KINDS.iter().map(|kind| &kind.info).collect()),
    ]
}

fn infos_of<B>(slice: &'static [catalogue::Entry<B>]) -> Vec<&'static Info> {
    slice.iter().map(|e| &e.info).collect()
}

pub(super) fn topics() -> impl Iterator<Item = &'static str> {
    let named = infos().into_iter().flat_map(|(_, all)| all).map(|i| i.name);
    STATEMENTS.iter().map(|s| s.name).chain(named)
}

fn overview() -> String {
    let commands = COMMANDS.iter().map(|c| (format!("{} {}", c.name, c.usage), c.summary));
    let statements = STATEMENTS.iter().map(|s| (s.name.to_string(), s.summary));
    let mut text = String::new();
    section(&mut text, "Commands", commands.collect());
    section(
        &mut text,
        "Statements, besides those of DataFusion",
        statements.collect(),
    );
    for (title, all) in infos() {
        section(
            &mut text,
            title,
            all.iter().map(|i| (i.name.to_string(), i.summary)).collect(),
        );
    }
    text + "\\? NAME tells more about one of them."
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

/// Help on one topic; a name may stand for several things.
fn on(topic: &str) -> Result<String> {
    let statements = STATEMENTS.iter().filter(|s| s.name.eq_ignore_ascii_case(topic));
    let mut texts: Vec<String> = statements
        .map(|s| {
            format!(
                "{}: {}\n\n{}\n\nExample:\n  {}\n",
                s.name,
                s.summary,
                s.syntax(KINDS),
                s.example
            )
        })
        .collect();
    for (_, all) in infos() {
        texts.extend(
            all.iter()
                .filter(|i| i.name.eq_ignore_ascii_case(topic))
                .map(|i| on_info(i)),
        );
    }
    if texts.is_empty() {
        return Err(Error::unknown("help on", topic, topics()));
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

    #[test]
    fn help_lists_everything_and_knows_more_about_it() {
        let all = overview();
        for command in COMMANDS {
            assert!(
                all.contains(command.name) && all.contains(command.summary),
                "{}",
                command.name
            );
        }
        for topic in topics() {
            assert!(all.contains(topic), "{topic}");
            assert!(on(topic).unwrap().contains("Example:"), "{topic}");
        }
        assert!(on("ANONYMISE").unwrap_err().to_string().contains("ANONYMIZE"));
    }
}
