//! The values of the attributes in the source: the rank of each value, and its number of rows.

use super::disclosed::ReadingPlans;
use super::number_counter::{NumberCounter, NumberCounts};
use super::number_ranks::NumberRanks;
use crate::base::error::{Error, Result};
use crate::base::pool::Pool;
use crate::base::spill::SpillSpace;
use crate::data::frequency::{Marginals, Shared};
use arrow::array::RecordBatch;
use datafusion::error::Result as DfResult;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::physical_plan::execute_stream_partitioned;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use parking_lot::Mutex;
use std::sync::Arc;

/// The values of an attribute in the source.
pub(super) struct SourceValues {
    pub(super) ranks: ValueRanks,
    /// The number of rows with each value, in ascending order of the values, with NULL last.
    pub(super) counts: Vec<u64>,
}

/// The ranks of the values of an attribute.
pub(super) enum ValueRanks {
    /// The ranks of numbers.
    Numbers(NumberRanks),
    /// For each code of the attribute's dictionary, the rank of its value.
    Codes(Vec<u32>),
}

impl ValueRanks {
    /// Returns the memory of the ranks in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            ValueRanks::Numbers(numbers) => numbers.bytes(),
            ValueRanks::Codes(ranks) => 4 * ranks.capacity(),
        }
    }
}

/// The counter of one column in one partition.
type Counter = Arc<Mutex<NumberCounter>>;

/// Counts the values of all attributes in one scan of the source. Returns `None` if the rows of the
/// source are not known, or if the code of a number needs more than 64 bits.
pub(super) async fn source_values(
    reading: &ReadingPlans,
    session: &SessionContext,
    spill_space: &SpillSpace,
) -> Result<Option<Vec<SourceValues>>> {
    let Some(whole) = &reading.whole else {
        return Ok(None);
    };
    let fields = whole.schema();
    let attributes = 0..fields.fields().len();
    let (of_numbers, others): (Vec<usize>, Vec<usize>) =
        attributes.partition(|i| NumberRanks::is_possible(fields.field(*i).data_type()));
    let streams = execute_stream_partitioned(Arc::clone(whole), session.task_ctx()).map_err(Error::from_data)?;
    let (mut counters, mut rest): (Vec<Vec<Counter>>, Vec<_>) = (vec![], vec![]);
    for stream in streams {
        let held = || spill_space.reservation("anonsql numbers of the source");
        let counter = |_: &usize| Arc::new(Mutex::new(NumberCounter::new(held())));
        let own: Vec<Counter> = of_numbers.iter().map(counter).collect();
        let counted = of_numbers.iter().copied().zip(own.iter().cloned()).collect();
        rest.push(without_numbers(stream, counted, others.clone())?);
        counters.push(own);
    }
    let dictionary = |i: &usize| Arc::clone(&reading.columns.details[*i].1[0]);
    let dictionaries: Vec<Arc<Shared>> = others.iter().map(dictionary).collect();
    let marginals = Marginals::read(dictionaries.clone(), rest, spill_space.pool()).await?;
    let finish = move || {
        let mut found: Vec<(usize, SourceValues)> = vec![];
        for (number, i) in of_numbers.into_iter().enumerate() {
            let mut all = NumberCounts::default();
            for own in &counters {
                match own[number].lock().finish().map_err(Error::from_data)? {
                    Some(counts) => all.merge(counts),
                    None => return Ok(None),
                }
            }
            found.push((i, numbers_of(all)));
        }
        for (number, (i, dictionary)) in others.into_iter().zip(dictionaries).enumerate() {
            let values = SourceValues {
                ranks: ValueRanks::Codes(dictionary.finish()?.ranks),
                counts: marginals.of(number)?.1,
            };
            found.push((i, values));
        }
        found.sort_by_key(|(i, _)| *i);
        Ok(Some(found.into_iter().map(|(_, values)| values).collect()))
    };
    let pool = Pool::of(&session.copied_config());
    pool.compute("ordering the values of the source", finish).await
}

/// Returns the rows of a stream with the columns `others`. The columns of `counted` are counted
/// when a batch is read.
fn without_numbers(
    stream: SendableRecordBatchStream,
    counted: Vec<(usize, Counter)>,
    others: Vec<usize>,
) -> Result<SendableRecordBatchStream> {
    let schema = Arc::new(stream.schema().project(&others)?);
    let rows = stream.map(move |batch: DfResult<RecordBatch>| -> DfResult<RecordBatch> {
        let batch = batch?;
        for (i, counter) in &counted {
            counter.lock().add(batch.column(*i))?;
        }
        Ok(batch.project(&others)?)
    });
    Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
}

fn numbers_of(all: NumberCounts) -> SourceValues {
    let (codes, mut counts): (Vec<u64>, Vec<u64>) = all.rows_of_codes.into_iter().unzip();
    let has_null = all.nulls > 0;
    counts.extend(has_null.then_some(all.nulls));
    SourceValues {
        ranks: ValueRanks::Numbers(NumberRanks::new(codes, has_null)),
        counts,
    }
}
