//! What an entry of the log says of the commit that put it.

use serde_json::Value;

/// Returns what an entry of the log says of its commit.
pub(super) fn commit_info(entry: &[u8]) -> Option<Value> {
    let lines = entry.split(|byte| *byte == b'\n');
    let mut entries = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    entries.find_map(|entry| entry.get("commitInfo").cloned())
}
