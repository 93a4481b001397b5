//! What is typed while a statement runs: it waits for the prompt.

/// While this value exists, the terminal does not echo typed text, which would be mixed with the
/// printed rows, and does not buffer it by lines, which the system limits to 4,096 bytes. Ctrl-C
/// and Ctrl-Z work as usual.
pub struct TypeAhead(#[cfg(unix)] Option<nix::sys::termios::Termios>);

impl TypeAhead {
    /// Keeps what is typed from now on. Does nothing if standard input is no terminal.
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

    /// Does nothing: the line editor of this system keeps what is typed.
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

/// Sets the mode of the terminal, and leaves what was typed. A failure is ignored: what is typed is
/// then shown.
#[cfg(unix)]
fn set(mode: &nix::sys::termios::Termios) {
    use nix::sys::termios::{SetArg, tcsetattr};
    let _ = tcsetattr(std::io::stdin(), SetArg::TCSADRAIN, mode);
}

/// Returns true if something was typed that nobody has read.
#[cfg(unix)]
pub fn is_waiting() -> bool {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    use std::os::fd::AsFd;
    // In the usual mode only whole lines count as typed.
    let _mode = TypeAhead::keep();
    let stdin = std::io::stdin();
    let mut typed = [PollFd::new(stdin.as_fd(), PollFlags::POLLIN)];
    poll(&mut typed, PollTimeout::ZERO).is_ok_and(|ready| ready > 0)
}

/// Returns false: this system does not say what was typed.
#[cfg(not(unix))]
pub fn is_waiting() -> bool {
    false
}
