//! A page of Markdown: its blocks of code and its links.

use std::path::{Path, PathBuf};

/// A page with its blocks, in order.
pub struct Page {
    /// Relative to the repository's root.
    pub path: PathBuf,
    pub text: String,
    pub blocks: Vec<Block>,
}

/// A fenced block of code.
pub struct Block {
    /// The line number of its first line of code, counted from 1.
    pub line: usize,
    pub language: Language,
    pub text: String,
}

/// The way in which a block is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Runs in the page's session.
    Sql,
    /// Runs in bash.
    Shell,
    /// Compiles as a documentation test of the library.
    Rust,
    /// Output of earlier blocks: the page must already have printed each line.
    Output,
    /// A fragment of syntax, or a file of another tool.
    Shown,
}

impl Page {
    /// Reads the page at `path` under `root`.
    pub fn read(root: &Path, path: &Path) -> Self {
        let text = std::fs::read_to_string(root.join(path)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Self::parse(path, text)
    }

    /// Panics if a block is not closed, or is in a language that no test checks.
    pub fn parse(path: &Path, text: String) -> Self {
        let blocks = blocks(path, &text);
        Self {
            path: path.to_path_buf(),
            text,
            blocks,
        }
    }

    /// Returns the targets of the page's links and pictures in the repository, as they are written.
    fn targets(&self) -> impl Iterator<Item = &str> {
        let targets = self.text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        targets.filter(|target| !target.contains("://"))
    }

    /// Returns the targets of the page's links and pictures in other files, without the part after
    /// `#`.
    pub fn links(&self) -> Vec<&str> {
        let files = self.targets().filter_map(|target| target.split('#').next());
        files.filter(|target| !target.is_empty()).collect()
    }

    /// Returns the links to a heading: the file, which is empty for this page, and the part after
    /// `#`.
    pub fn links_to_headings(&self) -> Vec<(&str, &str)> {
        self.targets().filter_map(|target| target.split_once('#')).collect()
    }

    /// Returns the names that links use for the page's headings.
    pub fn headings(&self) -> Vec<String> {
        let fenced = self.text.split("\n```").step_by(2);
        let lines = fenced.flat_map(str::lines).filter(|line| line.starts_with('#'));
        lines.map(|line| slug(line.trim_start_matches('#').trim())).collect()
    }
}

/// Returns the name that links use for a heading: in lower case, with hyphens for spaces, and
/// without other punctuation.
fn slug(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

fn blocks(path: &Path, text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = vec![];
    let mut open = false;
    for (index, line) in text.lines().enumerate() {
        let fence = line.trim_start().strip_prefix("```");
        match (open, fence) {
            (false, Some(language)) => {
                found.push(Block {
                    line: index + 2,
                    language: parse(language)
                        .unwrap_or_else(|| panic!("{}:{}: a block of {language:?}", path.display(), index + 1)),
                    text: String::new(),
                });
                open = true;
            }
            (true, Some(_)) => open = false,
            (true, None) => {
                let text = &mut found.last_mut().unwrap().text;
                text.push_str(line);
                text.push('\n');
            }
            (false, None) => {}
        }
    }
    assert!(!open, "{}: the last block does not end", path.display());
    found
}

fn parse(language: &str) -> Option<Language> {
    Some(match language {
        "sql" => Language::Sql,
        "sh" => Language::Shell,
        "rust" => Language::Rust,
        "output" => Language::Output,
        // Blocks in Python run in python/tests/test_book.py.
        "text" | "json" | "toml" | "yaml" | "python" => Language::Shown,
        _ => return None,
    })
}
