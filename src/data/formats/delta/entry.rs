//! Reads the description of a commit from its log entry.

use serde_json::Value;

/// Returns the `commitInfo` of a log entry; `None` if the entry has no `commitInfo`.
pub(super) fn commit_info(entry: &[u8]) -> Option<Value> {
    let lines = entry.split(|byte| *byte == b'\n');
    let mut entries = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    entries.find_map(|entry| entry.get("commitInfo").cloned())
}
