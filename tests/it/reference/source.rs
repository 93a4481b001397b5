//! Reads the definition of an entry from the module documentation of the file that implements it.

use std::path::{Path, PathBuf};

/// Returns the paragraphs that define `name` in `folder` of `src`. The headline (the first
/// paragraph), examples and references are left out, because the entry itself contains them.
pub fn definition(folder: &str, name: &str) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
    let candidates = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
    let found = candidates.iter().find(|path| path.is_file());
    let path: &PathBuf = found.unwrap_or_else(|| panic!("no file implements {name} in {}", folder.display()));
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map_while(|line| line.strip_prefix("//!"));
    let lines: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let paragraphs = lines.split(|line| line.is_empty()).map(|lines| lines.join("\n"));
    let is_kept = |text: &String| !text.starts_with("Example:") && !text.starts_with("Reference:");
    let mut kept: Vec<String> = paragraphs.skip(1).filter(is_kept).collect();
    if kept
        .last()
        .is_some_and(|last| last.contains("doi:") && !last.contains("**"))
    {
        kept.pop();
    }
    kept.iter().map(|paragraph| without_links(paragraph)).collect()
}

/// Replaces links of rustdoc, such as [`Oracle::bound`], by the text that rustdoc shows.
fn without_links(text: &str) -> String {
    let (mut out, mut rest) = (String::new(), text);
    while let Some((before, after)) = rest.split_once("[`") {
        let Some((code, after)) = after.split_once("`]") else {
            break;
        };
        let target = after.strip_prefix('(').and_then(|link| link.split_once(')'));
        out += &format!("{before}`{}`", code.rsplit("super::").next().unwrap_or(code));
        rest = target.map_or(after, |(_, after)| after);
    }
    out + rest
}

#[test]
fn links_of_rustdoc_become_code() {
    assert_eq!(
        without_links("up to [`CUTS`](divide::CUTS) cuts of [`super::Oracle`], [20, 29]"),
        "up to `CUTS` cuts of `Oracle`, [20, 29]"
    );
}
