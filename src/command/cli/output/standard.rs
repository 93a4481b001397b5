//! Standard output, with a flag that tells whether its reader has closed the pipe.

use std::io::{ErrorKind, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// A writer to standard output. When a write fails because the reader has closed the pipe, it sets
/// the flag that [`reader_gone`] returns.
pub struct StandardOutput(Stdout);

static READER_GONE: AtomicBool = AtomicBool::new(false);

/// Returns true if the reader of standard output, such as `head`, has closed the pipe. This is not
/// treated as an error.
pub fn reader_gone() -> bool {
    READER_GONE.load(Ordering::Relaxed)
}

impl StandardOutput {
    /// Returns the standard output of this process.
    pub fn new() -> Self {
        Self(std::io::stdout())
    }

    fn note<T>(result: std::io::Result<T>) -> std::io::Result<T> {
        if matches!(&result, Err(e) if e.kind() == ErrorKind::BrokenPipe) {
            READER_GONE.store(true, Ordering::Relaxed);
        }
        result
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Self::note(self.0.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Self::note(self.0.flush())
    }
}
