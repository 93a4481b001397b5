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
        let start = |_| {
            let mut worker = Command::new(env!("CARGO_BIN_EXE_anonsql"))
                .args(["worker", "--listen", "127.0.0.1:0", "--threads", "1", "--temp-dir"])
                .arg(folder)
                .env("SALT", secret)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let mut line = String::new();
            BufReader::new(worker.stdout.take().unwrap())
                .read_line(&mut line)
                .unwrap();
            let address = line.trim().rsplit(' ').next().unwrap();
            assert!(address.starts_with("127.0.0.1:"), "a worker says {line:?}");
            (worker, format!("http://{address}"))
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
