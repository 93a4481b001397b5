//! One spelling for each value.
//!
//! Some types have several bit patterns for one value: NaN has millions, zero has a sign, and a
//! date in milliseconds can have a time of day. Classes, persons and files are compared by their
//! bits, so a source is read with one spelling of each value. Without this, a model could count two
//! values that look the same to a reader, and a released bit could reveal earlier arithmetic.
//!
//! A value that changes its type must stay the same value as well: [`exactly`] refuses a cast that
//! loses information, and [`text_of`] writes a text that reads back as the value.

mod arrays;
mod exactly;
mod plain;
mod spelled;
mod texts;

pub(crate) use arrays::one_spelling;
pub(crate) use exactly::exactly;
pub(crate) use plain::{bare, plain};
pub(crate) use spelled::{is_spelled, spelled_once};
pub(crate) use texts::{sql_text_of, text_function, text_of};

use datafusion::logical_expr::ScalarUDF;
use exactly::Exactly;
use spelled::OneSpelling;
use std::sync::Arc;
use texts::TextOf;

/// Returns the functions that a plan for another machine may name.
pub(crate) fn functions() -> [Arc<ScalarUDF>; 3] {
    [
        Arc::new(ScalarUDF::from(OneSpelling::default())),
        Arc::new(ScalarUDF::from(Exactly::default())),
        Arc::new(ScalarUDF::from(TextOf::default())),
    ]
}

/// Returns the function that a plan for another machine calls `name`; `None` if there is no
/// function of this name.
pub(crate) fn function(name: &str) -> Option<Arc<ScalarUDF>> {
    functions().into_iter().find(|function| function.name() == name)
}
