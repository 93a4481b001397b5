//! Findings in a source that the user may not expect. The observer of the statement receives them.

use datafusion::prelude::SessionConfig;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The notes of the running statement, kept in the session's configuration. A source may be read
/// more than once.
#[derive(Debug, Default)]
pub(crate) struct Noted(Mutex<BTreeSet<String>>);

impl Noted {
    /// Lets a session keep notes.
    pub(crate) fn set(config: &mut SessionConfig) {
        if config.get_extension::<Self>().is_none() {
            config.set_extension(Arc::new(Self::default()));
        }
    }

    /// Adds a note.
    pub(crate) fn add(config: &SessionConfig, note: String) {
        if let Some(noted) = config.get_extension::<Self>() {
            noted.0.lock().insert(note);
        }
    }

    /// Returns the notes, and forgets them.
    pub(crate) fn take(config: &SessionConfig) -> BTreeSet<String> {
        let noted = config.get_extension::<Self>();
        noted
            .map(|noted| std::mem::take(&mut *noted.0.lock()))
            .unwrap_or_default()
    }
}
