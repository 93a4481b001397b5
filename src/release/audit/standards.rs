//! Checks the columns and classes of a release against the standards that it follows.
//!
//! A manifest contains no values. So the labels of a quasi-identifier are taken to be the labels
//! that its hierarchy gives to all values that the standard limits.

use super::claim::Claim;
use super::verification::Verification;
use crate::base::error::Result;
use crate::data::folder::{Check, Manifest, ReleasedColumn, Role};
use crate::method::hierarchy::LabelForm;
use crate::method::masks;
use crate::method::standard::{
    RecordedColumn, RecordedForm, RecordedLabels, RecordedRelease, ReleaseCheck, Remark, StandardCheck, named,
};
use crate::method::suggest::{Facts, ValueKind};
use crate::release::recount::ReleasedTable;
use arrow::datatypes::DataType;
use datafusion::prelude::SessionContext;

/// Returns one check for each requirement of the release's standards. Adds to `found` a note for
/// each requirement that cannot be checked.
pub(super) async fn check(
    session: &SessionContext,
    claim: &Claim,
    released: &ReleasedTable,
    found: &mut Verification,
) -> Result<Vec<Check>> {
    let Some(evidence) = &claim.evidence else {
        return Ok(vec![]);
    };
    let following = evidence.following();
    if following.is_empty() {
        return Ok(vec![]);
    }
    let manifest = evidence.manifest();
    let (_, smallest_class) = released.count(session).await?;
    let columns = manifest.columns.iter().map(|column| recorded(claim, manifest, column));
    let release = RecordedRelease {
        columns: columns.collect(),
        smallest_class,
        lacks_persons: manifest.entity.is_some() && released.entity.is_none(),
    };
    let mut checks = vec![];
    for name in following {
        let Ok(standard) = named(name) else {
            found.gap(format!("standard {name} (it is not known here)"));
            continue;
        };
        for ask in standard.asks {
            match ask.compared(standard.info.name, &release)? {
                ReleaseCheck::Checked { check, remarks } => {
                    remarks.into_iter().for_each(|remark| note(found, remark));
                    checks.push(as_check(check));
                }
                ReleaseCheck::NotChecked(remark) => note(found, remark),
            }
        }
        let unchecked = format!(
            "what {name} asks beyond names, forms and counts: {}",
            standard.unchecked
        );
        found.unchecked.push(unchecked);
    }
    Ok(checks)
}

/// Adds a remark to the claims that could not be checked.
fn note(found: &mut Verification, remark: Remark) {
    match remark {
        Remark::Gap(what) => found.gap(what),
        Remark::Unchecked(what) => found.unchecked.push(what),
    }
}

fn as_check(check: StandardCheck) -> Check {
    let ok = check.holds();
    let (check, required, reached) = match check {
        StandardCheck::NoneOf { what, found } => (what, 0, Some(found)),
        StandardCheck::AtLeast { what, least, reached } => (what, least, reached),
    };
    Check {
        check,
        required: required as f64,
        reached: reached.map(|reached| reached as f64),
        ok,
    }
}

/// Returns a column of the release as the manifest describes it.
fn recorded(claim: &Claim, manifest: &Manifest, column: &ReleasedColumn) -> RecordedColumn {
    let name = column.name.as_str();
    let is_computed = |form| !matches!(form, LabelForm::Text | LabelForm::Bounds);
    RecordedColumn {
        facts: Facts::of_name(name, kind(manifest, name)),
        form: match (column.mask(), column.role) {
            (Some(mask), _) => RecordedForm::Masked(masks::of_clause(mask)),
            (None, Role::QuasiIdentifier) => RecordedForm::Generalized(RecordedLabels {
                lowest: lowest(claim, manifest, name),
                hierarchy: claim.defined.get(name).cloned(),
                of_type: type_of(manifest, name),
                computed: manifest.form_of(name).is_some_and(is_computed),
            }),
            (None, _) => RecordedForm::Unchanged,
        },
    }
}

/// Returns the lowest level at which a quasi-identifier may have been released.
fn lowest(claim: &Claim, manifest: &Manifest, column: &str) -> u8 {
    let stated = || claim.evidence.as_ref()?.lowest_level(column);
    let level = manifest.levels_of(column).map(|(low, _)| low).or_else(stated);
    level.unwrap_or(0)
}

/// Returns the type of a column of the source, or `None` if the manifest does not contain the type.
fn type_of(manifest: &Manifest, column: &str) -> Option<DataType> {
    let own = manifest.source.iter().find(|own| own.name == column)?;
    own.data_type.parse().ok()
}

fn kind(manifest: &Manifest, column: &str) -> ValueKind {
    type_of(manifest, column).map_or(ValueKind::Text, |of| ValueKind::of(&of))
}
