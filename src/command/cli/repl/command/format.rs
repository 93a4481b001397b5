//! `\format`: sets the format in which results are printed.

use super::entry::{CommandArgument, Entry, Flow, Shell, bare};
use crate::base::error::{Error, Result};
use crate::command::cli::output::OutputFormat;
use clap::ValueEnum;

const FORMATS: &[&str] = &["table", "csv", "json", "ndjson", "markdown"];

pub(super) const ENTRY: Entry = Entry {
    name: "\\format",
    words: &[],
    usage: "[table|csv|json|ndjson|markdown]",
    summary: "print results in another format",
    argument: CommandArgument::Words(FORMATS),
    run,
};

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    let name = bare(argument);
    if !name.is_empty() {
        shell.runner.printing_mut().format =
            OutputFormat::from_str(name, true).map_err(|_| Error::unknown("format", name, FORMATS.iter().copied()))?;
    }
    let format = shell.runner.printing().format.to_possible_value();
    let name = format.as_ref().map_or("another format", |v| v.get_name());
    shell.runner.note(&format!("Results are printed as {name}."));
    Ok(Flow::Go)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_listed() {
        let all: Vec<String> = OutputFormat::value_variants()
            .iter()
            .filter_map(|f| f.to_possible_value().map(|v| v.get_name().to_string()))
            .collect();
        assert_eq!(all, FORMATS);
        assert!(FORMATS.iter().all(|f| ENTRY.usage.contains(f)));
    }
}
