//! Plays a page as its reader would, in a copy of the repository: one session runs its SQL, and a
//! shell runs its commands.

use super::page::{Block, Language, Page};
use rustix::fs::OFlags;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// Commands of other programs that a page may show and the tests do not execute. Commands that run
/// anonsql are not in the list.
const NOT_RUN: &[&str] = &[
    "cargo install anonsql --locked",
    "cargo test",
    "cargo test --all-features",
    "cargo doc --open",
    "docker build -t anonsql .",
];

/// A folder that looks like the repository's root. Its programs include `anonsql`.
pub struct Scratch {
    folder: TempDir,
}

/// One run of the command for all the SQL of a page. Each SQL block is a named pipe, and the
/// command opens a pipe after it has executed the previous block. Therefore, a shell block between
/// two SQL blocks runs between them.
struct Session {
    child: Child,
    pipes: std::vec::IntoIter<PathBuf>,
    /// The pipe that the command is reading.
    ready: Option<File>,
    errors: PathBuf,
}

/// Plays every block of a page. Returns the folder in which the page was played, or the first
/// failure with its page and line.
pub fn play(root: &Path, page: &Page) -> Result<Scratch, String> {
    let scratch = Scratch::of(root);
    let blocks = page.blocks.iter().filter(|b| b.language == Language::Sql).count();
    let mut session = (blocks > 0).then(|| Session::start(&scratch, blocks));
    for block in &page.blocks {
        let done = match (block.language, &mut session) {
            (Language::Sql, Some(session)) => session.run(block),
            (Language::Shell, _) => scratch.shell(block),
            (Language::Output, _) => scratch.printed(block),
            _ => Ok(()),
        };
        done.map_err(|e| format!("{}:{}: {e}\n{}", page.path.display(), block.line, block.text))?;
    }
    Ok(scratch)
}

/// A script that writes the key pair of RFC 8410, section 10. It replaces openssl, which may be
/// missing.
const KEYS: &str = "#!/bin/sh
for file; do :; done
case $1 in
genpkey) kind=PRIVATE body=MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC ;;
*) kind=PUBLIC body=MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE= ;;
esac
printf -- '-----BEGIN %s KEY-----\\n%s\\n-----END %s KEY-----\\n' $kind $body $kind >$file
";

impl Scratch {
    fn of(root: &Path) -> Self {
        let scratch = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for entry in std::fs::read_dir(root).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name();
            match name.to_str().unwrap() {
                "out" | "target" => {}
                // The page may write to these folders, so they are copied.
                "data" | "sql" => copy(&entry.path(), &scratch.root().join(name)),
                _ => std::os::unix::fs::symlink(entry.path(), scratch.root().join(name)).unwrap(),
            }
        }
        std::fs::create_dir(scratch.programs()).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_anonsql"), scratch.programs().join("anonsql")).unwrap();
        for program in ["cargo", "docker"] {
            scratch.pretend(program);
        }
        if Command::new("openssl").arg("version").output().is_err() {
            scratch.write_program("openssl", KEYS);
        }
        scratch
    }

    pub fn root(&self) -> &Path {
        self.folder.path()
    }

    fn programs(&self) -> PathBuf {
        self.root().join(".programs")
    }

    /// Replaces `program` by a script. The script runs anonsql where the real program would,
    /// accepts the commands in [`NOT_RUN`], and fails for any other command.
    fn pretend(&self, program: &str) {
        let known: Vec<String> = NOT_RUN
            .iter()
            .filter_map(|command| command.strip_prefix(program)?.strip_prefix(' '))
            .map(|arguments| format!("'{arguments}'"))
            .collect();
        let script = format!(
            "#!/bin/sh\ncase \"$*\" in\n\
             'run -- '*) shift 2; exec anonsql \"$@\" ;;\n\
             {}) ;;\n\
             *) echo \"{program} $*: not among the commands that tests/it/book knows\" >&2; exit 1 ;;\nesac\n",
            known.join("|")
        );
        self.write_program(program, &script);
    }

    fn write_program(&self, program: &str, script: &str) {
        let path = self.programs().join(program);
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let path = std::env::var("PATH").unwrap();
        let mut command = Command::new(program);
        command
            .current_dir(self.root())
            .env("PATH", format!("{}:{path}", self.programs().display()))
            .env("HOME", self.root())
            .env("ANONSQL_HISTORY", "")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("RUST_BACKTRACE");
        command
    }

    /// Opens the file that receives the page's output.
    fn output(&self) -> File {
        let path = self.programs().join("output");
        OpenOptions::new().create(true).append(true).open(path).unwrap()
    }

    /// Checks that the page has printed each line of the block.
    fn printed(&self, block: &Block) -> Result<(), String> {
        let output = std::fs::read_to_string(self.programs().join("output")).unwrap();
        let missing = block.text.lines().find(|line| !output.lines().any(|l| l == *line));
        missing.map_or(Ok(()), |line| Err(format!("not printed: {line}\n{output}")))
    }

    fn shell(&self, block: &Block) -> Result<(), String> {
        let mut shell = self.command("bash");
        shell
            .args(["-euo", "pipefail", "-c", &block.text])
            .stdout(self.output());
        let run = shell.output().map_err(|e| e.to_string())?;
        match run.status.success() {
            true => Ok(()),
            false => Err(format!("{}: {}", run.status, String::from_utf8_lossy(&run.stderr))),
        }
    }
}

impl Session {
    fn start(scratch: &Scratch, blocks: usize) -> Self {
        let pipes: Vec<PathBuf> = (0..blocks)
            .map(|i| scratch.programs().join(format!("{i}.sql")))
            .collect();
        assert!(Command::new("mkfifo").args(&pipes).status().unwrap().success());
        let errors = scratch.programs().join("errors");
        let child = scratch
            .command("anonsql")
            .args(pipes.iter().flat_map(|pipe| [Path::new("-f"), pipe]))
            .stdin(Stdio::null())
            .stdout(scratch.output())
            .stderr(File::create(&errors).unwrap())
            .spawn()
            .unwrap();
        Self {
            child,
            pipes: pipes.into_iter(),
            ready: None,
            errors,
        }
    }

    /// Runs a block until it ends.
    fn run(&mut self, block: &Block) -> Result<(), String> {
        let mut pipe = match self.ready.take() {
            Some(pipe) => pipe,
            None => self.next()?,
        };
        pipe.write_all(block.text.as_bytes()).unwrap();
        drop(pipe);
        match self.pipes.len() {
            0 => self
                .child
                .wait()
                .map_err(|e| e.to_string())
                .and_then(|s| self.outcome(s)),
            _ => self.next().map(|pipe| self.ready = Some(pipe)),
        }
    }

    /// Waits until the command reads the next pipe. Fails if the command has ended.
    fn next(&mut self) -> Result<File, String> {
        let path = self.pipes.next().unwrap();
        // If no process reads from the pipe, opening it fails immediately.
        let without_waiting = OFlags::NONBLOCK.bits().cast_signed();
        loop {
            let opened = OpenOptions::new().write(true).custom_flags(without_waiting).open(&path);
            if let Ok(pipe) = opened {
                return Ok(pipe);
            }
            if let Some(status) = self.child.try_wait().unwrap() {
                self.outcome(status)?;
                return Err("the command ended before its last script".into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn outcome(&self, status: ExitStatus) -> Result<(), String> {
        match status.success() {
            true => Ok(()),
            false => Err(std::fs::read_to_string(&self.errors).unwrap()),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // If the page failed, the command is still waiting for its next block. Otherwise, the
        // command has ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}
