//! Infers the types of the columns in JSON files.

use super::listing::Listing;
use super::options::PathOptions;
use crate::base::error::{Error, Result};
use crate::data::source::json::{exact_schema, has_numbers, text_schema};
use arrow::datatypes::{DataType, Fields, Schema, SchemaRef};
use datafusion_datasource_json::utils::JsonArrayToNdjsonReader;
use std::io::{BufRead, BufReader};
use std::sync::Arc;

/// The maximum number of bytes that are examined in each file.
const MOST_BYTES: usize = 64 << 20;

/// Returns the schema with some number columns changed to text: the columns whose numbers would
/// otherwise lose digits. Columns that the statement declares as text become text as well. Fails
/// with a usage error if the statement gives a column another type.
pub(super) async fn numbers_as_written(
    schema: SchemaRef,
    listing: &Listing,
    options: &PathOptions,
) -> Result<SchemaRef> {
    options.check_types(schema.fields().iter().map(|field| field.name().as_str()))?;
    if options.all_text {
        return Ok(text_schema(&schema));
    }
    if options.types.values().any(|stated| *stated != DataType::Utf8) {
        return Err(Error::usage(
            "types of OPTIONS makes columns of JSON text (types 'zip TEXT'); write CAST in a query for other types",
        ));
    }
    let texts = text_schema(&schema);
    let fields = schema.fields().iter().zip(texts.fields());
    let fields = fields.map(|(field, text)| match options.types.contains_key(field.name()) {
        true => Arc::clone(text),
        false => Arc::clone(field),
    });
    let mut schema: SchemaRef = Arc::new(Schema::new(fields.collect::<Fields>()));
    for file in listing.files.iter() {
        if !has_numbers(&schema) {
            break;
        }
        let sample = listing.sample(file, usize::MAX, MOST_BYTES).await;
        let sample = sample
            .map_err(|e| e.context(format!("cannot read {:?}", listing.name(file))))?
            .bytes;
        let is_array = sample.trim_ascii_start().starts_with(b"[");
        let lines: Box<dyn BufRead> = match is_array {
            true => Box::new(BufReader::new(JsonArrayToNdjsonReader::new(sample.as_slice()))),
            false => Box::new(sample.as_slice()),
        };
        schema = Arc::new(exact_schema(&schema, lines, options.rows).map_err(Error::from)?);
    }
    Ok(schema)
}
