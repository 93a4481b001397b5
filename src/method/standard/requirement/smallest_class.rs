//! Every class has at least a given number of rows, or of persons.
//!
//! A model has to promise it for all quasi-identifiers together. VERIFY compares the number with
//! the smallest class of the released rows.

use super::entry::{Promised, Requirement};
use crate::base::error::Result;
use crate::method::standard::looked::Looked;
use crate::method::standard::recorded::{RecordedRelease, ReleaseCheck, Remark, StandardCheck};
use crate::method::suggest::Facts;
use arrow::array::ArrayRef;

/// Every class has at least `least` rows, or persons if the request counts persons.
#[derive(Debug)]
pub struct SmallestClass {
    /// The paragraph of the standard.
    pub paragraph: &'static str,
    /// The minimum number of rows or persons.
    pub least: u64,
}

impl Requirement for SmallestClass {
    fn reads_values(&self) -> bool {
        false
    }

    fn siblings(&self, _: &Facts, _: &ArrayRef) -> Result<Option<ArrayRef>> {
        Ok(None)
    }

    fn forbidden(&self, _: &[Looked]) -> Result<Vec<String>> {
        Ok(vec![])
    }

    fn missing(&self, promised: &[Promised]) -> Option<String> {
        let (paragraph, least) = (self.paragraph, self.least);
        let is_kept = promised.iter().any(|promise| promise.class_size >= least);
        (!is_kept).then(|| {
            format!("every class has at least {least} persons ({paragraph}); write SATISFYING k_anonymity({least}) or max_risk(1/{least})")
        })
    }

    fn compared(&self, standard: &str, release: &RecordedRelease) -> Result<ReleaseCheck> {
        let least = self.least;
        if release.lacks_persons {
            return Ok(ReleaseCheck::NotChecked(Remark::Unchecked(format!(
                "classes of at least {least} persons ({standard}; the rows do not name the persons)"
            ))));
        }
        Ok(ReleaseCheck::Checked {
            check: StandardCheck::AtLeast {
                what: format!("classes of at least {least} ({standard})"),
                least,
                reached: release.smallest_class,
            },
            remarks: vec![],
        })
    }
}
