//! One spelling for each value.
//!
//! Some types have several bit patterns for one value: NaN has millions, zero has a sign, and a
//! date in milliseconds can have a time of day. A class, a person and a file compare bits, so a
//! source is read with one spelling of each value. Then no model counts as two values what a reader
//! sees as one, and no released bit tells of the arithmetic before.
//!
//! A value that changes its type must stay itself as well: [`exactly`] refuses a cast that loses.

mod arrays;
mod exactly;
mod spelled;

pub(crate) use arrays::one_spelling;
pub(crate) use exactly::exactly;
pub(crate) use spelled::{is_spelled, spelled_once};

use datafusion::logical_expr::ScalarUDF;
use exactly::Exactly;
use spelled::OneSpelling;
use std::sync::Arc;

/// Returns the functions that a plan for another machine may name.
pub(crate) fn functions() -> [Arc<ScalarUDF>; 2] {
    [
        Arc::new(ScalarUDF::from(OneSpelling::default())),
        Arc::new(ScalarUDF::from(Exactly::default())),
    ]
}

/// Returns the function of this name that a plan for another machine names.
pub(crate) fn function(name: &str) -> Option<Arc<ScalarUDF>> {
    functions().into_iter().find(|function| function.name() == name)
}
