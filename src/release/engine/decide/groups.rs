//! The table that a partitioning algorithm divides: the base frequency set, with the requested
//! models as its judge.

use super::evaluator::{Evaluator, PreparedModel};
use crate::base::error::{Error, ErrorKind, Result};
use crate::data::frequency::{Base, Detail, FrequencySet, KeyIndex};
use crate::data::model::{Class, Overall};
use crate::method::partition::{Column, Grouping, Partition, Partitioner, Table};
use crate::method::search::Oracle;
use crate::release::engine::scan::{class_label_request, fill, position};
use crate::release::job::Job;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use std::cell::RefCell;
use std::sync::Arc;

/// The index that finds the group of a row by its combination, with its memory reservation in the
/// session's pool.
#[derive(Debug)]
pub struct Combinations {
    pub(in crate::release::engine) index: Arc<KeyIndex>,
    _memory: MemoryReservation,
}

/// The approximate number of bytes that one combination takes when combinations are grouped by some
/// columns: its key, and a group that may contain only this combination.
const GROUPING_BYTES: usize = 96;

/// Reserves the memory of a partitioning algorithm. Fails with `ErrorKind::Resources` if the memory
/// limit is too low.
pub(super) fn reserve(job: &Job, evaluator: &Evaluator, partitioner: &dyn Partitioner) -> Result<MemoryReservation> {
    let combinations = evaluator.sets.base().held()?.len();
    let subsets: usize = evaluator.rules.iter().map(|rule| rule.subsets.len()).sum();
    let bytes =
        partitioner.bytes(combinations, job.roles.quasi_identifiers.len()) + combinations * subsets * GROUPING_BYTES;
    let (state, _) = job.input.source.rows.clone().into_parts();
    let memory = MemoryConsumer::new("anonsql partition").register(state.task_ctx().memory_pool());
    memory.try_resize(bytes).map_err(|_| {
        Error::new(
            ErrorKind::Resources,
            format!(
                "dividing {combinations} distinct combinations does not fit the memory limit; raise --memory-limit, \
                 divide fewer at once (SET anonsql.divided_combinations), name fewer quasi-identifiers, or coarsen the \
                 finest of them in a query"
            ),
        )
    })?;
    Ok(memory)
}

impl Combinations {
    /// Indexes the combinations, and shrinks the reservation to the size of the index and the
    /// groups.
    pub(super) fn new(memory: MemoryReservation, evaluator: &Evaluator, partition: &Partition) -> Result<Self> {
        let index = Arc::new(KeyIndex::new(evaluator.sets.base().held()?));
        memory.resize(partition.bytes() + index.bytes());
        Ok(Self { index, _memory: memory })
    }
}

/// The base frequency set as the [`Table`] of a partitioning algorithm.
pub(super) struct Groups<'a> {
    evaluator: &'a Evaluator,
    set: &'a FrequencySet,
    columns: Vec<Column>,
    least_rows: u64,
    rows_suffice: bool,
    groupings: Vec<Grouping>,
    class_label: Option<usize>,
    rows_have_limits: bool,
    scratch: RefCell<Scratch>,
}

/// Scratch space: the sums by code, the codes that have a sum, and a histogram.
#[derive(Default)]
struct Scratch {
    sums: Vec<u64>,
    met: Vec<u32>,
    histogram: Vec<(u32, u64)>,
}

impl<'a> Groups<'a> {
    /// Creates the table of a job for an algorithm.
    pub(super) fn new(job: &Job, evaluator: &'a Evaluator, partitioner: &dyn Partitioner) -> Result<Self> {
        let (base, lattice) = (evaluator.sets.base(), evaluator.lattice());
        let columns = job
            .roles
            .quasi_identifiers
            .iter()
            .zip(base.key_schema.lookups())
            .enumerate();
        let columns = columns.map(|(i, (q, lookup))| Column {
            lookup: lookup.clone(),
            bottom: lattice.bottom().level(i),
            top: lattice.top().level(i),
            weight: q.weight,
            numbers: q.numbers(partitioner.asks_for_ranges()),
        });
        let constraints = job.guarantees.constraints.iter().filter(|c| c.is_of_classes());
        let least = constraints.map(|c| c.model.min_class_size()).max();
        let rows_suffice = |rule: &PreparedModel| evaluator.entity.is_none() && rule.predicate.least_size().is_some();
        let rules = || evaluator.rules.iter().filter(|rule| rule.is_of_classes());
        let by_rows = rules().filter_map(|r| r.predicate.least_size()).max();
        Ok(Self {
            evaluator,
            set: base.held()?,
            columns: columns.collect(),
            least_rows: least
                .max(by_rows.filter(|_| evaluator.entity.is_none()))
                .unwrap_or(1)
                .max(1),
            rows_suffice: rules().all(rows_suffice),
            groupings: groupings(job, evaluator)?,
            class_label: class_label_request(&job.roles)
                .filter(|_| partitioner.reads_class_label())
                .and_then(|request| position(base, &request)),
            rows_have_limits: job.guarantees.of_rows().is_some(),
            scratch: RefCell::default(),
        })
    }

    fn base(&self) -> &Base {
        self.evaluator.sets.base()
    }

    fn set(&self) -> &FrequencySet {
        self.set
    }
}

/// Returns the subsets of the quasi-identifiers whose groups the models judge, each with the
/// minimum size that the models require of a group. Fails with a usage error if a model of such
/// groups depends on more than their numbers of rows.
fn groupings(job: &Job, evaluator: &Evaluator) -> Result<Vec<Grouping>> {
    let mut groupings = vec![];
    for (constraint, rule) in job.guarantees.constraints.iter().zip(evaluator.rules.iter()) {
        if rule.is_of_classes() {
            continue;
        }
        let least = rule.predicate.least_size().filter(|_| evaluator.entity.is_none());
        let Some(least) = least else {
            return Err(Error::usage(format!(
                "the number of rows alone must decide which cells are suppressed for groups of some quasi-identifiers, \
                 and {} reads more; use a search over the lattice, such as SEARCH USING auto",
                constraint.describe(&job.roles.quasi_identifiers)
            )));
        };
        groupings.extend(rule.subsets.iter().map(|is_in| Grouping {
            columns: (0..is_in.len()).filter(|i| is_in[*i]).collect(),
            least,
        }));
    }
    Ok(groupings)
}

impl Scratch {
    /// Sums the entries of a detail over the classes `combinations`. Afterwards `met` contains the
    /// codes in ascending order, and `sums` contains the sum for each code.
    fn merge(&mut self, detail: &Detail, combinations: &[u32]) {
        for code in self.met.drain(..) {
            self.sums[code as usize] = 0;
        }
        for combination in combinations {
            for (code, n) in detail.class(*combination as usize) {
                if self.sums.len() <= code as usize {
                    self.sums.resize(code as usize + 1, 0);
                }
                if self.sums[code as usize] == 0 {
                    self.met.push(code);
                }
                self.sums[code as usize] += n;
            }
        }
        self.met.sort_unstable();
    }
}

impl Table for Groups<'_> {
    fn columns(&self) -> &[Column] {
        &self.columns
    }

    fn len(&self) -> usize {
        self.set().len()
    }

    fn code(&self, column: usize, combination: u32) -> u32 {
        self.base()
            .key_schema
            .layout()
            .code(self.set().key(combination as usize), column)
    }

    fn rows(&self, combination: u32) -> u64 {
        self.set().counts()[combination as usize]
    }

    fn holds(&self, combinations: &[u32]) -> bool {
        let rows: u64 = combinations.iter().map(|c| self.rows(*c)).sum();
        if rows < self.least_rows || self.rows_suffice {
            return rows >= self.least_rows;
        }
        let mut scratch = self.scratch.borrow_mut();
        let size = match self.evaluator.entity {
            Some(detail) => {
                scratch.merge(&self.set().details()[detail], combinations);
                scratch.met.len() as u64
            }
            None => rows,
        };
        // A model of the entire release is checked for the group alone: if every group meets a
        // limit on an average, the entire release meets it too. For other models, the final
        // judgement of the entire partition decides.
        let alone = Overall {
            classes: 1,
            size,
            outside: 0,
            sizes: [(size, 1)].into_iter().collect(),
        };
        let mut rules = self.evaluator.rules.iter().filter(|rule| rule.is_of_classes());
        rules.all(|rule| {
            let Scratch { histogram, .. } = &mut *scratch;
            histogram.clear();
            if let Some(detail) = rule.detail {
                scratch.merge(&self.set().details()[detail], combinations);
                let Scratch { sums, met, histogram } = &mut *scratch;
                let entries = met.iter().map(|code| (*code, sums[*code as usize]));
                fill(histogram, &self.base().attributes[detail], entries);
            }
            let class = Class {
                size,
                population: 0,
                histogram: &scratch.histogram,
                labels: &[],
            };
            rule.predicate.holds(&class) && rule.predicate.holds_overall(&alone)
        })
    }

    fn least_rows(&self) -> u64 {
        self.least_rows
    }

    fn rows_suffice(&self) -> bool {
        self.rows_suffice
    }

    fn groupings(&self) -> &[Grouping] {
        &self.groupings
    }

    fn rows_have_limits(&self) -> bool {
        self.rows_have_limits
    }

    fn suppressible(&self) -> u64 {
        self.evaluator.limit.saturating_sub(self.base().unmapped_rows)
    }

    fn class_labels(&self) -> Option<usize> {
        self.class_label
            .map(|detail| self.base().attributes[detail].values.len())
    }

    fn for_each_class_label(&self, combination: u32, f: &mut dyn FnMut(u32, u64)) {
        if let Some(detail) = self.class_label {
            self.set().details()[detail]
                .class(combination as usize)
                .for_each(|(label, n)| f(label, n));
        }
    }
}
