//! Converts a panic to an error that contains its source location. The message of the panic is
//! dropped, because it may quote data.

use crate::base::error::{Error, Result};
use parking_lot::Mutex;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

/// The source location of the last panic.
static PLACE: Mutex<Option<String>> = Mutex::new(None);

/// Suppresses the messages that Rust prints on panics, unless a backtrace is requested.
pub fn keep_quiet() {
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|v| v != "0") {
        return;
    }
    set_hook(Box::new(|info| {
        *PLACE.lock() = info.location().map(|l| format!("{}:{}", l.file(), l.line()));
    }));
}

/// Returns an error that contains the location of the last panic.
pub fn error() -> Error {
    let place = PLACE.lock().take().unwrap_or_else(|| "an unknown place".into());
    Error::internal(format!("stopped at {place}; RUST_BACKTRACE=1 shows more"))
}

/// Runs `f`, and converts a panic to an error.
pub fn caught<T>(f: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| Err(error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_without_its_message() {
        let error = caught::<()>(|| panic!("Alice")).unwrap_err();
        assert_eq!(error.exit_code(), 1);
        assert!(
            !error.to_string().contains("Alice") && error.to_string().contains("bug"),
            "{error}"
        );
    }
}
