//! Values that a hierarchy does not know, as drift from an earlier release.

use crate::drift::{Drift, DriftKind};
use crate::hierarchy::{Coverage, OnNull, OnUnmapped};
use crate::job::QuasiIdentifier;

/// Returns the drift of a column with this coverage, each with whether it stops the statement. A
/// hierarchy whose definition says what becomes of unknown values makes them no drift.
pub(super) fn unknown(q: &QuasiIdentifier, coverage: &Coverage) -> Vec<(Drift, bool)> {
    let (hierarchy, column) = (&q.hierarchy, &q.column);
    let mut found = vec![];
    if hierarchy.refuses_unknown() && coverage.values_unmapped > 0 {
        let is_suppressed = hierarchy.on_unmapped() == OnUnmapped::Suppress;
        let (values, rows) = (coverage.values_unmapped, coverage.rows_unmapped);
        let fate = if is_suppressed { ", which are suppressed" } else { "" };
        let text = format!(
            "hierarchy {} does not know {values} values of column {column} ({rows} rows){fate}",
            hierarchy.name()
        );
        let drift = Drift {
            values: Some(values),
            rows: Some(rows),
            ..Drift::new(DriftKind::Values, vec![column.clone()], text)
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
            ..Drift::new(DriftKind::Values, vec![column.clone()], text)
        };
        found.push((drift, true));
    }
    found
}
