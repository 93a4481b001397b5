//! Workers on loopback, or executors of Ballista with their scheduler. A test starts them, and they
//! are stopped when the test ends.

use super::SECRET;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Running workers or executors.
pub struct Workers {
    running: Vec<(Child, String)>,
    scheduler: Option<(Child, String)>,
}

/// Starts a process of the command. Returns the process with its address.
fn started(arguments: &[&str], folder: &Path, how: impl Fn(&mut Command)) -> (Child, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anonsql"));
    command
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    how(&mut command);
    let mut process = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line.trim().rsplit(' ').next().unwrap().to_string();
    assert!(address.starts_with("127.0.0.1:"), "{arguments:?} says {line:?}");
    (process, address)
}

impl Workers {
    /// Starts `count` workers with one thread each. Their temporary files are in `folder`.
    pub fn start(count: usize, folder: &Path) -> Self {
        Self::with_secret(count, folder, SECRET)
    }

    /// Starts workers with the given secret for hashes.
    pub fn with_secret(count: usize, folder: &Path, secret: &str) -> Self {
        Self::with(count, folder, "http", |worker| {
            worker.env("SALT", secret);
        })
    }

    /// Starts workers that present a certificate and require one.
    pub fn with_certificates(count: usize, folder: &Path, certificates: &Path) -> Self {
        // The certificate is for the name localhost, so the URLs contain this name.
        let mut workers = Self::with(count, folder, "https", |worker| {
            worker.env("SALT", SECRET).arg("--tls").arg(certificates);
        });
        for (_, url) in &mut workers.running {
            *url = url.replace("127.0.0.1", "localhost");
        }
        workers
    }

    /// Starts workers with these environment variables.
    pub fn with_environment(count: usize, folder: &Path, environment: &[(&'static str, String)]) -> Self {
        Self::with(count, folder, "http", |worker| {
            worker.envs(environment.iter().cloned());
        })
    }

    fn with(count: usize, folder: &Path, scheme: &str, how: impl Fn(&mut Command)) -> Self {
        let arguments = ["worker", "--listen", "127.0.0.1:0", "--threads", "1", "--temp-dir", "."];
        let start = |_| {
            let (worker, address) = started(&arguments, folder, &how);
            (worker, format!("{scheme}://{address}"))
        };
        Self {
            running: (0..count).map(start).collect(),
            scheduler: None,
        }
    }

    /// Starts `count` executors of Ballista with one thread each, and a scheduler without any
    /// secret. The executors' files are in `folder`.
    pub fn of_ballista(count: usize, folder: &Path) -> Self {
        Self::of_ballista_with(count, folder, &[("SALT", SECRET.to_string())])
    }

    /// Starts executors with these environment variables, and a scheduler without them.
    pub fn of_ballista_with(count: usize, folder: &Path, environment: &[(&'static str, String)]) -> Self {
        let listen = ["cluster", "scheduler", "--listen", "127.0.0.1:0"];
        let (scheduler, address) = started(&listen, folder, |_| {});
        let arguments = [
            "cluster",
            "executor",
            "--threads",
            "1",
            "--temp-dir",
            ".",
            "--scheduler",
            &address,
        ];
        let start = |_| {
            started(&arguments, folder, |executor| {
                executor.envs(environment.iter().cloned());
            })
        };
        Self {
            running: (0..count).map(start).collect(),
            scheduler: Some((scheduler, format!("df://{address}"))),
        }
    }

    /// Returns the addresses as the value of `--cluster`.
    pub fn urls(&self) -> String {
        if let Some((_, url)) = &self.scheduler {
            return url.clone();
        }
        let urls: Vec<&str> = self.running.iter().map(|(_, url)| url.as_str()).collect();
        urls.join(",")
    }

    /// Kills the worker with index `which` by SIGKILL.
    pub fn kill(&mut self, which: usize) {
        self.running[which].0.kill().unwrap();
        self.running[which].0.wait().unwrap();
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for (worker, _) in self.running.iter_mut().chain(&mut self.scheduler) {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}
