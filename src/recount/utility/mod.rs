//! Measures a release against its source, both tables of a session ([`crate::utility`]).

mod labels;
mod measure;
mod tables;

pub(crate) use labels::Reading;
pub(crate) use measure::{Tables, figures};
