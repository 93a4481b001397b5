//! The interactive session.

mod assistant;
mod command;
mod complete;
mod draft;
mod follow;
mod highlight;
mod history;
mod lex;
mod names;
mod sources;

#[cfg(feature = "internal-api")]
pub use command::described as described_commands;

use super::ending;
use super::message::report;
use super::panic;
use super::runner::Runner;
use super::workers::StatementRuntime;
use crate::base::error::{Error, Result};
use assistant::Assistant;
use command::{COMMANDS, Flow, Shell};
use draft::{IncompleteStatement, Typed};
use names::Names;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, Editor, Event, EventContext, EventHandler, KeyEvent,
    RepeatCount,
};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

const PROMPT: &str = "anonsql> ";
/// The prompt for the second and all further lines of a statement.
const CONTINUED: &str = "    ...> ";

/// Reads and runs commands and statements until the user quits.
pub fn run(runner: &mut Runner) -> Result<()> {
    // Completion has a thread of its own, because the threads of a cancelled statement may still be
    // computing.
    let lookups = StatementRuntime::start(NonZeroUsize::MIN)?;
    let done = converse(runner, &lookups);
    lookups.shutdown(Duration::ZERO);
    done
}

fn converse(runner: &mut Runner, lookups: &StatementRuntime) -> Result<()> {
    let mut session = Session::new(runner, &lookups.handle())?;
    loop {
        let before = session.shell.draft.text();
        let prompt = if before.is_empty() { PROMPT } else { CONTINUED };
        if let Some(assistant) = session.editor.helper_mut() {
            assistant.set_before(before);
        }
        match session.editor.readline(prompt) {
            Ok(_) if session.discarded.swap(false, Ordering::Relaxed) => session.discard(),
            Ok(text) => {
                if session.take(&text) == Flow::Quit || ending::code().is_some() {
                    return Ok(());
                }
            }
            Err(ReadlineError::Interrupted) => session.discard(),
            Err(ReadlineError::Eof) => return Ok(()),
            Err(e) => return Err(unusable(e)),
        }
    }
}

fn unusable(error: ReadlineError) -> Error {
    Error::usage(format!("the terminal cannot be used: {error}"))
}

/// Handles Ctrl-C at the prompt. The line is accepted and marked as discarded, because the editor's
/// own command for this key would lose text that was typed after the key.
struct Discard(Arc<AtomicBool>);

impl ConditionalEventHandler for Discard {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, _: &EventContext) -> Option<Cmd> {
        self.0.store(true, Ordering::Relaxed);
        Some(Cmd::AcceptLine)
    }
}

/// The line editor, and the state that typed input changes.
struct Session<'a> {
    editor: Editor<Assistant, FileHistory>,
    /// Whether the last line was discarded with Ctrl-C.
    discarded: Arc<AtomicBool>,
    history: Option<PathBuf>,
    shell: Shell<'a>,
}

impl<'a> Session<'a> {
    fn new(runner: &'a mut Runner, lookups: &Handle) -> Result<Self> {
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .history_ignore_space(true)
            .build();
        let names = || Names::new(runner.context().clone(), lookups.clone());
        let (names, for_completion) = (names(), names());
        let mut editor: Editor<Assistant, FileHistory> = Editor::with_config(config).map_err(unusable)?;
        editor.set_helper(Some(Assistant::new(for_completion)));
        let discarded = Arc::new(AtomicBool::new(false));
        let discard = EventHandler::Conditional(Box::new(Discard(Arc::clone(&discarded))));
        editor.bind_sequence(KeyEvent::ctrl('C'), discard);
        let history = history::file();
        if let Some(file) = &history {
            // In the first session, the history file does not exist yet.
            let _ = editor.load_history(file);
        }
        runner.expect_typing();
        runner.note(&format!(
            "anonsql {}. Statements end with ';'. \\? lists commands, \\q quits.",
            env!("CARGO_PKG_VERSION")
        ));
        let shell = Shell {
            runner,
            names,
            timing: false,
            draft: IncompleteStatement::default(),
            last: String::new(),
            commands: COMMANDS,
        };
        Ok(Self {
            editor,
            discarded,
            history,
            shell,
        })
    }

    /// Discards the typed lines. All of them except the last are added to the history, so that the
    /// user can edit them again.
    fn discard(&mut self) {
        let discarded = self.shell.draft.take();
        self.remember(&discarded);
    }

    /// Processes a text line by line, and runs its commands and statements up to the first error. A
    /// text of several lines was pasted, or comes from the history or from an editor.
    fn take(&mut self, text: &str) -> Flow {
        let mut lines = text.split('\n');
        while let Some(line) = lines.next() {
            let Some(typed) = self.shell.draft.add(line, |line| command::read(line).is_some()) else {
                continue;
            };
            self.remember(typed.text());
            match panic::caught(|| self.shell.run(&typed)) {
                Ok(Flow::Go) => {}
                Ok(Flow::Quit) => return Flow::Quit,
                Ok(Flow::Type(text)) => {
                    if self.take(&text) == Flow::Quit {
                        return Flow::Quit;
                    }
                }
                Err(e) => {
                    report(&e, self.shell.runner.log());
                    if lines.any(|line| !line.trim().is_empty()) {
                        self.shell.runner.note("The lines after it were not run.");
                    }
                    break;
                }
            }
        }
        Flow::Go
    }

    /// Adds a text to the history, and saves the history immediately, so that it is not lost if the
    /// terminal is killed.
    fn remember(&mut self, text: &str) {
        let text = text.trim_end();
        if text.is_empty() || !self.editor.add_history_entry(text).unwrap_or(false) {
            return;
        }
        if let Some(file) = &self.history {
            history::keep(&mut self.editor, file);
        }
    }
}

impl Shell<'_> {
    /// Runs one command, or one or more statements.
    fn run(&mut self, typed: &Typed) -> Result<Flow> {
        let started = Instant::now();
        if let Some(screen) = &mut self.runner.printing_mut().screen {
            screen.measure();
        }
        match typed {
            Typed::Command(text) => match command::read(text) {
                Some((name, argument)) => command::find(name)?.run(self, argument),
                None => Ok(Flow::Go),
            },
            Typed::Statements(text) => {
                let done = self.runner.run_text(text);
                self.last.clone_from(text);
                if self.timing && !text.trim().is_empty() {
                    self.runner
                        .note(&format!("Time: {:.3} s", started.elapsed().as_secs_f64()));
                }
                done.map(|()| Flow::Go)
            }
        }
    }
}
