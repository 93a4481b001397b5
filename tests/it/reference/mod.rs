//! Compares `docs/src/reference` with the pages that are generated from the catalogues.
//! `UPDATE_DOCS=1` writes the pages again.

mod page;
mod source;

use std::path::Path;

/// The folder of the pages, from the root of the package.
const FOLDER: &str = "docs/src/reference";

#[test]
fn the_reference_says_what_the_catalogues_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let pages = page::all();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        pages
            .iter()
            .for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
    }
    for (name, text) in &pages {
        let written = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        assert!(
            written == *text,
            "{FOLDER}/{name} is not what the catalogues say; UPDATE_DOCS=1 writes it anew"
        );
    }
    let files = std::fs::read_dir(&folder).unwrap().flatten();
    let extra: Vec<_> = files
        .map(|f| f.file_name())
        .filter(|f| pages.iter().all(|(name, _)| f != name))
        .collect();
    assert!(extra.is_empty(), "{FOLDER} holds pages that nothing makes: {extra:?}");
}
