//! The change that a release makes to the log of a table.

use crate::base::error::{Error, Result};
use crate::data::folder::{FileSummary, Manifest};
use crate::data::formats::{Addition, Change};
use crate::data::lake::properties;
use crate::release::engine::write::{Written, WrittenFile, stored};
use crate::release::job::{Existing, Target};
use arrow::datatypes::{Field, Schema};
use std::sync::Arc;

/// Returns the change that makes a release the content of its table. With APPEND, the change adds
/// the written files to the table. `text` is the text of the release's manifest.
pub(super) fn change(target: &Target, written: &Written, (manifest, text): (&Manifest, &str)) -> Result<Change> {
    // The manifest of a release that grew lists the files of earlier batches first.
    let earlier = manifest.output.len().saturating_sub(written.files.len());
    let files = manifest.output.iter().skip(earlier).zip(&written.files);
    let columns = manifest.columns.iter().map(|column| {
        let field = written.schema.field_with_name(&column.name)?;
        // All columns are nullable, because a reader expects NOT NULL to hold for later versions
        // too.
        Ok(Field::new(&column.name, stored(field.data_type(), target.format), true))
    });
    Ok(Change {
        adds: target.existing == Existing::Append,
        additions: files.map(|(file, own)| addition(file, own)).collect::<Result<_>>()?,
        schema: Arc::new(Schema::new(columns.collect::<Result<Vec<Field>>>()?)),
        partitioned_by: target.partitioned_by.clone(),
        properties: properties(manifest, text)?,
        manifest: text.to_string(),
    })
}

fn addition(file: &FileSummary, written: &WrittenFile) -> Result<Addition> {
    let told = written.in_table.as_ref();
    let told = told.ok_or_else(|| Error::internal("a file of a table without statistics"))?;
    Ok(Addition {
        path: file.name.clone(),
        bytes: file.bytes,
        partition: told.partition.clone(),
        statistics: told.statistics.clone(),
    })
}
