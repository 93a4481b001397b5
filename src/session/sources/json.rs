//! The types of the columns of JSON files.

use super::listing::Listing;
use super::options::PathOptions;
use crate::error::{Error, Result};
use crate::source::json::{exact_schema, has_numbers, text_schema};
use arrow::datatypes::SchemaRef;
use datafusion_datasource_json::utils::JsonArrayToNdjsonReader;
use std::io::{BufRead, BufReader};
use std::sync::Arc;

/// The most bytes of a file that are looked at.
const MOST_BYTES: usize = 64 << 20;

/// Returns the schema with a text in place of every number that is none without a loss, or of all if the statement asks
/// for it.
pub(super) async fn numbers_as_written(
    schema: SchemaRef,
    listing: &Listing,
    options: &PathOptions,
) -> Result<SchemaRef> {
    if options.all_text {
        return Ok(text_schema(&schema));
    }
    let mut schema = schema;
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
