//! The values of the columns with drawn masks, collected in one scan of the source.
//!
//! A number is its own key. The most frequent numbers are counted in a table that stays in the
//! cache, and all others are sorted when the scan has ended. This takes less time than one large
//! table for a column that has a different number in many rows. Other values are encoded by a
//! dictionary.

use super::by_value::{OrderedPairs, RankedRows};
use crate::base::error::{Error, ErrorKind, Result};
use crate::data::frequency::{Dictionary, Local, Shared, count_codes};
use crate::data::recode::{RecodingPlan, RowLabeller, numbers, of_codes};
use crate::data::source::{select_columns, source_plan};
use crate::method::canonical::one_spelling;
use crate::method::masks::RowHashes;
use crate::release::job::Input;
use arrow::array::{Array, ArrayRef, RecordBatch, new_empty_array};
use arrow::buffer::NullBuffer;
use arrow::compute::nullif;
use arrow::datatypes::{DataType, Schema};
use datafusion::execution::memory_pool::MemoryConsumer;
use datafusion::physical_plan::execute_stream_partitioned;
use futures::StreamExt;
use hashbrown::HashMap;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The maximum number of different numbers that a partition counts in a table.
const COUNTED: usize = 1 << 14;
/// The maximum number of decimal digits that always fit into 64 bits.
const DIGITS: u8 = 18;

/// The values that a scan collects.
pub(super) struct ToCollect {
    /// The columns.
    pub(super) columns: Vec<ColumnToCollect>,
    /// The recoding plan that suppresses rows; `None` if all values are released, and no hash
    /// depends on whether its row is suppressed.
    pub(super) suppressing: Option<Arc<RecodingPlan>>,
    /// The hashes of the rows; `None` if no mask ranks the rows.
    pub(super) hashes: Option<Arc<RowHashes>>,
}

/// A column whose values are collected.
pub(super) struct ColumnToCollect {
    /// The name of the column.
    pub(super) name: String,
    /// True if the hash of each row is collected, too.
    pub(super) is_ranked: bool,
    /// True if the values of suppressed rows are not released.
    pub(super) is_hidden: bool,
}

/// The distinct values of a column that are released, in ascending order, without NULL.
pub(super) struct ValueCounts {
    pub(super) values: ArrayRef,
    /// For each value, the number of its rows.
    pub(super) counts: Vec<u64>,
}

/// Returns the number of rows of the source, and the collected values of each column. A value that
/// is not released counts as NULL. Reads the source once.
pub(super) async fn collected(input: &Input, wanted: &ToCollect) -> Result<(u64, Vec<CollectedColumn>)> {
    let names = names(wanted);
    let rows = select_columns(&input.source.rows, &names)?;
    let context = Arc::new(rows.task_ctx());
    let plan = source_plan(rows.create_physical_plan().await?).await?;
    let schema = plan.schema();
    let columns = wanted
        .columns
        .iter()
        .map(|column| CollectedColumn::new(column, &schema));
    let mut columns = columns.collect::<Result<Vec<_>>>()?;
    let mut tasks = JoinSet::new();
    for mut rows in execute_stream_partitioned(plan, Arc::clone(&context)).map_err(Error::from_data)? {
        let mut part = Part::new(wanted, &columns, &schema)?;
        let held = MemoryConsumer::new("anonsql masked columns").register(context.memory_pool());
        tasks.spawn(async move {
            while let Some(batch) = rows.next().await {
                part.add(&batch.map_err(Error::from_data)?)?;
                held.try_resize(part.bytes()).map_err(|_| {
                    let text = "the values of the masked columns do not fit the memory limit; raise --memory-limit";
                    Error::new(ErrorKind::Resources, text)
                })?;
                tokio::task::consume_budget().await;
            }
            Ok::<_, Error>((part, held))
        });
    }
    // A partition may end long before another one, and what it collected stays in memory.
    let (mut rows, mut reservations) = (0, vec![]);
    while let Some(done) = tasks.join_next().await {
        let (part, held) = done.map_err(|e| Error::from_task("a scan task", &e))??;
        reservations.push(held);
        rows += part.rows;
        let own = columns.iter_mut().zip(part.columns);
        own.for_each(|(column, part)| column.add(part));
    }
    Ok((rows, columns))
}

/// Returns the names of the columns that are read.
fn names(wanted: &ToCollect) -> Vec<&str> {
    let columns = wanted.columns.iter().map(|column| column.name.as_str());
    let hashed = wanted.hashes.iter().flat_map(|hashes| hashes.columns());
    let deciding = wanted.suppressing.iter().flat_map(|suppressing| suppressing.reads());
    let mut names: Vec<&str> = vec![];
    for name in columns.chain(hashed.map(String::as_str)).chain(deciding) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The collected values of a column.
pub(super) struct CollectedColumn {
    data_type: DataType,
    /// The dictionary of the values; `None` for numbers.
    dictionary: Option<Arc<Shared>>,
    is_ranked: bool,
    /// The number of rows with each code, if the values are encoded and the rows are not ranked.
    counts: Vec<u64>,
    /// Pairs of a key or code, and the hash of a row or the number of rows.
    chunks: Vec<Vec<(u64, u64)>>,
    /// For ranked rows, the hashes of the rows without a value.
    others: Vec<Vec<u64>>,
}

impl CollectedColumn {
    fn new(column: &ColumnToCollect, schema: &Schema) -> Result<Self> {
        let data_type = schema.field_with_name(&column.name)?.data_type();
        Ok(Self {
            data_type: data_type.clone(),
            dictionary: match is_number(data_type) {
                true => None,
                false => Some(Arc::new(Shared::new(&column.name, data_type)?)),
            },
            is_ranked: column.is_ranked,
            counts: vec![],
            chunks: vec![],
            others: vec![],
        })
    }

    /// Adds what a partition collected.
    fn add(&mut self, part: ColumnPart) {
        self.counts.resize(self.counts.len().max(part.counts.len()), 0);
        let counts = self.counts.iter_mut().zip(part.counts);
        counts.for_each(|(sum, rows)| *sum += rows);
        self.chunks.push(part.numbers.into_iter().collect());
        self.chunks.extend(part.chunks);
        self.others.push(part.others);
    }

    /// Returns the number of pairs and hashes that are sorted.
    pub(super) fn sorted(&self) -> usize {
        let pairs: usize = self.chunks.iter().map(Vec::len).sum();
        pairs + self.others.iter().map(Vec::len).sum::<usize>()
    }

    /// Returns the values with their counts, and for ranked rows, the hashes of the rows in the
    /// order of the values.
    pub(super) fn finish(self) -> Result<(ValueCounts, Option<RankedRows>)> {
        let Some(dictionary) = self.dictionary else {
            let ordered = OrderedPairs::new(self.chunks, |key| key);
            let counted = if self.is_ranked {
                ordered.counts()
            } else {
                ordered.sums()
            };
            let (keys, counts) = counted.into_iter().unzip();
            let values = of_codes(&self.data_type, keys, false)?;
            let ranked = self.is_ranked.then_some(RankedRows {
                known: ordered,
                others: self.others,
            });
            return Ok((ValueCounts { values, counts }, ranked));
        };
        // NULL comes last.
        let Dictionary { values, ranks } = dictionary.take()?;
        let values = values.slice(0, values.len() - values.logical_null_count());
        if self.is_ranked {
            let ordered = OrderedPairs::new(self.chunks, |code| ranks[code as usize].into());
            let counts = ordered.counts().into_iter().map(|(_, rows)| rows).collect();
            let ranked = RankedRows {
                known: ordered,
                others: self.others,
            };
            return Ok((ValueCounts { values, counts }, Some(ranked)));
        }
        let mut counts = vec![0; values.len()];
        for (rank, rows) in ranks.iter().zip(self.counts) {
            if let Some(count) = counts.get_mut(*rank as usize) {
                *count = rows;
            }
        }
        Ok((ValueCounts { values, counts }, None))
    }
}

/// What a partition of the scan collects.
struct Part {
    labeller: Option<RowLabeller>,
    /// The hashes of the rows, and the indices of the columns from which they follow.
    hashes: Option<(Arc<RowHashes>, Vec<usize>)>,
    columns: Vec<ColumnPart>,
    rows: u64,
}

impl Part {
    fn new(wanted: &ToCollect, columns: &[CollectedColumn], schema: &Schema) -> Result<Self> {
        let hashes = match &wanted.hashes {
            None => None,
            Some(hashes) => {
                let places = hashes.columns().iter().map(|name| Ok(schema.index_of(name)?));
                Some((Arc::clone(hashes), places.collect::<Result<Vec<usize>>>()?))
            }
        };
        let parts = wanted.columns.iter().zip(columns);
        let parts = parts.map(|(column, collected)| ColumnPart::new(column, collected, schema));
        Ok(Self {
            labeller: wanted.suppressing.as_ref().map(RowLabeller::new).transpose()?,
            hashes,
            columns: parts.collect::<Result<Vec<_>>>()?,
            rows: 0,
        })
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let suppressed = match &mut self.labeller {
            Some(labeller) => Some(labeller.suppressed(batch)?),
            None => None,
        };
        let hashes = match &self.hashes {
            Some((hashes, places)) => {
                let values = places.iter().map(|place| Arc::clone(batch.column(*place)));
                Some(hashes.of(&values.collect::<Vec<_>>(), suppressed.as_ref())?)
            }
            None => None,
        };
        for column in &mut self.columns {
            let values = batch.column(column.place);
            let values = match &suppressed {
                Some(suppressed) if column.is_hidden => nullif(values, suppressed)?,
                _ => Arc::clone(values),
            };
            let hashes = hashes.as_deref().filter(|_| column.is_ranked);
            column.add(&values, hashes)?;
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Returns the memory of the part in bytes.
    fn bytes(&self) -> usize {
        self.columns.iter().map(ColumnPart::bytes).sum()
    }
}

/// What a partition of the scan collects of a column.
struct ColumnPart {
    /// The index of the column in a batch.
    place: usize,
    is_ranked: bool,
    is_hidden: bool,
    dictionary: Option<Local>,
    /// See [`CollectedColumn::counts`].
    counts: Vec<u64>,
    /// The number of rows with each of the first [`COUNTED`] numbers.
    numbers: HashMap<u64, u64>,
    /// See [`CollectedColumn::chunks`].
    chunks: Vec<Vec<(u64, u64)>>,
    /// See [`CollectedColumn::others`].
    others: Vec<u64>,
    /// The number of pairs for which `chunks` has room.
    pairs: usize,
}

impl ColumnPart {
    fn new(column: &ColumnToCollect, collected: &CollectedColumn, schema: &Schema) -> Result<Self> {
        let local = |shared: &Arc<Shared>| Local::new(Arc::clone(shared), false);
        Ok(Self {
            place: schema.index_of(&column.name)?,
            is_ranked: column.is_ranked,
            is_hidden: column.is_hidden,
            dictionary: collected.dictionary.as_ref().map(local).transpose()?,
            counts: vec![],
            numbers: HashMap::new(),
            chunks: vec![],
            others: vec![],
            pairs: 0,
        })
    }

    /// Adds the values of a batch. `hashes` contains the hashes of its rows if they are ranked.
    fn add(&mut self, values: &ArrayRef, hashes: Option<&[[u64; 2]]>) -> Result<()> {
        let nulls = values.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        if let (Some(hashes), Some(nulls)) = (hashes, &nulls) {
            let rows = hashes.iter().zip(nulls);
            let others = rows.filter(|(_, is_known)| !is_known);
            self.others.extend(others.map(|([hash, _], _)| *hash));
        }
        let chunk = match (&mut self.dictionary, hashes) {
            (Some(local), None) => {
                count_codes(local, values, &mut self.counts)?;
                vec![]
            }
            (Some(local), Some(hashes)) => {
                let codes = local.encode(values)?;
                pairs(codes.into_iter().map(u64::from), hashes, nulls.as_ref())
            }
            (None, None) => self.count(&keys(values)?, nulls.as_ref()),
            (None, Some(hashes)) => pairs(keys(values)?.into_iter(), hashes, nulls.as_ref()),
        };
        self.pairs += chunk.capacity();
        self.chunks.push(chunk);
        Ok(())
    }

    /// Counts the rows with these keys. Returns a pair for each row that is not counted in the
    /// table.
    fn count(&mut self, keys: &[u64], nulls: Option<&NullBuffer>) -> Vec<(u64, u64)> {
        let mut others = vec![];
        for (row, key) in keys.iter().enumerate() {
            if nulls.is_some_and(|nulls| nulls.is_null(row)) {
                continue;
            }
            if let Some(rows) = self.numbers.get_mut(key) {
                *rows += 1;
            } else if self.numbers.len() < COUNTED {
                self.numbers.insert(*key, 1);
            } else {
                others.push((*key, 1));
            }
        }
        others.shrink_to_fit();
        others
    }

    /// Returns the memory of the part in bytes.
    fn bytes(&self) -> usize {
        let dictionary = self.dictionary.as_ref().map_or(0, |local| 2 * local.memory());
        let words = self.counts.capacity() + self.others.capacity();
        dictionary + 8 * words + 16 * (self.numbers.capacity() + self.pairs)
    }
}

/// Returns the key and the hash of each row with a value.
fn pairs(keys: impl Iterator<Item = u64>, hashes: &[[u64; 2]], nulls: Option<&NullBuffer>) -> Vec<(u64, u64)> {
    let mut pairs = Vec::with_capacity(hashes.len());
    for (row, (key, [hash, _])) in keys.zip(hashes).enumerate() {
        if nulls.is_none_or(|nulls| nulls.is_valid(row)) {
            pairs.push((key, *hash));
        }
    }
    pairs
}

/// Returns true if each value of this type is a number whose key fits into 64 bits.
fn is_number(data_type: &DataType) -> bool {
    match data_type {
        DataType::Decimal128(digits, _) => *digits <= DIGITS,
        other => numbers(&new_empty_array(other)).is_some(),
    }
}

/// Returns the key of each number. The keys have the order of the numbers, and equal numbers have
/// equal keys. The key of NULL has no meaning.
fn keys(values: &ArrayRef) -> Result<Vec<u64>> {
    let keys = numbers(&one_spelling(values)?);
    keys.ok_or_else(|| Error::data("a number of a masked column has more digits than its type allows"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{AsArray, Decimal128Array, DictionaryArray, Float64Array, Int64Array, StringArray};
    use arrow::datatypes::{Field, Float64Type, Int32Type, Int64Type};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// Returns the values and counts of a column, which two partitions read in turns in batches of
    /// `size` rows.
    fn found(values: &ArrayRef, is_ranked: bool, size: usize) -> (ValueCounts, Option<RankedRows>) {
        let schema = Schema::new(vec![Field::new("a", values.data_type().clone(), true)]);
        let column = ColumnToCollect {
            name: "a".into(),
            is_ranked,
            is_hidden: false,
        };
        let mut collected = CollectedColumn::new(&column, &schema).unwrap();
        let part = || ColumnPart::new(&column, &collected, &schema).unwrap();
        let mut parts = [part(), part()];
        for (batch, start) in (0..values.len()).step_by(size).enumerate() {
            let rows = values.slice(start, size.min(values.len() - start));
            let hashes: Vec<[u64; 2]> = (0..rows.len()).map(|row| [(start + row) as u64, 0]).collect();
            let hashes = is_ranked.then_some(hashes.as_slice());
            parts[batch % 2].add(&rows, hashes).unwrap();
        }
        parts.into_iter().for_each(|part| collected.add(part));
        collected.finish().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The values are those of a map in ascending order, whether or not the rows are ranked,
        /// and whether they are numbers, texts or a dictionary.
        #[test]
        fn values_are_counted(
            rows in prop::collection::vec(prop::option::of(-20i64..20), 0..200),
            is_ranked in any::<bool>(),
            size in 1usize..40,
        ) {
            let mut wanted: BTreeMap<i64, u64> = BTreeMap::new();
            rows.iter().flatten().for_each(|number| *wanted.entry(*number).or_default() += 1);
            let numbers: ArrayRef = Arc::new(rows.iter().copied().collect::<Int64Array>());
            let (counted, ranked) = found(&numbers, is_ranked, size);
            prop_assert!(counted.values.as_primitive::<Int64Type>().values().iter().eq(wanted.keys()));
            prop_assert!(counted.counts.iter().eq(wanted.values()));
            // The hash of a row is its index.
            let unknown: Vec<u64> = (0..).zip(&rows).filter(|(_, row)| row.is_none()).map(|(row, _)| row).collect();
            let others = |ranked: Option<RankedRows>| ranked.map(|ranked| {
                let mut others = ranked.others.concat();
                others.sort_unstable();
                others
            });
            let wanted_others = is_ranked.then_some(unknown);
            prop_assert_eq!(others(ranked), wanted_others.clone());

            // The texts have the order of the numbers.
            let text = |number: &i64| format!("{:02}", number + 20);
            let texts: Vec<Option<String>> = rows.iter().map(|row| row.as_ref().map(text)).collect();
            let plain: ArrayRef = Arc::new(StringArray::from(texts.clone()));
            let coded: ArrayRef = Arc::new(texts.iter().map(Option::as_deref).collect::<DictionaryArray<Int32Type>>());
            for texts in [plain, coded] {
                let (counted, ranked) = found(&texts, is_ranked, size);
                let values: Vec<&str> = counted.values.as_string::<i32>().iter().flatten().collect();
                prop_assert_eq!(values, wanted.keys().map(text).collect::<Vec<_>>());
                prop_assert!(counted.counts.iter().eq(wanted.values()));
                prop_assert_eq!(others(ranked), wanted_others.clone());
            }
        }
    }

    /// Numbers beyond the table of a partition are counted, too.
    #[test]
    fn more_numbers_than_the_table_has_are_counted() {
        let rows = (0..3 * COUNTED as i64).chain(0..2 * COUNTED as i64).rev();
        let numbers: ArrayRef = Arc::new(rows.collect::<Int64Array>());
        let (counted, _) = found(&numbers, false, 1_000);
        assert!(
            counted
                .values
                .as_primitive::<Int64Type>()
                .values()
                .iter()
                .copied()
                .eq(0..3 * COUNTED as i64)
        );
        let twice = counted.counts.iter().take_while(|rows| **rows == 2).count();
        assert_eq!(twice, 2 * COUNTED);
        assert_eq!(counted.counts.iter().sum::<u64>(), 5 * COUNTED as u64);
    }

    /// Positive and negative zero are the same value, and so are all NaN.
    #[test]
    fn numbers_with_several_spellings_are_one_value() {
        let floats = vec![0.0, f64::NAN, -0.0, -f64::NAN, -1.5];
        let floats: ArrayRef = Arc::new(Float64Array::from(floats));
        for is_ranked in [false, true] {
            let (counted, _) = found(&floats, is_ranked, 2);
            assert_eq!(counted.counts, [1, 2, 2]);
            assert_eq!(counted.values.as_primitive::<Float64Type>().value(0), -1.5);
        }
    }

    /// Decimal numbers keep their type, also if they need more than 64 bits.
    #[test]
    fn decimal_numbers_are_counted() {
        for digits in [18, 38] {
            let wide = if digits == 38 { 1_i128 << 80 } else { 7 };
            let decimals = Decimal128Array::from(vec![Some(wide), None, Some(-wide), Some(wide)]);
            let decimals: ArrayRef = Arc::new(decimals.with_precision_and_scale(digits, 2).unwrap());
            let (counted, _) = found(&decimals, true, 3);
            assert_eq!(counted.values.data_type(), decimals.data_type());
            assert_eq!(counted.counts, [1, 2]);
        }
    }
}
