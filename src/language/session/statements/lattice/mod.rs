//! `LATTICE OF ANONYMIZE`: lists every node with its k, suppressed rows, classes and metrics.

pub(super) mod explore;
mod figures;

pub(super) use explore::ENTRY as EXPLORE;

use super::anonymize::spec::{self, AnonymizeSpec};
use super::entry::{Entry, Run, Statement};
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::method::lattice::{Node, said};
use crate::release::job::Purpose;
use arrow::array::{ArrayRef, BooleanArray, Float64Array, UInt8Array, UInt64Array};
use arrow::record_batch::RecordBatch;
use figures::Figures;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

/// The number of nodes in one batch of the result.
const BATCH: usize = 4096;

/// The maximum number of nodes that are listed. Nobody would read a longer list, and assessing its
/// nodes would take days.
const MOST_NODES: u128 = 10_000_000;

pub(super) const ENTRY: Entry = Entry {
    name: "LATTICE OF",
    starts: &["LATTICE OF ANONYMIZE"],
    summary: "lists every node with k, suppressed rows, classes and the metrics",
    syntax: "LATTICE OF ANONYMIZE ...",
    example: "LATTICE OF ANONYMIZE people QUASI IDENTIFIERS (age) SATISFYING k_anonymity(5)",
    answers: true,
    read: |c, _| {
        let (anonymize, clauses) = spec::read(c, "LATTICE OF ANONYMIZE", &[], true)?;
        spec::single(c, &clauses)?;
        Ok(Statement::new(LatticeStatement(anonymize)))
    },
};

/// `LATTICE OF ANONYMIZE ...`
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LatticeStatement(pub(super) AnonymizeSpec);

impl fmt::Display for LatticeStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LATTICE OF {}", self.0)
    }
}

impl Run for LatticeStatement {
    fn kind(&self) -> &'static str {
        "lattice"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let job = context.bind(&self.0, Purpose::Lattice).await?;
            let figures = Figures::of(context, job).await?;
            let batches = blocking("the lattice", move || rows(&figures)).await?;
            let schema = batches
                .first()
                .map(RecordBatch::schema)
                .ok_or_else(|| Error::internal("a lattice without nodes"))?;
            Answer::batches(schema, batches)
        })
    }
}

fn rows(figures: &Figures) -> Result<Vec<RecordBatch>> {
    let lattice = figures.lattice();
    if lattice.size() > MOST_NODES {
        return Err(Error::usage(format!(
            "the lattice has {} nodes, and at most {MOST_NODES} are listed; narrow it with LEVELS",
            said(lattice.size())
        )));
    }
    let mut batches = vec![];
    let mut nodes = lattice.iter().peekable();
    while nodes.peek().is_some() {
        let batch: Vec<Node> = nodes.by_ref().take(BATCH).collect();
        let found = figures.of_nodes(&batch)?;
        let mut columns: Vec<(String, ArrayRef)> = vec![];
        for (i, q) in figures.job().roles.quasi_identifiers.iter().enumerate() {
            let levels: UInt8Array = batch.iter().map(|n| Some(n.level(i))).collect();
            columns.push((q.column.clone(), Arc::new(levels)));
        }
        columns.push((
            "anonymous".into(),
            Arc::new(found.iter().map(|p| Some(p.anonymous)).collect::<BooleanArray>()),
        ));
        columns.push((
            "k".into(),
            Arc::new(found.iter().map(|p| Some(p.k)).collect::<UInt64Array>()),
        ));
        columns.push((
            "suppressed".into(),
            Arc::new(found.iter().map(|p| Some(p.suppressed)).collect::<UInt64Array>()),
        ));
        columns.push((
            "classes".into(),
            Arc::new(found.iter().map(|p| Some(p.classes)).collect::<UInt64Array>()),
        ));
        for (i, name) in figures.metrics().iter().enumerate() {
            let values: Float64Array = found.iter().map(|p| Some(p.metrics[i])).collect();
            columns.push(((*name).into(), Arc::new(values)));
        }
        batches.push(RecordBatch::try_from_iter(columns)?);
    }
    Ok(batches)
}
