//! The module graph of the architecture: a module imports only from rows above its own.

use std::collections::BTreeMap;
use std::path::Path;

/// The level of each module, and those that may not name DataFusion.
const LEVELS: &[(&str, u8)] = &[
    ("error", 0),
    ("plain", 0),
    ("settings", 1),
    ("catalogue", 1),
    ("lattice", 1),
    ("hierarchy", 2),
    ("search", 2),
    ("frequency", 3),
    ("partition", 3),
    ("recode", 4),
    ("model", 4),
    ("metric", 4),
    ("risk", 4),
    ("report", 5),
    ("engine", 5),
    ("suggest", 5),
    ("sql", 6),
    ("session", 7),
    ("generate", 8),
    ("cli", 9),
    ("main", 10),
];

/// Inside a row, `engine` and `report` are above what they read; `search` needs the lattice of its own row.
const WITHOUT_DATAFUSION: &[&str] = &[
    "catalogue",
    "lattice",
    "search",
    "hierarchy",
    "metric",
    "partition",
    "suggest",
    "generate",
];

fn files(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn modules_import_only_from_rows_above() {
    let levels: BTreeMap<&str, u8> = LEVELS.iter().copied().collect();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = vec![];
    files(&source, &mut found);
    let mut broken = vec![];
    for path in found {
        let relative = path.strip_prefix(&source).unwrap();
        let module = relative
            .iter()
            .next()
            .unwrap()
            .to_str()
            .unwrap()
            .trim_end_matches(".rs")
            .to_string();
        if module == "lib" {
            continue;
        }
        let level = levels
            .get(module.as_str())
            .unwrap_or_else(|| panic!("{module} is not in the table"));
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod ").next().unwrap();
        for (number, line) in code
            .lines()
            .enumerate()
            .filter(|(_, l)| !l.trim_start().starts_with("//"))
        {
            for used in line.split("crate::").skip(1) {
                let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let Some(other) = levels.get(name.as_str()) else {
                    continue;
                };
                if name != module && other >= level && !(module == "engine" && name == "report") {
                    broken.push(format!("{}:{}: {module} uses {name}", relative.display(), number + 1));
                }
            }
            if WITHOUT_DATAFUSION.contains(&module.as_str()) && line.contains("datafusion::") {
                broken.push(format!(
                    "{}:{}: {module} uses DataFusion",
                    relative.display(),
                    number + 1
                ));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}
