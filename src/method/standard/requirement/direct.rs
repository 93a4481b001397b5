//! No name, address or number that identifies a person directly is released: unchanged, drawn from
//! the column, or as labels that are equal to values.

use super::columns;
use super::entry::{Promised, Requirement};
use crate::base::error::Result;
use crate::base::quoting::ident;
use crate::method::standard::looked::{Looked, LowestLabels, Treated};
use crate::method::standard::recorded::{RecordedRelease, ReleaseCheck, Remark};
use crate::method::suggest::{Facts, Limited};
use arrow::array::ArrayRef;

/// No name, address or number that identifies a person directly is released.
#[derive(Debug)]
pub struct DirectIdentifiers {
    /// The paragraph of the standard.
    pub paragraph: &'static str,
}

impl Requirement for DirectIdentifiers {
    fn reads_values(&self) -> bool {
        true
    }

    fn siblings(&self, _: &Facts, _: &ArrayRef) -> Result<Option<ArrayRef>> {
        Ok(None)
    }

    fn forbidden(&self, columns: &[Looked]) -> Result<Vec<String>> {
        let found = columns.iter().filter_map(|column| breach(column, self.paragraph));
        Ok(found.collect())
    }

    fn missing(&self, _: &[Promised]) -> Option<String> {
        None
    }

    fn compared(&self, standard: &str, release: &RecordedRelease) -> Result<ReleaseCheck> {
        columns::compared(self, (standard, release), |facts, recorded, remarks| {
            if recorded.lowest > 0 && Limited::of_direct(facts).is_some() {
                remarks.push(Remark::Unchecked(format!(
                    "whether {standard} allows the labels of {} (only the source shows whether they are its values)",
                    facts.name
                )));
            }
            Ok(Some(LowestLabels::of_level(recorded.lowest)))
        })
    }
}

/// Returns a sentence about a column if it is a direct identifier and its values are released:
/// unchanged, drawn from the column, or as labels that are equal to values.
fn breach(column: &Looked, paragraph: &str) -> Option<String> {
    let is_told = match &column.treated {
        Treated::Unchanged => true,
        // Values that are drawn from names are names as well.
        Treated::Masked(kind) => kind.is_drawn(),
        Treated::Generalized(labelled) => labelled.level == 0 || labelled.has_a_value().unwrap_or(true),
        Treated::Unseen => false,
    };
    let limited = Limited::of_direct(&column.facts).filter(|_| is_told)?;
    let what = limited.what().split(" (Safe Harbor").next().unwrap_or_default();
    Some(format!(
        "Column {}: {what} ({paragraph}); name it in IDENTIFIERS, which drops it",
        ident(&column.facts.name)
    ))
}
