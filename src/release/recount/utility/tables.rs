//! Reads the rows of a table as combinations of values. Equal rows are counted together, in the
//! same way as the first scan counts the rows of a source, unless the caller needs no order and the
//! rows are few. A value is written as text only if the text is needed.

use super::ascending::positions;
use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::{Pool, check_cancelled, map, sort_by};
use crate::base::spill::SpillSpace;
use crate::data::frequency::{CodedRows, Columns, Marginals, RankedColumn, Scan};
use crate::method::hierarchy::texts as written;
use crate::method::key::{PackedLayout, bits_for};
use crate::release::recount::coded_plan;
use crate::release::recount::number_columns::{KnownColumn, NumberColumns};
use arrow::array::{Array, ArrayRef, StringArray};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::{ExecutionPlan, execute_stream_partitioned};
use datafusion::prelude::SessionContext;
use std::collections::HashMap;
use std::sync::Arc;

/// The maximum number of rows that are read row by row. If there are more rows, equal rows are
/// counted together, so that many equal rows take no more memory than one.
const FEW_ROWS: usize = 1 << 20;

/// The rows of a table in some of its columns.
pub(super) struct Texts {
    /// The distinct values of each column, ascending, NULL last.
    values: Vec<ArrayRef>,
    /// For each column, the index of its value in each row.
    pub(super) rows: Vec<Vec<u32>>,
    /// For each row, the number of rows of the table that equal it and are counted with it.
    pub(super) counts: Vec<u64>,
    /// The memory reservation for the texts and rows, and for the codes that are computed from
    /// them.
    memory: MemoryReservation,
}

impl Texts {
    /// Reads these expressions over the rows of `table`, both given as SQL. The order of the rows
    /// may depend on the number of threads, and equal rows may be counted separately.
    pub(super) async fn in_any_order(session: &SessionContext, expressions: &[String], table: &str) -> Result<Self> {
        let context = session.task_ctx();
        let memory = MemoryConsumer::new("anonsql utility").register(context.memory_pool());
        let plan = planned(session, expressions, table).await?;
        let (numbers, others) = NumberColumns::apart(plan, Arc::clone(&context), true)?;
        let rows = CodedRows::read(others.dictionaries, others.streams, context.memory_pool(), FEW_ROWS).await?;
        let Some(rows) = rows else {
            return Self::read(session, expressions, table).await;
        };
        let order = move || {
            let places = numbers.others().to_vec();
            let Some(numbers) = numbers.finish()? else {
                return Ok(None);
            };
            let mut columns: Vec<(usize, RankedColumn)> = places.into_iter().zip(rows.ranked()?).collect();
            for (place, column) in numbers.columns {
                let rows = column.rows.map(Arc::unwrap_or_clone).unwrap_or_default();
                columns.push((place, (column.values, rows)));
            }
            columns.sort_by_key(|(place, _)| *place);
            Self::of_rows(columns.into_iter().map(|(_, column)| column).collect(), memory).map(Some)
        };
        let ordered = Pool::of(&session.copied_config())
            .compute("ordering the values to compare", order)
            .await?;
        match ordered {
            Some(ordered) => Ok(ordered),
            // A number has no code.
            None => Self::read(session, expressions, table).await,
        }
    }

    /// Returns the rows of these columns of a source; `None` if they were not kept.
    pub(super) fn of_known(session: &SessionContext, columns: &[&KnownColumn]) -> Result<Option<Self>> {
        let memory = MemoryConsumer::new("anonsql utility").register(session.task_ctx().memory_pool());
        let ranked = |column: &&KnownColumn| {
            let rows = column.rows.as_deref()?;
            Some((Arc::clone(&column.values), rows.clone()))
        };
        let ranked = columns.iter().map(ranked).collect::<Option<Vec<RankedColumn>>>();
        ranked.map(|columns| Self::of_rows(columns, memory)).transpose()
    }

    /// Returns the rows of these columns.
    fn of_rows(columns: Vec<RankedColumn>, memory: MemoryReservation) -> Result<Self> {
        let (values, rows): (Vec<ArrayRef>, Vec<Vec<u32>>) = columns.into_iter().unzip();
        let number = rows.first().map_or(0, Vec::len);
        // The reservation covers the rows and the codes that are computed from them.
        reserve(&memory, number * (8 + 2 * 4 * rows.len()))?;
        Ok(Self {
            values,
            rows,
            counts: vec![1; number],
            memory,
        })
    }

    /// Reads the distinct rows of these expressions over the rows of `table`, both given as SQL, in
    /// ascending order.
    pub(super) async fn read(session: &SessionContext, expressions: &[String], table: &str) -> Result<Self> {
        let context = session.task_ctx();
        let memory = MemoryConsumer::new("anonsql utility").register(context.memory_pool());
        let plan = planned(session, expressions, table).await?;
        let names: Vec<String> = plan.schema().fields().iter().map(|f| f.name().clone()).collect();
        let columns = Columns::new(&plan.schema(), &names, &[])?;
        let spill_space = SpillSpace::of(&context);
        let streams = execute_stream_partitioned(plan, context).map_err(Error::from_data)?;
        let scan = Scan::read(&columns, streams, &spill_space, Default::default()).await?;
        let order = move || Self::of(&scan, memory);
        Pool::of(&session.copied_config())
            .compute("ordering the rows to compare", order)
            .await
    }

    /// Reads each of these expressions separately over the rows of `table`, both given as SQL, in
    /// one scan.
    pub(super) async fn each(session: &SessionContext, expressions: &[String], table: &str) -> Result<Vec<Self>> {
        let counted = counted(session, expressions, table).await?;
        let columns = counted
            .into_iter()
            .map(|(values, rows)| Self::of_values(session, &values, rows));
        columns.collect()
    }

    /// Returns the distinct rows of a single column, given all its values and the number of rows of
    /// each value.
    pub(super) fn of_values(session: &SessionContext, values: &ArrayRef, counts: Vec<u64>) -> Result<Self> {
        let memory = MemoryConsumer::new("anonsql utility").register(session.task_ctx().memory_pool());
        reserve(&memory, counts.len() * (8 + 2 * 4))?;
        Ok(Self {
            rows: vec![(0..counts.len() as u32).collect()],
            values: vec![Arc::clone(values)],
            counts,
            memory,
        })
    }

    /// Merges the counted rows of a scan and puts them in order.
    fn of(scan: &Scan, memory: MemoryReservation) -> Result<Self> {
        let columns = scan.dictionaries.len();
        // The first column is packed in the highest bits. The rows are therefore ordered by
        // comparing the words of their keys, beginning with the last word.
        let bits = scan.dictionaries.iter().rev().map(|d| bits_for(d.values.len()));
        let layout = PackedLayout::new(&bits.collect::<Vec<u32>>());
        let (words, place) = (layout.words(), |column: usize| columns - 1 - column);
        let (mut keys, mut counts): (Vec<u64>, Vec<u64>) = (vec![], vec![]);
        for tally in &scan.tallies {
            tally.for_each(|own, entries, rows| {
                check_cancelled()?;
                let (first, number) = (counts.len(), entries.len() / own.words());
                // The reservation covers packing, ordering and unpacking each entry, and coding the
                // indices of its values.
                reserve(&memory, number * (8 * words + 8 + 16 + 4 + 8 + 2 * 4 * columns))?;
                keys.resize(keys.len() + number * words, 0);
                let packed = keys[first * words..].chunks_exact_mut(words);
                for (packed, key) in packed.zip(entries.chunks_exact(own.words())) {
                    for (column, dictionary) in scan.dictionaries.iter().enumerate() {
                        let rank = dictionary.ranks[own.code(key, column) as usize];
                        let (word, part) = layout.place(place(column), rank);
                        packed[word] |= part;
                    }
                }
                match rows {
                    Some(rows) => counts.extend_from_slice(rows),
                    None => counts.resize(first + number, 1),
                }
                Ok(())
            })?;
        }
        let key = |entry: u32| &keys[entry as usize * words..(entry as usize + 1) * words];
        let mut order: Vec<(u64, u32)> = (0..counts.len() as u32)
            .map(|entry| (key(entry)[words - 1], entry))
            .collect();
        let rest = |entry: u32| key(entry)[..words - 1].iter().rev();
        sort_by(&mut order, |a, b| a.0.cmp(&b.0).then_with(|| rest(a.1).cmp(rest(b.1))));
        // Several partitions of the scan may have counted equal rows.
        let alike = order.chunk_by(|a, b| key(a.1) == key(b.1));
        let sum = |entries: &[(u64, u32)]| -> u64 { entries.iter().map(|(_, entry)| counts[*entry as usize]).sum() };
        let (firsts, counts): (Vec<u32>, Vec<u64>) = alike.map(|entries| (entries[0].1, sum(entries))).unzip();
        let code = |entry: u32, column: usize| layout.code(key(entry), place(column));
        let rows = map(columns, |column| {
            firsts.iter().map(|entry| code(*entry, column)).collect()
        });
        Ok(Self {
            values: scan.dictionaries.iter().map(|d| Arc::clone(&d.values)).collect(),
            rows,
            counts,
            memory,
        })
    }

    /// Returns the distinct values of a column, in ascending order with NULL last.
    pub(super) fn values(&self, column: usize) -> &ArrayRef {
        &self.values[column]
    }

    /// Writes the distinct values of a column as texts.
    pub(super) fn texts(&self, column: usize) -> Result<StringArray> {
        let values = &self.values[column];
        reserve(&self.memory, values.get_array_memory_size())?;
        written(values)
    }

    /// Returns, for each distinct value of a column, true if the value is NULL.
    pub(super) fn nulls(&self, column: usize) -> Vec<bool> {
        let values = &self.values[column];
        let nulls = values.logical_nulls();
        let is_null = |value| nulls.as_ref().is_some_and(|nulls| nulls.is_null(value));
        (0..values.len()).map(is_null).collect()
    }

    /// Returns the index of each distinct value of a column among `values`. Two values are equal if
    /// their texts are equal.
    pub(super) fn codes(&self, column: usize, values: &ArrayRef) -> Result<Vec<u32>> {
        let own = &self.values[column];
        if own.to_data() == values.to_data() {
            return Ok((0..values.len() as u32).collect());
        }
        let codes = match positions(own, values)? {
            Some(codes) => codes,
            None => positions_of_texts(&self.texts(column)?, &written(values)?),
        };
        let codes: Option<Vec<u32>> = codes.into_iter().collect();
        codes.ok_or_else(|| Error::data("the rows changed while they were read: measure them again"))
    }

    /// Returns the value of a column in each distinct row, as its index among `values`.
    pub(super) fn coded(&self, column: usize, values: &ArrayRef) -> Result<Vec<u32>> {
        let place = self.codes(column, values)?;
        Ok(self.rows[column].iter().map(|value| place[*value as usize]).collect())
    }
}

/// Returns the index of each of `texts` among `known`. The index of a text that is not among
/// `known` is `None`.
pub(super) fn positions_of_texts(texts: &StringArray, known: &StringArray) -> Vec<Option<u32>> {
    let codes: HashMap<Option<&str>, u32> = known.iter().zip(0..).collect();
    texts.iter().map(|text| codes.get(&text).copied()).collect()
}

/// Returns the distinct values of each of these expressions over the rows of `table`, both given as
/// SQL, in ascending order with NULL last, and the number of rows of each value. One scan counts
/// the values of all expressions.
pub(super) async fn counted(
    session: &SessionContext,
    expressions: &[String],
    table: &str,
) -> Result<Vec<(ArrayRef, Vec<u64>)>> {
    if expressions.is_empty() {
        return Ok(vec![]);
    }
    let plan = planned(session, expressions, table).await?;
    let found = Marginals::of_plan(plan, session.task_ctx()).await?;
    Pool::of(&session.copied_config())
        .compute("ordering the values to compare", move || found.take())
        .await
}

/// Returns a plan for these expressions over the rows of `table`, both given as SQL.
async fn planned(session: &SessionContext, expressions: &[String], table: &str) -> Result<Arc<dyn ExecutionPlan>> {
    let partitions = session.copied_config().target_partitions();
    coded_plan(session, partitions, &selected(expressions, table)).await
}

/// Returns a query for these expressions over the rows of `table`. The columns of the result are
/// called c0, c1 and so on.
pub(super) fn selected(expressions: &[String], table: &str) -> String {
    let named = expressions.iter().enumerate();
    let named: Vec<String> = named.map(|(i, expression)| format!("{expression} AS c{i}")).collect();
    format!("SELECT {} FROM {table}", named.join(", "))
}

fn reserve(memory: &MemoryReservation, bytes: usize) -> Result<()> {
    memory.try_grow(bytes).map_err(|_| {
        Error::new(
            ErrorKind::Resources,
            "the distinct rows of the release and its source do not fit the memory limit; raise --memory-limit, or \
             select fewer columns in a query: UTILITY OF (SELECT ...)",
        )
    })
}
