//! The classes of a release, one after the other. Rows are released in the order of their classes,
//! so each task has only one class in memory at a time. If a class lies in the ranges of several
//! tasks, its parts are merged at the end.

use super::disclosed::{Counted, Disclosed, ReadingPlans, base_of, distances};
use super::source_values::{ValueRanks, source_values};
use crate::base::error::{Error, Result};
use crate::base::pool::{Pool, map};
use crate::base::spill::SpillSpace;
use crate::data::frequency::{Columns, Local, Scan};
use crate::data::model::Predicate;
use crate::release::recount::{KnownSource, ReleasedTable};
use arrow::array::{ArrayRef, RecordBatch};
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::execute_stream_partitioned;
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::mem::take;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Reads the rows of a release in their order. `known` are the columns of the source that were read
/// before. Returns `None` if there are more than `classes` runs
/// of equal quasi-identifiers: the rows of a class are then not consecutive, as in a release that
/// is partitioned by another column. Also returns `None` if the values of the source are not
/// known.
pub(super) async fn ordered(
    session: &SessionContext,
    released: &ReleasedTable,
    (attributes, known): (&[&str], Option<&KnownSource>),
    classes: u64,
) -> Result<Option<Counted>> {
    let Some(reading) = ReadingPlans::in_order(session, released, attributes).await? else {
        return Ok(None);
    };
    let spill_space = SpillSpace::of(&session.task_ctx());
    let Some(source) = source_values(&reading, session, (attributes, known)).await? else {
        return Ok(None);
    };
    // This scan reads no rows. The base is needed only for the distances, which are measured from
    // the whole table.
    let nothing = Scan::read(&reading.columns, vec![], &spill_space, Default::default()).await?;
    let (ranks, counts): (Vec<ValueRanks>, Vec<Vec<u64>>) = source.into_iter().map(|v| (v.ranks, v.counts)).unzip();
    let numbers_of_values: Vec<usize> = counts.iter().map(Vec::len).collect();
    let base = base_of(nothing, &reading.keys, Some(counts), &spill_space)?;
    let measures = ranks.into_iter().zip(numbers_of_values).enumerate();
    let measures = measures.map(|(i, (ranks, values))| {
        Ok(Measure {
            ranks,
            values,
            farthest: distances(&base, i)?,
        })
    });
    let measures: Arc<Vec<Measure>> = Arc::new(measures.collect::<Result<_>>()?);
    let context = session.task_ctx();
    let streams = execute_stream_partitioned(reading.released, Arc::clone(&context)).map_err(Error::from_data)?;
    let held = spill_space.reservation("anonsql disclosure");
    let tables: usize = measures.iter().map(|measure| measure.ranks.bytes()).sum();
    let bytes = (1 + streams.len()) * reading.columns.bytes() + tables;
    held.try_resize(bytes).map_err(Error::from_data)?;
    let mut tasks = JoinSet::new();
    for stream in streams {
        let range = Range::new(&reading.columns, &measures, classes)?;
        tasks.spawn(range.read(stream, Pool::of(context.session_config())));
    }
    let mut ranges = vec![];
    while let Some(done) = tasks.join_next().await {
        match done.map_err(|e| Error::from_task("a scan task", &e))?? {
            Some(range) => ranges.push(range),
            None => return Ok(None),
        }
    }
    Ok(counted(ranges, &measures, classes))
}

/// Returns the figures of all classes. Returns `None` if there are not exactly `classes` runs,
/// after the runs of one class at the ends of the ranges were merged.
fn counted(ranges: Vec<RangeCounts>, measures: &[Measure], classes: u64) -> Option<Counted> {
    let mut disclosed: Vec<Disclosed> = measures.iter().map(|_| Disclosed::default()).collect();
    let (mut sizes, mut cut) = (BTreeMap::new(), BTreeMap::<Vec<u32>, Run>::new());
    let mut number = 0;
    for range in ranges {
        number += range.number;
        for (size, runs) in range.sizes {
            *sizes.entry(size).or_default() += runs;
        }
        for (found, own) in disclosed.iter_mut().zip(range.disclosed) {
            found.merge(own);
        }
        for run in range.cut {
            cut.entry(run.key.clone())
                .and_modify(|other| other.extend(&run))
                .or_insert(run);
        }
    }
    number += cut.len() as u64;
    for mut run in cut.into_values() {
        *sizes.entry(run.size).or_default() += 1;
        for ((measure, ranks), found) in measures.iter().zip(&mut run.ranks).zip(&mut disclosed) {
            measure.add(ranks, found);
        }
    }
    (number == classes).then(|| Counted {
        disclosed,
        sizes: sizes.into_iter().collect(),
    })
}

/// How one attribute is measured.
struct Measure {
    ranks: ValueRanks,
    /// The number of distinct values in the source.
    values: usize,
    farthest: Box<dyn Predicate>,
}

impl Measure {
    /// Adds a class, given as the ranks of its values. May change the order of `ranks`.
    fn add(&self, ranks: &mut [u32], found: &mut Disclosed) {
        let histogram = histogram(ranks, self.values);
        found.add(ranks.len() as u64, &histogram, self.farthest.as_ref());
    }
}

/// Returns the number of rows with each rank, in ascending order of the ranks. All ranks are less
/// than `values`. May change the order of `ranks`.
fn histogram(ranks: &mut [u32], values: usize) -> Vec<(u32, u64)> {
    if values > ranks.len() {
        ranks.sort_unstable();
        let runs = ranks.chunk_by(|one, other| one == other);
        return runs.map(|rows| (rows[0], rows.len() as u64)).collect();
    }
    // For a class with many rows and few values, counting takes less time than sorting.
    let mut rows = vec![0; values];
    ranks.iter().for_each(|rank| rows[*rank as usize] += 1);
    (0..).zip(rows).filter(|(_, rows)| *rows > 0).collect()
}

/// Consecutive rows with equal quasi-identifiers.
struct Run {
    /// The codes of the quasi-identifiers.
    key: Vec<u32>,
    /// The number of rows.
    size: u64,
    /// For each attribute, the ranks of the values of the rows.
    ranks: Vec<Vec<u32>>,
}

impl Run {
    /// Adds the rows of another run of the same class.
    fn extend(&mut self, other: &Self) {
        self.size += other.size;
        for (own, more) in self.ranks.iter_mut().zip(&other.ranks) {
            own.extend_from_slice(more);
        }
    }
}

/// The figures of a range of consecutive rows.
struct RangeCounts {
    /// The number of runs that begin and end within the range.
    number: u64,
    /// For each size of such a run in rows, the number of runs of this size.
    sizes: BTreeMap<u64, u64>,
    /// For each attribute, the figures of these runs.
    disclosed: Vec<Disclosed>,
    /// The first and the last run of the range, which may continue in another range.
    cut: Vec<Run>,
}

/// A range of consecutive rows while it is read.
struct Range {
    keys: Keys,
    attributes: Arc<Vec<Mutex<Attribute>>>,
    /// The number of classes of the release.
    classes: u64,
}

impl Range {
    fn new(columns: &Columns, measures: &Arc<Vec<Measure>>, classes: u64) -> Result<Self> {
        let of_attributes = columns.details.iter().enumerate().map(|(i, (_, shared))| {
            Ok(Mutex::new(Attribute {
                local: Local::new(Arc::clone(&shared[0]), false)?,
                measures: Arc::clone(measures),
                index: i,
                ranks: vec![],
                first: None,
                found: Disclosed::default(),
            }))
        });
        let keys = columns.quasi_identifiers.iter().map(|(_, shared)| shared);
        Ok(Self {
            keys: Keys {
                locals: Local::views(keys, false)?,
                last: None,
                size: 0,
                first: None,
                number: 0,
                sizes: BTreeMap::new(),
            },
            attributes: Arc::new(of_attributes.collect::<Result<_>>()?),
            classes,
        })
    }

    /// Reads the rows of the range. Returns `None` if there are more runs than classes, or if a row
    /// has a value that the source does not have.
    async fn read(mut self, mut stream: SendableRecordBatchStream, pool: Pool) -> Result<Option<RangeCounts>> {
        let mut next = stream.next().await;
        while let Some(batch) = next {
            let batch = batch.map_err(Error::from_data)?;
            let ends = self.keys.add(&batch)?;
            if self.keys.number > self.classes {
                return Ok(None);
            }
            let own = Arc::clone(&self.attributes);
            let count = move || {
                let first = batch.num_columns() - own.len();
                let counted = map(own.len(), |i| own[i].lock().add(batch.column(first + i), &ends));
                counted.into_iter().try_fold(true, |all, known| Ok(all & known?))
            };
            // The next rows are decoded while these rows are counted.
            let (following, known) = futures::join!(stream.next(), pool.compute("measuring what is disclosed", count));
            if !known? {
                return Ok(None);
            }
            next = following;
        }
        self.end().map(Some)
    }

    fn end(self) -> Result<RangeCounts> {
        let Keys {
            last,
            size,
            first,
            number,
            sizes,
            ..
        } = self.keys;
        let runs = [first, last.map(|key| (key, size))].into_iter().flatten();
        let mut cut: Vec<Run> = runs
            .map(|(key, size)| Run {
                key,
                size,
                ranks: vec![],
            })
            .collect();
        let of_attributes =
            Arc::into_inner(self.attributes).ok_or_else(|| Error::internal("a task goes on after its end"))?;
        let disclosed = of_attributes.into_iter().map(|attribute| {
            let attribute = attribute.into_inner();
            let ranks = attribute.first.into_iter().chain([attribute.ranks]);
            cut.iter_mut().zip(ranks).for_each(|(run, ranks)| run.ranks.push(ranks));
            attribute.found
        });
        let disclosed = disclosed.collect();
        Ok(RangeCounts {
            number,
            sizes,
            disclosed,
            cut,
        })
    }
}

/// The runs of equal quasi-identifiers in a range.
struct Keys {
    locals: Vec<Local>,
    /// The codes of the quasi-identifiers in the last row.
    last: Option<Vec<u32>>,
    /// The number of rows of the run that has not ended.
    size: u64,
    /// The codes and the number of rows of the first run, once it has ended.
    first: Option<(Vec<u32>, u64)>,
    /// The number of later runs that have ended.
    number: u64,
    /// For each size of a run that `number` counts, the number of runs of this size.
    sizes: BTreeMap<u64, u64>,
}

impl Keys {
    /// Adds the rows of a batch. Returns the rows at which one run ends and the next run begins.
    fn add(&mut self, batch: &RecordBatch) -> Result<Vec<usize>> {
        let arrays = self.locals.iter_mut().zip(batch.columns());
        let codes: Vec<Vec<u32>> = arrays
            .map(|(local, array)| local.encode(array))
            .collect::<Result<_>>()?;
        let key = |row: usize| codes.iter().map(|codes| codes[row]).collect::<Vec<u32>>();
        let rows = batch.num_rows();
        if rows == 0 {
            return Ok(vec![]);
        }
        let mut ends: Vec<usize> = match &self.last {
            Some(last) if *last != key(0) => vec![0],
            _ => vec![],
        };
        ends.extend((1..rows).filter(|row| codes.iter().any(|codes| codes[*row] != codes[row - 1])));
        let mut from = 0;
        for end in &ends {
            self.size += (end - from) as u64;
            let size = take(&mut self.size);
            match self.first {
                None => {
                    let key = if *end == 0 {
                        self.last.take()
                    } else {
                        Some(key(end - 1))
                    };
                    self.first = key.map(|key| (key, size));
                }
                Some(_) => {
                    self.number += 1;
                    *self.sizes.entry(size).or_default() += 1;
                }
            }
            from = *end;
        }
        self.size += (rows - from) as u64;
        self.last = Some(key(rows - 1));
        Ok(ends)
    }
}

/// The values of one attribute in a range.
struct Attribute {
    local: Local,
    measures: Arc<Vec<Measure>>,
    /// The index of the attribute.
    index: usize,
    /// The ranks of the values of the run that has not ended, row by row.
    ranks: Vec<u32>,
    /// The ranks of the values of the first run, once it has ended.
    first: Option<Vec<u32>>,
    /// The figures of the later runs that have ended.
    found: Disclosed,
}

impl Attribute {
    /// Adds rows. A run ends at each of `ends`. Returns false if one of the values is not in the
    /// source.
    fn add(&mut self, array: &ArrayRef, ends: &[usize]) -> Result<bool> {
        let measures = Arc::clone(&self.measures);
        let measure = &measures[self.index];
        let ranks = match &measure.ranks {
            ValueRanks::Numbers(numbers) => numbers.of_rows(array)?,
            ValueRanks::Codes(ranks) => {
                let rank = |code: &u32| ranks.get(*code as usize).copied();
                self.local.encode(array)?.iter().map(rank).collect::<Option<Vec<u32>>>()
            }
        };
        let Some(ranks) = ranks else {
            return Ok(false);
        };
        let mut from = 0;
        for end in ends {
            self.ranks.extend_from_slice(&ranks[from..*end]);
            match self.first {
                None => self.first = Some(take(&mut self.ranks)),
                Some(_) => {
                    measure.add(&mut self.ranks, &mut self.found);
                    self.ranks.clear();
                }
            }
            from = *end;
        }
        self.ranks.extend_from_slice(&ranks[from..]);
        Ok(true)
    }
}
