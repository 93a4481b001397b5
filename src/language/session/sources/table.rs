//! A table over the files of a listing.

use super::format::DataFormat;
use super::listing::Listing;
use crate::base::error::{Error, Result};
use crate::data::folder::NULL_FOLDER;
use crate::data::source::{FileTable, Types};
use arrow::datatypes::{Field, Schema, SchemaRef};
use datafusion::dataframe::DataFrame;
use datafusion::datasource::file_format::FileFormat;
use datafusion::error::DataFusionError;
use datafusion::execution::SessionState;
use datafusion::object_store::{ObjectMeta, ObjectStoreExt};
use datafusion::prelude::SessionContext;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The columns of a table over files.
pub(super) struct TableColumns<'a> {
    /// The schema of the files.
    pub(super) schema: SchemaRef,
    /// The partition columns, which follow the columns of the files.
    pub(super) folders: &'a [String],
    /// The origin of the columns' types.
    pub(super) types: Types,
}

/// Returns a data frame with these columns over the files of a listing.
pub(super) fn table(
    session: &SessionContext,
    listing: &Listing,
    format: Arc<dyn FileFormat>,
    columns: TableColumns<'_>,
) -> Result<DataFrame> {
    let TableColumns { schema, folders, types } = columns;
    let table = FileTable::new(listing.places.clone(), format, schema, folders, NULL_FOLDER)?;
    Ok(session.read_table(Arc::new(table.with_types(types)))?)
}

/// Returns the merged schema of all files. A column that a file lacks is NULL in the rows of that
/// file. If a file cannot be read, the error names it. If the types of a column conflict, the error
/// names the column and two files.
pub(super) async fn schema(state: &SessionState, listing: &Listing, format: &Arc<dyn FileFormat>) -> Result<SchemaRef> {
    let merged = match format.infer_schema(state, &listing.store, &listing.files).await {
        Ok(schema) => schema,
        Err(e) => one_by_one(state, listing, format, e).await?,
    };
    if listing.files.len() < 2 || merged.fields().iter().all(|field| field.is_nullable()) {
        return Ok(merged);
    }
    let mut is_lacked = vec![false; merged.fields().len()];
    for file in &listing.files {
        let own = format
            .infer_schema(state, &listing.store, std::slice::from_ref(file))
            .await?;
        for (is_lacked, field) in is_lacked.iter_mut().zip(merged.fields()) {
            *is_lacked |= own.column_with_name(field.name()).is_none();
        }
    }
    let fields = merged.fields().iter().zip(is_lacked);
    let fields = fields.map(|(field, is_lacked)| {
        let is_nullable = is_lacked || field.is_nullable();
        field.as_ref().clone().with_nullable(is_nullable)
    });
    let fields: Vec<Field> = fields.collect();
    Ok(Arc::new(Schema::new_with_metadata(fields, merged.metadata().clone())))
}

/// Returns true for a JSON file that begins with the UTF-8 byte order mark.
async fn has_mark(listing: &Listing, file: &ObjectMeta) -> bool {
    let first = listing.store.get_range(&file.location, 0..file.size.min(3)).await;
    listing.format == DataFormat::Json && first.is_ok_and(|bytes| bytes.starts_with(b"\xef\xbb\xbf"))
}

/// Infers the schema of each file separately, and merges the schemas. Some types become equal only
/// when the files are read, such as text types of two sizes. If a file cannot be read, the error
/// names it. If the types of a column differ, the error names the column and two files. If the
/// schemas cannot be merged for another reason, fails with `error`, the error of the joint
/// inference.
async fn one_by_one(
    state: &SessionState,
    listing: &Listing,
    format: &Arc<dyn FileFormat>,
    error: DataFusionError,
) -> Result<SchemaRef> {
    let mut known: BTreeMap<String, (Arc<Field>, &ObjectMeta)> = BTreeMap::new();
    let mut schemas = vec![];
    for file in &listing.files {
        let schema = match format
            .infer_schema(state, &listing.store, std::slice::from_ref(file))
            .await
        {
            Ok(schema) => schema,
            Err(_) if has_mark(listing, file).await => {
                return Err(Error::data(format!(
                    "{:?} begins with a byte order mark, which is not JSON; write the file again without it, as UTF-8",
                    listing.name(file)
                )));
            }
            Err(e) => return Err(Error::from_data(e).context(format!("cannot read {:?}", listing.name(file)))),
        };
        for field in schema.fields() {
            let (of_first, first) = known.entry(field.name().clone()).or_insert((Arc::clone(field), file));
            let types = (of_first.data_type(), field.data_type());
            if types.0 != types.1 && !types.0.is_null() && !types.1.is_null() {
                return Err(Error::data(format!(
                    "column {:?} is {} in {:?} and {} in {:?}; read the files apart, and put them together with CAST and \
                     UNION ALL",
                    field.name(),
                    types.0,
                    listing.name(first),
                    types.1,
                    listing.name(file)
                )));
            }
        }
        schemas.push(schema.as_ref().clone());
    }
    match Schema::try_merge(schemas) {
        Ok(merged) => Ok(Arc::new(merged)),
        Err(_) => Err(Error::from_data(error)),
    }
}
