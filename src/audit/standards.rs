//! Checks the columns and classes of a release against the standards that it follows.
//!
//! A manifest contains no values. So the labels of a quasi-identifier are taken to be the labels
//! that its hierarchy gives to all values that the standard limits.

use super::check::none_of;
use super::claim::Claim;
use super::verification::Verification;
use crate::error::Result;
use crate::folder::{Check, Manifest, Role};
use crate::hierarchy::LabelForm;
use crate::masks;
use crate::recount::ReleasedTable;
use crate::standard::{Ask, Looked, LowestLabels, Standard, Treated, named};
use crate::suggest::{Facts, Limited, ValueKind};
use arrow::array::{AsArray, UInt32Array};
use arrow::compute::{cast, take};
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
    let lacks_persons = evidence.manifest().entity.is_some() && released.entity.is_none();
    let mut checks = vec![];
    for name in evidence.following() {
        let Ok(standard) = named(name) else {
            found.gap(format!("standard {name} (it is not known here)"));
            continue;
        };
        for ask in standard.asks {
            checks.extend(match ask {
                Ask::SafeHarbor | Ask::Direct(_) => Some(columns(claim, evidence.manifest(), standard, found)?),
                Ask::Classes(_, least) if lacks_persons => {
                    found.unchecked.push(format!(
                        "classes of at least {least} persons ({}; the rows do not name the persons)",
                        standard.info.name
                    ));
                    None
                }
                Ask::Classes(_, least) => Some(classes(session, released, standard, *least).await?),
            });
        }
        let unchecked = format!(
            "what {name} asks beyond names, forms and counts: {}",
            standard.unchecked
        );
        found.unchecked.push(unchecked);
    }
    Ok(checks)
}

/// Counts the released columns that a standard does not allow.
fn columns(claim: &Claim, manifest: &Manifest, standard: &Standard, found: &mut Verification) -> Result<Check> {
    let mut looked = vec![];
    for column in &manifest.columns {
        let name = column.name.as_str();
        let facts = Facts::of_name(name, kind(manifest, name));
        let treated = match (column.mask(), column.role) {
            (Some(mask), _) => match masks::of_clause(mask) {
                Some(kind) => Treated::Masked(kind),
                None => {
                    found.gap(format!(
                        "whether {} allows the mask of {name} (it is not known here)",
                        standard.info.name
                    ));
                    continue;
                }
            },
            (None, Role::QuasiIdentifier) if !standard.limits_labels() => {
                let level = lowest(claim, manifest, name);
                if level > 0 && Limited::of_direct(&facts).is_some() {
                    found.unchecked.push(format!(
                        "whether {} allows the labels of {name} (only the source shows whether they are its values)",
                        standard.info.name
                    ));
                }
                Treated::Generalized(LowestLabels::of_level(level))
            }
            (None, Role::QuasiIdentifier) => Treated::Generalized(match labelled(claim, manifest, name, &facts)? {
                Labels::Known(labelled) => labelled,
                Labels::Wide => {
                    found.gap(format!(
                        "whether {} allows the labels of {name} (for other values its hierarchy reveals more, and only the \
                         source shows which values exist)",
                        standard.info.name
                    ));
                    continue;
                }
                Labels::Unlimited => continue,
                Labels::Unknown => {
                    found.unchecked.push(format!(
                        "whether {} allows the labels of {name} (the manifest does not hold the values of its hierarchy, or the \
                         form of its dates)",
                        standard.info.name
                    ));
                    continue;
                }
            }),
            (None, _) => Treated::Unchanged,
        };
        looked.push(Looked { facts, treated });
    }
    let forbidden = standard.forbidden(&looked)?;
    Ok(none_of(
        format!("columns that {} does not allow", standard.info.name),
        forbidden.len() as u64,
    ))
}

/// The labels of a quasi-identifier, as far as the manifest shows them.
enum Labels {
    Known(LowestLabels),
    /// The labels reveal too much about some of the values that the standard limits. The manifest
    /// does not show whether the source has these values.
    Wide,
    /// The name of the column shows that the standards do not limit its labels.
    Unlimited,
    Unknown,
}

fn labelled(claim: &Claim, manifest: &Manifest, column: &str, facts: &Facts) -> Result<Labels> {
    let Some(limited) = Limited::of(facts) else {
        return Ok(Labels::Unlimited);
    };
    let of_type = type_of(manifest, column);
    let (Some(hierarchy), Some(of_type)) = (claim.defined.get(column), of_type) else {
        return Ok(Labels::Unknown);
    };
    let level = lowest(claim, manifest, column).min(hierarchy.height());
    let Some(values) = limited.domain(&of_type)? else {
        return Ok(Labels::Unknown);
    };
    let lookup = hierarchy.bind(values)?;
    let labels = lookup.level(level).codes.clone();
    let texts = cast(&lookup.level(level).labels, &DataType::Utf8)?;
    let texts = take(&texts, &UInt32Array::from(labels.clone()), None)?;
    let labelled = LowestLabels {
        level,
        texts: texts.as_string::<i32>().clone(),
        values: lookup.values().clone(),
        labels,
        computed: manifest
            .form_of(column)
            .is_some_and(|form| !matches!(form, LabelForm::Text | LabelForm::Bounds)),
    };
    Ok(match labelled.keeps(limited)? {
        true => Labels::Known(labelled),
        false => Labels::Wide,
    })
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

/// Checks that every class has at least `least` rows, or `least` persons if the release counts
/// persons.
async fn classes(session: &SessionContext, released: &ReleasedTable, standard: &Standard, least: u64) -> Result<Check> {
    let (_, smallest) = released.count(session).await?;
    Ok(Check {
        check: format!("classes of at least {least} ({})", standard.info.name),
        required: least as f64,
        reached: smallest.map(|smallest| smallest as f64),
        ok: smallest.is_none_or(|smallest| smallest >= least),
    })
}
