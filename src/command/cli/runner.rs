//! Runs statements: prints their rows, logs their outcomes, and cancels them on Ctrl-C or a signal.

use super::ending::{CLEANING, Running};
use super::log::Log;
use super::memory::Guard;
use super::message::readable;
use super::output::{Printed, Printing};
use super::panic;
use super::typing::TypeAhead;
use super::watch::Watch;
use super::workers::StatementRuntime;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::plain;
use crate::language::session::{AnonContext, Statement};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// The destinations of a runner's output: the progress, the outcomes and the rows of its
/// statements.
pub struct RunnerOutput {
    /// The observer of the statements.
    pub watch: Arc<Watch>,
    /// The log of the outcomes.
    pub log: Log,
    /// The settings for printing rows.
    pub printing: Printing,
    /// Whether no notes are printed.
    pub quiet: bool,
}

/// A session, with the threads and the settings that are used to run statements.
pub struct Runner {
    context: AnonContext,
    workers: StatementRuntime,
    /// The runtime on which the main thread waits for statements and for Ctrl-C. The worker threads
    /// may all be computing, and would then not react to Ctrl-C.
    supervisor: Runtime,
    watch: Arc<Watch>,
    guard: Guard,
    log: Log,
    printing: Printing,
    quiet: bool,
    /// Whether the user types the statements at the prompt.
    typed: bool,
    /// The number of results that have been printed.
    results: AtomicUsize,
}

/// The time that a cancelled statement has to clean up.
const PATIENCE: Duration = Duration::from_secs(2);

/// The duration of an unlimited search after which a note explains how to limit it.
const LONG_SEARCH: Duration = Duration::from_secs(10);

/// The outcome of a statement that returned a result.
struct Done {
    printed: Printed,
    /// The time taken to compute and print the result.
    answered: Duration,
    verified: Result<()>,
}

impl Runner {
    /// Creates a runner for statements in `context`. The statements run on `workers`, and must not
    /// exceed the memory limit of `guard`.
    pub fn new(context: AnonContext, workers: StatementRuntime, guard: Guard, output: RunnerOutput) -> Result<Self> {
        let RunnerOutput {
            watch,
            log,
            printing,
            quiet,
        } = output;
        let supervisor = Builder::new_current_thread().enable_all().build();
        Ok(Self {
            context,
            workers,
            supervisor: supervisor.map_err(|e| Error::io("cannot wait for signals", e))?,
            watch,
            guard,
            log,
            printing,
            quiet,
            typed: false,
            results: AtomicUsize::new(0),
        })
    }

    /// Returns the session.
    pub fn context(&self) -> &AnonContext {
        &self.context
    }

    /// Returns the log.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// Returns the settings for printing.
    pub fn printing(&self) -> &Printing {
        &self.printing
    }

    /// Returns a mutable reference to the settings for printing.
    pub fn printing_mut(&mut self) -> &mut Printing {
        &mut self.printing
    }

    /// Turns off the printing of results if `silent` is true, and turns it on otherwise.
    pub fn silence(&mut self, silent: bool) {
        self.printing.silent = silent;
    }

    /// Prints a note on standard error, unless the command is quiet or writes a log.
    pub fn note(&self, text: &str) {
        if !self.quiet && !self.log.enabled() {
            self.watch.note(text);
        }
    }

    /// Runs all statements of a text, and stops at the first error.
    pub fn run_text(&self, text: &str) -> Result<()> {
        let statements = self.context.script(text)?;
        let several = statements.len() > 1;
        for (index, statement) in statements.enumerate() {
            // A parse error contains its line and column. For any other error, the number of the
            // statement is added.
            self.run(statement?)
                .map_err(|e| match several && e.kind() != ErrorKind::Interrupted {
                    true => e.context(format!("statement {}", index + 1)),
                    false => e,
                })?;
        }
        Ok(())
    }

    /// Runs a statement, prints its rows and logs its outcome.
    pub fn run(&self, statement: Statement) -> Result<()> {
        let kind = statement.kind();
        self.log.begin_run();
        self.log
            .event("statement", [("kind", kind.into()), ("state", "begin".into())]);
        let started = Instant::now();
        let (context, printing) = (self.context.clone(), self.printing.clone());
        let done = self.supervise(async move {
            let answer = context.execute(statement).await?;
            let verified = answer.verified();
            let answering = Instant::now();
            let printed = printing.print(answer).await?;
            Ok(Done {
                printed,
                answered: answering.elapsed(),
                verified,
            })
        });
        let done = done.map_err(|e| Error::new(e.kind(), readable(&e)));
        let shown = self.printing.show_held();
        let outcome = done.as_ref().map_or_else(
            |e| format!("{:?}", e.kind()).to_lowercase(),
            |d| if d.verified.is_ok() { "done" } else { "verification" }.to_string(),
        );
        let said = outcome.clone();
        let seconds = started.elapsed().as_secs_f64();
        let (mut phases, mut released) = self.watch.summary();
        if let Ok(done) = &done {
            phases.insert("answer".into(), done.answered.as_secs_f64().into());
            if released.is_empty() {
                released.push(("rows", done.printed.rows.into()));
            }
        }
        let fields = [
            ("kind", kind.into()),
            ("state", "end".into()),
            ("outcome", outcome.into()),
            ("seconds", seconds.into()),
            ("phases", phases.into()),
        ];
        self.log.event("statement", fields.into_iter().chain(released));
        if let Some(wrong) = self.supervisor.block_on(self.watch.lineage().finish(&said)) {
            self.note(&format!("--lineage: some events were not sent: {wrong}"));
        }
        let done = done?;
        self.tell(&done.printed);
        shown.and(done.verified)
    }

    /// Prints the notes of a statement. Also prints a warning if a second result is printed in a
    /// format that allows only one.
    fn tell(&self, printed: &Printed) {
        printed.notes.iter().for_each(|note| self.note(note));
        let is_second = printed.is_result && self.results.fetch_add(1, Ordering::Relaxed) == 1;
        if is_second && self.printing.format.is_one_result() && !self.printing.show_values {
            self.note(
                "there is more than one result: --format csv and json print a separate document for each, --format \
                 ndjson prints only rows",
            );
        }
    }

    /// Prints a text that the user requested on standard output, like a result.
    pub fn say(&self, text: &str) -> Result<()> {
        self.printing.show(&format!("{}\n", plain::lines(text)))
    }

    /// Runs a job until it is done, the user presses Ctrl-C, or the process exceeds its memory
    /// limit.
    fn supervise<T: Send + 'static>(&self, job: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
        let _kept = self.typed.then(TypeAhead::keep);
        self.watch.start();
        let mut task = self.workers.spawn(job);
        let _running = Running::mark(task.abort_handle(), self.context.keeper());
        let done = self.supervisor.block_on(async {
            let (mut first, mut told) = (true, false);
            let mut exceeded = std::pin::pin!(self.guard.exceeded());
            loop {
                let excess = tokio::select! {
                    done = &mut task => return outcome(done),
                    Ok(()) = tokio::signal::ctrl_c() => None,
                    text = self.watch.long_search(LONG_SEARCH), if !told => {
                        self.note(&text);
                        told = true;
                        continue;
                    }
                    excess = &mut exceeded => Some(excess),
                };
                // During a search, the first Ctrl-C makes the search return its best node. A second
                // Ctrl-C, or Ctrl-C during any other job, cancels the job.
                if !(self.watch.interrupt_search() && first && excess.is_none()) {
                    task.abort();
                    // A computing task stops only at its next await point. The user does not have
                    // to wait for it longer than `PATIENCE`.
                    let done = tokio::select! {
                        done = task => outcome(done),
                        () = tokio::time::sleep(PATIENCE) => Err(self.given_up()),
                        () = self.guard.far_exceeded() => Err(interruption()),
                    };
                    return done.map_err(|e| match excess {
                        Some(excess) if e.kind() == ErrorKind::Interrupted => excess,
                        _ => e,
                    });
                }
                first = false;
                self.note("interrupted: continuing with the best node so far; press Ctrl-C again to cancel");
            }
        });
        self.watch.finish();
        // If the statement failed, this waits until the files that it wrote to an object store are
        // deleted.
        self.supervisor.block_on(self.context.keeper().cleaned_up(CLEANING));
        done
    }

    /// Abandons the threads that are still computing for a cancelled statement. Returns the error
    /// for the statement.
    fn given_up(&self) -> Error {
        if let Err(e) = self.workers.leave_behind() {
            return e;
        }
        if self.typed {
            self.note("a part of the statement does not stop at once: it continues in the background until it does");
        }
        interruption()
    }

    /// Prepares for statements that the user types. From then on, Ctrl-C ends a statement and not
    /// the session, even while a pager or an editor is running. Text that is typed while a
    /// statement is running is kept for the prompt.
    pub fn expect_typing(&mut self) {
        self.typed = true;
        #[cfg(unix)]
        self.supervisor.block_on(async {
            // Once a listener for the signal has been created, the signal no longer terminates the
            // process.
            drop(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()));
        });
    }

    /// Ends the session. Waits at most `patience` for threads that are still computing, or does not
    /// wait at all if the process far exceeds its memory limit.
    pub fn shutdown(self, patience: Duration) {
        drop(self.context);
        let patience = if self.guard.is_far_exceeded() {
            Duration::ZERO
        } else {
            patience
        };
        self.workers.shutdown(patience);
    }
}

/// Returns the result of a task. If the task was cancelled, the error is an interruption. If it
/// panicked, the error is an internal error with the location of the panic.
pub(super) fn outcome<T>(done: Result<Result<T>, tokio::task::JoinError>) -> Result<T> {
    match done {
        Ok(result) => result,
        Err(e) if e.is_cancelled() => Err(interruption()),
        Err(_) => Err(panic::error()),
    }
}

/// Returns the error for an interrupted job.
pub(super) fn interruption() -> Error {
    Error::new(ErrorKind::Interrupted, "interrupted")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::cli::output::{Destination, OutputFormat};
    use datafusion::prelude::SessionContext;

    fn runner() -> Runner {
        let log = Log::new(false);
        let printing = Printing {
            format: OutputFormat::Csv,
            max_rows: None,
            to: Destination::Standard,
            screen: None,
            pager: false,
            show_values: false,
            silent: false,
        };
        let workers = StatementRuntime::start(std::num::NonZeroUsize::MIN).unwrap();
        let context = AnonContext::new(SessionContext::new());
        let output = RunnerOutput {
            watch: Arc::new(Watch::new(false, true, log.clone(), Arc::default())),
            log,
            printing,
            quiet: true,
        };
        Runner::new(context, workers, Guard::new(None), output).unwrap()
    }

    #[test]
    fn a_script_stops_at_its_first_error() {
        let runner = runner();
        let error = runner
            .run_text("CREATE TABLE a AS SELECT 1 AS x; SELECT y FROM a; CREATE TABLE b AS SELECT 1 AS x")
            .unwrap_err();
        assert!(error.to_string().starts_with("statement 2: "), "{error}");
        assert!(runner.run_text("DROP TABLE a").is_ok());
        assert!(runner.run_text("DROP TABLE b").is_err());
        assert!(runner.run_text("CREATE TABLE c AS SELECT 1 AS x; ANONYMIZE;").is_err());
        assert!(
            runner.run_text("DROP TABLE c").is_ok(),
            "what stands before a syntax error runs"
        );
    }

    #[test]
    fn a_panic_and_an_abort_are_errors() {
        let runner = runner();
        let error = runner.supervise::<()>(async { panic!("secret") }).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        let task = runner.workers.spawn(std::future::pending::<Result<()>>());
        task.abort();
        let error = outcome(runner.supervisor.block_on(task)).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::Interrupted, "interrupted")
        );
    }
}
