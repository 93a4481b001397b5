//! The number of ground values that each released label stands for, recomputed from the hierarchy
//! and the values of the source.

use super::released::{Generalized, Promise, ReleasedTable};
use super::sql::{register, with_one_zero};
use crate::base::error::{Error, Result};
use crate::base::quoting::quote;
use crate::data::frequency::distinct_values;
use crate::data::model::LabelSpans;
use crate::method::hierarchy::texts;
use arrow::array::{ArrayRef, StringArray, UInt64Array};
use arrow::compute::kernels::cmp::eq;
use arrow::compute::{cast, nullif};
use arrow::datatypes::DataType;
use datafusion::prelude::SessionContext;
use std::sync::Arc;

impl ReleasedTable {
    /// Returns the number of ground values under each label of a promise's quasi-identifiers. Fails
    /// with a usage error if the values of the source, or the hierarchy and level of a
    /// quasi-identifier, are not known.
    pub(super) async fn label_spans(&self, session: &SessionContext, promise: &Promise<'_>) -> Result<Vec<LabelSpans>> {
        let whole = self.whole_for(promise, "values of the source under each label")?;
        let mut spans = vec![];
        for column in promise.groupings.iter().flatten() {
            let known = self.known_level(column, promise)?;
            spans.push(known.spans(session, whole, self.empty_is_null.contains(column)).await?);
        }
        Ok(spans)
    }

    /// Returns the name of the whole table. If the whole table is not known, fails with a usage
    /// error that contains `counted`, which describes what the promise counts in the table.
    pub(super) fn whole_for(&self, promise: &Promise<'_>, counted: &str) -> Result<&str> {
        self.whole
            .as_deref()
            .ok_or_else(|| Error::usage(format!("{} counts the {counted}: write AGAINST source", promise.name)))
    }

    /// Returns the hierarchy and the level of a quasi-identifier. Fails with a usage error if
    /// either is not known, or if the labels have a form other than TEXT.
    pub(super) fn known_level(&self, column: &str, promise: &Promise<'_>) -> Result<&Generalized> {
        if self.null_labels.iter().any(|c| c == column) {
            return Err(Error::usage(format!(
                "{}: column {column} was released in another form than LABELS TEXT, which does not identify the label",
                promise.name
            )));
        }
        self.generalized.iter().find(|g| g.column == column).ok_or_else(|| {
            Error::usage(format!(
                "{}: the level of column {column} is not known; write QUASI IDENTIFIERS ({column} USING hierarchy LEVELS 2 TO \
                 2) with the hierarchy and the level that it was released with",
                promise.name
            ))
        })
    }
}

impl Generalized {
    /// Returns the number of ground values under each label. If `empty_is_null` is true, a label
    /// that is an empty text becomes NULL.
    async fn spans(&self, session: &SessionContext, whole: &str, empty_is_null: bool) -> Result<LabelSpans> {
        let table = session.table(whole).await?;
        let (_, field) = table.schema().qualified_field_with_unqualified_name(&self.column)?;
        let value = with_one_zero(&quote(&self.column), field.data_type());
        let (values, _) = distinct_values(session, &value, &quote(whole)).await?;
        let values = match values.data_type() {
            DataType::Dictionary(_, inner) => cast(&values, inner)?,
            _ => values,
        };
        let lookup = self.hierarchy.bind(values)?;
        let (level, of) = (lookup.level(self.level), lookup.total_leaves());
        if let Some(leaves) = level
            .leaves
            .first()
            .filter(|first| level.leaves.iter().all(|n| n == *first))
        {
            return Ok(LabelSpans::Equal { leaves: *leaves, of });
        }
        let name = format!("spans of {}", self.column);
        let mut labels: ArrayRef = Arc::new(texts(&level.labels)?);
        if empty_is_null {
            let is_empty = eq(&labels, &StringArray::new_scalar(""))?;
            labels = nullif(&labels, &is_empty)?;
        }
        let leaves: ArrayRef = Arc::new(UInt64Array::from(level.leaves.clone()));
        register(session, &name, vec![("label", labels), ("leaves", leaves)])?;
        Ok(LabelSpans::Listed {
            relation: quote(&name),
            of,
        })
    }
}
