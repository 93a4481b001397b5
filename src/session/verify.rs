//! VERIFY: promises recounted on any table, released by anonsql or not.

use super::bind::constraints;
use super::{AnonContext, Answer};
use crate::engine::{Check, MANIFEST, Manifest, Promise, ReleasedTable, SuppressedRows, recounting_session};
use crate::error::{Error, Result};
use crate::sql::ast::{self, Verify};
use arrow::array::{ArrayRef, BooleanArray, Float64Array, StringArray};
use arrow::record_batch::RecordBatch;
use std::path::Path;
use std::sync::Arc;

/// The name of the checked rows in the session that recounts them.
const CHECKED: &str = "checked";
/// The name of the rows that they were made from, where those are given.
const WHOLE: &str = "whole";

impl AnonContext {
    pub(super) async fn verify(&self, verify: Verify) -> Result<Answer> {
        if verify.sensitive.iter().any(|s| s.randomized.is_some()) {
            return Err(Error::usage(
                "VERIFY recounts rows as they are; RANDOMIZED has no place in it",
            ));
        }
        let source = self.source(&verify.source).await?;
        let quasi_identifiers = self.quasi_identifiers(&verify.quasi_identifiers)?;
        let constraints = constraints(&verify.satisfying, &quasi_identifiers, &verify.sensitive)?;
        let personal = constraints.iter().find(|c| c.model.limit_column().is_some());
        if let Some(c) = personal.filter(|_| verify.against.is_none() || verify.entity.is_none()) {
            return Err(Error::usage(format!(
                "{} compares each row with its own value and limit, which are only in the source: say AGAINST source, and \
                 ENTITY (key) with a column that both have and that tells the rows apart. Without such a key no row of a \
                 release can be found in the source; the promise was recounted when the release was written, and the \
                 manifest says so",
                c.describe(&quasi_identifiers)
            )));
        }
        let columns: Vec<&str> = source
            .rows
            .schema()
            .fields()
            .iter()
            .map(|f| f.name().as_str())
            .collect();
        let named = quasi_identifiers.iter().map(|q| q.column.as_str());
        let named = named
            .chain(verify.sensitive.iter().map(|s| s.column.as_str()))
            .chain(verify.entity.as_deref());
        for column in named {
            if !columns.contains(&column) {
                return Err(Error::unknown("column", column, columns.iter().copied()));
            }
        }
        let manifest = match &verify.source {
            ast::Source::Path(path) => Manifest::read(Path::new(path))?,
            _ => None,
        };
        let starred = manifest
            .as_ref()
            .filter(|m| m.suppressed_rows == SuppressedRows::Starred);
        let checked = ReleasedTable {
            name: CHECKED.into(),
            quasi_identifiers: match &manifest {
                Some(manifest) => manifest.quasi_identifiers.clone(),
                None => quasi_identifiers.iter().map(|q| q.column.clone()).collect(),
            },
            sensitive: match &manifest {
                Some(manifest) => manifest.sensitive.clone(),
                None => verify.sensitive.iter().map(|s| s.column.clone()).collect(),
            },
            entity: verify.entity.clone(),
            starred: starred.map_or(0, |m| m.rows_suppressed),
            population: None,
            whole: verify.against.as_ref().map(|_| WHOLE.into()),
        };
        let (state, plan) = source.rows.into_parts();
        let own = recounting_session(&state);
        let view = datafusion::datasource::ViewTable::new(plan, None);
        own.register_table(CHECKED, Arc::new(view))?;

        if let Some(against) = &verify.against {
            let (_, whole) = self.source(against).await?.rows.into_parts();
            own.register_table(WHOLE, Arc::new(datafusion::datasource::ViewTable::new(whole, None)))?;
        }
        let hierarchy = |attribute: Option<&String>| {
            let sensitive = verify.sensitive.iter().find(|s| Some(&s.column) == attribute)?;
            sensitive.hierarchy.as_ref().map(|name| self.hierarchy(name))
        };

        let promises = constraints.iter().map(|c| {
            let attribute = c.attribute.as_ref().filter(|_| c.model.reads().hierarchy);
            Ok(Promise {
                name: c.describe(&quasi_identifiers),
                model: c.model.as_ref(),
                group: match &c.subset {
                    Some(subset) => subset.iter().map(|i| quasi_identifiers[*i].column.clone()).collect(),
                    None => quasi_identifiers.iter().map(|q| q.column.clone()).collect(),
                },
                attribute: c.attribute.clone(),
                hierarchy: hierarchy(attribute).transpose()?,
            })
        });
        let promises = promises.collect::<Result<Vec<Promise>>>()?;
        let mut checks = checked.check(&own, &promises).await?;
        if let Some(manifest) = &manifest {
            let (rows, _) = checked.count(&own).await?;
            checks.push(Check {
                check: format!("rows as {MANIFEST} says"),
                required: manifest.rows_out as f64,
                reached: Some(rows as f64),
                ok: rows == manifest.rows_out,
            });
        }
        answer(&checks)
    }
}

/// One row per check.
fn answer(checks: &[Check]) -> Result<Answer> {
    let name: StringArray = checks.iter().map(|c| Some(c.check.as_str())).collect();
    let required: Float64Array = checks.iter().map(|c| Some(c.required)).collect();
    let reached: Float64Array = checks.iter().map(|c| c.reached).collect();
    let ok: BooleanArray = checks.iter().map(|c| Some(c.ok)).collect();
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("check", Arc::new(name) as ArrayRef, false),
        ("required", Arc::new(required), false),
        ("reached", Arc::new(reached), true),
        ("ok", Arc::new(ok), false),
    ])?;
    Ok(Answer {
        verified: checks.iter().all(|c| c.ok),
        ..Answer::of(batch)?
    })
}
