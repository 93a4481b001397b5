//! Re-exports every module for the tests and benches of this repository. This module is not part of
//! the public API, and may change without notice.
#![allow(missing_docs)]

pub mod arithmetic {
    pub use crate::base::arithmetic::*;
}
pub mod catalogue {
    pub use crate::base::catalogue::*;
}
/// The parts of this crate that tests need to run their own workers.
#[cfg(feature = "cluster")]
pub mod cluster {
    use crate::base::error::Result;
    use datafusion::prelude::SessionConfig;
    use datafusion_proto::physical_plan::PhysicalExtensionCodec;

    /// Returns the codec that serializes operators in plans for workers, and deserializes them.
    pub fn codec() -> Result<impl PhysicalExtensionCodec + Copy + 'static> {
        let mut config = SessionConfig::new();
        crate::release::engine::enable_executors(&mut config);
        crate::release::cluster::Codec::of(&config)
    }

    /// Returns the functions that plans for workers may contain.
    pub fn functions() -> impl IntoIterator<Item = std::sync::Arc<datafusion::logical_expr::ScalarUDF>> {
        crate::method::canonical::functions()
    }
}
pub mod drift {
    pub use crate::data::drift::*;
}
pub mod engine {
    pub use crate::release::engine::*;
}
pub mod folder {
    pub use crate::data::folder::*;
}
pub mod frequency {
    pub use crate::data::frequency::*;
}
pub mod generate {
    pub use crate::command::generate::*;
}
pub mod hierarchy {
    pub use crate::method::hierarchy::*;
}
pub mod job {
    pub use crate::release::job::*;
}
pub mod key {
    pub use crate::method::key::*;
}
pub mod lattice {
    pub use crate::method::lattice::*;
}
pub mod standard {
    pub use crate::method::standard::*;
}
pub mod masks {
    pub use crate::method::masks::*;
}
pub mod metric {
    pub use crate::data::metric::*;
}
pub mod model {
    pub use crate::data::model::*;
}
pub mod objective {
    pub use crate::data::objective::*;
}
pub mod observe {
    pub use crate::release::observe::*;
}
pub mod operator {
    pub use crate::base::operator::*;
}
pub mod partition {
    pub use crate::method::partition::*;
}
pub mod plain {
    pub use crate::base::plain::*;
}
pub mod quoting {
    pub use crate::base::quoting::*;
}
pub mod recode {
    pub use crate::data::recode::*;
}
pub mod report {
    pub use crate::release::report::*;
}
pub mod risk {
    pub use crate::method::risk::*;
}
pub mod search {
    pub use crate::method::search::*;
}
pub mod session {
    pub use crate::language::session::*;
}
pub mod settings {
    pub use crate::base::settings::*;
}
pub mod source {
    pub use crate::data::source::*;
}
pub mod spill {
    pub use crate::base::spill::*;
}
pub mod sql {
    pub use crate::language::sql::*;
}
pub mod suggest {
    pub use crate::method::suggest::*;
}
pub mod utility {
    pub use crate::method::utility::*;
}
pub mod warning {
    pub use crate::method::warning::*;
}
