//! Workers on loopback, started by a test and ended with it.

use super::SECRET;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Running workers.
pub struct Workers {
    running: Vec<(Child, String)>,
}

impl Workers {
    /// Starts so many workers with one thread each, whose temporary files are in `folder`.
    pub fn start(count: usize, folder: &Path) -> Self {
        Self::with_secret(count, folder, SECRET)
    }

    /// Starts workers with another secret of hashes.
    pub fn with_secret(count: usize, folder: &Path, secret: &str) -> Self {
        Self::with(count, folder, "http", |worker| {
            worker.env("SALT", secret);
        })
    }

    /// Starts workers that show a certificate, and ask for one.
    pub fn with_certificates(count: usize, folder: &Path, certificates: &Path) -> Self {
        // The name that the certificate is for.
        let mut workers = Self::with(count, folder, "https", |worker| {
            worker.env("SALT", SECRET).arg("--tls").arg(certificates);
        });
        for (_, url) in &mut workers.running {
            *url = url.replace("127.0.0.1", "localhost");
        }
        workers
    }

    /// Starts workers in this environment.
    pub fn with_environment(count: usize, folder: &Path, environment: &[(&'static str, String)]) -> Self {
        Self::with(count, folder, "http", |worker| {
            worker.envs(environment.iter().cloned());
        })
    }

    fn with(count: usize, folder: &Path, scheme: &str, how: impl Fn(&mut Command)) -> Self {
        let start = |_| {
            let mut worker = Command::new(env!("CARGO_BIN_EXE_anonsql"));
            worker
                .args(["worker", "--listen", "127.0.0.1:0", "--threads", "1", "--temp-dir"])
                .arg(folder)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null());
            how(&mut worker);
            let mut worker = worker.spawn().unwrap();
            let mut line = String::new();
            BufReader::new(worker.stdout.take().unwrap())
                .read_line(&mut line)
                .unwrap();
            let address = line.trim().rsplit(' ').next().unwrap();
            assert!(address.starts_with("127.0.0.1:"), "a worker says {line:?}");
            (worker, format!("{scheme}://{address}"))
        };
        Self {
            running: (0..count).map(start).collect(),
        }
    }

    /// The addresses, as `--cluster` takes them.
    pub fn urls(&self) -> String {
        let urls: Vec<&str> = self.running.iter().map(|(_, url)| url.as_str()).collect();
        urls.join(",")
    }

    /// Kills a worker with SIGKILL.
    pub fn kill(&mut self, which: usize) {
        self.running[which].0.kill().unwrap();
        self.running[which].0.wait().unwrap();
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        for (worker, _) in &mut self.running {
            let _ = worker.kill();
            let _ = worker.wait();
        }
    }
}
