//! Detects mount points, which are folders that cannot be replaced by another folder.

use std::path::Path;

/// Returns true if the system reports that something is mounted at this folder.
pub(super) fn is_mount_point(folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else {
        return false;
    };
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let points = mounts.lines().filter_map(|line| line.split(' ').nth(4));
    points.map(spelled).any(|point| Path::new(&point) == folder)
}

/// Decodes a path in the system's list of mounts, in which blanks, tabs, line breaks and
/// backslashes are written as three octal digits.
fn spelled(point: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(point.to_string(), |path, (code, character)| {
            path.replace(code, character)
        })
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn what_is_mounted_is_known() {
        assert!(is_mount_point(Path::new("/proc")) && is_mount_point(Path::new("/proc/../proc/")));
        let scratch = tempfile::tempdir().unwrap();
        assert!(!is_mount_point(scratch.path()) && !is_mount_point(&scratch.path().join("nothing")));
        assert_eq!(spelled("/a\\040b"), "/a b");
    }
}
