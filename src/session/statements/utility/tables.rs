//! Reads the rows of a table as their distinct combinations of texts.

use crate::engine::with_one_zero;
use crate::error::{Error, Result};
use crate::quoting::quote;
use arrow::array::{ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Int64Type};
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
}

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
        };
        while let Some(batch) = rows.next().await {
            let batch = batch.map_err(Error::from_data)?;
            for (i, known) in known.iter_mut().enumerate() {
                // The strings may have another string type than the plan says.
                let texts = cast(batch.column(i), &DataType::Utf8)?;
                found.rows[i].extend(texts.as_string::<i32>().iter().map(|text| number(known, text)));
            }
            let counts = batch.column(expressions.len()).as_primitive::<Int64Type>();
            found.counts.extend(counts.values().iter().map(|n| n.unsigned_abs()));
        }
        Ok(found.sorted(known))
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
        }
    }

    /// Returns the texts of a column as an array.
    pub(super) fn array(&self, column: usize) -> StringArray {
        self.texts[column].iter().map(Option::as_deref).collect()
    }

    /// Returns the rows of a column with the index of each text among `values` in place of the text.
    pub(super) fn coded(&self, column: usize, values: &ArrayRef) -> Result<Vec<u32>> {
        let values = cast(values, &DataType::Utf8)?;
        let codes: HashMap<Option<&str>, u32> = values.as_string::<i32>().iter().zip(0..).collect();
        let code = |text: &Option<String>| {
            let code = codes.get(&text.as_deref()).copied();
            code.ok_or_else(|| Error::data("the source changed while it was read: measure it again"))
        };
        let place = self.texts[column].iter().map(code).collect::<Result<Vec<u32>>>()?;
        Ok(self.rows[column].iter().map(|text| place[*text as usize]).collect())
    }
}

fn number(known: &mut HashMap<Option<String>, u32>, text: Option<&str>) -> u32 {
    let next = known.len() as u32;
    *known.entry(text.map(str::to_string)).or_insert(next)
}

/// Returns the SQL expression of a column with the two zeros of floating point made equal.
pub(super) fn expression(column: &str, data_type: &DataType) -> String {
    with_one_zero(&quote(column), data_type)
}
