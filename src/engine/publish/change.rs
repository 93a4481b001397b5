//! What the log of a Delta table is to say of a release.

use crate::delta::{Addition, Change};
use crate::engine::write::{Written, WrittenFile, stored};
use crate::error::{Error, Result};
use crate::folder::{FileSummary, Manifest, sha256};
use crate::job::{Existing, Job, Target};
use crate::lake::{NAMES_MANIFEST, manifest_of};
use arrow::datatypes::{Field, Schema};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Returns the change that makes a release the content of its table, or with APPEND adds the written files to it. `text` is the text of its manifest.
pub(super) fn change(
    (job, target): (&Job, &Target),
    written: &Written,
    (manifest, text): (&Manifest, &str),
) -> Result<Change> {
    // A release that grew names the files of earlier batches first.
    let earlier = manifest.output.len().saturating_sub(written.files.len());
    let files = manifest.output.iter().skip(earlier).zip(&written.files);
    let columns = manifest.columns.iter().map(|column| {
        let field = written.schema.field_with_name(&column.name)?;
        // A reader takes NOT NULL for a promise about later versions, too.
        Ok(Field::new(&column.name, stored(field.data_type(), target.format), true))
    });
    Ok(Change {
        adds: target.existing == Existing::Append,
        additions: files.map(|(file, own)| addition(file, own)).collect::<Result<_>>()?,
        schema: Arc::new(Schema::new(columns.collect::<Result<Vec<Field>>>()?)),
        partitioned_by: target.partitioned_by.clone(),
        properties: properties(job, manifest, text)?,
    })
}

fn addition(file: &FileSummary, written: &WrittenFile) -> Result<Addition> {
    let told = written.in_table.as_ref();
    let told = told.ok_or_else(|| Error::internal("a file of a Delta table without statistics"))?;
    Ok(Addition {
        path: file.name.clone(),
        bytes: file.bytes,
        partition: told.partition.clone(),
        statistics: told.statistics.clone(),
    })
}

/// Returns what the properties of the table say of the release: none of it is a value of the data.
fn properties(job: &Job, manifest: &Manifest, text: &str) -> Result<BTreeMap<String, String>> {
    let run = manifest.run.as_deref();
    let run = run.ok_or_else(|| Error::internal("a release in a Delta table without a run"))?;
    let models = job.constraints.iter().map(|c| c.describe(&job.quasi_identifiers));
    let models = models.collect::<Vec<String>>().join(", ");
    let told = [
        ("anonsql.version", Some(manifest.version.clone())),
        ("anonsql.release", Some(run.to_string())),
        (NAMES_MANIFEST, Some(manifest_of(run))),
        ("anonsql.manifest_sha256", Some(sha256(text))),
        ("anonsql.models", Some(models)),
        ("anonsql.k", manifest.reached_k.map(|k| k.to_string())),
    ];
    let told = told
        .into_iter()
        .filter_map(|(name, text)| Some((name.to_string(), text?)));
    Ok(told.collect())
}
