//! The page of EXPLORE, on which a reader filters and sorts the nodes of a lattice and chooses one.
//!
//! The page is one HTML file with its style, its script and its data. It loads no other file, and
//! no other script runs: the content security policy names the checksum of the page's script. The
//! data are counts, metrics, names and rules of levels. They contain no value of any row.

use super::html::{STYLE, escape};
use crate::error::{Error, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("page.html");
const OWN_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The nodes of a lattice with their figures; lists of figures have one entry per node.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Explorer {
    /// The table that the statement reads.
    pub source: String,
    /// The statement that releases a node, without AT NODE.
    pub statement: String,
    /// True if the literals of the statement's queries are replaced by question marks.
    pub redacted: bool,
    /// The number of rows of the source.
    pub rows: u64,
    /// The most rows that may be suppressed.
    pub limit: u64,
    /// The quasi-identifiers.
    pub columns: Vec<Levels>,
    /// The number of nodes of the lattice, in digits.
    pub size: String,
    /// The levels of each node; `None` if the nodes are those of the whole lattice, in the order of
    /// their numbers (the last quasi-identifier fastest).
    pub nodes: Option<Vec<Vec<u8>>>,
    /// k under the suppression limit.
    pub k: Vec<u64>,
    /// The suppressed rows.
    pub suppressed: Vec<u64>,
    /// The released equivalence classes.
    pub classes: Vec<u64>,
    /// One digit per node: `1` if it satisfies the models within the suppression limit, `0` if not.
    pub holds: String,
    /// The metrics.
    pub metrics: Vec<MetricValues>,
    /// The name of the metric that the page sorts by.
    pub metric: String,
    /// The models of the statement.
    pub models: Vec<String>,
    /// The index of the node that the statement names.
    pub picked: Option<usize>,
    /// A note that says which nodes of a large lattice are on the page.
    pub note: String,
}

/// The levels of a quasi-identifier.
#[derive(Debug, Clone, Serialize)]
pub struct Levels {
    /// The column.
    pub name: String,
    /// The column as a statement writes it.
    pub ident: String,
    /// The lowest level.
    pub from: u8,
    /// The highest level.
    pub to: u8,
    /// The rule of each level, from 0.
    pub rules: Vec<String>,
}

/// A metric with its value at each node.
#[derive(Debug, Clone, Serialize)]
pub struct MetricValues {
    name: String,
    /// Six significant digits; `None` where a node has no value.
    values: Vec<Option<f64>>,
}

impl MetricValues {
    /// Creates the metric with these values, rounded for the page.
    pub fn new(name: &str, values: impl Iterator<Item = f64>) -> Self {
        let rounded = |value: f64| format!("{value:.5e}").parse().ok().filter(|v: &f64| v.is_finite());
        Self {
            name: name.into(),
            values: values.map(rounded).collect(),
        }
    }
}

impl Explorer {
    /// Returns the page.
    pub fn render(&self) -> Result<String> {
        let mut data = serde_json::to_value(self)
            .map_err(|e| Error::internal(format!("the page of a lattice cannot be written: {e}")))?;
        data["software"] = format!("anonsql {}", env!("CARGO_PKG_VERSION")).into();
        // No text of the data may close the element that contains the data.
        let data = data.to_string().replace('<', "\\u003c");
        let hash = STANDARD.encode(Sha256::digest(SCRIPT));
        let mut page = String::with_capacity(PAGE.len() + STYLE.len() + OWN_STYLE.len() + SCRIPT.len() + data.len());
        let mut rest = PAGE;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").unwrap_or((after, ""));
            page.push_str(before);
            match name {
                "title" => page.push_str(&escape(&format!("The lattice of {}", self.source))),
                "hash" => page.push_str(&hash),
                "style" => [STYLE, OWN_STYLE].iter().for_each(|style| page.push_str(style)),
                "data" => page.push_str(&data),
                "script" => page.push_str(SCRIPT),
                other => return Err(Error::internal(format!("the page of a lattice has no {other}"))),
            }
            rest = after;
        }
        page.push_str(rest);
        Ok(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup_and_the_script_is_the_one_that_the_policy_names() {
        let explorer = Explorer {
            source: "</title><script>".into(),
            statement: "ANONYMIZE \"</script><!--\"".into(),
            metrics: vec![MetricValues::new(
                "glm",
                [1.0 / 3.0, f64::NAN, 12_345_678.9, 0.0].into_iter(),
            )],
            ..Explorer::default()
        };
        let page = explorer.render().unwrap();
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<!--") && page.contains("&lt;/title&gt;"));
        assert!(page.contains("[0.333333,null,12345700.0,0.0]"));
        let hash = STANDARD.encode(Sha256::digest(SCRIPT));
        assert!(
            page.contains(&format!("script-src 'sha256-{hash}'"))
                && page.contains(&format!("<script>{SCRIPT}</script>"))
        );
        assert!(!page.contains("{{"));
    }
}
