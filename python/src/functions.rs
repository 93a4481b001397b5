//! The SQL functions of a session, and scalar functions in the form in which another library takes
//! them.

use anonsql::AnonContext;
use datafusion::logical_expr::ScalarUDF;
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
    /// hierarchies of the session, also those that are created later.
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
        PyCapsule::new_with_value(py, FFI_ScalarUDF::from(Arc::clone(&self.0)), SCALAR_UDF)
    }
}
