//! `RISK OF`: measures the risk that people in a raw or released table are re-identified.

mod attribute;
mod classed_rows;
pub(in crate::language::session) mod measure;
mod per_row;
pub(in crate::language::session) mod rows;
pub(in crate::language::session) mod spec;

use super::entry::{Entry, Run, Statement};
use crate::base::error::Result;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::release::observe::Phase;
use futures::future::BoxFuture;
use spec::RiskSpec;

pub(super) const ENTRY: Entry = Entry {
    name: "RISK OF",
    starts: &["RISK OF"],
    summary: "measures prosecutor, journalist and marketer risk, uniqueness and class sizes",
    syntax: "RISK OF { table | 'path' [OPTIONS (...)] | ( query ) } QUASI IDENTIFIERS (c [USING hierarchy], ...)
  [SENSITIVE (c [USING hierarchy], ...)] [ENTITY (c)] [POPULATION { table | 'path' [OPTIONS (...)] | ( query ) }]
  [WEIGHT (c)] [[KEEP (c, ...)] PER ROW]
  [WITH (sampling_fraction = f, threshold = t, k = 5, subset_size = 3, histogram = sizes | bands,
         snb_classes = peer | haas_stokes)]",
    example: "RISK OF people QUASI IDENTIFIERS (age, zip) POPULATION census",
    answers: true,
    read: |c, _| spec::read(c).map(Statement::new),
};

impl Run for RiskSpec {
    fn kind(&self) -> &'static str {
        "risk"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            context.observer.begin(Phase::Measure);
            if self.per_row {
                return Answer::of(context.measure_rows(self).await?);
            }
            let measured = context.measure(self).await?;
            Answer::of(rows::batch(&measured)?)
        })
    }
}
