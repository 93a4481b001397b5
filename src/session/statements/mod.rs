//! The statements of the language.

pub(super) mod compare;
pub(super) mod explain;
pub(super) mod lattice;
pub(super) mod output;
pub mod pareto;
pub(super) mod risk;
pub(super) mod suggest;
