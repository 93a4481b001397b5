//! What a request does that its author may not expect, in one sentence each, without reading any data.

use super::{Format, Job};
use crate::hierarchy::{LabelForm, plain_type};
use crate::quoting::quote;
use arrow::datatypes::{DataType, TimeUnit};

impl Job {
    /// Returns the notes about the request. They contain names and numbers of the statement alone.
    pub fn notes(&self) -> Vec<String> {
        let models = self.constraints.iter().filter_map(|c| c.model.note());
        let rows = self.source.rows.schema();
        let rounded = self.quasi_identifiers.iter().filter_map(|q| {
            let what = match q.labels {
                LabelForm::Mean => "means",
                LabelForm::Median => "medians",
                LabelForm::Midpoint => "midpoints",
                LabelForm::Text | LabelForm::Bounds | LabelForm::Mode => return None,
            };
            let field = rows.field_with_unqualified_name(&q.column).ok()?;
            plain_type(field.data_type()).is_integer().then(|| {
                format!(
                    "column {}: {what} of whole numbers are rounded to whole numbers; cast the column to DOUBLE in a query for \
                     {what} with digits",
                    q.column
                )
            })
        });
        models.chain(rounded).chain(self.nanoseconds()).collect()
    }

    /// Returns a note for each column that is released as it is and whose times a reader of Parquet may not know.
    fn nanoseconds(&self) -> impl Iterator<Item = String> {
        let is_parquet = self
            .target
            .as_ref()
            .is_some_and(|target| target.format == Format::Parquet);
        let sensitive = self.sensitive.iter().map(|sensitive| &sensitive.column);
        let columns = self.keep.iter().chain(&self.class_label).chain(sensitive);
        let rows = self.source.rows.schema();
        let note = move |column: &String| {
            let field = rows.field_with_unqualified_name(column).ok()?;
            let DataType::Timestamp(TimeUnit::Nanosecond, zone) = plain_type(field.data_type()) else {
                return None;
            };
            let other = DataType::Timestamp(TimeUnit::Microsecond, zone.clone());
            Some(format!(
                "column {column}: its times are in nanoseconds, which Spark 3 cannot read from Parquet; if microseconds are \
                 enough, write arrow_cast({}, '{other}') in a query",
                quote(column)
            ))
        };
        columns.filter(move |_| is_parquet).filter_map(note)
    }
}
