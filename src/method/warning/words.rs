//! Texts that several warnings share.

use super::evidence::Fate;
use crate::method::suggest::Facts;

/// Describes the treatment of a column, as the end of "the column is ...".
pub(super) fn fate(fate: Fate) -> String {
    match fate {
        Fate::Dropped => "dropped".into(),
        Fate::Masked(kind) => format!("released as {}", kind.phrase),
        Fate::Sensitive => "sensitive and released as it is".into(),
        Fate::ClassLabel => "the class label and released as it is".into(),
        Fate::Kept => "kept".into(),
    }
}

/// Returns `about 7 values in 9 rows`.
pub(super) fn values(facts: &Facts) -> String {
    format!(
        "{} in {}",
        counted(facts.distinct, "value", facts.estimated),
        rows(facts.values)
    )
}

/// Returns `9 rows`.
pub(super) fn rows(n: u64) -> String {
    counted(n, "row", false)
}

/// Returns `about 7 values`. An estimate has three digits, because more would not be precise. It is
/// rounded down, so that it does not exceed the number of rows.
pub(super) fn counted(n: u64, what: &str, estimated: bool) -> String {
    let digits = n.max(1).ilog10() as u64;
    let unit = 10u64.pow(digits.saturating_sub(2) as u32);
    match (estimated, n) {
        (true, n) => format!("about {} {what}s", n / unit * unit),
        (false, 1) => format!("1 {what}"),
        (false, n) => format!("{n} {what}s"),
    }
}
