//! Notes for the observer of the statement about unexpected properties of a source.

use datafusion::prelude::SessionConfig;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The notes of the running statement. It is an extension of the session's configuration. The notes
/// are a set, because a source may be read more than once.
#[derive(Debug, Default)]
pub(crate) struct Noted(Mutex<BTreeSet<String>>);

impl Noted {
    /// Adds an empty set of notes to a session's configuration, unless it already has one.
    pub(crate) fn set(config: &mut SessionConfig) {
        if config.get_extension::<Self>().is_none() {
            config.set_extension(Arc::new(Self::default()));
        }
    }

    /// Adds a note. Does nothing if the session keeps no notes.
    pub(crate) fn add(config: &SessionConfig, note: String) {
        if let Some(noted) = config.get_extension::<Self>() {
            noted.0.lock().insert(note);
        }
    }

    /// Returns all notes of a session and clears them.
    pub(crate) fn take(config: &SessionConfig) -> BTreeSet<String> {
        let noted = config.get_extension::<Self>();
        noted
            .map(|noted| std::mem::take(&mut *noted.0.lock()))
            .unwrap_or_default()
    }
}
