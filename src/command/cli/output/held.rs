//! The destination of results: standard output, a file, or memory, where a result is kept until its
//! length is known.

use super::standard::StandardOutput;
use parking_lot::Mutex;
use std::fs::File;
use std::io::{Result, Write};
use std::sync::Arc;

/// The destination of results.
#[derive(Debug, Clone)]
pub enum Destination {
    /// Standard output. Results are printed while they are computed.
    Standard,
    /// Memory, so that a pager can show a result that is longer than the screen.
    Held(Held),
    /// A file.
    File(Arc<File>),
}

impl Destination {
    /// Returns true if the results go to standard output, directly or through memory.
    pub fn is_standard(&self) -> bool {
        !matches!(self, Self::File(_))
    }

    pub(super) fn writer(&self) -> Box<dyn Write + Send> {
        match self {
            Self::Standard => Box::new(StandardOutput::new()),
            Self::Held(held) => Box::new(held.clone()),
            Self::File(file) => Box::new(Arc::clone(file)),
        }
    }
}

/// The maximum number of bytes that are kept in memory. A longer result is written to standard
/// output directly, without a pager.
const MOST: usize = 4 << 20;

/// Output that is kept in memory until [`Held::take`] is called.
#[derive(Debug, Clone, Default)]
pub struct Held(Arc<Mutex<State>>);

#[derive(Debug)]
enum State {
    Holding(Vec<u8>),
    Passing,
}

impl Default for State {
    fn default() -> Self {
        Self::Holding(vec![])
    }
}

impl Held {
    /// Removes the bytes from memory and returns them. Later output is kept in memory again.
    pub fn take(&self) -> Vec<u8> {
        match std::mem::take(&mut *self.0.lock()) {
            State::Holding(bytes) => bytes,
            State::Passing => vec![],
        }
    }
}

impl Write for Held {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let mut state = self.0.lock();
        match &mut *state {
            State::Holding(held) => {
                held.extend_from_slice(bytes);
                if held.len() > MOST {
                    let held = std::mem::take(held);
                    *state = State::Passing;
                    StandardOutput::new().write_all(&held)?;
                }
            }
            State::Passing => StandardOutput::new().write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        match *self.0.lock() {
            State::Holding(_) => Ok(()),
            State::Passing => StandardOutput::new().flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_held_is_taken_once() {
        let held = Held::default();
        let mut out = Destination::Held(held.clone()).writer();
        out.write_all(b"a\n").unwrap();
        out.write_all(b"b\n").unwrap();
        assert_eq!(held.take(), b"a\nb\n");
        assert_eq!(held.take(), b"");
    }
}
