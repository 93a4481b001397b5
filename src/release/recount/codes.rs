//! The proof that no released label distinguishes values that a TOP CODE or BOTTOM CODE of its
//! hierarchy hides.

use super::released::ReleasedTable;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::data::folder::Check;
use crate::data::frequency::distinct_values;
use crate::method::hierarchy::{Codes, LabelForm, TOP, plain_type};
use crate::release::job::Job;
use arrow::array::AsArray;
use arrow::datatypes::DataType;
use datafusion::prelude::SessionContext;

/// A released column with the TOP CODE and BOTTOM CODE of its hierarchy.
#[derive(Debug)]
pub(crate) struct CodedColumn<'a> {
    pub(crate) column: &'a str,
    pub(crate) codes: Codes,
    /// The form of the labels, such as TEXT or MIDPOINT.
    pub(crate) form: LabelForm,
    /// The type of the column in the source; `None` if the type is not known. A label then passes
    /// if it is correct for one of the possible types.
    pub(crate) data_type: Option<DataType>,
}

/// Returns one check for each column whose hierarchy has codes: the quasi-identifiers, and the
/// attribute that is generalized for a model.
pub(crate) async fn check_codes(session: &SessionContext, released: &ReleasedTable, job: &Job) -> Result<Vec<Check>> {
    let quasi_identifiers = job
        .roles
        .quasi_identifiers
        .iter()
        .map(|q| (&q.column, &q.hierarchy, q.labels));
    let generalized = job.guarantees.generalized_attribute();
    let sensitive = job.roles.sensitive.iter();
    let sensitive = sensitive.filter(|s| Some(s.column.as_str()) == generalized);
    let sensitive = sensitive.filter_map(|s| Some((&s.column, s.hierarchy.as_ref()?, LabelForm::Text)));
    let mut checks = vec![];
    for (column, hierarchy, form) in quasi_identifiers.chain(sensitive) {
        let Some(codes) = hierarchy.rule().codes() else {
            continue;
        };
        let field = job.input.source.rows.schema().field_with_unqualified_name(column)?;
        let coded = CodedColumn {
            column,
            codes,
            form,
            data_type: Some(field.data_type().clone()),
        };
        checks.push(coded.check(session, released).await?);
    }
    Ok(checks)
}

impl CodedColumn<'_> {
    /// Counts the released rows whose label reveals more about a hidden value than its code does.
    pub(crate) async fn check(&self, session: &SessionContext, released: &ReleasedTable) -> Result<Check> {
        let text = format!("arrow_cast({}, 'Utf8')", quote(self.column));
        let (labels, rows) = distinct_values(session, &text, &released.released()).await?;
        let is_point = self.form.is_of_class() || self.form == LabelForm::Midpoint;
        let types = match &self.data_type {
            Some(data_type) => vec![plain_type(data_type).clone()],
            None => vec![DataType::Int64, DataType::Float64],
        };
        let is_told = |label: Option<&str>| {
            let (label, mut types) = (label.filter(|label| *label != TOP), types.iter());
            types.all(|data_type| self.codes.are_told_by(label, is_point, data_type))
        };
        let labels = labels.as_string::<i32>();
        let told: u64 = labels
            .iter()
            .zip(rows)
            .filter(|(label, _)| is_told(*label))
            .map(|(_, n)| n)
            .sum();
        Ok(Check {
            check: self.codes.check_of(self.column),
            required: 0.0,
            reached: Some(told as f64),
            ok: told == 0,
        })
    }
}
