//! Generates the shell completions and the manual page from the declaration of the arguments.

use super::args::{Args, EXAMPLES, version};
use crate::base::error::{Error, Result};
use clap::{Command, CommandFactory};
use clap_complete::Shell;
use std::io::Write;

/// Prints the completions for a shell.
pub fn completions(shell: Shell) -> Result<()> {
    let mut text = vec![];
    clap_complete::generate(shell, &mut shown(), "anonsql", &mut text);
    print(&text)
}

/// Prints the manual page.
pub fn manual() -> Result<()> {
    print(&page().map_err(|e| Error::io("the manual page", e))?)
}

/// Returns the manual page. The examples keep their line breaks. The page includes the subcommands,
/// which have no pages of their own.
fn page() -> std::io::Result<Vec<u8>> {
    let mut text = vec![];
    let command = shown();
    let man = clap_mangen::Man::new(command.clone());
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    writeln!(text, ".SH COMMANDS")?;
    for job in command.get_subcommands() {
        let about = job.get_about().map(ToString::to_string).unwrap_or_default();
        writeln!(
            text,
            ".TP\n\\fBanonsql {}\\fR\n{}",
            escaped(job.get_name()),
            escaped(&about)
        )?;
    }
    for line in EXAMPLES.lines() {
        match line.strip_suffix(':').filter(|_| !line.starts_with(' ')) {
            Some(title) => writeln!(text, ".fi\n.SH {}\n.nf", title.to_uppercase())?,
            None => writeln!(text, "{}", escaped(line))?,
        }
    }
    writeln!(text, ".fi")?;
    man.render_version_section(&mut text)?;
    Ok(text)
}

/// Escapes a line for roff.
fn escaped(line: &str) -> String {
    let line = line.replace('\\', "\\e").replace('-', "\\-");
    match line.starts_with(['.', '\'']) {
        true => format!("\\&{line}"),
        false => line,
    }
}

fn print(text: &[u8]) -> Result<()> {
    let mut out = std::io::stdout();
    let written = out.write_all(text).and_then(|()| out.flush());
    written.map_err(|e| Error::io("standard output", e))
}

/// Returns the command without hidden subcommands.
fn shown() -> Command {
    let all = Args::command();
    let jobs: Vec<Command> = all
        .get_subcommands()
        .filter(|job| !job.is_hide_set())
        .cloned()
        .collect();
    Command::new("anonsql")
        .version(version())
        .about(all.get_about().cloned().unwrap_or_default())
        .args(all.get_arguments().cloned())
        .after_help(EXAMPLES)
        .args_conflicts_with_subcommands(true)
        .subcommands(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_keeps_lines_and_names_no_other_page() {
        let page = String::from_utf8(page().unwrap()).unwrap();
        assert!(page.contains(".SH EXAMPLES\n.nf\n  anonsql  "), "{page}");
        assert!(page.contains(".SH EXIT CODES\n.nf\n  0  done\n"), "{page}");
        assert!(page.contains("\\fBanonsql completions\\fR"), "{page}");
        assert!(!page.contains("completions(1)"), "{page}");
    }

    #[test]
    fn hidden_jobs_stay_hidden() {
        let command = shown();
        let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        assert_eq!(names, ["worker", "cluster", "completions", "man"]);
        assert!(command.get_arguments().any(|a| a.get_id() == "variable"));
        command.debug_assert();
    }
}
