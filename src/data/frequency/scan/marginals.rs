//! The number of rows with each value of some columns, counted in one scan.

use super::encoded::{dictionaries, encoded};
use crate::base::error::{Error, Result};
use crate::data::frequency::encode::{Dictionary, Local, Shared};
use arrow::array::{Array, ArrayRef, DictionaryArray, PrimitiveArray};
use arrow::datatypes::{ArrowDictionaryKeyType, ArrowNativeType};
use arrow::downcast_dictionary_array;
use datafusion::execution::memory_pool::MemoryPool;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::{ExecutionPlan, execute_stream_partitioned};
use std::sync::Arc;

/// The number of rows with each value of some columns.
#[derive(Debug)]
pub(crate) struct Marginals {
    columns: Vec<Arc<Shared>>,
    /// The counts, by column and by code of the column's dictionary.
    counts: Vec<Vec<u64>>,
}

impl Marginals {
    /// Counts the rows of a plan by the values of each of its columns. Fails with
    /// `ErrorKind::Resources` if the values do not fit in memory.
    pub(crate) async fn of_plan(plan: Arc<dyn ExecutionPlan>, context: Arc<TaskContext>) -> Result<Self> {
        let columns = dictionaries(plan.as_ref())?;
        let streams = execute_stream_partitioned(plan, Arc::clone(&context)).map_err(Error::from_data)?;
        Self::read(columns, streams, context.memory_pool()).await
    }

    /// Counts the rows of `streams`, each in its own task. `columns` contains the dictionaries for
    /// the columns of the streams, in the same order. Fails with `ErrorKind::Resources` if the
    /// values do not fit in memory.
    pub(crate) async fn read(
        columns: Vec<Arc<Shared>>,
        streams: Vec<SendableRecordBatchStream>,
        pool: &Arc<dyn MemoryPool>,
    ) -> Result<Self> {
        let parts = encoded(&columns, streams, pool, count_codes).await?;
        let mut counts: Vec<Vec<u64>> = vec![vec![]; columns.len()];
        for part in &parts {
            for (sum, rows) in counts.iter_mut().zip(&part.columns) {
                sum.resize(sum.len().max(rows.len()), 0);
                sum.iter_mut().zip(rows).for_each(|(sum, rows)| *sum += rows);
            }
        }
        Ok(Self { columns, counts })
    }

    /// Returns the values of a column in ascending order with NULL last, and the number of rows
    /// with each value. If a value occurs only in another scan with the same dictionary, its number
    /// of rows is 0.
    pub(crate) fn of(&self, column: usize) -> Result<(ArrayRef, Vec<u64>)> {
        Ok(self.ranked(column, self.columns[column].finish()?))
    }

    /// Returns the values and counts of each column like [`Marginals::of`], and removes the values
    /// from the dictionaries. This takes less time if no other scan uses the dictionaries.
    pub(crate) fn take(&self) -> Result<Vec<(ArrayRef, Vec<u64>)>> {
        let columns = self.columns.iter().enumerate();
        columns.map(|(i, column)| Ok(self.ranked(i, column.take()?))).collect()
    }

    /// Returns the values of a dictionary, and the number of rows with each value.
    fn ranked(&self, column: usize, dictionary: Dictionary) -> (ArrayRef, Vec<u64>) {
        let Dictionary { values, ranks } = dictionary;
        let mut counts = vec![0; values.len()];
        for (rank, rows) in ranks.iter().zip(&self.counts[column]) {
            counts[*rank as usize] = *rows;
        }
        (values, counts)
    }
}

/// Adds the rows of an array to the counts of their codes.
pub(crate) fn count_codes(local: &mut Local, array: &ArrayRef, counts: &mut Vec<u64>) -> Result<()> {
    let (codes, rows) = match by_key(array)? {
        Some((keys, rows)) => (local.encode(&keys)?, Some(rows)),
        None => (local.encode(array)?, None),
    };
    let most = codes.iter().max().map_or(0, |most| *most as usize + 1);
    counts.resize(counts.len().max(most), 0);
    match rows {
        Some(rows) => {
            let counted = codes.iter().zip(rows);
            counted.for_each(|(code, rows)| counts[*code as usize] += rows);
        }
        None => codes.iter().for_each(|code| counts[*code as usize] += 1),
    }
    Ok(())
}

/// Returns a dictionary array that has each key of `array` once, and the number of rows with each
/// of these keys. Returns `None` if this does not save time, because `array` is not a dictionary
/// array or has more values than rows.
fn by_key(array: &ArrayRef) -> Result<Option<(ArrayRef, Vec<u64>)>> {
    let array = array.as_ref();
    downcast_dictionary_array!(
        array => match array.values().len() <= array.len() {
            true => rows_by_key(array).map(Some),
            false => Ok(None),
        },
        _ => Ok(None)
    )
}

fn rows_by_key<K: ArrowDictionaryKeyType>(array: &DictionaryArray<K>) -> Result<(ArrayRef, Vec<u64>)> {
    let (keys, null) = (array.keys(), array.values().len());
    // The last number is the number of rows whose key is NULL.
    let mut rows = vec![0u64; null + 1];
    match keys.null_count() {
        0 => count_each::<K>(keys.values(), &mut rows),
        _ => keys
            .iter()
            .for_each(|key| rows[key.map_or(null, |key| key.as_usize())] += 1),
    }
    let used: Vec<usize> = (0..rows.len()).filter(|key| rows[*key] > 0).collect();
    let key = |key: &usize| K::Native::from_usize(*key).filter(|_| *key != null);
    let keys: PrimitiveArray<K> = used.iter().map(key).collect();
    let keys = DictionaryArray::try_new(keys, Arc::clone(array.values()))?;
    Ok((Arc::new(keys), used.into_iter().map(|key| rows[key]).collect()))
}

/// Adds the number of rows with each key. Equal keys often follow each other, and adding to a
/// number that was just changed takes longer than adding to another one. So four tables take turns.
fn count_each<K: ArrowDictionaryKeyType>(keys: &[K::Native], rows: &mut [u64]) {
    let mut tables = [(); 4].map(|()| vec![0u64; rows.len()]);
    let chunks = keys.chunks_exact(4);
    chunks.remainder().iter().for_each(|key| rows[key.as_usize()] += 1);
    for chunk in chunks {
        for (table, key) in tables.iter_mut().zip(chunk) {
            table[key.as_usize()] += 1;
        }
    }
    for table in tables {
        rows.iter_mut().zip(table).for_each(|(sum, rows)| *sum += rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::frequency::distinct_values;
    use arrow::array::{AsArray, Float64Array, RecordBatch, StringArray, UInt8Array};
    use arrow::datatypes::UInt8Type;
    use datafusion::datasource::MemTable;
    use datafusion::prelude::SessionContext;
    use proptest::prelude::*;

    type Row = (Option<u8>, Option<i8>);

    fn batch(rows: &[Row]) -> RecordBatch {
        let texts: StringArray = rows.iter().map(|row| row.0.map(|v| v.to_string())).collect();
        let numbers: Float64Array = rows.iter().map(|row| row.1.map(|v| f64::from(v) * 0.5)).collect();
        let columns: [(&str, ArrayRef, bool); 2] = [("x", Arc::new(texts), true), ("y", Arc::new(numbers), true)];
        RecordBatch::try_from_iter_with_nullable(columns).unwrap()
    }

    proptest! {
        /// The keys of a dictionary array are counted, also in a slice and with unused values.
        #[test]
        fn each_key_has_the_number_of_its_rows(
            keys in prop::collection::vec(prop::option::of(0u8..6), 0..20), start in 0usize..5
        ) {
            let values: ArrayRef = Arc::new(StringArray::from_iter_values((0..6u8).map(|value| value.to_string())));
            let keys: UInt8Array = keys.into_iter().collect();
            let array: ArrayRef = Arc::new(DictionaryArray::<UInt8Type>::try_new(keys.clone(), values).unwrap());
            let start = start.min(array.len());
            let (array, keys) = (array.slice(start, array.len() - start), keys.slice(start, keys.len() - start));
            match by_key(&array).unwrap() {
                None => prop_assert!(keys.len() < 6),
                Some((found, rows)) => {
                    let found = found.as_any_dictionary().keys().to_data();
                    let found: Vec<Option<u8>> = UInt8Array::from(found).iter().collect();
                    let mut each: Vec<Option<u8>> = keys.iter().collect();
                    each.sort_by_key(|key| key.unwrap_or(u8::MAX));
                    each.dedup();
                    prop_assert_eq!(&found, &each);
                    let expected = each.iter().map(|key| keys.iter().filter(|own| own == key).count() as u64);
                    prop_assert_eq!(rows, expected.collect::<Vec<_>>());
                }
            }
        }

        /// The counts of a scan with several partitions equal the counts of a GROUP BY for each
        /// column.
        #[test]
        fn counts_are_those_of_queries(
            parts in prop::collection::vec(prop::collection::vec((prop::option::of(0u8..5), prop::option::of(-3i8..3)), 0..9), 1..4),
        ) {
            let session = SessionContext::new();
            let parts: Vec<Vec<RecordBatch>> = parts.iter().map(|part| vec![batch(part)]).collect();
            let table = MemTable::try_new(parts[0][0].schema(), parts).unwrap();
            session.register_table("t", Arc::new(table)).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            runtime.block_on(async {
                let plan = session.table("t").await.unwrap().create_physical_plan().await.unwrap();
                let found = Marginals::of_plan(plan, session.task_ctx()).await.unwrap();
                let counted = [found.of(0).unwrap(), found.of(1).unwrap()];
                let taken = found.take().unwrap();
                assert_eq!(taken.len(), 2);
                for ((counted, taken), name) in counted.iter().zip(&taken).zip(["x", "y"]) {
                    let (expected, rows) = distinct_values(&session, name, "t").await.unwrap();
                    for (values, counts) in [counted, taken] {
                        assert_eq!((values.as_ref(), counts), (expected.as_ref(), &rows));
                    }
                }
            });
        }
    }
}
