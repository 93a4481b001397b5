//! Writes hierarchies in the format of ARX: no header, `;` between levels, the original value
//! first, `*` last.

use super::medical::{CHAPTERS, diagnoses};
use super::vocabulary::{self as words, Category};
use crate::base::error::{Error, Result};
use std::path::Path;

/// The oldest age in `age.csv`. It exceeds every age in the tables.
const LAST_AGE: u32 = 119;

/// Writes one CSV file per categorical column into the folder `dir`, which is created if needed.
pub fn write_hierarchies(dir: &Path) -> Result<()> {
    std::fs::create_dir_all(dir).map_err(|e| Error::io(dir.display(), e))?;
    for (name, text) in all() {
        let path = dir.join(format!("{name}.csv"));
        std::fs::write(&path, text).map_err(|e| Error::io(path.display(), e))?;
    }
    Ok(())
}

fn all() -> Vec<(&'static str, String)> {
    vec![
        ("age", lines((0..=LAST_AGE).map(age))),
        ("diagnosis", lines(diagnosis())),
        ("education", of_words(words::EDUCATION)),
        ("marital_status", of_words(words::MARITAL_STATUS)),
        ("native_country", of_words(words::NATIVE_COUNTRY)),
        ("occupation", of_words(words::OCCUPATION)),
        ("race", of_words(words::RACE)),
        ("salary_class", of_words(words::SALARY_CLASS)),
        ("sex", of_words(words::SEX)),
        ("workclass", of_words(words::WORKCLASS)),
    ]
}

fn of_words(values: &[Category]) -> String {
    lines(values.iter().map(|v| {
        std::iter::once(v.label)
            .chain(v.groups.iter().copied())
            .map(String::from)
            .collect()
    }))
}

fn age(age: u32) -> Vec<String> {
    let group = |width: u32| format!("{}-{}", age / width * width, age / width * width + width - 1);
    vec![age.to_string(), group(5), group(10), group(20)]
}

fn diagnosis() -> impl Iterator<Item = Vec<String>> {
    diagnoses()
        .into_iter()
        .map(|d| vec![d.code.into(), d.block.into(), CHAPTERS[d.chapter].title.into()])
}

/// Returns one line per original value, with `*` added as the top level.
fn lines(rows: impl IntoIterator<Item = Vec<String>>) -> String {
    rows.into_iter().map(|levels| levels.join(";") + ";*\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn groups_nest_and_every_ground_value_is_there_once() {
        for (name, text) in all() {
            let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(';').collect()).collect();
            let levels = rows[0].len();
            let mut parents = vec![HashMap::new(); levels - 1];
            for row in &rows {
                assert_eq!((row.len(), row[levels - 1]), (levels, "*"), "{name}");
                for (level, parents) in parents.iter_mut().enumerate() {
                    let parent = *parents.entry(row[level]).or_insert(row[level + 1]);
                    assert_eq!(parent, row[level + 1], "{name}: {} has two parents", row[level]);
                }
            }
            assert_eq!(parents[0].len(), rows.len(), "{name}: a ground value twice");
        }
    }
}
