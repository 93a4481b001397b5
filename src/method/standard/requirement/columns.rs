//! Compares the columns of a release with a requirement for columns.

use super::entry::Requirement;
use crate::base::error::Result;
use crate::method::standard::looked::{Looked, LowestLabels, Treated};
use crate::method::standard::recorded::{
    RecordedForm, RecordedLabels, RecordedRelease, ReleaseCheck, Remark, StandardCheck,
};
use crate::method::suggest::Facts;

/// Counts the released columns that violate `requirement`, a requirement of the standard called
/// `standard`. `labels` returns the labels of a quasi-identifier as the requirement examines them,
/// or `None` if they are not examined. If they cannot be examined completely, `labels` also adds a
/// remark.
pub(super) fn compared(
    requirement: &dyn Requirement,
    (standard, release): (&str, &RecordedRelease),
    labels: impl Fn(&Facts, &RecordedLabels, &mut Vec<Remark>) -> Result<Option<LowestLabels>>,
) -> Result<ReleaseCheck> {
    let (mut looked, mut remarks) = (vec![], vec![]);
    for column in &release.columns {
        let facts = column.facts.clone();
        let treated = match &column.form {
            RecordedForm::Unchanged => Treated::Unchanged,
            RecordedForm::Masked(Some(kind)) => Treated::Masked(kind),
            RecordedForm::Masked(None) => {
                remarks.push(Remark::Gap(format!(
                    "whether {standard} allows the mask of {} (it is not known here)",
                    facts.name
                )));
                continue;
            }
            RecordedForm::Generalized(recorded) => match labels(&facts, recorded, &mut remarks)? {
                Some(labels) => Treated::Generalized(labels),
                None => continue,
            },
        };
        looked.push(Looked { facts, treated });
    }
    let forbidden = requirement.forbidden(&looked)?;
    Ok(ReleaseCheck::Checked {
        check: StandardCheck::NoneOf {
            what: format!("columns that {standard} does not allow"),
            found: forbidden.len() as u64,
        },
        remarks,
    })
}
