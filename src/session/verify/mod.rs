//! VERIFY: promises recounted on any table, released by anonsql or not, and what else gives a release away.
//!
//! Every row of the answer is one check:
//! - every privacy model, recounted on the rows; NULL is a value like any other, suppressed rows are no class;
//! - what the manifest says ([`evidence`]): rows, classes, the smallest class, columns, and what is in its folder and in
//!   its files ([`files`]);
//! - labels of another level than was promised, in columns and in the folder names of partitions ([`labels`]);
//! - with AGAINST, rows that the source does not generalize to ([`against`]), rows of a local recoding whose labels are
//!   not true of the source ([`cover`]), and rows left in its order ([`order`]).
//!
//! What a release says of itself and nothing that is there can confirm (no manifest, no source, a hierarchy that is not the
//! release's) is a row too: it begins with `not checked:`, its `ok` is NULL, and it is no failure.

mod against;
mod cover;
mod evidence;
mod files;
mod flow;
mod known;
mod labels;
mod order;
mod spelling;

use super::answer::Answer;
use super::bind::{constraints, level, suppression_of};
use super::context::AnonContext;
use super::sources::source::{partition_columns, released_folder};
use crate::engine::{Answers, Phase, Promise, ReleasedTable, recounting_session};
use crate::error::{Error, Result};
use crate::folder::{Check, MANIFEST, Manifest, Role, SuppressedRows, with_nulls};
use crate::hierarchy::Hierarchy;
use crate::job::{Constraint, QuasiIdentifier};
use crate::sql::ast::{self, Verify};
use arrow::array::{ArrayRef, BooleanArray, Float64Array, StringArray};
use arrow::record_batch::RecordBatch;
use datafusion::datasource::ViewTable;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use evidence::Evidence;
use known::Known;
use spelling::TEXT;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The name of the checked rows in the session that recounts them.
const CHECKED: &str = "checked";
/// The name of the rows that they were made from, where those are given.
const WHOLE: &str = "whole";
/// The name of the population's rows, and of those rows generalized as the release is.
const PEOPLE: &str = "people";
const POPULATION: &str = "population";

impl AnonContext {
    pub(super) async fn verify(&self, verify: Verify) -> Result<Answer> {
        let source = self.source(&verify.source).await?;
        let quasi_identifiers = self.quasi_identifiers(&verify.quasi_identifiers)?;
        let constraints = constraints(&verify.satisfying, &quasi_identifiers, &verify.sensitive)?;
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
        let counts_population = constraints.iter().any(|c| c.model.reads().population);
        if verify.population.is_some() != counts_population {
            return Err(Error::usage(match counts_population {
                true => "k_map counts in a population table: name it with POPULATION table",
                false => "POPULATION is named, but no model counts in it; k_map does",
            }));
        }
        let folder = released_folder(&verify.source, &source.rows);
        let evidence = folder.as_deref().map(Evidence::of).transpose()?.flatten();
        let folders = folder.as_deref().map(partition_columns).unwrap_or_default();
        let mut found = Findings::default();
        let known = self.known(&verify, evidence.as_ref(), &columns, &folders, &mut found)?;
        let manifest = evidence.as_ref().map(|e| &e.manifest);
        for sensitive in &verify.sensitive {
            let is_known = manifest.filter(|m| m.hierarchy_of(&sensitive.column).is_some());
            if let (Some(manifest), Some(name)) = (is_known, &sensitive.hierarchy) {
                found.same(manifest, &sensitive.column, self.hierarchy(name)?)?;
            }
        }
        let starred = manifest.filter(|m| m.suppressed_rows == SuppressedRows::Starred);
        let mut released = ReleasedTable {
            name: CHECKED.into(),
            quasi_identifiers: match &manifest {
                Some(manifest) => manifest.columns_of(Role::QuasiIdentifier),
                None => quasi_identifiers.iter().map(|q| q.column.clone()).collect(),
            },
            sensitive: match &manifest {
                Some(manifest) => manifest.columns_of(Role::Sensitive),
                None => verify.sensitive.iter().map(|s| s.column.clone()).collect(),
            },
            entity: verify.entity.clone(),
            starred: starred.map_or(0, |m| m.rows_suppressed),
            suppressed: None,
            population: None,
            answers: Answers::default(),
            whole: verify.against.as_ref().map(|_| WHOLE.into()),
        };
        if let Some(gone) = released
            .quasi_identifiers
            .iter()
            .find(|q| !columns.contains(&q.as_str()))
        {
            return Err(Error::data(format!(
                "the manifest has the quasi-identifier {gone}, which the release lacks"
            )));
        }
        let (state, checked) = with_nulls(source.rows.clone(), &folders)?.into_parts();
        let mut views = vec![(CHECKED, checked)];
        if let Some(against) = &verify.against {
            views.push((WHOLE, self.source(against).await?.rows.into_parts().1));
        }
        if let Some(population) = &verify.population {
            views.push((PEOPLE, self.source(population).await?.rows.into_parts().1));
        }
        let progress = self.observer.begin(Phase::Verify);
        let own = session(&state, &views, &progress)?;
        if counts_population {
            let every: Vec<&Known> = known.iter().collect();
            let people = known::generalized(&own, PEOPLE, &every).await?;
            let rows = own.sql(&format!("SELECT * FROM {people}")).await?;
            own.register_table(POPULATION, rows.into_view())?;
            released.population = Some(POPULATION.into());
        }

        let text = evidence.as_ref().map_or(TEXT, Evidence::text);
        let unlike = match released.whole {
            Some(_) => spelling::align(&own, &released.sensitive, text).await?,
            None => vec![],
        };
        let mut promises = self.promises(&verify, &constraints, &quasi_identifiers)?;
        promises.retain(|promise| {
            let is_unlike = promise.attribute.as_ref().is_some_and(|a| unlike.contains(a));
            let is_checked = !(is_unlike && promise.model.reads().whole);
            if !is_checked {
                let why = "files spell the values otherwise than SQL does those of the source";
                found.unchecked.push(format!("{} ({why})", promise.name));
            }
            is_checked
        });
        let mut checks = released.check(&own, &promises).await?;
        match &evidence {
            Some(evidence) => {
                checks.extend(evidence.check(&own, &released, &columns).await?);
                found.unchecked.extend(evidence.unchecked(released.whole.is_some()));
            }
            None => found
                .unchecked
                .push(format!("files, columns and levels (there is no {MANIFEST})")),
        }
        checks.append(&mut found.checks);
        checks.extend(labels::check(&own, &released, &known).await?);
        if released.whole.is_some() {
            let unchanged = against::unchanged(&own, &verify, evidence.as_ref()).await?;
            checks.extend(against::check(&own, &released, &known, &unchanged).await?);
            let (covered, unread) = cover::check(&own, &released, &known, &unchanged).await?;
            checks.extend(covered);
            found.unchecked.extend(unread);
            let mut in_order = state.clone();
            in_order.config_mut().options_mut().execution.target_partitions = 1;
            let in_order = session(&in_order, &views, &progress)?;
            checks.extend(order::check(&in_order, &known, &folders, &unchanged).await?);
        }
        self.observer.end(Phase::Verify);
        found.checks = checks;
        found.answer()
    }

    fn promises<'a>(
        &self,
        verify: &Verify,
        constraints: &'a [Constraint],
        quasi_identifiers: &[QuasiIdentifier],
    ) -> Result<Vec<Promise<'a>>> {
        let hierarchy = |c: &Constraint| {
            let (true, Some(attribute)) = (c.model.reads().hierarchy, &c.attribute) else {
                return Ok(None);
            };
            let sensitive = verify.sensitive.iter().find(|s| s.column == *attribute);
            match sensitive.and_then(|s| s.hierarchy.as_ref()) {
                Some(name) => self.hierarchy(name).map(Some),
                None => Err(Error::usage(format!(
                    "{} needs a hierarchy of the sensitive attribute: SENSITIVE ({attribute} USING hierarchy)",
                    c.call
                ))),
            }
        };
        let promises = constraints.iter().map(|c| {
            Ok(Promise {
                name: c.describe(quasi_identifiers),
                model: c.model.as_ref(),
                group: match &c.subset {
                    Some(subset) => subset.iter().map(|i| quasi_identifiers[*i].column.clone()).collect(),
                    None => quasi_identifiers.iter().map(|q| q.column.clone()).collect(),
                },
                attribute: c.attribute.clone(),
                hierarchy: hierarchy(c)?,
            })
        });
        promises.collect()
    }

    /// What is known of every quasi-identifier: of those that the statement names, and of those that the manifest adds.
    fn known(
        &self,
        verify: &Verify,
        evidence: Option<&Evidence>,
        columns: &[&str],
        folders: &[String],
        found: &mut Findings,
    ) -> Result<Vec<Known>> {
        let manifest = evidence.map(|e| &e.manifest);
        let of_manifest = manifest
            .map(|m| m.columns_of(Role::QuasiIdentifier))
            .unwrap_or_default();
        let mut named: Vec<ast::QuasiIdentifier> = verify.quasi_identifiers.clone();
        for column in &of_manifest {
            if columns.contains(&column.as_str()) && !named.iter().any(|q| q.column == *column) {
                named.push(ast::QuasiIdentifier {
                    column: column.clone(),
                    hierarchy: None,
                    levels: None,
                    weight: None,
                });
            }
        }
        let text = evidence.map_or(TEXT, Evidence::text);
        let mut known = vec![];
        for named in named {
            // What the statement says goes before what the release says of itself.
            let levels = match named.levels {
                Some((low, high)) => Some((level(low, &named.column)?, level(high, &named.column)?)),
                None => manifest
                    .and_then(|m| m.node.get(&named.column))
                    .map(|level| (*level, *level)),
            };
            let hierarchy = match (
                &named.hierarchy,
                manifest.filter(|_| of_manifest.contains(&named.column)),
            ) {
                (Some(name), None) => Some(self.hierarchy(name)?),
                (Some(name), Some(manifest)) => found.same(manifest, &named.column, self.hierarchy(name)?)?,
                (None, Some(manifest)) => self.hierarchy_of(manifest, &named.column, levels, found)?,
                (None, None) if named.levels.is_some() => Some(suppression_of(&named.column)?),
                (None, None) => None,
            };
            known.push(Known::try_new(
                &named.column,
                hierarchy,
                levels,
                folders.contains(&named.column),
                text,
            )?);
        }
        Ok(known)
    }

    /// The hierarchy that the manifest names for a column, where this session has it.
    fn hierarchy_of(
        &self,
        manifest: &Manifest,
        column: &str,
        levels: Option<(u8, u8)>,
        found: &mut Findings,
    ) -> Result<Option<Arc<Hierarchy>>> {
        let suppression = suppression_of(column)?;
        if manifest.used(column, &suppression)? {
            return Ok(Some(suppression));
        }
        let mut unknown = |why: String| {
            let is_raw = levels == Some((0, 0));
            if !is_raw && manifest.partition.is_none() {
                found.unchecked.push(format!("labels of {column} ({why})"));
            }
            Ok(None)
        };
        let Some(name) = manifest.hierarchy_of(column).map(|h| &h.name) else {
            return unknown(format!("{MANIFEST} names no hierarchy"));
        };
        if levels.is_none() {
            return unknown(format!("{MANIFEST} has no level"));
        }
        let known = self.hierarchies.read().get(name).cloned();
        match known {
            None => unknown(format!("there is no hierarchy {name} in this session")),
            Some(hierarchy) if manifest.used(column, &hierarchy)? => Ok(Some(hierarchy)),
            Some(_) => unknown(format!(
                "hierarchy {name} of this session is not the one that {MANIFEST} has"
            )),
        }
    }
}

/// What VERIFY found.
#[derive(Default)]
struct Findings {
    checks: Vec<Check>,
    /// What was not checked, and why.
    unchecked: Vec<String>,
}

impl Findings {
    /// The hierarchy that the statement names for a column, where it is the manifest's; else a failed check.
    fn same(&mut self, manifest: &Manifest, column: &str, hierarchy: Arc<Hierarchy>) -> Result<Option<Arc<Hierarchy>>> {
        let is_same = manifest.used(column, &hierarchy)?;
        let what = format!("hierarchy {} of {column}", hierarchy.name());
        self.checks
            .push(evidence::says(&what, Some(1), Some(u64::from(is_same))));
        Ok(is_same.then_some(hierarchy))
    }

    /// One row for each.
    fn answer(self) -> Result<Answer> {
        let Self { checks, unchecked } = self;
        let none = || unchecked.iter().map(|_| None);
        let texts = checks.iter().map(|c| c.check.clone());
        let name: StringArray = texts
            .chain(unchecked.iter().map(|u| format!("not checked: {u}")))
            .map(Some)
            .collect();
        let required: Float64Array = checks.iter().map(|c| Some(c.required)).chain(none()).collect();
        let reached: Float64Array = checks.iter().map(|c| c.reached).chain(none()).collect();
        let ok: BooleanArray = checks
            .iter()
            .map(|c| Some(c.ok))
            .chain(unchecked.iter().map(|_| None))
            .collect();
        let batch = RecordBatch::try_from_iter_with_nullable([
            ("check", Arc::new(name) as ArrayRef, false),
            ("required", Arc::new(required), true),
            ("reached", Arc::new(reached), true),
            ("ok", Arc::new(ok), true),
        ])?;
        let failed = checks.into_iter().filter(|c| !c.ok).map(|c| c.check);
        Ok(Answer {
            failed: failed.collect(),
            ..Answer::of(batch)?
        })
    }
}

/// A session of its own with these rows under these names, which tells how many it has read.
fn session(state: &SessionState, views: &[(&str, LogicalPlan)], progress: &Arc<AtomicU64>) -> Result<SessionContext> {
    let own = recounting_session(state, Arc::clone(progress));
    for (name, plan) in views {
        own.register_table(*name, Arc::new(ViewTable::new(plan.clone(), None)))?;
    }
    Ok(own)
}

/// A check of how many there are of what there must be none of.
fn none_of(check: String, found: u64) -> Check {
    Check {
        check,
        required: 0.0,
        reached: Some(found as f64),
        ok: found == 0,
    }
}
