//! The result of writing a release.

use super::settled::Settled;
use super::shelf::WrittenFile;
use super::spool::Spool;
use crate::data::folder::Footer;
use crate::data::recode::randomize::Permutation;
use crate::data::recode::{RecodingPlan, RowOutcome};
use crate::release::engine::apply::Rewrite;
use crate::release::engine::decide::Decision;
use arrow::datatypes::SchemaRef;
use std::sync::Arc;
use url::Url;

/// The machines that wrote the files of a release.
pub(in crate::release::engine) enum Writers {
    /// This machine.
    Here,
    /// Other machines, through an executor.
    Others {
        /// The machines whose reports were refused.
        distrusted: Vec<Url>,
    },
}

/// The rows that were written or kept, with the results of writing them.
pub(in crate::release::engine) struct Written {
    /// The written files, if there is a target.
    pub(in crate::release::engine) files: Vec<WrittenFile>,
    /// The machines that wrote the files: this machine or others.
    pub(in crate::release::engine) writers: Writers,
    /// The footer of each file.
    pub(in crate::release::engine) footer: Footer,
    /// The rows that are kept in a spool, with the columns that are only recounted. Without a
    /// target these are all rows. With a target, rows are kept only if the files do not contain
    /// everything that the recount needs.
    pub(in crate::release::engine) rows: Option<Arc<Spool>>,
    /// The schema of the rows. If there is a target, it includes the columns of the order key.
    pub(in crate::release::engine) schema: SchemaRef,
    /// The columns of `rows` that are not released.
    pub(in crate::release::engine) beside: Vec<String>,
    /// The decided classes after the personal limits were applied.
    pub(in crate::release::engine) settled: Settled,
    /// The recoding plan by which the rows were written.
    pub(in crate::release::engine) recoding: Arc<RecodingPlan>,
    /// The permutations of the randomized columns.
    pub(in crate::release::engine) permutations: Arc<Vec<Arc<Permutation>>>,
    /// The mutual information of each randomized column and the classes after randomization, in
    /// bits, if there is a target.
    pub(in crate::release::engine) measured: Vec<f64>,
    /// The outcome of the promise about single rows, if the job has one.
    pub(in crate::release::engine) outcome: Option<RowOutcome>,
}

impl Written {
    pub(super) fn new(decision: &Decision, rewrite: Rewrite, schema: SchemaRef, beside: Vec<String>) -> Self {
        let outcome = rewrite.outcome();
        Self {
            files: vec![],
            writers: Writers::Here,
            footer: Footer::default(),
            rows: None,
            schema,
            beside,
            settled: Settled::new(decision, &rewrite.recoding, outcome.as_ref()),
            measured: rewrite.measured(),
            permutations: rewrite.permutations,
            recoding: rewrite.recoding,
            outcome,
        }
    }
}
