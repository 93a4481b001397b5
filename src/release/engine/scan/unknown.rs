//! Unknown values, which are values that a hierarchy does not contain, as drift from an earlier
//! release.

use super::details::{attribute_request, position};
use crate::base::error::Result;
use crate::data::drift::{Drift, DriftKind};
use crate::data::frequency::Base;
use crate::method::hierarchy::{Coverage, Hierarchy, OnNull, OnUnmapped};
use crate::release::job::{Choice, Job};
use std::sync::Arc;

/// Returns the drift of the sensitive attributes whose hierarchies the models read, if an earlier
/// release is replayed. All of this drift stops the statement, because no row is suppressed for an
/// unknown value.
pub(super) fn of_attributes(job: &Job, base: &Base) -> Result<Vec<Drift>> {
    let mut found: Vec<Drift> = vec![];
    if !matches!(job.goal.choice, Choice::Replay(_)) {
        return Ok(found);
    }
    let read = job.guarantees.constraints.iter().filter(|c| c.model.reads().hierarchy);
    for attribute in read.filter_map(|c| c.attribute.as_ref()) {
        let sensitive = job.roles.sensitive.iter().find(|s| s.column == *attribute);
        let hierarchy = sensitive.and_then(|s| s.hierarchy.as_ref());
        let detail = position(base, &attribute_request(&job.input, attribute));
        let is_new = found.iter().all(|drift| !drift.columns.contains(attribute));
        if let (Some(hierarchy), Some(detail), true) = (hierarchy, detail, is_new) {
            let own = &base.attributes[detail];
            let coverage = hierarchy.bind(Arc::clone(&own.values))?.coverage(&own.counts)?;
            let stopping = unknown(attribute, hierarchy, &coverage).into_iter();
            found.extend(stopping.filter(|(_, stops)| *stops).map(|(drift, _)| Drift {
                text: format!(
                    "{}, and no row is suppressed for the value of a sensitive column",
                    drift.text
                ),
                ..drift
            }));
        }
    }
    Ok(found)
}

/// Returns each drift of a column with this coverage, and whether it stops the statement. Unknown
/// values are not drift if the definition of the hierarchy determines their treatment.
pub(super) fn unknown(column: &str, hierarchy: &Hierarchy, coverage: &Coverage) -> Vec<(Drift, bool)> {
    let mut found = vec![];
    if hierarchy.refuses_unknown() && coverage.values_unmapped > 0 {
        let is_suppressed = hierarchy.on_unmapped() == OnUnmapped::Suppress;
        let (values, rows) = (coverage.values_unmapped, coverage.rows_unmapped);
        let fate = if is_suppressed { ", which are suppressed" } else { "" };
        let text = format!(
            "hierarchy {} does not map {values} values of column {column} ({rows} rows){fate}",
            hierarchy.name()
        );
        let drift = Drift {
            values: Some(values),
            rows: Some(rows),
            ..Drift::new(DriftKind::Values, vec![column.to_string()], text)
        };
        found.push((drift, !is_suppressed));
    }
    if hierarchy.on_null() == OnNull::Error && coverage.rows_null > 0 {
        let text = format!(
            "column {column} is NULL in {} rows, which hierarchy {} does not allow (NULLS ERROR)",
            coverage.rows_null,
            hierarchy.name()
        );
        let drift = Drift {
            rows: Some(coverage.rows_null),
            ..Drift::new(DriftKind::Values, vec![column.to_string()], text)
        };
        found.push((drift, true));
    }
    found
}
