//! Re-exports every module for the tests and benches of this repository. This module is not part of
//! the public API, and may change without notice.
#![allow(missing_docs)]

pub mod arithmetic {
    pub use crate::arithmetic::*;
}
pub mod catalogue {
    pub use crate::catalogue::*;
}
/// The parts of this crate that tests need to run their own workers.
#[cfg(feature = "cluster")]
pub mod cluster {
    use crate::error::Result;
    use datafusion::prelude::SessionConfig;
    use datafusion_proto::physical_plan::PhysicalExtensionCodec;

    /// Returns the codec that serializes operators in plans for workers, and deserializes them.
    pub fn codec() -> Result<impl PhysicalExtensionCodec + Copy + 'static> {
        let mut config = SessionConfig::new();
        crate::engine::enable_executors(&mut config);
        crate::cluster::Codec::of(&config)
    }

    /// Returns the functions that plans for workers may contain.
    pub fn functions() -> impl IntoIterator<Item = std::sync::Arc<datafusion::logical_expr::ScalarUDF>> {
        crate::canonical::functions()
    }
}
pub mod drift {
    pub use crate::drift::*;
}
pub mod engine {
    pub use crate::engine::*;
}
pub mod folder {
    pub use crate::folder::*;
}
pub mod frequency {
    pub use crate::frequency::*;
}
pub mod generate {
    pub use crate::generate::*;
}
pub mod hierarchy {
    pub use crate::hierarchy::*;
}
pub mod job {
    pub use crate::job::*;
}
pub mod key {
    pub use crate::key::*;
}
pub mod lattice {
    pub use crate::lattice::*;
}
pub mod standard {
    pub use crate::standard::*;
}
pub mod masks {
    pub use crate::masks::*;
}
pub mod metric {
    pub use crate::metric::*;
}
pub mod model {
    pub use crate::model::*;
}
pub mod objective {
    pub use crate::objective::*;
}
pub mod observe {
    pub use crate::observe::*;
}
pub mod operator {
    pub use crate::operator::*;
}
pub mod partition {
    pub use crate::partition::*;
}
pub mod plain {
    pub use crate::plain::*;
}
pub mod quoting {
    pub use crate::quoting::*;
}
pub mod recode {
    pub use crate::recode::*;
}
pub mod report {
    pub use crate::report::*;
}
pub mod risk {
    pub use crate::risk::*;
}
pub mod search {
    pub use crate::search::*;
}
pub mod session {
    pub use crate::session::*;
}
pub mod settings {
    pub use crate::settings::*;
}
pub mod source {
    pub use crate::source::*;
}
pub mod spill {
    pub use crate::spill::*;
}
pub mod sql {
    pub use crate::sql::*;
}
pub mod suggest {
    pub use crate::suggest::*;
}
pub mod utility {
    pub use crate::utility::*;
}
pub mod warning {
    pub use crate::warning::*;
}
