//! The information about a commit in its entry of the log.

use serde_json::Value;

/// Returns the information about a commit in its entry of the log.
pub(super) fn commit_info(entry: &[u8]) -> Option<Value> {
    let lines = entry.split(|byte| *byte == b'\n');
    let mut entries = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    entries.find_map(|entry| entry.get("commitInfo").cloned())
}
