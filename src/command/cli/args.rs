//! Parses the command line arguments.

use super::output::OutputFormat;
use crate::base::catalogue::size;
use crate::base::error::Result;
use clap::{ArgMatches, Args as ClapArgs, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use std::num::{NonZeroUsize, ParseIntError};
use std::path::PathBuf;
use std::sync::LazyLock;

pub const EXAMPLES: &str = "\
Examples:
  anonsql                                         an interactive session; \\? shows the help
  anonsql -c \"SELECT * FROM 'people.parquet'\"     one statement
  anonsql prepare.sql release.sql                 scripts, in this order
  anonsql --format csv < report.sql > report.csv  a script from standard input
  anonsql -v k=5 release.sql                      $k has the value 5 in the script
  anonsql --memory-limit 1GB release.sql          spill to disk rather than use more memory

  anonsql -c \"ANONYMIZE 'people.parquet' TO 'safe' IDENTIFIERS (name)
              QUASI IDENTIFIERS (age, zip) SENSITIVE (diagnosis)
              SATISFYING k_anonymity(5) SUPPRESSING AT MOST 1 PERCENT\"

Exit codes:
  0  done
  1  wrong usage or SQL, data that does not fit, a file that cannot be read or written, or interrupted
  3  no way to generalize satisfies the request
  4  a check of the release failed
  5  the target already exists, or its rows were already added
  6  run it again later: a store or a worker does not answer, or another run finished first
  7  check the data, which drifted from the release of USING MANIFEST
  129  ended by SIGHUP: the terminal was closed
  141  the program that reads the output closed it early, as head does
  143  ended by SIGTERM

Environment:
  ANONSQL_HISTORY  the file for the history of typed input; empty: no history
  XDG_CONFIG_HOME  the folder of anonsql/init.sql, which runs first [default: ~/.config]
";

/// An SQL-embedded anonymizer: all of DataFusion's SQL, and ANONYMIZE.
#[derive(Debug, Parser)]
#[command(name = "anonsql", version = version(), about, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub struct Args {
    /// Scripts to run, in this order; ./man is a script, and man is a command
    #[arg(value_name = "SCRIPT")]
    pub script: Vec<PathBuf>,

    /// Run these statements; may be given several times
    #[arg(short = 'c', long = "command", value_name = "SQL")]
    pub command: Vec<String>,

    /// Run the statements of this file (-: standard input); may be given several times
    #[arg(short = 'f', long = "file", value_name = "FILE")]
    pub file: Vec<PathBuf>,

    /// Set a variable: statements use its value as $NAME, and never read it as SQL; may be given
    /// several times
    #[arg(short = 'v', long = "variable", value_name = "NAME=VALUE", value_parser = variable)]
    pub variable: Vec<(String, String)>,

    /// Run this script first, instead of ~/.config/anonsql/init.sql; its results are not printed
    #[arg(long, value_name = "FILE")]
    pub init: Option<PathBuf>,

    /// Run no script first
    #[arg(long, conflicts_with = "init")]
    pub no_init: bool,

    /// Write results to this file instead of standard output; the file appears when all statements
    /// have succeeded
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub output: Option<PathBuf>,

    /// How results are printed
    #[arg(long, value_enum, default_value_t = OutputFormat::Table)]
    pub format: OutputFormat,

    /// The maximum number of printed rows of a table (0: all) [default: 40 on a terminal, all
    /// elsewhere]
    #[arg(long, value_name = "N")]
    pub max_rows: Option<usize>,

    /// The number of computing threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,

    /// The memory limit, such as 512MB or 1GiB: queries use two thirds of it, and spill the rest of
    /// their data to disk [default: the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory_limit: Option<usize>,

    /// The folder for data that is spilled to disk [default: the system's]
    #[arg(long, value_name = "DIR")]
    pub temp_dir: Option<PathBuf>,

    /// Bind, read and search, but write nothing: ANONYMIZE returns its summary with the outcome
    /// 'dry run'
    #[arg(long)]
    pub dry_run: bool,

    /// Turn warnings into errors: open warnings and drift of ANONYMIZE, and checks that VERIFY
    /// skips because a hierarchy or a manifest is missing
    #[arg(long)]
    pub strict: bool,

    /// Write events to standard error, one per line; events contain no data values
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub log: Option<EventFormat>,

    /// Emit an OpenLineage event when a release begins, completes or fails: to a file, or to a
    /// server at http(s)://host, whose key is in OPENLINEAGE_API_KEY
    #[arg(long, value_name = "FILE|URL")]
    pub lineage: Option<String>,

    /// Let these workers read and write parts of releases:
    /// http://127.0.0.1:8000,http://127.0.0.1:8001, dns+https://workers:8000 for all addresses of a
    /// name, or df://127.0.0.1:50050 for a Ballista scheduler; only in a build with the feature
    /// cluster (or ballista)
    #[arg(long, value_name = "URLS")]
    pub cluster: Option<String>,

    /// Present the certificate in this folder (tls.crt, tls.key) to workers at https://, and trust
    /// certificates of its authority (ca.crt)
    #[arg(long, value_name = "FOLDER")]
    pub cluster_tls: Option<String>,

    /// Print results and errors only: no progress, no notes
    #[arg(short, long)]
    pub quiet: bool,

    /// Show no progress bars
    #[arg(long)]
    pub no_progress: bool,

    /// A subcommand that does not run SQL.
    #[command(subcommand)]
    pub job: Option<CommandJob>,
}

/// The format of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EventFormat {
    /// One JSON object per line
    Json,
}

/// A subcommand that does not run SQL.
#[derive(Debug, Subcommand)]
pub enum CommandJob {
    /// Execute parts of statements for other processes (--cluster) until it is stopped; only in a
    /// build with the feature cluster
    Worker(Worker),
    /// Run a Ballista cluster on this machine (--cluster df://) until it is stopped; only in a
    /// build with the feature ballista
    #[command(subcommand)]
    Cluster(ClusterProcess),
    /// Write an invented table: census, patients, bench, or the sample folder
    #[command(hide = true)]
    Generate(Generate),
    /// Print the completions for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// The address and the limits of a worker.
#[derive(Debug, ClapArgs)]
pub struct Worker {
    /// The address to listen on; port 0 is any free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:8000")]
    pub listen: String,
    /// Answer only drivers with a certificate of the authority in this folder (ca.crt), and present
    /// the certificate in it (tls.crt, tls.key); without a folder, the worker listens on loopback
    /// addresses only
    #[arg(long, value_name = "FOLDER")]
    pub tls: Option<PathBuf>,
    /// The limits of the process.
    #[command(flatten)]
    pub takes: ProcessLimits,
}

/// The limits of a process that executes plans of other processes.
#[derive(Debug, Default, ClapArgs)]
pub struct ProcessLimits {
    /// The number of computing threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
    /// The memory limit, such as 512MB or 1GiB [default: the machine's]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory_limit: Option<usize>,
    /// The folder for data that is spilled to disk [default: the system's]
    #[arg(long, value_name = "DIR")]
    pub temp_dir: Option<PathBuf>,
}

/// A process of a Ballista cluster.
#[derive(Debug, Subcommand)]
pub enum ClusterProcess {
    /// Distribute the plans of drivers to executors
    Scheduler {
        /// The address of this machine to listen on; port 0 is any free port
        #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
        listen: String,
    },
    /// Execute the plans that a scheduler distributes
    Executor(ExecutorArguments),
}

/// The addresses and the limits of an executor.
#[derive(Debug, ClapArgs)]
pub struct ExecutorArguments {
    /// The address of the scheduler
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:50050")]
    pub scheduler: String,
    /// The address of this machine from which other processes fetch rows; port 0 is any free port
    #[arg(long, value_name = "HOST:PORT", default_value = "127.0.0.1:0")]
    pub listen: String,
    /// The limits of the process.
    #[command(flatten)]
    pub takes: ProcessLimits,
}

/// The table to generate, and its size.
#[derive(Debug, ClapArgs)]
pub struct Generate {
    /// census, patients, bench, or sample (all of data/)
    pub table: String,
    /// The number of rows
    #[arg(long, value_name = "N")]
    pub rows: Option<u64>,
    /// The same seed gives the same bytes
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,
    /// The Parquet file to write; for sample, a folder
    #[arg(long, value_name = "PATH")]
    pub out: PathBuf,
    /// The number of columns of the bench table
    #[arg(long, value_name = "N")]
    pub columns: Option<usize>,
    /// The number of distinct rows of the bench table
    #[arg(long, value_name = "N")]
    pub combinations: Option<u64>,
    /// The number of computing threads
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<NonZeroUsize>,
}

/// A text of statements, with its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptInput {
    /// The argument of `-c`.
    Command(String),
    /// The path of a script, or the argument of `-f`.
    File(PathBuf),
    /// Standard input.
    Standard,
}

impl Args {
    /// Parses the command line. The error is the help text, the version or a usage error, ready to
    /// be printed.
    pub fn read(line: impl IntoIterator<Item = std::ffi::OsString>) -> Result<(Self, Vec<ScriptInput>), clap::Error> {
        let matches = Self::command().try_get_matches_from(line)?;
        let args = Self::from_arg_matches(&matches)?;
        let inputs = args.inputs(&matches);
        Ok((args, inputs))
    }

    /// Returns the texts of `-c`, `-f` and the scripts, in the order of the command line.
    fn inputs(&self, matches: &ArgMatches) -> Vec<ScriptInput> {
        let indices = |id: &str| matches.indices_of(id).into_iter().flatten();
        let commands = self.command.iter().cloned().map(ScriptInput::Command);
        let file = |f: &PathBuf| match f.to_str() {
            Some("-") => ScriptInput::Standard,
            _ => ScriptInput::File(f.clone()),
        };
        let mut inputs: Vec<(usize, ScriptInput)> = indices("command").zip(commands).collect();
        inputs.extend(indices("file").zip(self.file.iter().map(file)));
        inputs.extend(indices("script").zip(self.script.iter().map(file)));
        inputs.sort_by_key(|(index, _)| *index);
        inputs.into_iter().map(|(_, input)| input).collect()
    }
}

/// Returns the versions of anonsql and DataFusion.
pub fn version() -> &'static str {
    static VERSION: LazyLock<String> = LazyLock::new(|| {
        format!(
            "{} (DataFusion {})",
            env!("CARGO_PKG_VERSION"),
            datafusion::DATAFUSION_VERSION
        )
    });
    &VERSION
}

/// Parses `NAME=VALUE`.
fn variable(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write NAME=VALUE, such as k=5")?;
    Ok((name.to_string(), value.to_string()))
}

/// Parses a number of threads, at most [`MOST_THREADS`]. More threads would cost more time to start
/// than they save.
fn threads(text: &str) -> Result<NonZeroUsize, String> {
    let threads: NonZeroUsize = text.parse().map_err(|e: ParseIntError| e.to_string())?;
    match threads.get() <= MOST_THREADS {
        true => Ok(threads),
        false => Err(format!("at most {MOST_THREADS}")),
    }
}

const MOST_THREADS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::EXIT_CODES;

    fn read(line: &[&str]) -> Result<(Args, Vec<ScriptInput>), clap::Error> {
        Args::read(["anonsql"].iter().chain(line).map(Into::into))
    }

    #[test]
    fn clap_accepts_the_declaration() {
        Args::command().debug_assert();
    }

    #[test]
    fn inputs_keep_their_order() {
        let line = [
            "-f", "a.sql", "-c", "SELECT 1", "b.sql", "--file=-", "-c", "SELECT 2", "./man",
        ];
        let (_, inputs) = read(&line).unwrap();
        assert_eq!(
            inputs,
            [
                ScriptInput::File("a.sql".into()),
                ScriptInput::Command("SELECT 1".into()),
                ScriptInput::File("b.sql".into()),
                ScriptInput::Standard,
                ScriptInput::Command("SELECT 2".into()),
                ScriptInput::File("./man".into())
            ]
        );
        assert!(read(&[]).unwrap().1.is_empty());
    }

    #[test]
    fn wrong_usage_is_refused() {
        for wrong in [
            &["--threads", "0"][..],
            &["--threads", "1025"],
            &["--format", "xml"],
            &["--memory-limit", "much"],
            &["-v", "k"],
            &["--init", "a.sql", "--no-init"],
            &["completions", "cmd"],
        ] {
            assert!(read(wrong).unwrap_err().use_stderr(), "{wrong:?}");
        }
    }

    #[test]
    fn help_has_examples_and_no_hidden_job() {
        let help = Args::command().render_long_help().to_string();
        assert!(help.contains("ANONYMIZE") && !help.contains("generate"), "{help}");
        for (code, meaning) in EXIT_CODES {
            assert!(help.contains(&format!("{code}  {meaning}")), "{code}");
        }
    }
}
