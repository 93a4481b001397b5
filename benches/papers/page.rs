//! The page of results, and the files beside it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The text of `index.html`. Each section is appended to it.
pub struct Page {
    folder: PathBuf,
    body: String,
}

const STYLE: &str = "body{font:15px/1.45 system-ui,sans-serif;max-width:1180px;margin:2em auto;padding:0 1em;color:#1c2430}\
table{border-collapse:collapse;margin:.6em 0 1em;font-size:13.5px;font-variant-numeric:tabular-nums}\
th,td{border-bottom:1px solid #d5dae2;padding:.25em .7em;text-align:right}th{border-bottom:2px solid #8a94a6}\
th:first-child,td:first-child{text-align:left}caption{text-align:left;font-weight:600;padding:.6em 0}\
figure{display:inline-block;margin:.4em}h2{margin-top:2.2em;border-bottom:1px solid #8a94a6}";

impl Page {
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.into(),
            body: String::new(),
        }
    }

    /// Adds a heading, and a paragraph about the paper. `text` is HTML.
    pub fn section(&mut self, title: &str, text: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.body, "<h2>{title}</h2><p>{text}</p>");
    }

    pub fn text(&mut self, text: &str) {
        let _ = write!(self.body, "<p>{text}</p>");
    }

    pub fn table(&mut self, caption: &str, head: &[&str], rows: &[Vec<String>]) {
        let cells = |tag: &str, cells: &mut dyn Iterator<Item = &str>| {
            cells.map(|c| format!("<{tag}>{c}</{tag}>")).collect::<String>()
        };
        let body: String = rows
            .iter()
            .map(|row| format!("<tr>{}</tr>", cells("td", &mut row.iter().map(String::as_str))))
            .collect();
        let _ = write!(
            self.body,
            "<table><caption>{caption}</caption><tr>{}</tr>{body}</table>",
            cells("th", &mut head.iter().copied())
        );
    }

    pub fn figure(&mut self, file: &str, svg: &str) {
        self.write(file, svg);
        let _ = write!(
            self.body,
            "<figure><a href=\"{file}\"><img src=\"{file}\" alt=\"{file}\"></a></figure>"
        );
    }

    pub fn csv(&mut self, file: &str, text: &str) {
        self.write(file, text);
        let _ = write!(self.body, "<p>All figures: <a href=\"{file}\">{file}</a></p>");
    }

    pub fn finish(self, note: &str) {
        let html = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>anonsql: papers, run again</title><style>{STYLE}</style>\
             <h1>Papers, run again</h1><p>Made by <code>cargo bench --bench papers</code>. {note}</p>{}</html>",
            self.body
        );
        self.write("index.html", &html);
    }

    fn write(&self, file: &str, text: &str) {
        std::fs::write(self.folder.join(file), text).expect("the folder can be written");
    }
}

/// Formats a number for readers: with thousands separators, or with as many decimals as its size
/// needs.
pub fn number(value: f64) -> String {
    if value.abs() >= 1000.0 {
        let digits = format!("{:.0}", value.abs());
        let first = (digits.len() - 1) % 3 + 1;
        let groups = digits.as_bytes()[first..]
            .chunks(3)
            .map(|g| String::from_utf8_lossy(g).into_owned());
        let all: Vec<String> = std::iter::once(digits[..first].to_string()).chain(groups).collect();
        return format!("{}{}", if value < 0.0 { "-" } else { "" }, all.join(","));
    }
    match value.abs() {
        x if x == 0.0 || x.fract() == 0.0 => format!("{value:.0}"),
        x if x < 0.001 => format!("{value:.1e}"),
        x if x < 10.0 => format!("{value:.3}"),
        _ => format!("{value:.1}"),
    }
}
