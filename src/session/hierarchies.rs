//! From the definition of a hierarchy to its rule.

use super::context::AnonContext;
use crate::error::{Error, Result};
use crate::frequency::distinct_values;
use crate::hierarchy::{Arguments, Data, GeneralizationRule, Given};
use crate::pool::blocking;
use crate::quoting::quote;
use crate::sql::TableName;
use crate::sql::clause::DefinitionClause;
use arrow::array::ArrayRef;
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

impl AnonContext {
    /// The rule of a definition: what it names is read, and its kind makes the rule.
    pub(super) async fn rule(&self, definition: &DefinitionClause) -> Result<Arc<dyn GeneralizationRule>> {
        let mut data = vec![];
        for (part, given) in &definition.given {
            match given {
                Given::Query(query) => data.push((*part, Data::Rows(self.rows(query).await?))),
                Given::Column { table, column } => {
                    let (values, counts) = self.value_counts(&TableName(table.clone()), column).await?;
                    data.push((*part, Data::Counts(values, counts)));
                }
                Given::Value(_) | Given::Values(_) | Given::Rows(_) | Given::Options(_) => {}
            }
        }
        let (build, arguments) = (definition.kind.build, Arguments::new(definition.given.clone(), data));
        blocking("making a hierarchy", move || build(&arguments)).await
    }

    /// All rows of a query as one batch.
    async fn rows(&self, query: &str) -> Result<RecordBatch> {
        let frame = self.session.sql(query).await?;
        let planned: SchemaRef = Arc::new(frame.schema().as_arrow().clone());
        let batches = frame.collect().await.map_err(Error::from_data)?;
        // Strings may come as another type of strings than was planned.
        let schema = batches.first().map_or(planned, RecordBatch::schema);
        Ok(concat_batches(&schema, &batches)?)
    }

    /// The distinct values of a column, ascending and NULL last, with their rows.
    pub(super) async fn value_counts(&self, table: &TableName, column: &str) -> Result<(ArrayRef, Vec<u64>)> {
        let schema = self.session.table(table.reference()).await?;
        if schema.schema().field_with_unqualified_name(column).is_err() {
            let names = schema.schema().fields().iter().map(|f| f.name().as_str());
            return Err(Error::unknown("column", column, names));
        }
        distinct_values(&self.session, &quote(column), &table.to_string()).await
    }
}
