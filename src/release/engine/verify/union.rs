//! The recount of a release to which a batch is added. It counts all rows of the grown release, and
//! it counts the new rows separately.
//!
//! A reader who has the release before and after the batch knows which rows are new. The new rows
//! must therefore satisfy the models by themselves, and all rows must satisfy them together.
//! Distributions are compared with the distributions of the released rows, because a reader of the
//! release knows no other distributions.

use super::read_back::as_written;
use super::recounted::{RELEASED, Recounted};
use crate::base::error::{Error, ErrorKind, Result};
use crate::data::folder::{Check, Manifest};
use crate::method::canonical::spelled_once;
use crate::release::engine::standing::{parquet, rows_that_stand};
use crate::release::engine::write::{StagedTarget, Written};
use crate::release::job::{Existing, Job, Roles};
use crate::release::observe::{Observer, Phase};
use crate::release::recount::{ReleasedTable, check_codes, promises, steady};
use arrow::datatypes::{DataType, Schema};
use datafusion::prelude::SessionContext;
use std::sync::Arc;

/// The table name of all released rows in the recounting session.
const GROWN: &str = "grown";

/// The table name of the rows of the release to which rows are added.
const STANDING: &str = "standing";

/// All rows of a release after a batch was added to it.
#[derive(Debug)]
pub(in crate::release::engine) struct Union {
    /// The manifest of the release before the batch was added.
    pub(in crate::release::engine) standing: Arc<Manifest>,
    /// The number of all rows, including the new rows.
    pub(in crate::release::engine) rows: u64,
    /// The number of classes of all rows. Rows with the same released labels form one class.
    pub(in crate::release::engine) classes: u64,
    /// The size of the smallest class of all rows.
    pub(in crate::release::engine) reached_k: Option<u64>,
    /// The check of each promise over all rows.
    pub(in crate::release::engine) checks: Vec<Check>,
    /// The check of each promise over the new rows alone.
    pub(in crate::release::engine) alone: Vec<Check>,
}

/// Recounts the written rows alone, and then together with the rows of the existing release.
/// Returns `None` if the statement adds the rows to no existing release. Fails as infeasible if a
/// promise is not kept.
pub(in crate::release::engine) async fn recount_union(
    job: &Job,
    written: &Written,
    recounted: &Recounted,
    StagedTarget { target, staging }: StagedTarget<'_>,
    observer: &Arc<dyn Observer>,
) -> Result<Option<Union>> {
    if target.existing != Existing::Append {
        return Ok(None);
    }
    observer.begin(Phase::Verify);
    let session = &recounted.session;
    let alone = check(
        job,
        session,
        &table(&job.roles, RELEASED),
        "these rows alone do not satisfy",
    )
    .await?;
    let Some(standing) = target.grows.clone() else {
        return Ok(None);
    };
    same_types(&standing, &written.schema)?;
    if standing.batches.is_empty() {
        // In a release that was made without APPEND, distributions may have been compared with the
        // distributions of the source.
        let rows = as_written(rows_that_stand(session, target).await?, &written.schema)?;
        session.register_table(STANDING, rows.into_view())?;
        let what = "the rows of the existing release alone do not satisfy";
        check(job, session, &table(&job.roles, STANDING), what).await?;
    }
    let places = staging.places_of_all(target, &written.files).await?;
    let rows = spelled_once(parquet(session, places, target).await?)?;
    let rows = as_written(rows, &written.schema)?;
    session.register_table(GROWN, rows.into_view())?;
    let grown = table(&job.roles, GROWN);
    let (rows, reached_k) = grown.count(session).await?;
    let expected = standing.rows_out + recounted.rows;
    if rows != expected {
        return Err(Error::new(
            ErrorKind::Verification,
            format!(
                "the release and the batch have {rows} rows instead of {expected}; nothing was added. VERIFY the existing \
                 release"
            ),
        ));
    }
    let checks = check(job, session, &grown, "with these rows, the release would not satisfy").await?;
    Ok(Some(Union {
        classes: grown.classes(session).await?,
        standing,
        rows,
        reached_k,
        checks,
        alone,
    }))
}

/// Describes released rows as a separate table, whose distributions are compared with the
/// distributions of its own rows.
fn table(roles: &Roles, name: &str) -> ReleasedTable {
    ReleasedTable {
        name: name.into(),
        quasi_identifiers: roles.quasi_identifiers.iter().map(|q| q.column.clone()).collect(),
        sensitive: roles.sensitive.iter().map(|s| s.column.clone()).collect(),
        ..ReleasedTable::default()
    }
}

/// Recounts every promise of a job, and the codes of its hierarchies. Fails as infeasible if a
/// promise is not kept.
async fn check(job: &Job, session: &SessionContext, table: &ReleasedTable, what: &str) -> Result<Vec<Check>> {
    let mut checks = table.check(session, &promises(job)?).await?;
    checks.iter_mut().for_each(|c| c.reached = c.reached.map(steady));
    checks.extend(check_codes(session, table, job).await?);
    let broken: Vec<&str> = checks.iter().filter(|c| !c.ok).map(|c| c.check.as_str()).collect();
    match broken.is_empty() {
        true => Ok(checks),
        false => Err(Error::infeasible(format!("{what} {}", broken.join(", ")))),
    }
}

/// Fails as a usage error if a column has a different type than in the release.
fn same_types(standing: &Manifest, written: &Schema) -> Result<()> {
    for column in &standing.columns {
        let own = type_name(written.field_with_name(&column.name)?.data_type());
        if own != column.data_type {
            return Err(Error::usage(format!(
                "APPEND: column {} is {own}, and in the existing release it is {}; CAST it",
                column.name, column.data_type
            )));
        }
    }
    Ok(())
}

/// Returns the name of the type of released values, as it is written in the manifest.
pub(in crate::release::engine) fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Dictionary(_, values) => values.to_string(),
        other => other.to_string(),
    }
}
