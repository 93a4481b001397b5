//! Builds the generalization rule of a hierarchy from its definition.

use super::context::AnonContext;
use crate::base::catalogue::Value;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::location::{expanded, is_url};
use crate::base::pool::blocking;
use crate::base::quoting::quote;
use crate::base::store::{Stores, listing_url, read_small};
use crate::data::frequency::{distinct_values, gathered};
use crate::language::sql::TableName;
use crate::language::sql::clause::DefinitionClause;
use crate::method::hierarchy::{Arguments, Data, GeneralizationRule, GivenPart};
use arrow::array::ArrayRef;
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

/// The maximum size, in bytes, of an object that contains the table of a hierarchy.
const LARGEST: u64 = 1 << 30;

impl AnonContext {
    /// Reads the results of the queries, the columns and the remote files that a definition names,
    /// and builds the generalization rule from these data.
    pub(super) async fn rule(&self, definition: &DefinitionClause) -> Result<Arc<dyn GeneralizationRule>> {
        let mut data = vec![];
        for (part, given) in &definition.given {
            match given {
                GivenPart::Query(query) => data.push((*part, Data::Rows(self.rows(query).await?))),
                GivenPart::Column { table, column } => {
                    let (values, counts) = self.value_counts(&TableName(table.clone()), column).await?;
                    data.push((*part, Data::Counts(values, counts)));
                }
                GivenPart::Value(Value::Text(path)) if definition.kind.reads_path(part) && is_url(&expanded(path)?) => {
                    data.push((*part, Data::Object(self.object(path).await?)));
                }
                GivenPart::Value(_) | GivenPart::Values(_) | GivenPart::Rows(_) | GivenPart::Options(_) => {}
            }
        }
        let (build, arguments) = (definition.kind.build, Arguments::new(definition.given.clone(), data));
        blocking("making a hierarchy", move || build(&arguments)).await
    }

    /// Reads the object at a URL, which contains the table of a hierarchy. Fails if the object does
    /// not exist.
    async fn object(&self, url: &str) -> Result<Vec<u8>> {
        let (state, what) = (self.session.state(), format!("hierarchy file {url}"));
        let place = listing_url(url)?;
        let store = Stores::open(&state, place.get_url()).map_err(|e| e.context(&what))?;
        let found = read_small(store.as_ref(), place.prefix(), LARGEST, &what).await?;
        let found = found.ok_or_else(|| Error::new(ErrorKind::Io, format!("{what}: there is no such object")));
        Ok(found?.bytes)
    }

    /// Runs a query and returns all its rows as one batch.
    async fn rows(&self, query: &str) -> Result<RecordBatch> {
        gathered(self.query(query).await?).await
    }

    /// Returns the distinct values of a column in ascending order with NULL last, and the number of
    /// rows for each value.
    pub(super) async fn value_counts(&self, table: &TableName, column: &str) -> Result<(ArrayRef, Vec<u64>)> {
        let schema = self.table(table).await?;
        if schema.schema().field_with_unqualified_name(column).is_err() {
            let names = schema.schema().fields().iter().map(|f| f.name().as_str());
            return Err(Error::unknown("column", column, names));
        }
        // The query selects no other column, so a key that the table declares has no effect.
        let rows = format!("(SELECT {} AS value FROM {table})", quote(column));
        distinct_values(&self.session, "value", &rows).await
    }
}
