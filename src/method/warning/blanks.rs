//! Warns of texts with blanks around them. They match no value of a hierarchy and no word of a
//! query.

use super::evidence::Evidence;
use super::warned::{Warning, WarningKind};
use crate::base::quoting::ident;

pub(super) fn warnings(evidence: &Evidence) -> Vec<Warning> {
    let plain = evidence.columns.iter().filter(|c| c.is_plain());
    let examined = plain
        .filter(|c| mostly_padded(c.facts.sample.iter().map(String::as_str)))
        .map(|c| &c.facts.name);
    let columns: Vec<String> = evidence.padded.iter().chain(examined).cloned().collect();
    let Some(first) = columns.first() else {
        return vec![];
    };
    let text = format!(
        "{} {} texts with blanks around them, which differ from the same texts without blanks; write OPTIONS (trim \
         true) after the path of a CSV file, or trim({}) in a query",
        columns.join(", "),
        if columns.len() == 1 { "has" } else { "have" },
        ident(first)
    );
    vec![Warning::new(WarningKind::Blanks, columns, text)]
}

/// Returns true if at least half of these texts begin or end with a blank.
pub fn mostly_padded<'a>(texts: impl Iterator<Item = &'a str>) -> bool {
    let (mut all, mut padded) = (0u64, 0u64);
    for text in texts.filter(|text| !text.is_empty()) {
        all += 1;
        padded += u64::from(text.starts_with(' ') || text.ends_with(' '));
    }
    padded > 0 && padded * 2 >= all
}
