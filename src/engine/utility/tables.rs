//! Reads the rows of a table as their distinct combinations of texts.

use crate::error::{Error, ErrorKind, Result};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use std::collections::HashMap;

/// The distinct rows of a table in some of its columns, in ascending order.
pub(super) struct Texts {
    /// By column: the distinct texts, ascending, NULL first.
    pub(super) texts: Vec<Vec<Option<String>>>,
    /// By column: the index of the text of each distinct row.
    pub(super) rows: Vec<Vec<u32>>,
    /// The number of equal rows of each distinct row.
    pub(super) counts: Vec<u64>,
    /// The memory of the texts and rows, and of the codes that are made of them.
    memory: MemoryReservation,
}

/// About the bytes of an entry of a hash map beside its text.
const ENTRY: usize = 64;

impl Texts {
    /// Reads these expressions over the rows of `table`, both given as SQL. The order does not depend on threads.
    pub(super) async fn read(session: &SessionContext, expressions: &[String], table: &str) -> Result<Self> {
        let (mut selected, mut group) = (vec![], vec![]);
        for (i, expression) in expressions.iter().enumerate() {
            selected.push(format!("arrow_cast({expression}, 'Utf8') AS c{i}"));
            group.push(format!("c{i}"));
        }
        let (selected, group) = (selected.join(", "), group.join(", "));
        let sql = format!("SELECT {group}, count(*) AS n FROM (SELECT {selected} FROM {table}) GROUP BY {group}");
        let mut rows = session.sql(&sql).await?.execute_stream().await?;
        let mut known: Vec<HashMap<Option<String>, u32>> = vec![HashMap::new(); expressions.len()];
        let mut found = Self {
            texts: vec![],
            rows: vec![vec![]; expressions.len()],
            counts: vec![],
            memory: MemoryConsumer::new("anonsql utility").register(session.task_ctx().memory_pool()),
        };
        while let Some(batch) = rows.next().await {
            let batch = batch.map_err(Error::from_data)?;
            // The index of a text is held, sorted, and coded: three numbers.
            let mut bytes = batch.num_rows() * (8 + 3 * 4 * known.len());
            for (i, known) in known.iter_mut().enumerate() {
                // The strings may have another string type than the plan says.
                let texts = cast(batch.column(i), &DataType::Utf8)?;
                let before = known.len();
                found.rows[i].extend(texts.as_string::<i32>().iter().map(|text| number(known, text)));
                bytes += (known.len() - before) * (ENTRY + texts.get_array_memory_size() / texts.len().max(1));
            }
            found.reserve(bytes)?;
            let counts = batch.column(expressions.len()).as_primitive::<Int64Type>();
            found.counts.extend(counts.values().iter().map(|n| n.unsigned_abs()));
        }
        Ok(found.sorted(known))
    }

    fn reserve(&self, bytes: usize) -> Result<()> {
        self.memory.try_grow(bytes).map_err(|_| {
            Error::new(
                ErrorKind::Resources,
                "the distinct rows of the release and its source do not fit the memory limit; raise --memory-limit, or \
                 select fewer columns in a query: UTILITY OF (SELECT ...)",
            )
        })
    }

    /// Sorts the texts of every column, and then the rows.
    fn sorted(mut self, known: Vec<HashMap<Option<String>, u32>>) -> Self {
        for (known, rows) in known.into_iter().zip(&mut self.rows) {
            let mut texts: Vec<(Option<String>, u32)> = known.into_iter().collect();
            texts.sort_unstable();
            let mut place = vec![0; texts.len()];
            for ((_, before), now) in texts.iter().zip(0u32..) {
                place[*before as usize] = now;
            }
            rows.iter_mut().for_each(|text| *text = place[*text as usize]);
            self.texts.push(texts.into_iter().map(|(text, _)| text).collect());
        }
        let mut order: Vec<usize> = (0..self.counts.len()).collect();
        let key = |row: usize| self.rows.iter().map(move |texts| texts[row]);
        order.sort_unstable_by(|a, b| key(*a).cmp(key(*b)));
        Self {
            rows: self
                .rows
                .iter()
                .map(|texts| order.iter().map(|row| texts[*row]).collect())
                .collect(),
            counts: order.iter().map(|row| self.counts[*row]).collect(),
            texts: self.texts,
            memory: self.memory,
        }
    }

    /// Returns the texts of a column as an array.
    pub(super) fn array(&self, column: usize) -> StringArray {
        self.texts[column].iter().map(Option::as_deref).collect()
    }

    /// Returns the index of each text of a column among `values`.
    pub(super) fn codes(&self, column: usize, values: &ArrayRef) -> Result<Vec<u32>> {
        let values = cast(values, &DataType::Utf8)?;
        let codes: HashMap<Option<&str>, u32> = values.as_string::<i32>().iter().zip(0..).collect();
        let code = |text: &Option<String>| {
            let code = codes.get(&text.as_deref()).copied();
            code.ok_or_else(|| Error::data("the rows changed while they were read: measure them again"))
        };
        self.texts[column].iter().map(code).collect()
    }

    /// Returns the rows of a column with the index of each text among `values` in place of the text.
    pub(super) fn coded(&self, column: usize, values: &ArrayRef) -> Result<Vec<u32>> {
        let place = self.codes(column, values)?;
        Ok(self.rows[column].iter().map(|text| place[*text as usize]).collect())
    }
}

fn number(known: &mut HashMap<Option<String>, u32>, text: Option<&str>) -> u32 {
    let next = known.len() as u32;
    *known.entry(text.map(str::to_string)).or_insert(next)
}
