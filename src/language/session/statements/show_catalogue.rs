//! `SHOW MODELS`, `SHOW METRICS`, `SHOW OBJECTIVES`, `SHOW SEARCHES`, `SHOW HIERARCHY KINDS`, `SHOW
//! MASKS`, `SHOW STANDARDS` and `SHOW OPTIONS`: list the names that a statement can use, including
//! registered ones. The rows contain the same descriptions that help and the checks of arguments
//! use.

use super::entry::{Entry, Run, Statement};
use crate::base::catalogue::Info;
use crate::base::error::Result;
use crate::data::objective::OBJECTIVES;
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::session::options::options;
use crate::method::masks::MASKS;
use crate::method::standard::STANDARDS;
use arrow::array::{ArrayRef, StringArray};
use arrow::record_batch::RecordBatch;
use futures::future::BoxFuture;
use std::fmt;
use std::sync::Arc;

pub(super) const MODELS: Entry = Entry {
    name: "SHOW MODELS",
    starts: &["SHOW MODELS"],
    summary: "lists the privacy models of SATISFYING, with their promises",
    syntax: "SHOW MODELS",
    example: "SHOW MODELS",
    answers: true,
    read: |_, _| Ok(Statement::new(List::Models)),
};

pub(super) const METRICS: Entry = Entry {
    name: "SHOW METRICS",
    starts: &["SHOW METRICS"],
    summary: "lists the metrics of MINIMIZING and OPTIMIZING",
    syntax: "SHOW METRICS",
    example: "SHOW METRICS",
    answers: true,
    read: |_, _| Ok(Statement::new(List::Metrics)),
};

pub(super) const OBJECTIVES_OF_A_FRONT: Entry = Entry {
    name: "SHOW OBJECTIVES",
    starts: &["SHOW OBJECTIVES"],
    summary: "lists the objectives of OPTIMIZING besides the metrics",
    syntax: "SHOW OBJECTIVES",
    example: "SHOW OBJECTIVES",
    answers: true,
    read: |_, _| Ok(Statement::new(List::Objectives)),
};

pub(super) const SEARCHES: Entry = Entry {
    name: "SHOW SEARCHES",
    starts: &["SHOW SEARCHES"],
    summary: "lists the algorithms of SEARCH USING, by global and by local recoding",
    syntax: "SHOW SEARCHES",
    example: "SHOW SEARCHES",
    answers: true,
    read: |_, _| Ok(Statement::new(List::Searches)),
};

pub(super) const HIERARCHY_KINDS: Entry = Entry {
    name: "SHOW HIERARCHY KINDS",
    starts: &["SHOW HIERARCHY KINDS"],
    summary: "lists the kinds of hierarchies of CREATE HIERARCHY",
    syntax: "SHOW HIERARCHY KINDS",
    example: "SHOW HIERARCHY KINDS",
    answers: true,
    read: |_, _| Ok(Statement::new(List::HierarchyKinds)),
};

pub(super) const MASKS_OF_COLUMNS: Entry = Entry {
    name: "SHOW MASKS",
    starts: &["SHOW MASKS"],
    summary: "lists the masks of IDENTIFIERS, SENSITIVE and KEEP",
    syntax: "SHOW MASKS",
    example: "SHOW MASKS",
    answers: true,
    read: |_, _| Ok(Statement::new(List::Masks)),
};

pub(super) const STANDARDS_TO_FOLLOW: Entry = Entry {
    name: "SHOW STANDARDS",
    starts: &["SHOW STANDARDS"],
    summary: "lists the published standards of FOLLOWING, with the requirements that are not checked",
    syntax: "SHOW STANDARDS",
    example: "SHOW STANDARDS",
    answers: true,
    read: |_, _| Ok(Statement::new(List::Standards)),
};

pub(super) const OPTIONS: Entry = Entry {
    name: "SHOW OPTIONS",
    starts: &["SHOW OPTIONS"],
    summary: "lists the options of WITH (...) and OPTIONS (...), and the settings of SET anonsql.name",
    syntax: "SHOW OPTIONS",
    example: "SHOW OPTIONS",
    answers: true,
    read: |_, _| Ok(Statement::new(List::Options)),
};

/// A list of names that a statement can use.
#[derive(Debug, Clone, Copy, PartialEq)]
enum List {
    Models,
    Metrics,
    Objectives,
    Searches,
    HierarchyKinds,
    Masks,
    Standards,
    Options,
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            List::Models => MODELS.name,
            List::Metrics => METRICS.name,
            List::Objectives => OBJECTIVES_OF_A_FRONT.name,
            List::Searches => SEARCHES.name,
            List::HierarchyKinds => HIERARCHY_KINDS.name,
            List::Masks => MASKS_OF_COLUMNS.name,
            List::Standards => STANDARDS_TO_FOLLOW.name,
            List::Options => OPTIONS.name,
        })
    }
}

impl Run for List {
    fn kind(&self) -> &'static str {
        "show catalogue"
    }

    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>> {
        Box::pin(async move {
            let registry = context.registry();
            let batch = match self {
                List::Models => batch(NAMED, registry.models.infos().map(named)),
                List::Metrics => batch(NAMED, registry.metrics.infos().map(named)),
                List::Objectives => batch(NAMED, OBJECTIVES.iter().map(|objective| named(objective.info))),
                List::Searches => {
                    let global = registry.searches.infos().map(|info| (info, "global"));
                    let local = registry.partitioners.infos().map(|info| (info, "local"));
                    let row = |(info, recoding): (Info, &str)| {
                        let [name, arguments, summary, example, reference] = named(info);
                        [name, some(recoding), arguments, summary, example, reference]
                    };
                    let columns = ["name", "recoding", "arguments", "summary", "example", "reference"];
                    batch(columns, global.chain(local).map(row))
                }
                List::HierarchyKinds => {
                    let kinds = registry.hierarchy_kinds.entries().iter();
                    let rows = kinds.map(|kind| {
                        let [name, _, summary, example, reference] = named(kind.info);
                        [name, some(kind.clause.syntax), summary, example, reference]
                    });
                    batch(["name", "syntax", "summary", "example", "reference"], rows)
                }
                List::Masks => {
                    let rows = MASKS.iter().map(|kind| {
                        let [name, _, summary, example, reference] = named(kind.info);
                        [name, some(kind.clause.syntax), summary, example, reference]
                    });
                    batch(["name", "syntax", "summary", "example", "reference"], rows)
                }
                List::Standards => {
                    let rows = STANDARDS.iter().map(|standard| {
                        let [name, _, summary, example, reference] = named(standard.info);
                        [name, summary, some(standard.unchecked), example, reference]
                    });
                    batch(["name", "summary", "not checked", "example", "reference"], rows)
                }
                List::Options => {
                    let rows = options().into_iter().map(|option| {
                        let (clause, summary) = (some(option.clause), some(option.summary));
                        [clause, Some(option.name), option.value, option.default, summary]
                    });
                    batch(["clause", "name", "value", "default", "summary"], rows)
                }
            };
            Answer::of(batch?)
        })
    }
}

/// The names of the result columns for the cells that [`named`] returns.
const NAMED: [&str; 5] = ["name", "arguments", "summary", "example", "reference"];

fn named(info: Info) -> [Option<String>; 5] {
    let arguments = Some(info.arguments()).filter(|arguments| !arguments.is_empty());
    [
        some(info.name),
        arguments,
        some(info.summary),
        some(info.example),
        some(info.reference),
    ]
}

fn some(text: &str) -> Option<String> {
    Some(text.to_string())
}

/// Returns a batch of the given rows. All columns have type text.
fn batch<const N: usize>(columns: [&str; N], rows: impl Iterator<Item = [Option<String>; N]>) -> Result<RecordBatch> {
    let mut texts = columns.map(|_| vec![]);
    for row in rows {
        texts.iter_mut().zip(row).for_each(|(column, cell)| column.push(cell));
    }
    let arrays = texts.map(|column| Arc::new(StringArray::from(column)) as ArrayRef);
    Ok(RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().zip(arrays).map(|(name, array)| (name, array, true)),
    )?)
}
