//! The canonical form of values.
//!
//! Some types have several bit patterns for the same value: NaN has millions, zero has a sign, and
//! a date in milliseconds can have a time of day. Classes, persons and files are compared by bits,
//! so each value of a source is converted to its canonical form when it is read. Otherwise, a model
//! could count one value as two, and the bit pattern of a released value could reveal how the value
//! was computed.
//!
//! A value must also remain the same when its type changes: [`exactly`] rejects a cast that loses
//! information, and [`text_of`] writes a text that parses to the same value.

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

/// Returns anonsql's own functions that plans for other machines may contain.
pub(crate) fn functions() -> [Arc<ScalarUDF>; 3] {
    [
        Arc::new(ScalarUDF::from(OneSpelling::default())),
        Arc::new(ScalarUDF::from(Exactly::default())),
        Arc::new(ScalarUDF::from(TextOf::default())),
    ]
}

/// Returns the function called `name` in a plan for another machine; `None` if there is no such
/// function.
pub(crate) fn function(name: &str) -> Option<Arc<ScalarUDF>> {
    functions().into_iter().find(|function| function.name() == name)
}
