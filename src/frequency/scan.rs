//! The first scan: rows to the distinct combinations of codes with their counts.

use super::grouper::Grouper;
use super::interner::{Dictionary, Local, Shared};
use super::layout::{Layout, bits_for};
use super::partitioned::bytes_to_group;
use crate::error::{Error, ErrorKind, Result};
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::SchemaRef;
use arrow::record_batch::RecordBatch;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use futures::StreamExt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::task::JoinSet;

/// A further attribute that classes must know of.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum DetailRequest {
    /// The values of a column with their row counts (sensitive attributes, class labels).
    Values(String),
    /// The distinct values of a column (the entity of ENTITY).
    Distinct(String),
    /// The distinct pairs of an entity and a value, so that an entity counts once for a value.
    Pairs {
        /// The entity column.
        entity: String,
        /// The attribute.
        values: String,
    },
}

impl DetailRequest {
    /// The columns that have to be read.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            DetailRequest::Values(c) | DetailRequest::Distinct(c) => vec![c],
            DetailRequest::Pairs { entity, values } => vec![entity, values],
        }
    }
}

/// What one scan counted, still in the codes of the scan.
#[derive(Debug)]
pub struct Scan {
    pub(super) rows: u64,
    pub(super) dictionaries: Vec<Dictionary>,
    pub(super) details: Vec<(DetailRequest, Vec<Dictionary>)>,
    pub(super) tallies: Vec<Tally>,
}

/// The dictionaries that partitions of one scan, or of a sample and its population, share.
#[derive(Debug, Clone)]
pub struct Columns {
    quasi_identifiers: Vec<(String, Arc<Shared>)>,
    details: Vec<(DetailRequest, Vec<Arc<Shared>>)>,
}

impl Columns {
    /// Dictionaries for the columns of a table with this schema.
    pub fn new(schema: &SchemaRef, quasi_identifiers: &[String], details: &[DetailRequest]) -> Result<Self> {
        let shared = |name: &str| -> Result<Arc<Shared>> {
            Ok(Arc::new(Shared::new(name, schema.field_with_name(name)?.data_type())?))
        };
        Ok(Self {
            quasi_identifiers: quasi_identifiers
                .iter()
                .map(|name| Ok((name.clone(), shared(name)?)))
                .collect::<Result<_>>()?,
            details: details
                .iter()
                .map(|d| Ok((d.clone(), d.columns().into_iter().map(shared).collect::<Result<_>>()?)))
                .collect::<Result<_>>()?,
        })
    }

    /// The same dictionaries of quasi-identifiers, without details.
    pub fn without_details(&self) -> Self {
        Self {
            quasi_identifiers: self.quasi_identifiers.clone(),
            details: vec![],
        }
    }

    /// Brings `scan`, an earlier one with these dictionaries, to all values that are known now: a later scan of a
    /// population meets values that the sample lacks, and those change the ranks of all others.
    pub fn refresh(&self, scan: &mut Scan) -> Result<()> {
        let columns = self.quasi_identifiers.iter().map(|(_, shared)| shared.finish());
        scan.dictionaries = columns.collect::<Result<_>>()?;
        Ok(())
    }

    fn bytes(&self) -> usize {
        let own: usize = self.quasi_identifiers.iter().map(|(_, s)| s.bytes()).sum();
        own + self
            .details
            .iter()
            .flat_map(|(_, s)| s)
            .map(|s| s.bytes())
            .sum::<usize>()
    }

    /// Counts the rows of `streams`, each on a task of its own, within `pool`. `progress` is advanced by rows.
    pub async fn scan(
        &self,
        streams: Vec<SendableRecordBatchStream>,
        pool: &Arc<dyn MemoryPool>,
        progress: Arc<AtomicU64>,
    ) -> Result<Scan> {
        let mut tasks = JoinSet::new();
        for (number, mut stream) in streams.into_iter().enumerate() {
            let mut tally = Tally::new(self, &stream.schema(), pool, number == 0)?;
            let columns = self.clone();
            let progress = Arc::clone(&progress);
            tasks.spawn(async move {
                while let Some(batch) = stream.next().await {
                    let batch = batch.map_err(Error::from_data)?;
                    tally.add(&columns, &batch)?;
                    progress.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
                    tokio::task::consume_budget().await;
                }
                Ok::<_, Error>((number, tally))
            });
        }
        let mut tallies = vec![];
        while let Some(done) = tasks.join_next().await {
            tallies.push(done.map_err(|e| Error::internal(format!("a scan task ended: {e}")))??);
        }
        tallies.sort_by_key(|(number, _)| *number);
        let tallies: Vec<Tally> = tallies.into_iter().map(|(_, tally)| tally).collect();
        Ok(Scan {
            rows: tallies.iter().map(|t| t.rows).sum(),
            dictionaries: self
                .quasi_identifiers
                .iter()
                .map(|(_, s)| s.finish())
                .collect::<Result<_>>()?,
            details: self
                .details
                .iter()
                .map(|(request, shared)| {
                    Ok((
                        request.clone(),
                        shared.iter().map(|s| s.finish()).collect::<Result<_>>()?,
                    ))
                })
                .collect::<Result<_>>()?,
            tallies,
        })
    }
}

impl Scan {
    /// Rows read.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Memory that bringing the partitions together takes beside them.
    pub(crate) fn bytes_to_merge(&self, words: usize) -> usize {
        let groups: usize = self.tallies.iter().map(|t| t.grouper.len()).sum();
        // Keys in their new codes, the class of each group, its place in the order, and the ordered set with its counts.
        bytes_to_group(groups, words) + groups * (2 * words * 8 + 8 + 16 + 4 + 8)
    }

    /// The distinct values of quasi-identifier `column`, ascending, NULL last.
    pub fn values(&self, column: usize) -> &ArrayRef {
        &self.dictionaries[column].values
    }

    /// Rows by value of quasi-identifier `column`, in the order of [`Scan::values`].
    pub fn value_counts(&self, column: usize) -> Vec<u64> {
        let dictionary = &self.dictionaries[column];
        let mut counts = vec![0; dictionary.values.len()];
        for tally in &self.tallies {
            for (key, count) in tally.groups() {
                counts[dictionary.ranks[tally.layout.code(key, column) as usize] as usize] += count;
            }
        }
        counts
    }
}

/// The counts of one partition.
#[derive(Debug)]
pub(super) struct Tally {
    pub(super) layout: Layout,
    pub(super) grouper: Grouper,
    pub(super) counts: Vec<u64>,
    pub(super) details: Vec<DetailTally>,
    rows: u64,
    indices: Vec<usize>,
    locals: Vec<Local>,
    groups: Vec<u32>,
    reservation: MemoryReservation,
    owns_dictionaries: bool,
}

/// The counts of one detail: groups of (class, code) or (class, entity, code).
#[derive(Debug)]
pub(super) struct DetailTally {
    pub(super) grouper: Grouper,
    pub(super) counts: Vec<u64>,
    indices: Vec<usize>,
    locals: Vec<Local>,
}

/// Bits that a column's codes start with; a column that needs more gets them when it does.
const FIRST_BITS: u32 = 6;

impl Tally {
    fn new(columns: &Columns, schema: &SchemaRef, pool: &Arc<dyn MemoryPool>, owns_dictionaries: bool) -> Result<Self> {
        let position = |name: &str| Ok::<_, Error>(schema.index_of(name)?);
        let layout = Layout::new(&vec![FIRST_BITS; columns.quasi_identifiers.len()]);
        let details = columns.details.iter().map(|(request, shared)| {
            let names = request.columns();
            Ok(DetailTally {
                grouper: Grouper::new(names.len()),
                counts: vec![],
                indices: names.into_iter().map(position).collect::<Result<_>>()?,
                locals: shared.iter().map(|s| Local::new(Arc::clone(s), false)).collect(),
            })
        });
        Ok(Self {
            grouper: Grouper::new(layout.words()),
            layout,
            counts: vec![],
            details: details.collect::<Result<_>>()?,
            rows: 0,
            indices: columns
                .quasi_identifiers
                .iter()
                .map(|(name, _)| position(name))
                .collect::<Result<_>>()?,
            locals: columns
                .quasi_identifiers
                .iter()
                .map(|(_, s)| Local::new(Arc::clone(s), true))
                .collect(),
            groups: vec![],
            reservation: MemoryConsumer::new("anonsql frequency set").register(pool),
            owns_dictionaries,
        })
    }

    /// The keys, in the codes of the scan, with their counts.
    pub(super) fn groups(&self) -> impl Iterator<Item = (&[u64], u64)> + '_ {
        self.grouper
            .keys()
            .chunks_exact(self.layout.words())
            .zip(self.counts.iter().copied())
    }

    /// The keys of these groups.
    pub(super) fn keys(&self, groups: Range<usize>) -> impl Iterator<Item = &[u64]> {
        let words = self.layout.words();
        self.grouper.keys()[groups.start * words..groups.end * words].chunks_exact(words)
    }

    fn add(&mut self, columns: &Columns, batch: &RecordBatch) -> Result<()> {
        let rows = batch.num_rows();
        let mut codes = Vec::with_capacity(self.locals.len());
        for (local, index) in self.locals.iter_mut().zip(&self.indices) {
            codes.push(local.encode(batch.column(*index))?);
        }
        self.widen(&codes);
        let mut keys = vec![0u64; rows * self.layout.words()];
        for (column, codes) in codes.iter().enumerate() {
            self.layout.pack_column(column, codes, &mut keys);
        }
        self.grouper.group(&keys, &mut self.groups);
        count(&self.groups, self.grouper.len(), &mut self.counts);
        for detail in &mut self.details {
            detail.add(&self.groups, batch)?;
        }
        self.rows += rows as u64;
        self.reserve(columns)
    }

    /// Makes room for codes that do not fit their bits any more.
    fn widen(&mut self, codes: &[Vec<u32>]) {
        let needed = |column: usize| bits_for(codes[column].iter().max().map_or(0, |m| *m as usize + 1));
        if (0..codes.len()).all(|c| needed(c) <= self.layout.bits(c)) {
            return;
        }
        let bits: Vec<u32> = (0..codes.len())
            .map(|c| match needed(c) {
                n if n <= self.layout.bits(c) => self.layout.bits(c),
                n => (n + 2).min(32),
            })
            .collect();
        let layout = Layout::new(&bits);
        let mut keys = vec![0u64; self.grouper.len() * layout.words()];
        for (old, new) in self
            .grouper
            .keys()
            .chunks_exact(self.layout.words())
            .zip(keys.chunks_exact_mut(layout.words()))
        {
            for column in 0..codes.len() {
                let (word, part) = layout.place(column, self.layout.code(old, column));
                new[word] |= part;
            }
        }
        self.grouper = Grouper::new(layout.words());
        self.grouper.group(&keys, &mut self.groups);
        self.layout = layout;
    }

    fn reserve(&mut self, columns: &Columns) -> Result<()> {
        let own = self.grouper.bytes() + self.counts.capacity() * 8;
        let locals: usize = self.locals.iter().map(Local::memory).sum();
        let details: usize = self.details.iter().map(DetailTally::bytes).sum();
        let dictionaries = if self.owns_dictionaries { columns.bytes() } else { 0 };
        self.reservation
            .try_resize(own + locals + details + dictionaries)
            .map_err(|_| {
                Error::new(
                    ErrorKind::Resources,
                    format!(
                        "the memory limit is reached with {} distinct combinations of quasi-identifier values in one \
                     partition after {} rows; raise --memory-limit, name fewer quasi-identifiers, or coarsen the \
                     finest of them in a query",
                        self.grouper.len(),
                        self.rows
                    ),
                )
            })
    }
}

impl DetailTally {
    fn add(&mut self, classes: &[u32], batch: &RecordBatch) -> Result<()> {
        let mut keys = vec![0u64; classes.len() * self.locals.len()];
        for (i, (local, index)) in self.locals.iter_mut().zip(&self.indices).enumerate() {
            let codes = local.encode(batch.column(*index))?;
            let words = self.indices.len();
            for ((key, code), class) in keys.chunks_exact_mut(words).zip(&codes).zip(classes) {
                key[i] = if i == 0 {
                    u64::from(*class) << 32 | u64::from(*code)
                } else {
                    u64::from(*code)
                };
            }
        }
        let mut groups = vec![];
        self.grouper.group(&keys, &mut groups);
        count(&groups, self.grouper.len(), &mut self.counts);
        Ok(())
    }

    fn bytes(&self) -> usize {
        self.grouper.bytes() + self.counts.capacity() * 8 + self.locals.iter().map(Local::memory).sum::<usize>()
    }
}

fn count(groups: &[u32], len: usize, counts: &mut Vec<u64>) {
    counts.resize(len, 0);
    for group in groups {
        counts[*group as usize] += 1;
    }
}
