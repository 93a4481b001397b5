//! The population in the types of the source: the label of a value depends on its type, and the
//! value 1.4 of the population must not become the value 1 of the source.

use super::claim::Claim;
use super::evidence::Evidence;
use super::known::Known;
use crate::error::Result;
use crate::hierarchy::{LabelForm, plain_type};
use crate::source::in_type;
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::{Expr, ident};

/// Returns the rows of a population with each known column in the type of the source. Reading them
/// fails with `ErrorKind::Data` if a value is none of that type.
pub(super) fn people(claim: &Claim, population: &DataFrame, known: &[Known]) -> Result<DataFrame> {
    let columns = population.schema().fields().iter().map(|field| {
        let name = field.name();
        let known = known.iter().find(|known| known.column == *name);
        match known.and_then(|known| of_source(claim, known)) {
            Some(data_type) => in_type(population, name, &data_type),
            None => Ok(ident(name)),
        }
    });
    Ok(population.clone().select(columns.collect::<Result<Vec<Expr>>>()?)?)
}

/// Returns the type that a column has in the source: by the manifest, by the source, or by what is
/// released as it is. `None` if none of them tells it.
fn of_source(claim: &Claim, known: &Known) -> Option<DataType> {
    let column = &known.column;
    let typed = |rows: &DataFrame| {
        let field = rows.schema().field_with_unqualified_name(column).ok()?;
        Some(plain_type(field.data_type()).clone())
    };
    let manifest = claim.evidence.as_ref().map(Evidence::manifest);
    let is_unchanged = known.level() == Some(0) && known.form == LabelForm::Text;
    let released = || typed(&claim.rows).filter(|released| is_unchanged && !released.is_string());
    manifest
        .and_then(|manifest| manifest.type_in_source(column))
        .or_else(|| claim.against.as_ref().and_then(typed))
        .or_else(released)
}
