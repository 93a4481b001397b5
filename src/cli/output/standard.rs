//! Standard output, with a record of whether its reader has closed it.

use std::io::{ErrorKind, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Standard output. It records when its reader has closed it.
pub struct StandardOutput(Stdout);

static READER_GONE: AtomicBool = AtomicBool::new(false);

/// Returns true if the reader of standard output, such as `head`, has closed it. This is not an
/// error.
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
