//! Keeps the text that the user types while a statement is running, for the next prompt.

/// A mode of the terminal that is active as long as this value exists. In this mode, typed text is
/// neither echoed nor buffered line by line. An echo would be mixed with printed rows, and the
/// system limits a buffered line to 4,096 bytes. Ctrl-C and Ctrl-Z work as usual.
pub struct TypeAhead(#[cfg(unix)] Option<nix::sys::termios::Termios>);

impl TypeAhead {
    /// Starts the mode. Does nothing if standard input is not a terminal.
    #[cfg(unix)]
    pub fn keep() -> Self {
        use nix::sys::termios::{LocalFlags, tcgetattr};
        let before = tcgetattr(std::io::stdin()).ok();
        if let Some(before) = &before {
            let mut kept = before.clone();
            kept.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
            set(&kept);
        }
        Self(before)
    }

    /// Does nothing, because the line editor on this system keeps typed text itself.
    #[cfg(not(unix))]
    pub fn keep() -> Self {
        Self()
    }
}

#[cfg(unix)]
impl Drop for TypeAhead {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            set(before);
        }
    }
}

/// Sets the mode of the terminal without losing typed text. If this fails, the error is ignored,
/// and typed text is echoed.
#[cfg(unix)]
fn set(mode: &nix::sys::termios::Termios) {
    use nix::sys::termios::{SetArg, tcsetattr};
    let _ = tcsetattr(std::io::stdin(), SetArg::TCSADRAIN, mode);
}

/// Returns true if the user has typed text that has not been read yet.
#[cfg(unix)]
pub fn is_waiting() -> bool {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;
    // In the usual mode of a terminal, text is reported only when its line is complete.
    let _mode = TypeAhead::keep();
    let stdin = std::io::stdin();
    let mut typed = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    poll(&mut typed, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

/// Returns false, because this system does not report typed text.
#[cfg(not(unix))]
pub fn is_waiting() -> bool {
    false
}
