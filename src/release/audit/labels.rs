//! Checks that labels are at the promised level, so that no raw values are in a column or in the
//! folder names of partitions. Also checks that labels reveal no more than the codes of their
//! hierarchy allow (TOP CODE, BOTTOM CODE).
//!
//! - A hierarchy that lists its values lists its labels too, and any other text is not a label.
//! - With AGAINST, the labels are the labels of the source's values.
//! - Without a source, a rule determines which texts are labels at a level: `20-24` is a label of
//!   intervals of 5 and of no others. A text that the rule cannot decide is not checked: `12` is a
//!   label of `PREFIX (3)` only if some code is that short. A rule that does not describe its
//!   labels is applied to the label itself: a text that the rule generalizes further is not a label
//!   at that level.
//! - If the hierarchy is not known at all, a text that is a value of the source counts as raw.
//!
//! The label `*`, or the single label of the hierarchy's last level, is a label at the top. Below
//! the top, this label is accepted only if the hierarchy gives the top label to NULL or unmapped
//! values. The suppressed rows that the manifest counts are excluded beforehand.

use super::check::none_of;
use super::known::Known;
use super::spelling::CSV_TEXT;
use super::tables::WHOLE;
use super::verification::Verification;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::data::folder::Check;
use crate::data::frequency::distinct_values;
use crate::method::canonical::sql_text_of;
use crate::method::hierarchy::{Hierarchy, LabelForm, OnNull, OnUnmapped, TOP, texts as written};
use crate::release::recount::{CodedColumn, ReleasedTable, bind, type_of};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, TimeUnit};
use datafusion::prelude::SessionContext;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Returns one check for every quasi-identifier whose level is known and above 0, and whose labels
/// have the form TEXT. Adds to `found` a gap for each check that only the source can decide.
pub(super) async fn check(
    session: &SessionContext,
    released: &ReleasedTable,
    known: &[Known],
    found: &mut Verification,
) -> Result<Vec<Check>> {
    let mut checks = vec![];
    for known in known {
        let is_text = known.form == LabelForm::Text;
        let Some((low, high)) = known.levels.filter(|(low, _)| *low > 0 && is_text) else {
            continue;
        };
        let values = match known.is_folder {
            true => "folder names of ",
            false => "values of ",
        };
        let column = &known.column;
        let promised = match low == high {
            true => format!("level {low}"),
            false => format!("levels {low} to {high}"),
        };
        let has_whole = released.whole.is_some() && has_column(session, WHOLE, column).await?;
        let (labels, rows) = labels(session, released, known).await?;
        let (name, is_label) = match &known.hierarchy {
            Some(hierarchy) => {
                let source = match has_whole {
                    true => Some(source_labels(session, column, hierarchy, low..=high).await?),
                    false => None,
                };
                (
                    format!("{values}{column} that are not of {promised}"),
                    of_levels(hierarchy, low..=high, &labels, source, known.text == CSV_TEXT)?,
                )
            }
            None if has_whole => {
                let raw = texts(session, WHOLE, column).await?;
                let is_label = labels
                    .iter()
                    .map(|l| Some(l.is_none_or(|l| l == TOP || !raw.contains(l))));
                let name = format!("{values}{column} that are raw in the source");
                (name, is_label.collect())
            }
            None => continue,
        };
        // A folder counts as one row, because a raw folder name reveals the value whether the
        // folder contains one row or many.
        let rows = rows.iter().map(|n| if known.is_folder { 1 } else { *n });
        let told: Vec<(u64, Option<bool>)> = rows.zip(is_label).collect();
        let count = |answer| told.iter().filter(|(_, told)| *told == answer).map(|(n, _)| n).sum();
        let (foreign, unknown): (u64, u64) = (count(Some(false)), count(None));
        match (foreign, unknown) {
            (0, 1..) => found.gap(format!(
                "needs AGAINST: {name} (the values of the source decide whether the hierarchy gives these labels at that \
                 level)"
            )),
            _ => checks.push(none_of(name, foreign)),
        }
    }
    Ok(checks)
}

/// Returns one check for each quasi-identifier whose hierarchy is known to have a TOP CODE or
/// BOTTOM CODE, whatever the level of its labels.
pub(super) async fn check_codes(
    session: &SessionContext,
    released: &ReleasedTable,
    known: &[Known],
) -> Result<Vec<Check>> {
    let mut checks = vec![];
    for known in known {
        let Some(codes) = known.codes.clone() else {
            continue;
        };
        let has_whole = released.whole.is_some() && has_column(session, WHOLE, &known.column).await?;
        let coded = CodedColumn {
            column: &known.column,
            codes,
            form: known.form,
            data_type: match has_whole {
                true => Some(type_of(session, WHOLE, &known.column).await?),
                false => None,
            },
        };
        checks.push(coded.check(session, released).await?);
    }
    Ok(checks)
}

async fn has_column(session: &SessionContext, table: &str, column: &str) -> Result<bool> {
    let table = session.table(table).await?;
    Ok(table.schema().has_column_with_unqualified_name(column))
}

/// Returns the distinct labels that are released, with their row counts.
async fn labels(session: &SessionContext, released: &ReleasedTable, known: &Known) -> Result<(StringArray, Vec<u64>)> {
    let text = text_of(&known.column);
    let (labels, rows) = distinct_values(session, &text, &released.released()).await?;
    Ok((labels.as_string::<i32>().clone(), rows))
}

/// Returns the distinct values of a column as text.
async fn texts(session: &SessionContext, table: &str, column: &str) -> Result<HashSet<String>> {
    let (values, _) = distinct_values(session, &text_of(column), &quote(table)).await?;
    let values = values.as_string::<i32>();
    Ok(values.iter().flatten().map(str::to_string).collect())
}

/// Returns the SQL expression that converts a column to text.
fn text_of(column: &str) -> String {
    sql_text_of(&quote(column))
}

/// Returns the labels of the source's values at these levels.
async fn source_labels(
    session: &SessionContext,
    column: &str,
    hierarchy: &Hierarchy,
    levels: RangeInclusive<u8>,
) -> Result<HashSet<String>> {
    let (_, lookup) = bind(session, WHOLE, column, hierarchy).await?;
    let mut found = HashSet::new();
    for level in levels {
        let labels = written(&lookup.level(level).labels)?;
        found.extend(labels.iter().flatten().map(str::to_string));
    }
    Ok(found)
}

/// For each label, returns true if it is a label at one of these levels; `None` if only the source
/// can decide.
fn of_levels(
    hierarchy: &Hierarchy,
    levels: RangeInclusive<u8>,
    labels: &StringArray,
    source: Option<HashSet<String>>,
    is_csv: bool,
) -> Result<Vec<Option<bool>>> {
    let (low, high) = levels.into_inner();
    // NULL remains NULL below the top, unless the hierarchy gives NULL the top label. In CSV, NULL
    // may be an empty text. The empty text is a label if the source contains or may contain the
    // empty text.
    let may_be_empty = match &source {
        Some(labels) => labels.contains(""),
        None => hierarchy.rule().accepts(&DataType::Utf8).is_ok(),
    };
    let null = low < hierarchy.height() && (hierarchy.on_null() == OnNull::Value || is_csv && may_be_empty);
    // Suppressed rows are already excluded. Any other top label is accepted only if the top level
    // is allowed, or if NULL or unmapped values get the top label.
    let top =
        high == hierarchy.height() || hierarchy.on_null() == OnNull::Top || hierarchy.on_unmapped() == OnUnmapped::Top;
    let below_top = low..=high.min(hierarchy.height() - 1);
    let mut top_label = None;
    let listed = match (source, hierarchy.rule().ground(&DataType::Utf8)?) {
        (Some(labels), _) => Some(labels),
        (None, Some(ground)) => {
            let by_level = hierarchy.rule().labels(&ground)?;
            let last = by_level.last().filter(|_| hierarchy.rule().ends_in_top());
            top_label = last.and_then(|l| l.iter().flatten().next().map(str::to_string));
            let levels = below_top.clone().filter_map(|l| by_level.get(usize::from(l) - 1));
            Some(levels.flat_map(|l| l.iter().flatten().map(str::to_string)).collect())
        }
        (None, None) => None,
    };
    let is_rule = listed.is_none();
    let is_label: Vec<Option<bool>> = match listed {
        Some(listed) => labels
            .iter()
            .map(|l| Some(l.is_some_and(|l| listed.contains(l))))
            .collect(),
        None => of_rule(hierarchy, below_top, labels)?,
    };
    Ok(labels
        .iter()
        .zip(is_label)
        .map(|(label, is_label)| match label {
            // A file may write NULL and the empty text in the same way. The empty text reveals no
            // more than NULL.
            None => Some(null),
            Some("") if null && is_rule => Some(true),
            Some(label) if top && (label == TOP || top_label.as_deref() == Some(label)) => Some(true),
            Some(_) => is_label,
        })
        .collect())
}

/// For each label, returns true if a rule that computes labels produces it at one of these levels;
/// `None` if the values of the column decide this.
fn of_rule(hierarchy: &Hierarchy, levels: RangeInclusive<u8>, labels: &StringArray) -> Result<Vec<Option<bool>>> {
    let texts: ArrayRef = Arc::new(labels.clone());
    let (mut found, mut stars) = (vec![Some(false); labels.len()], false);
    for level in levels {
        let stays = unchanged(hierarchy, level, &texts)?;
        for ((found, label), stays) in found.iter_mut().zip(labels).zip(stays) {
            let own = label.and_then(|label| match hierarchy.rule().is_label(level, label) {
                None if !stays => Some(false),
                own => own,
            });
            *found = match (*found, own) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (None, _) | (_, None) => None,
                _ => Some(false),
            };
        }
        stars |= masks_all(hierarchy, level)?;
    }
    // The text `*` could also be a source value that is its own label. Only AGAINST can distinguish
    // such a value from the top label.
    let is_star = |label: Option<&str>| label == Some(TOP) && !stars;
    let told = labels.iter().zip(found).map(|(label, found)| match is_star(label) {
        true => Some(false),
        false => found,
    });
    Ok(told.collect())
}

/// Returns true if the rule masks a text of one character completely at `level`, so that its label
/// looks like the top.
fn masks_all(hierarchy: &Hierarchy, level: u8) -> Result<bool> {
    let rule = hierarchy.rule();
    if rule.accepts(&DataType::Utf8).is_err() {
        return Ok(false);
    }
    let probe: ArrayRef = Arc::new(StringArray::from(vec!["x"]));
    let labels = rule.labels(&probe)?;
    let label = labels.get(usize::from(level) - 1);
    Ok(label.is_some_and(|l| l.iter().flatten().any(|l| l == TOP)))
}

/// For each text, returns true if the rule leaves the text unchanged at `level`, or cannot parse it
/// as a value. This distinguishes raw values from labels if the rule does not describe its labels.
/// Each text is parsed as every type that the rule accepts, because labels of integers are
/// formatted differently from labels of floats.
fn unchanged(hierarchy: &Hierarchy, level: u8, texts: &ArrayRef) -> Result<Vec<bool>> {
    let types = [
        DataType::Utf8,
        DataType::Int64,
        // Decimals are tried for integers beyond 64 bits.
        DataType::Decimal128(38, 0),
        DataType::Float64,
        DataType::Date32,
        DataType::Timestamp(TimeUnit::Microsecond, None),
    ];
    let plain = texts.as_string::<i32>();
    let (mut read, mut stays) = (vec![false; texts.len()], vec![false; texts.len()]);
    for data_type in types {
        let rule = hierarchy.rule();
        if rule.accepts(&data_type).is_err() {
            continue;
        }
        let labels = rule.labels(&cast(texts, &data_type)?)?;
        let Some(labels) = labels.get(usize::from(level) - 1) else {
            // A rule without its own levels has only the top.
            return Ok(vec![false; texts.len()]);
        };
        for (i, label) in labels.iter().enumerate().filter(|(_, l)| l.is_some()) {
            read[i] = true;
            stays[i] |= label == Some(plain.value(i));
        }
    }
    Ok(read.iter().zip(stays).map(|(read, stays)| !read || stays).collect())
}
