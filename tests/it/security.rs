//! Checks that every test that SECURITY.md names for a promise exists.

use std::path::Path;

#[test]
fn every_test_that_a_promise_names_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let promises = text.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    let named: Vec<&str> = promises.flat_map(|line| line.split('`').skip(1).step_by(2)).collect();
    let named: Vec<&str> = named
        .into_iter()
        .filter(|n| n.starts_with("src/") || n.starts_with("tests/"))
        .collect();
    assert!(named.len() > 15, "the table of promises is not read: {named:?}");
    let is_there = |name: &str| {
        let (path, test) = name.split_once("::").unwrap_or((name, ""));
        let path = root.join(path.trim_end_matches("*.slt"));
        match test {
            "" => path.exists(),
            test => std::fs::read_to_string(path).is_ok_and(|code| code.contains(&format!("fn {test}("))),
        }
    };
    let gone: Vec<&str> = named.into_iter().filter(|name| !is_there(name)).collect();
    assert!(gone.is_empty(), "SECURITY.md names what is not there: {gone:?}");
}
