//! The page of EXPLORE, on which the reader filters and sorts the nodes of a lattice and chooses
//! one of them.
//!
//! The page is one HTML file that contains the style, the script and the data. It loads no other
//! file, and no other script can run, because the content security policy contains the checksum of
//! the page's script. The data are counts, metrics, names, and the rules of levels. They contain no
//! value from any row.

use super::html::{STYLE, escape};
use crate::base::error::{Error, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("page.html");
const OWN_STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The nodes of a lattice with their figures. Each list of figures has one entry per node, in the
/// same order.
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
    /// The maximum number of rows that may be suppressed.
    pub limit: u64,
    /// The quasi-identifiers.
    pub columns: Vec<Levels>,
    /// The number of nodes of the lattice, as decimal digits.
    pub size: String,
    /// The levels of each node, one level per quasi-identifier; `None` if the page lists all nodes
    /// of the lattice. These nodes are in the order of their indices, in which the level of the
    /// last quasi-identifier changes fastest.
    pub nodes: Option<Vec<Vec<u8>>>,
    /// For each node, the value of k after suppression within the limit.
    pub k: Vec<u64>,
    /// For each node, the number of suppressed rows.
    pub suppressed: Vec<u64>,
    /// For each node, the number of released equivalence classes.
    pub classes: Vec<u64>,
    /// One digit per node: `1` if the node satisfies the models within the suppression limit,
    /// otherwise `0`.
    pub holds: String,
    /// The metrics with their values at each node.
    pub metrics: Vec<MetricValues>,
    /// The name of the metric that the page sorts by.
    pub metric: String,
    /// The models of the statement.
    pub models: Vec<String>,
    /// The index of the node that AT NODE gives; `None` if the statement has no AT NODE.
    pub picked: Option<usize>,
    /// A note that says which nodes of a large lattice are on the page.
    pub note: String,
}

/// The levels of a quasi-identifier.
#[derive(Debug, Clone, Serialize)]
pub struct Levels {
    /// The column.
    pub name: String,
    /// The name of the column as an SQL identifier, quoted if necessary.
    pub ident: String,
    /// The lowest level.
    pub from: u8,
    /// The highest level.
    pub to: u8,
    /// A description of each level, from level 0.
    pub rules: Vec<String>,
}

/// A metric with its value at each node.
#[derive(Debug, Clone, Serialize)]
pub struct MetricValues {
    name: String,
    /// For each node, the value rounded to six significant digits; `None` if the node has no value.
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
    /// Returns the page as HTML.
    pub fn render(&self) -> Result<String> {
        let mut data = serde_json::to_value(self)
            .map_err(|e| Error::internal(format!("the page of a lattice cannot be written: {e}")))?;
        data["software"] = format!("anonsql {}", env!("CARGO_PKG_VERSION")).into();
        // No text in the data may close the `script` element that contains the data.
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
