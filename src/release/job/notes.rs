//! Notes about effects of a request that its author may not expect. Each note is one sentence. No
//! data is read.

use super::Job;
use crate::method::hierarchy::{LabelForm, plain_type};
use crate::method::masks::Reads;

impl Job {
    /// Returns the notes about the request. They contain only names and numbers from the statement.
    pub fn notes(&self) -> Vec<String> {
        let models = self.guarantees.constraints.iter().filter_map(|c| c.model.note());
        let rows = self.input.source.rows.schema();
        let rounded = self.roles.quasi_identifiers.iter().filter_map(|q| {
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
        let unchecked = self.guarantees.standards.iter().map(|standard| {
            format!(
                "{} is followed as far as it can be checked: {}",
                standard.info.name, standard.unchecked
            )
        });
        let redacted = self
            .roles
            .masks
            .iter()
            .filter(|of| of.clause.kind.reads == Reads::Identifiers);
        let redacted = redacted.map(|of| {
            format!(
                "column {}: {} is without a guarantee: words that no form and no identifier of the row shows stay; read the texts \
                 before they are handed on",
                of.column, of.clause.kind.noun
            )
        });
        models.chain(rounded).chain(unchecked).chain(redacted).collect()
    }
}
