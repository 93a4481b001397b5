//! The JSON Schema of a manifest. `docs/src/manifest.schema.json` is what the types say, or the test
//! fails; `UPDATE_DOCS=1` writes it anew.

use super::Manifest;
use std::path::Path;

#[test]
fn the_schema_in_the_book_is_that_of_the_types() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/src/manifest.schema.json");
    let schema = schemars::schema_for!(Manifest);
    let text = serde_json::to_string_pretty(&schema).unwrap() + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == text,
        "{} is not that of the types; UPDATE_DOCS=1 writes it anew",
        path.display()
    );
}
