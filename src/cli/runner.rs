//! Runs statements: prints their rows, logs their outcome, and ends them on Ctrl-C and signals.

use super::ending::{CLEANING, Running};
use super::log::Log;
use super::memory::Guard;
use super::message::readable;
use super::output::{Printed, Printing};
use super::panic;
use super::typing::TypeAhead;
use super::watch::Watch;
use super::workers::Workers;
use crate::error::{Error, ErrorKind, Result};
use crate::plain;
use crate::session::{AnonContext, Statement};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

/// A session with everything that is needed to run statements in it.
pub struct Runner {
    context: AnonContext,
    workers: Workers,
    /// The runtime that waits for statements and Ctrl-C on the main thread. The workers may all be
    /// computing, and would not notice Ctrl-C.
    supervisor: Runtime,
    watch: Arc<Watch>,
    guard: Guard,
    log: Log,
    printing: Printing,
    quiet: bool,
    /// Whether statements are typed.
    typed: bool,
    /// The number of results that were printed.
    results: AtomicUsize,
}

/// The time that a cancelled statement has to clean up.
const PATIENCE: Duration = Duration::from_secs(2);

/// The time after which the user is told how to limit a search that has no limit.
const LONG_SEARCH: Duration = Duration::from_secs(10);

/// The result of a statement.
struct Done {
    printed: Printed,
    /// The time in which the answer was computed and printed.
    answered: Duration,
    verified: Result<()>,
}

impl Runner {
    /// Creates a runner of statements in `context` on `workers`. `watch` follows the runs, and
    /// `guard` limits their memory.
    pub fn new(
        context: AnonContext,
        workers: Workers,
        watch: Arc<Watch>,
        guard: Guard,
        log: Log,
        printing: Printing,
        quiet: bool,
    ) -> Result<Self> {
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

    /// Returns the settings of printing.
    pub fn printing(&self) -> &Printing {
        &self.printing
    }

    /// Returns the settings of printing, so that they can be changed.
    pub fn printing_mut(&mut self) -> &mut Printing {
        &mut self.printing
    }

    /// Turns the printing of results off if `silent`, and on otherwise.
    pub fn silence(&mut self, silent: bool) {
        self.printing.silent = silent;
    }

    /// Prints a note on standard error, unless the user wants quiet or a log.
    pub fn note(&self, text: &str) {
        if !self.quiet && !self.log.enabled() {
            self.watch.note(text);
        }
    }

    /// Runs all statements of a text up to the first error.
    pub fn run_text(&self, text: &str) -> Result<()> {
        let statements = self.context.script(text)?;
        let several = statements.len() > 1;
        for (index, statement) in statements.enumerate() {
            // A parse error names its line and column; a later error gets the number of the
            // statement.
            self.run(statement?)
                .map_err(|e| match several && e.kind() != ErrorKind::Interrupted {
                    true => e.context(format!("statement {}", index + 1)),
                    false => e,
                })?;
        }
        Ok(())
    }

    /// Runs one statement, prints its rows and logs its outcome.
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
            self.note(&format!("--lineage: events are missing there: {wrong}"));
        }
        let done = done?;
        self.tell(&done.printed);
        shown.and(done.verified)
    }

    /// Prints the notes, which are not part of the results.
    fn tell(&self, printed: &Printed) {
        printed.notes.iter().for_each(|note| self.note(note));
        let is_second = printed.is_result && self.results.fetch_add(1, Ordering::Relaxed) == 1;
        if is_second && self.printing.format.is_one_result() && !self.printing.show_values {
            self.note("there is more than one result, one after the other, each with its own header; --format ndjson has none");
        }
    }

    /// Prints a requested text on standard output, like a result.
    pub fn say(&self, text: &str) -> Result<()> {
        self.printing.show(&format!("{}\n", plain::lines(text)))
    }

    /// Runs a job of the session until it ends, until Ctrl-C, or until it exceeds the memory limit.
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
                // The first Ctrl-C makes a search return its best node. A second Ctrl-C, or the
                // first one in any other job, cancels the job.
                if !(self.watch.interrupt_search() && first && excess.is_none()) {
                    task.abort();
                    // A computing thread stops when it next waits for something; the user does not
                    // wait for that.
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
                self.note("interrupted: going on with the best node so far; Ctrl-C again to cancel");
            }
        });
        self.watch.finish();
        // Waits until the files that a failed statement wrote to an object store are deleted.
        self.supervisor.block_on(self.context.keeper().cleaned_up(CLEANING));
        done
    }

    /// Leaves behind the threads that still compute for a cancelled statement, and returns the
    /// error of the statement.
    fn given_up(&self) -> Error {
        if let Err(e) = self.workers.leave_behind() {
            return e;
        }
        if self.typed {
            self.note(
                "a part of the statement does not stop at once: it computes on beside the next statement until it does",
            );
        }
        interruption()
    }

    /// Prepares for statements that are typed. Ctrl-C then ends a statement and not the session,
    /// also while a pager or an editor runs. Text that is typed while a statement runs waits for
    /// the prompt.
    pub fn expect_typing(&mut self) {
        self.typed = true;
        #[cfg(unix)]
        self.supervisor.block_on(async {
            // Once a listener has existed, the signal does not end the process.
            drop(tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()));
        });
    }

    /// Ends the session. Threads that still compute are waited for no longer than `patience`, and
    /// not at all if they exceed the memory limit by far.
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

/// Returns the result of a task, or the error that it was interrupted or stopped at an unknown
/// place.
pub(super) fn outcome<T>(done: Result<Result<T>, tokio::task::JoinError>) -> Result<T> {
    match done {
        Ok(result) => result,
        Err(e) if e.is_cancelled() => Err(interruption()),
        Err(_) => Err(panic::error()),
    }
}

/// Returns the error of an interrupted job.
pub(super) fn interruption() -> Error {
    Error::new(ErrorKind::Interrupted, "interrupted")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::output::{Destination, Format};
    use datafusion::prelude::SessionContext;

    fn runner() -> Runner {
        let log = Log::new(false);
        let printing = Printing {
            format: Format::Csv,
            max_rows: None,
            to: Destination::Standard,
            screen: None,
            pager: false,
            show_values: false,
            silent: false,
        };
        let workers = Workers::start(std::num::NonZeroUsize::MIN).unwrap();
        let context = AnonContext::new(SessionContext::new());
        Runner::new(
            context,
            workers,
            Arc::new(Watch::new(false, true, log.clone(), Arc::default())),
            Guard::new(None),
            log,
            printing,
            true,
        )
        .unwrap()
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
