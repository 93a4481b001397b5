//! Level 0 of a column with unmapped values, which are values that its hierarchy does not contain.
//!
//! ON UNMAPPED TOP changes an unmapped value to `*`, but only at level 1 and above. Level 0 is the
//! value itself, so it would release values that the author of the hierarchy has not examined. A
//! search may therefore not choose level 0 of a column with unmapped values. A statement that
//! nevertheless asks for level 0 fails. A statement fails too if its ranges or labels are computed
//! from the values themselves.

use crate::base::error::{Error, Result};
use crate::base::quoting::ident;
use crate::method::hierarchy::{Coverage, Lookup, OnUnmapped};
use crate::release::job::{Choice, QuasiIdentifier};

/// The part of a job's choice on which level 0 of a column depends.
pub(super) struct GroundChoice {
    /// The levels that the statement or an earlier release gives, one per quasi-identifier.
    given: Option<Vec<u8>>,
    /// Whether rows are divided into groups, so that ranges of values may be released.
    is_local: bool,
}

impl GroundChoice {
    pub(super) fn of(choice: &Choice) -> Self {
        Self {
            given: match choice {
                Choice::Node(levels) => Some(levels.clone()),
                Choice::Replay(replay) => replay.levels.clone(),
                Choice::Search { .. } | Choice::Partition(_) => None,
            },
            is_local: matches!(choice, Choice::Partition(_)),
        }
    }

    /// Removes level 0 from the levels of quasi-identifier number `i` if level 0 would release
    /// unmapped values, which ON UNMAPPED TOP changes to `*`. Fails as a data error if the
    /// statement asks for level 0, or for ranges or labels that are computed from the values.
    pub(super) fn raise(&self, i: usize, q: &mut QuasiIdentifier, lookup: &Lookup, coverage: &Coverage) -> Result<()> {
        let (low, high) = q.levels.unwrap_or((0, lookup.top()));
        let is_open = low == 0 && high <= lookup.top();
        if q.hierarchy.on_unmapped() != OnUnmapped::Top || coverage.rows_unmapped == 0 || !is_open {
            return Ok(());
        }
        match self.given.as_ref().and_then(|levels| levels.get(i)) {
            Some(0) => return Err(refusal(q, lookup.top(), coverage)),
            Some(_) => return Ok(()),
            None => {}
        }
        // The bounds of ranges are values of the column. Without LEVELS, ranges may be the labels
        // of the column.
        let has_ranges = self.is_local && q.levels.is_none() && lookup.is_ordered();
        if high == 0 || has_ranges || q.labels.is_of_class() {
            return Err(refusal(q, lookup.top(), coverage));
        }
        q.levels = Some((1, high));
        Ok(())
    }
}

fn refusal(q: &QuasiIdentifier, top: u8, coverage: &Coverage) -> Error {
    let (column, labels) = (&q.column, q.labels);
    let what = match labels.is_of_class() {
        true => format!("LABELS {labels} is computed from the values themselves; write LABELS TEXT"),
        false => format!(
            "level 0 is the value itself; write LEVELS 1 TO {top}, or a node with {} 1",
            ident(column)
        ),
    };
    Error::data(format!(
        "column {column}: hierarchy {} does not map {} values ({} rows), to which ON UNMAPPED TOP gives the top label \
         from level 1 on, and {what}, or make the hierarchy with ON UNMAPPED SUPPRESS",
        q.hierarchy.name(),
        coverage.values_unmapped,
        coverage.rows_unmapped
    ))
}
