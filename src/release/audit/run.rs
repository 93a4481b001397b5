//! Runs the checks of a claim one after the other.

use super::claim::Claim;
use super::columns::known;
use super::empty::{Empty, mixed};
use super::evidence::ReleaseEvidence;
use super::known::{Known, generalized};
use super::people::{people, source};
use super::spelling::{CSV_TEXT, TEXT, align, in_zones_of_source};
use super::tables::{CHECKED, PEOPLE, POPULATION, WHOLE, session};
use super::verification::Verification;
use super::{against, batches, budget, cover, items, labels, masks, order, signed, standards, starred, undecided};
use crate::base::error::{Error, Result};
use crate::data::folder::{Check, MANIFEST, Manifest, Role, SuppressedRows, with_nulls};
use crate::method::hierarchy::Hierarchy;
use crate::release::job::Constraint;
use crate::release::observe::{Observer, Phase};
use crate::release::recount::{Answers, Generalized, Promise, ReleasedTable, Remaining, admit_people, bounds_as_text};
use datafusion::logical_expr::LogicalPlan;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// Runs all checks of a claim, and returns them in the order of VERIFY's rows.
pub(crate) async fn audit(claim: &Claim, observer: &dyn Observer) -> Result<Verification> {
    // This function is not divided, so that the checks stay in the order of VERIFY's rows.
    let mut found = Verification {
        files_read: claim.files_read,
        ..Verification::default()
    };
    let known = known(claim, &mut found)?;
    let manifest = claim.evidence.as_ref().map(|e| &e.manifest);
    same_hierarchies(claim, &mut found)?;
    let mut released = released(claim)?;
    let (state, checked) = with_nulls(claim.rows.clone(), &claim.folders)?.into_parts();
    let views = views(claim, &known, checked)?;
    released.generalized = known.iter().filter_map(with_level).collect();
    let progress = observer.begin(Phase::Verify);
    let own = session(&state, &views, &progress)?;
    if claim.against.is_some() {
        in_zones_of_source(&own, CHECKED, &released.quasi_identifiers).await?;
    }
    bounds_as_text(&own, CHECKED, &released.quasi_identifiers).await?;
    if claim.population.is_some() {
        released.population = Some(generalized_people(&own, &known).await?);
    }
    let text = |column: &str| claim.evidence.as_ref().map_or(TEXT, |e| e.text(column));
    let of_csv = released.sensitive.iter().filter(|column| text(column) == CSV_TEXT);
    let empty = Empty::of(&own, &released, &of_csv.cloned().collect::<Vec<_>>()).await?;
    let text = |column: &str| match empty.texts.iter().any(|empty| empty == column) {
        true => TEXT,
        false => text(column),
    };
    let unlike = match released.whole {
        Some(_) => align(&own, &released.sensitive, text).await?,
        None => vec![],
    };
    let of_csv = released
        .quasi_identifiers
        .iter()
        .filter(|column| text(column) == CSV_TEXT);
    let people = match claim.population {
        Some(_) => mixed(&own, PEOPLE, of_csv).await?,
        None => vec![],
    };
    let promises = promises(claim, &mut found)?;
    let promises = without(promises, UNLIKE, &mut found, |promise| compares(promise, &unlike));
    let promises = without(promises, UNTOLD, &mut found, |promise| compares(promise, &empty.untold));
    let promises = without(promises, UNTOLD, &mut found, |promise| {
        promise.model.reads().population && !people.is_empty()
    });
    let notes = claim.constraints.iter().filter_map(|c| c.model.note());
    notes.for_each(|note| observer.advised(&note));
    let settled = starred::check(&own, &released, &promises).await?;
    let mut checks = undecided::set_apart(settled, &promises, claim, &mut found);
    match &claim.evidence {
        Some(evidence) => {
            checks.extend(evidence.check(&own, &released, &claim.columns()).await?);
            found.unchecked.extend(evidence.unchecked(released.whole.is_some()));
            checks.extend(batches::check(&own, &released, &promises, evidence, &mut found).await?);
        }
        None => found.gap(format!("files, columns and levels (there is no {MANIFEST})")),
    }
    checks.extend(signed::check(claim, &mut found));
    let (spent, unread) = budget::check(&claim.constraints, manifest);
    checks.extend(spent);
    found.unchecked.extend(unread);
    checks.append(&mut found.checks);
    checks.extend(labels::check(&own, &released, &known, &mut found).await?);
    checks.extend(labels::check_codes(&own, &released, &known).await?);
    checks.extend(items::check(&own, claim).await?);
    checks.extend(masks::check(&own, claim).await?);
    checks.extend(standards::check(&own, claim, &released, &mut found).await?);
    found.unchecked.extend(unread_levels(&known, &released));
    if released.whole.is_some() {
        let (of_source, unchanged) = against_source(&own, claim, &known, &released, &mut found).await?;
        checks.extend(of_source);
        if !claim.evidence.as_ref().is_some_and(ReleaseEvidence::grew) {
            let mut in_order = state.clone();
            in_order.config_mut().options_mut().execution.target_partitions = 1;
            let in_order = session(&in_order, &views, &progress)?;
            in_zones_of_source(&in_order, CHECKED, &released.quasi_identifiers).await?;
            bounds_as_text(&in_order, CHECKED, &released.quasi_identifiers).await?;
            align(&in_order, &released.sensitive, text).await?;
            checks.extend(order::check(&in_order, &known, &claim.folders, &unchanged).await?);
        }
    }
    found.checks = checks;
    Ok(found)
}

/// Returns the plans of the tables that the checks read, by their names: the checked rows, the
/// source and the population.
fn views(claim: &Claim, known: &[Known], checked: LogicalPlan) -> Result<Vec<(&'static str, LogicalPlan)>> {
    let mut views = vec![(CHECKED, checked)];
    let population = claim.population.as_ref();
    let population = population.map(|rows| people(claim, rows, known)).transpose()?;
    let against = claim.against.as_ref();
    let against = against.map(|rows| source(claim, rows)).transpose()?;
    let others = [(WHOLE, &against), (PEOPLE, &population)];
    for (name, rows) in others {
        views.extend(rows.iter().map(|rows| (name, rows.logical_plan().clone())));
    }
    Ok(views)
}

/// Checks that the released values are true of the source, whatever the order of the rows. Also
/// returns the columns that are released unchanged.
async fn against_source(
    session: &SessionContext,
    claim: &Claim,
    known: &[Known],
    released: &ReleasedTable,
    found: &mut Verification,
) -> Result<(Vec<Check>, Vec<against::Unchanged>)> {
    let whole = session.table(WHOLE).await?;
    let is_there = |column: &str| whole.schema().field_with_unqualified_name(column).is_ok();
    for known in known.iter().filter(|known| !is_there(&known.column)) {
        let column = &known.column;
        found.gap(format!(
            "whether values of {column} are true of the source (the source has no such column)"
        ));
    }
    let mut checks = vec![];
    against::uncompared(session, claim, found).await?;
    checks.extend(against::check_permuted(session, claim, released, found).await?);
    let unchanged = against::unchanged(session, claim, found).await?;
    checks.extend(against::check(session, released, known, &unchanged).await?);
    checks.extend(against::check_starred(session, released, &unchanged).await?);
    let (covered, unread) = cover::check(session, released, known, &unchanged).await?;
    checks.extend(covered);
    found.unchecked.extend(unread);
    Ok((checks, unchanged))
}

/// Returns a column with its hierarchy and level, if both are known.
fn with_level(known: &Known) -> Option<Generalized> {
    Some(Generalized {
        column: known.column.clone(),
        hierarchy: Arc::clone(known.hierarchy.as_ref()?),
        level: known.level()?,
    })
}

/// Registers the population, generalized like the release, as a table, and returns the name of the
/// table. Fails with `ErrorKind::Data` if a hierarchy rules out a value of the population.
async fn generalized_people(session: &SessionContext, known: &[Known]) -> Result<String> {
    for known in known {
        if let Some(hierarchy) = &known.hierarchy {
            admit_people(session, PEOPLE, &known.column, hierarchy).await?;
        }
    }
    let every: Vec<&Known> = known.iter().collect();
    let people = generalized(session, PEOPLE, &every).await?;
    let rows = session.sql(&format!("SELECT * FROM {people}")).await?;
    session.register_table(POPULATION, rows.into_view())?;
    Ok(POPULATION.into())
}

/// Describes the columns whose levels cannot be checked because their labels are computed.
fn unread_levels(known: &[Known], released: &ReleasedTable) -> Vec<String> {
    let is_unread = |k: &&Known| k.form.is_of_class() || k.form.is_of_label() && released.whole.is_none();
    let unread = known.iter().filter(is_unread);
    unread
        .map(|k| format!("levels of {} (LABELS {})", k.column, k.form))
        .collect()
}

/// Compares the hierarchies that the statement names for sensitive columns with the hierarchies in
/// the manifest.
fn same_hierarchies(claim: &Claim, found: &mut Verification) -> Result<()> {
    let manifest = claim.evidence.as_ref().map(|e| &e.manifest);
    for sensitive in &claim.sensitive {
        let is_known = manifest.filter(|m| m.hierarchy_of(&sensitive.column).is_some());
        if let (Some(manifest), Some(name)) = (is_known, &sensitive.hierarchy) {
            found.same(manifest, &sensitive.column, claim.hierarchy(name)?)?;
        }
    }
    Ok(())
}

/// The reason why a column of files is not compared with a column of the source.
const UNLIKE: &str = "files spell the values differently from SQL";

/// The reason why a column of CSV with empty fields is not compared with another table.
const UNTOLD: &str = "an empty field of CSV is the empty text or NULL, and the file does not show which";

/// Returns true if the promise compares one of these columns with the whole table.
fn compares(promise: &Promise, columns: &[String]) -> bool {
    let is_of = |column: &String| columns.contains(column);
    promise.model.reads().whole && promise.attribute.as_ref().is_some_and(is_of)
}

/// Returns the promises that can be checked. A promise for which `cannot` returns true is reported
/// as not checked, with the reason `why`.
fn without<'a>(
    promises: Vec<Promise<'a>>,
    why: &str,
    found: &mut Verification,
    cannot: impl Fn(&Promise) -> bool,
) -> Vec<Promise<'a>> {
    let (others, checked): (Vec<_>, Vec<_>) = promises.into_iter().partition(|promise| cannot(promise));
    for promise in others {
        found.gap(format!("{} ({why})", promise.name));
    }
    checked
}

/// Describes the checked rows as a released table, with the columns that the manifest names, or
/// else the columns that the statement names.
pub(super) fn released(claim: &Claim) -> Result<ReleasedTable> {
    let manifest = claim.evidence.as_ref().map(|e| &e.manifest);
    let starred = manifest.filter(|m| m.suppressed_rows == SuppressedRows::Starred);
    let quasi_identifiers = match manifest {
        Some(manifest) => manifest.columns_of(Role::QuasiIdentifier),
        None => claim.quasi_identifiers.iter().map(|q| q.column.clone()).collect(),
    };
    let columns = claim.columns();
    if let Some(gone) = quasi_identifiers.iter().find(|q| !columns.contains(&q.as_str())) {
        return Err(Error::data(format!(
            "the manifest has the quasi-identifier {gone}, which the release lacks"
        )));
    }
    let is_of_csv = |column: &&String| claim.evidence.as_ref().is_some_and(|e| e.text(column) == CSV_TEXT);
    Ok(ReleasedTable {
        name: CHECKED.into(),
        empty_is_null: quasi_identifiers.iter().filter(is_of_csv).cloned().collect(),
        quasi_identifiers,
        sensitive: match manifest {
            Some(manifest) => manifest.columns_of(Role::Sensitive),
            None => claim.sensitive.iter().map(|s| s.column.clone()).collect(),
        },
        item_sets: manifest.map_or(vec![], |m| m.columns_of(Role::ItemSet)),
        entity: claim.entity.clone(),
        null_labels: manifest.map_or(vec![], Manifest::computed_columns),
        starred: starred.map_or(0, |m| m.rows_suppressed.unwrap_or(0)),
        suppressed: None,
        remaining: Remaining::default(),
        population: None,
        generalized: vec![],
        answers: Answers::default(),
        whole: claim.against.as_ref().map(|_| WHOLE.into()),
    })
}

/// Returns the models of a claim as promises to recount. A model is reported as not checked if it
/// depends on a hierarchy whose values the manifest does not contain.
fn promises<'a>(claim: &'a Claim, found: &mut Verification) -> Result<Vec<Promise<'a>>> {
    let mut promises = vec![];
    for constraint in &claim.constraints {
        match attribute_hierarchy(claim, constraint)? {
            Read::Hierarchy(hierarchy) => {
                promises.push(Promise::of(constraint, &claim.quasi_identifiers, hierarchy)?);
            }
            Read::Unknown(column) => found.gap(format!(
                "{} (the manifest does not hold the values of the hierarchy; name it: SENSITIVE ({column} USING hierarchy))",
                constraint.describe(&claim.quasi_identifiers)
            )),
        }
    }
    Ok(promises)
}

/// The hierarchy of a model's sensitive attribute, or the column whose hierarchy is unknown.
enum Read {
    /// The hierarchy; `None` if the model does not depend on one.
    Hierarchy(Option<Arc<Hierarchy>>),
    /// The column whose hierarchy lists its values. No manifest contains such a hierarchy.
    Unknown(String),
}

/// Returns the hierarchy of a model's sensitive attribute: the one that the statement names, or
/// else the one that the manifest defines. A manifest does not define a hierarchy that lists its
/// values.
fn attribute_hierarchy(claim: &Claim, constraint: &Constraint) -> Result<Read> {
    let (true, Some(attribute)) = (constraint.model.reads().hierarchy, &constraint.attribute) else {
        return Ok(Read::Hierarchy(None));
    };
    let sensitive = claim.sensitive.iter().find(|s| s.column == *attribute);
    let manifest = claim.evidence.as_ref().map(ReleaseEvidence::manifest);
    match sensitive.and_then(|s| s.hierarchy.as_ref()) {
        Some(name) => Ok(Read::Hierarchy(Some(claim.hierarchy(name)?))),
        None if claim.defined.contains_key(attribute) => Ok(Read::Hierarchy(claim.defined.get(attribute).cloned())),
        None if manifest.is_some_and(|m| m.hierarchy_of(attribute).is_some()) => Ok(Read::Unknown(attribute.clone())),
        None => Err(Error::usage(format!(
            "{} needs a hierarchy of the sensitive attribute: SENSITIVE ({attribute} USING hierarchy)",
            constraint.call
        ))),
    }
}
