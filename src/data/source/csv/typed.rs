//! Parses the texts of a CSV column. Rejects a text that does not fit the type that the first rows
//! implied. A reader with a fixed type would silently read `007` as 7.

use super::files::CsvFiles;
use super::kind::{fits, float, integer, is_kept_by_cast, is_too_far, wanted};
use crate::base::error::{Error, Result};
use crate::base::quoting::literal;
use arrow::array::{Array, ArrayRef, AsArray, PrimitiveArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{ArrowPrimitiveType, DataType, Float64Type, Int64Type};
use datafusion::error::Result as DfResult;
use datafusion::logical_expr::{
    ColumnarValue, Expr, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// The origin of a column's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum TypeOrigin {
    /// The texts of the first rows imply the type. A later text is rejected if another CSV reader
    /// would change it.
    Rows,
    /// The statement specifies the type. A text is parsed as in SQL's CAST: `007` is 7. A text is
    /// rejected if CAST would lose a part of it, such as the time of day in a cast to a date.
    Statement,
}

/// A column of CSV files, with the type of its values.
#[derive(Debug)]
pub(crate) struct CsvColumn {
    /// The index of the column in the files. Errors use it to find the line of a text that does not
    /// fit.
    pub(crate) index: usize,
    pub(crate) name: String,
    /// The type to which the texts are converted.
    pub(crate) to: DataType,
    /// The origin of the type.
    pub(crate) source: TypeOrigin,
}

/// Returns an expression that converts the texts of a column to the type of the column.
pub(crate) fn typed(texts: Expr, column: CsvColumn, files: &Arc<CsvFiles>) -> Expr {
    let function = Typed {
        signature: Signature::exact(vec![DataType::Utf8], Volatility::Immutable),
        column,
        files: Arc::clone(files),
    };
    ScalarUDF::new_from_impl(function).call(vec![texts])
}

#[derive(Debug)]
struct Typed {
    signature: Signature,
    column: CsvColumn,
    files: Arc<CsvFiles>,
}

impl PartialEq for Typed {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.files, &other.files)
            && (self.column.index, &self.column.to, self.column.source)
                == (other.column.index, &other.column.to, other.column.source)
    }
}

impl Eq for Typed {}

impl Hash for Typed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.column.index, &self.column.to).hash(state);
    }
}

impl ScalarUDFImpl for Typed {
    fn name(&self) -> &str {
        "typed"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> DfResult<DataType> {
        Ok(self.column.to.clone())
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> DfResult<ColumnarValue> {
        let texts = ColumnarValue::values_to_arrays(&args.args)?;
        let texts = texts.first().and_then(|texts| texts.as_string_opt::<i32>());
        let texts = texts.ok_or_else(|| Error::internal("a column of a CSV file is read as other than text"))?;
        Ok(ColumnarValue::Array(self.values(texts)?))
    }
}

impl Typed {
    fn values(&self, texts: &StringArray) -> Result<ArrayRef> {
        match self.column.to {
            _ if self.column.source == TypeOrigin::Statement => {
                let values = cast(texts, &self.column.to)?;
                let is_kept = texts
                    .iter()
                    .flatten()
                    .all(|text| is_kept_by_cast(text, &self.column.to));
                match is_kept && values.null_count() == texts.null_count() {
                    true => Ok(values),
                    false => Err(self.misfit()),
                }
            }
            DataType::Int64 => self.numbers::<Int64Type>(texts, integer),
            DataType::Float64 => self.numbers::<Float64Type>(texts, float),
            _ => {
                if let Some(unlike) = texts.iter().flatten().find(|text| !fits(text, &self.column.to)) {
                    return Err(match is_too_far(unlike, &self.column.to) {
                        true => self.too_far(),
                        false => self.misfit(),
                    });
                }
                let values = cast(texts, &self.column.to)?;
                // A time may be outside the range of its type.
                match values.null_count() == texts.null_count() {
                    true => Ok(values),
                    false => Err(self.misfit()),
                }
            }
        }
    }

    fn numbers<T: ArrowPrimitiveType>(
        &self,
        texts: &StringArray,
        read: fn(&str) -> Option<T::Native>,
    ) -> Result<ArrayRef> {
        let value = |text: Option<&str>| match text {
            None => Ok(None),
            Some(text) => read(text).map(Some).ok_or(()),
        };
        let values: Result<PrimitiveArray<T>, ()> = texts.iter().map(value).collect();
        match values {
            Ok(values) => Ok(Arc::new(values)),
            Err(()) => Err(self.misfit()),
        }
    }

    /// Returns the error for a time that 64-bit nanoseconds cannot represent. For local files, the
    /// error names the file and the line.
    fn too_far(&self) -> Error {
        let why = format!(
            "is a time before 1677-09-21 or after 2262-04-11 in column {:?}, which 64-bit nanoseconds cannot \
             represent, and the rows before it have nanoseconds; read the column as text with OPTIONS (types {}) \
             after the path",
            self.column.name,
            literal(&format!("{} TEXT", self.column.name))
        );
        let found = self
            .files
            .first_field(self.column.index, |text| is_too_far(text, &self.column.to), &why);
        found.unwrap_or_else(|| Error::data(format!("a row of a CSV file {why}")))
    }

    /// Returns the error for a text that is not a value of the type. For local files, the error
    /// names the file and the line.
    fn misfit(&self) -> Error {
        if self.column.source == TypeOrigin::Statement {
            let why = format!(
                "does not have a value of type {} in column {:?}, as OPTIONS (types ...) says; write another type, or \
                 TEXT",
                self.column.to, self.column.name
            );
            let is_misfit = |text: &str| {
                let value = cast(&StringArray::from(vec![text]), &self.column.to);
                !is_kept_by_cast(text, &self.column.to) || value.is_ok_and(|value| value.null_count() > 0)
            };
            let found = self.files.first_field(self.column.index, is_misfit, &why);
            return found.unwrap_or_else(|| Error::data(format!("a row {why}")));
        }
        let what = wanted(&self.column.to);
        let why = format!(
            "is not {what} in column {:?}, unlike the rows before it; read every column as text with OPTIONS (types \
             'text') after the path, or infer types from more rows with OPTIONS (schema_infer_max_rec 1000000)",
            self.column.name
        );
        let found = self
            .files
            .first_field(self.column.index, |text| !fits(text, &self.column.to), &why);
        found.unwrap_or_else(|| Error::data(format!("a row of a CSV file {why}")))
    }
}
