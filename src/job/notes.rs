//! What a request does that its author may not expect, in one sentence each, without reading any
//! data.

use super::Job;
use crate::hierarchy::{LabelForm, plain_type};

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
        models.chain(rounded).collect()
    }
}
