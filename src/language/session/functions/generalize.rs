//! `generalize('hierarchy', value, level)`: the label of a value at a level of a hierarchy. The
//! queries that EXPLAIN ANONYMIZE shows call this function.

use super::hierarchies::Hierarchies;
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::method::hierarchy::{GENERALIZE, Hierarchy, Lookup, OnUnmapped};
use arrow::array::{ArrayRef, AsArray, StringArray, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;

pub(super) const INFO: Info = Info {
    name: GENERALIZE,
    summary: "the label of a value at a level: generalize('hierarchy', value, level); a fourth argument is the label \
              of values that the hierarchy does not map",
    params: &[],
    example: "SELECT generalize('age', age, 2) FROM people",
    reference: "in-house",
};

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Generalize {
    signature: Signature,
    hierarchies: Hierarchies,
}

impl ScalarUDFImpl for Generalize {
    fn name(&self) -> &str {
        INFO.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(DataType::Utf8)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let usage =
            || Error::usage("generalize takes the name of a hierarchy, a value and a level: generalize('age', age, 2)");
        let [ColumnarValue::Scalar(name), values, ColumnarValue::Scalar(level), ..] = &args.args[..] else {
            return Err(usage().into());
        };
        let unmapped = match args.args.get(3) {
            None => None,
            Some(_) if args.args.len() > 4 => return Err(usage().into()),
            Some(ColumnarValue::Scalar(label)) => Some(label.try_as_str().flatten().ok_or_else(usage)?),
            Some(_) => return Err(usage().into()),
        };
        let (Some(Some(name)), Ok(level)) = (name.try_as_str(), level.cast_to(&DataType::Int64)) else {
            return Err(usage().into());
        };
        let ScalarValue::Int64(Some(level)) = level else {
            return Err(usage().into());
        };
        let hierarchy = self.hierarchies.get(name)?;
        let level = level_of(name, &hierarchy, level)?;
        let values = values.to_array(args.number_rows)?;
        let plain = match values.data_type() {
            DataType::Dictionary(_, inner) => cast(&values, inner)?,
            _ => values,
        };
        let lookup = bound(name, &hierarchy, plain, level)?;
        let level = lookup.level(level);
        let labels = take(&level.labels, &UInt32Array::from(level.codes.clone()), None)?;
        let labels = cast(&labels, &DataType::Utf8)?;
        let Some(unmapped) = unmapped else {
            return Ok(ColumnarValue::Array(labels));
        };
        let labels = labels.as_string::<i32>().iter().enumerate();
        let labels = labels.map(|(row, label)| match lookup.is_unmapped(row) {
            true => Some(unmapped),
            false => label,
        });
        Ok(ColumnarValue::Array(Arc::new(labels.collect::<StringArray>())))
    }
}

/// Converts a level to `u8`. Fails with a usage error if the hierarchy does not have the level.
fn level_of(name: &str, hierarchy: &Hierarchy, level: i64) -> Result<u8> {
    let known = u8::try_from(level).ok().filter(|l| *l <= hierarchy.height());
    known.ok_or_else(|| {
        Error::usage(format!(
            "hierarchy {name} has the levels 0 to {}, not {level}",
            hierarchy.height()
        ))
    })
}

/// Binds a hierarchy to values. For a level above 0, fails if the labels depend on other values of
/// the column, or if the hierarchy does not map a value and has ON UNMAPPED ERROR.
fn bound(name: &str, hierarchy: &Hierarchy, values: ArrayRef, level: u8) -> Result<Lookup> {
    if level > 0 && hierarchy.rule().reads_whole_column(values.data_type()) {
        return Err(Error::usage(format!(
            "hierarchy {name} takes the length of its labels from the longest value of a column, and a function \
             reads only one batch of the column at a time; create it with WIDTH"
        )));
    }
    let lookup = hierarchy.bind(values)?;
    // At level 0, each value is its own label.
    if level > 0 && hierarchy.on_unmapped() == OnUnmapped::Error && lookup.unmapped_values() > 0 {
        return Err(Error::data(format!(
            "hierarchy {name} does not map {} values of the argument of generalize; add them, or create it with ON \
             UNMAPPED TOP, which gives them the top label",
            lookup.unmapped_values()
        )));
    }
    Ok(lookup)
}

impl Generalize {
    /// Creates the function, which looks up names in `hierarchies`.
    pub(super) fn new(hierarchies: Hierarchies) -> Self {
        Self {
            signature: Signature::variadic_any(Volatility::Stable),
            hierarchies,
        }
    }
}
