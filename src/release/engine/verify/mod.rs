//! Stage 5: the written rows are counted again, by SQL that shares no code with the search
//! ([`crate::release::recount`]).

mod classes;
mod levels;
mod population;
mod read_back;
mod recounted;
mod union;

pub(in crate::release::engine) use recounted::{PreparedRecount, Recounted, WHOLE, recount};
pub(in crate::release::engine) use union::{Union, recount_union, type_name};

#[cfg(test)]
mod tests;
