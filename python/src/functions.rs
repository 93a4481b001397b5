//! The SQL functions that anonsql adds to a session, and the export of scalar functions to
//! datafusion-python.

use anonsql::AnonContext;
use arrow::array::{Array, new_empty_array};
use arrow::datatypes::{DataType, FieldRef};
use datafusion::common::ScalarValue;
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature,
};
use datafusion::prelude::SessionContext;
use datafusion_ffi::udf::FFI_ScalarUDF;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::ffi::CStr;
use std::sync::Arc;

const SCALAR_UDF: &CStr = c"datafusion_scalar_udf";

/// A scalar function that datafusion-python can register.
#[pyclass(frozen, module = "anonsql._anonsql")]
pub struct Function(Arc<ScalarUDF>);

impl Function {
    /// Returns the scalar functions that anonsql adds to those of DataFusion, by name. They use the
    /// hierarchies of the session, including those that are created later.
    pub fn of(context: &AnonContext) -> Vec<Self> {
        let (plain, all) = (SessionContext::new().state(), context.session().state());
        let added = all.scalar_functions().iter();
        let added = added.filter(|(name, _)| !plain.scalar_functions().contains_key(*name));
        let mut added: Vec<Self> = added.map(|(_, function)| Self(Arc::clone(function))).collect();
        added.sort_by(|a, b| a.0.name().cmp(b.0.name()));
        added
    }
}

/// Returns the names of the table functions that anonsql adds to those of DataFusion.
pub fn table_functions(context: &AnonContext) -> Vec<String> {
    let (plain, all) = (SessionContext::new().state(), context.session().state());
    let added = all.table_functions().keys();
    let added = added.filter(|name| !plain.table_functions().contains_key(*name));
    let mut added: Vec<String> = added.cloned().collect();
    added.sort();
    added
}

#[pymethods]
impl Function {
    /// The name of the function in SQL.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// Returns a capsule with the function, as datafusion-ffi defines it.
    fn __datafusion_scalar_udf__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let function = ScalarUDF::new_from_impl(WithConstants(Arc::clone(&self.0)));
        PyCapsule::new_with_value(py, FFI_ScalarUDF::from(Arc::new(function)), SCALAR_UDF)
    }
}

/// A function whose constant arguments arrive as columns, because datafusion-ffi repeats a constant
/// for each row.
#[derive(Debug, PartialEq, Eq, Hash)]
struct WithConstants(Arc<ScalarUDF>);

impl ScalarUDFImpl for WithConstants {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn signature(&self) -> &Signature {
        self.0.signature()
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        self.0.return_type(types)
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs) -> Result<FieldRef> {
        self.0.return_field_from_args(args)
    }

    fn invoke_with_args(&self, mut args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        if args.number_rows == 0 {
            return Ok(ColumnarValue::Array(new_empty_array(args.return_field.data_type())));
        }
        args.args = args.args.into_iter().map(constant).collect::<Result<_>>()?;
        self.0.invoke_with_args(args)
    }
}

/// Returns a column of equal values as one value, and any other column as it is.
fn constant(argument: ColumnarValue) -> Result<ColumnarValue> {
    let ColumnarValue::Array(values) = argument else {
        return Ok(argument);
    };
    let others = values.len().saturating_sub(1);
    // All values are equal if each value is equal to the next.
    match values.is_empty() || values.slice(0, others) != values.slice(1, others) {
        true => Ok(ColumnarValue::Array(values)),
        false => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&values, 0)?)),
    }
}
