//! The population and the source, with the types that the columns had in the original source. The
//! label of a value depends on its type, and the value 1.4 of the population must not become the
//! value 1 of the source.

use super::claim::Claim;
use super::evidence::ReleaseEvidence;
use super::known::Known;
use crate::base::error::Result;
use crate::data::source::in_type;
use crate::method::hierarchy::{LabelForm, is_binary, plain_type};
use arrow::datatypes::DataType;
use datafusion::dataframe::DataFrame;
use datafusion::logical_expr::{Expr, ident};

/// Returns the rows of a population, in which each known column has its type in the source. Reading
/// the rows fails with `ErrorKind::Data` if a value is not of this type.
pub(super) fn people(claim: &Claim, population: &DataFrame, known: &[Known]) -> Result<DataFrame> {
    let columns = population.schema().fields().iter().map(|field| {
        let name = field.name();
        let known = known.iter().find(|known| known.column == *name);
        match known.and_then(|known| of_source(claim, known)) {
            Some(data_type) => in_type((population, "the population"), name, &data_type),
            None => Ok(ident(name)),
        }
    });
    Ok(population.clone().select(columns.collect::<Result<Vec<Expr>>>()?)?)
}

/// Returns the rows of AGAINST, in which each column has the type that it had when the release was
/// made, if the manifest contains this type. The type matters, because the label of 34 differs from
/// the label of 34.0. A column that cannot be cast to this type is left unchanged. Reading the rows
/// fails with `ErrorKind::Data` if a value is not of this type.
pub(super) fn source(claim: &Claim, rows: &DataFrame) -> Result<DataFrame> {
    let Some(manifest) = claim.evidence.as_ref().map(ReleaseEvidence::manifest) else {
        return Ok(rows.clone());
    };
    let columns = rows.schema().fields().iter().map(|field| {
        let name = field.name();
        let then = manifest.type_in_source(name);
        let then = then.filter(|then| !is_alike(plain_type(field.data_type()), then));
        let typed = then.and_then(|then| in_type((rows, "the source"), name, &then).ok());
        typed.unwrap_or_else(|| ident(name))
    });
    Ok(rows.clone().select(columns.collect::<Vec<_>>())?)
}

/// Returns true if a column of type `now` need not, or must not, be cast to the type `then`.
fn is_alike(now: &DataType, then: &DataType) -> bool {
    match (now, then) {
        // Texts and numbers are not converted to each other here. Only a query may do so.
        (now, then) if now.is_string() != then.is_string() => true,
        // A file stores only whether there is a time zone, and not which one.
        (DataType::Timestamp(a, Some(_)), DataType::Timestamp(b, Some(_))) => a == b,
        (now, then) if now.is_string() || (is_binary(now) && is_binary(then)) => true,
        (now, then) => now == then || now.is_nested() || then.is_nested(),
    }
}

/// Returns the type that a column has in the source. The type is taken from the manifest, or else
/// from the source, or else from the released column if its values are unchanged. Returns `None` if
/// none of these shows the type.
fn of_source(claim: &Claim, known: &Known) -> Option<DataType> {
    let column = &known.column;
    let typed = |rows: &DataFrame| {
        let field = rows.schema().field_with_unqualified_name(column).ok()?;
        Some(plain_type(field.data_type()).clone())
    };
    let manifest = claim.evidence.as_ref().map(ReleaseEvidence::manifest);
    let is_unchanged = known.level() == Some(0) && known.form == LabelForm::Text;
    let released = || typed(&claim.rows).filter(|released| is_unchanged && !released.is_string());
    manifest
        .and_then(|manifest| manifest.type_in_source(column))
        .or_else(|| claim.against.as_ref().and_then(typed))
        .or_else(released)
}
