//! The command: its arguments, the interactive session, output and exit codes.

mod args;
mod ballista;
mod embedded;
mod ending;
mod environment;
mod generate;
mod generated;
mod init;
mod lineage;
mod log;
mod memory;
mod message;
mod output;
mod panic;
mod progress;
mod repl;
mod runner;
mod script;
#[cfg(feature = "cluster")]
mod serving;
mod typing;
mod watch;
mod worker;
mod workers;

#[cfg(feature = "internal-api")]
pub use repl::described_commands;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::plain;
use crate::language::session::AnonContext;
pub use embedded::Embedded;
pub use environment::Limits;
pub use memory::Restart;

use args::{Args, CommandJob, ScriptInput};
use lineage::Lineage;
use log::Log;
use memory::Guard;
use message::report;
use output::{Destination, Held, OutputFile, Printing, Screen};
use runner::{Runner, RunnerOutput};
use script::{run_file, text};
use std::ffi::OsString;
use std::io::{IsTerminal, Read, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use watch::Watch;
use workers::StatementRuntime;

/// The default maximum number of table rows that are printed on a terminal.
const ROWS_ON_A_TERMINAL: usize = 40;
/// The time for which the exiting program waits for threads that are still computing.
const PATIENCE: Duration = Duration::from_millis(500);

/// The exit code if the reader of the output, such as `head`, has closed the pipe: 128 plus the
/// number of SIGPIPE.
const READER_GONE: u8 = 141;

/// Runs the command of this process, and returns its exit code.
pub fn run_command() -> ExitCode {
    run_command_as(std::env::args_os().collect(), &Restart::itself()).into()
}

/// Runs the command inside a process that another program started. `arguments` begins with the name
/// of the command. `restart` is the command line that restarts the other program. Returns the exit
/// code.
pub fn run_command_as(arguments: Vec<OsString>, restart: &Restart) -> u8 {
    panic::keep_quiet();
    let (args, inputs) = match Args::read(arguments) {
        Ok(read) => read,
        Err(e) => {
            // Help and version are printed on standard output. Anything else is a usage error,
            // whose message repeats the arguments.
            let told = match e.use_stderr() {
                true => write!(std::io::stderr(), "{}", plain::lines(&e.render().to_string())).and(Ok(1)),
                false => e.print().and(Ok(0)),
            };
            return told.unwrap_or(1);
        }
    };
    memory::restart_with_fewer_arenas(&args, restart);
    let log = Log::new(args.log.is_some());
    let code = match panic::caught(|| run(&args, inputs, &log)) {
        Ok(()) => 0,
        // A closed pipe is not an error of the statement, so the command ends like a program that
        // receives SIGPIPE.
        Err(_) if output::reader_gone() => READER_GONE,
        Err(e) => {
            report(&e, &log);
            e.exit_code()
        }
    };
    ending::code().unwrap_or(code)
}

fn run(args: &Args, mut inputs: Vec<ScriptInput>, log: &Log) -> Result<()> {
    match &args.job {
        Some(CommandJob::Generate(what)) => return generate::run(what),
        Some(CommandJob::Completions { shell }) => return generated::completions(*shell),
        Some(CommandJob::Man) => return generated::manual(),
        Some(CommandJob::Worker(worker)) => return worker::run(worker),
        Some(CommandJob::Cluster(part)) => return ballista::run(part),
        None => {}
    }
    ending::watch()?;
    let interactive = inputs.is_empty() && std::io::stdin().is_terminal();
    if inputs.is_empty() && !interactive {
        inputs.push(ScriptInput::Standard);
    }
    let output = args.output.as_deref().map(OutputFile::open).transpose()?;
    let mut runner = start(args, log, interactive, output.as_ref())?;
    set_variables(&runner, args)?;
    let prepared = init::run(&mut runner, args);
    // Variables of the command line replace variables that the initialization script has set.
    let prepared = prepared.and_then(|()| set_variables(&runner, args));
    let done = match prepared {
        Err(e) if interactive => {
            report(&e, log);
            repl::run(&mut runner)
        }
        Err(e) => Err(e),
        Ok(()) if interactive => repl::run(&mut runner),
        Ok(()) => scripts(&mut runner, inputs),
    };
    runner.shutdown(PATIENCE);
    // If a check of VERIFY failed, its rows are complete nevertheless, and the file is published.
    let is_complete = done.as_ref().err().is_none_or(|e| e.kind() == ErrorKind::Verification);
    if let Some(output) = output.filter(|_| is_complete) {
        output.publish()?;
    }
    done
}

/// Sets the variables of the command line.
fn set_variables(runner: &Runner, args: &Args) -> Result<()> {
    let mut variables = args.variable.iter();
    variables
        .try_for_each(|(name, value)| runner.context().set_variable_text(name, value))
        .map_err(|e| e.context("--variable"))
}

fn start(args: &Args, log: &Log, interactive: bool, output: Option<&OutputFile>) -> Result<Runner> {
    let workers = StatementRuntime::start(environment::threads(args))?;
    let bars = std::io::stderr().is_terminal() && !args.quiet && !args.no_progress && !log.enabled();
    // Some components of DataFusion start tasks when they are created.
    let context = workers.inside(|| environment::session(args).map(AnonContext::new))?;
    let watch = Arc::new(
        Watch::new(bars, args.quiet, log.clone(), context.traffic())
            .with_lineage(Lineage::open(args.lineage.as_deref())?),
    );
    context.allow_environment();
    let settings = [(args.dry_run, "anonsql.dry_run"), (args.strict, "anonsql.strict")];
    for (_, setting) in settings.iter().filter(|(is_set, _)| *is_set) {
        let session = context.session().state_ref();
        let mut session = session.write();
        session.config_mut().options_mut().set(setting, "true")?;
    }
    let cluster = [
        (&args.cluster, "--cluster", "anonsql.cluster"),
        (&args.cluster_tls, "--cluster-tls", "anonsql.cluster_tls"),
    ];
    for (given, flag, setting) in cluster {
        if let Some(given) = given {
            let session = context.session().state_ref();
            let mut session = session.write();
            let set = session.config_mut().options_mut().set(setting, given);
            set.map_err(|e| Error::from(e).context(flag))?;
        }
    }
    let observer: Arc<dyn crate::release::observe::Observer> = Arc::clone(&watch) as _;
    let screen = Screen::standard(interactive).filter(|_| output.is_none());
    let printing = Printing {
        format: args.format,
        max_rows: match args.max_rows {
            Some(0) => None,
            Some(rows) => Some(rows),
            None => screen.is_some().then_some(ROWS_ON_A_TERMINAL),
        },
        to: match output {
            Some(output) => Destination::File(output.file()),
            None if interactive && screen.is_some() => Destination::Held(Held::default()),
            None => Destination::Standard,
        },
        screen,
        pager: interactive,
        show_values: interactive,
        silent: false,
    };
    let runner_output = RunnerOutput {
        watch,
        log: log.clone(),
        printing,
        quiet: args.quiet,
    };
    Runner::new(
        context.with_observer(observer),
        workers,
        Guard::new(args.memory_limit),
        runner_output,
    )
}

/// Runs the inputs one after the other, and stops at the first error.
fn scripts(runner: &mut Runner, inputs: Vec<ScriptInput>) -> Result<()> {
    for input in inputs {
        match input {
            ScriptInput::Command(sql) => runner.run_text(&sql)?,
            ScriptInput::File(path) => run_file(runner, &path)?,
            ScriptInput::Standard => {
                let mut sql = vec![];
                std::io::stdin()
                    .read_to_end(&mut sql)
                    .map_err(|e| Error::io("standard input", e))?;
                runner.run_text(&text(sql, "standard input")?)?;
            }
        }
    }
    Ok(())
}
