//! Measures a release against its source, both tables of a session ([`crate::method::utility`]).

mod ascending;
mod basis;
mod labels;
mod masked;
mod measurable;
mod measure;
mod moments;
mod sides;
mod tables;

pub(crate) use labels::Reading;
pub(crate) use measure::{are_read_together, figures};
pub(crate) use sides::Tables;
