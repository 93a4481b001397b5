//! The interactive session.

mod assistant;
mod command;
mod complete;
mod highlight;
mod history;
mod lex;
mod names;

#[cfg(feature = "internal-api")]
pub use command::described as described_commands;

use super::message::report;
use super::panic;
use super::runner::Runner;
use crate::error::{Error, Result};
use assistant::Assistant;
use command::{COMMANDS, Flow, Shell};
use names::Names;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use std::time::Instant;

const PROMPT: &str = "anonsql> ";

/// Reads and runs statements until the end of the input.
pub fn run(runner: &mut Runner) -> Result<()> {
    let unusable = |e: ReadlineError| Error::usage(format!("the terminal cannot be used: {e}"));
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .history_ignore_space(true)
        .auto_add_history(true)
        .build();
    let names = || Names::new(runner.context().clone(), runner.handle().clone());
    let (names, for_completion) = (names(), names());
    let mut editor: Editor<Assistant, FileHistory> = Editor::with_config(config).map_err(unusable)?;
    editor.set_helper(Some(Assistant::new(for_completion)));
    let history = history::file();
    if let Some(file) = &history {
        // On the first run there is no history file.
        let _ = editor.load_history(file);
    }
    runner.note(&format!(
        "anonsql {}. Statements end with ';'. \\? lists commands, \\q quits.",
        env!("CARGO_PKG_VERSION")
    ));
    let mut shell = Shell {
        runner,
        names,
        timing: false,
        commands: COMMANDS,
    };
    loop {
        match editor.readline(PROMPT) {
            Ok(text) => {
                // Saved at once, so that nothing is lost if the terminal is killed.
                if let Some(file) = &history {
                    history::keep(&mut editor, file);
                }
                let outcome = panic::caught(|| take(&mut shell, &text));
                match outcome {
                    Ok(Flow::Go) => {}
                    Ok(Flow::Quit) => return Ok(()),
                    Err(e) => report(&e, shell.runner.log()),
                }
            }
            // Ctrl-C discards the typed text.
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(e) => return Err(unusable(e)),
        }
    }
}

/// Runs the typed text: a command or statements.
fn take(shell: &mut Shell, text: &str) -> Result<Flow> {
    let started = Instant::now();
    let columns = console::Term::stdout()
        .size_checked()
        .map(|(_, columns)| columns.into());
    shell.runner.set_width(columns);
    if let Some((command, argument)) = command::read(text) {
        return command::find(command)?.run(shell, argument);
    }
    let done = shell.runner.run_text(text);
    if shell.timing && !text.trim().is_empty() {
        shell
            .runner
            .note(&format!("Time: {:.3} s", started.elapsed().as_secs_f64()));
    }
    done.map(|()| Flow::Go)
}
