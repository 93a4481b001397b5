//! The rows of a table with their classes and sampling weights, in the order of the table.

use super::spec::RiskSpec;
use crate::engine::{ReleasedTable, with_one_zero};
use crate::error::{Error, ErrorKind, Result};
use crate::quoting::quote;
use crate::risk::Weighed;
use crate::source::stored;
use arrow::array::{Array, AsArray};
use arrow::datatypes::Float64Type;
use arrow::row::{RowConverter, SortField};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

/// The rows of a table with their classes.
pub(super) struct ClassedRows {
    /// By row, in the order of the table: its class; `None` for a suppressed row.
    pub(super) class_of: Vec<Option<u32>>,
    /// By column: the code of each class's value.
    pub(super) columns: Vec<Vec<u32>>,
    /// The rows of each class, and the sum of their weights.
    pub(super) classes: Vec<Weighed>,
    /// The memory of all this, and of the figures that are made of it.
    memory: MemoryReservation,
}

/// The bytes of a row: the number of its class, and its figures.
const ROW: usize = 64;
/// About the bytes of a class beside its codes: an entry of a hash map here, another one while special uniques are
/// searched, and its figures.
const CLASS: usize = 256;
/// About the bytes of an entry of a hash map beside its text.
const ENTRY: usize = 64;

impl ClassedRows {
    /// Reads the rows of a table of a session that reads them in their order. Without WEIGHT, every row has the weight 1.
    pub(super) async fn read(session: &SessionContext, table: &ReleasedTable, statement: &RiskSpec) -> Result<Self> {
        let schema = session.table(table.name.as_str()).await?.schema().as_arrow().clone();
        let mut selected = vec![];
        for q in &statement.quasi_identifiers {
            selected.push(with_one_zero(
                &quote(&q.column),
                schema.field_with_name(&q.column)?.data_type(),
            ));
        }
        selected.push(match &statement.weight {
            None => "1.0".into(),
            Some(weight) => match schema.field_with_name(weight)?.data_type() {
                t if t.is_numeric() => format!("arrow_cast({}, 'Float64')", quote(weight)),
                other => {
                    return Err(Error::usage(format!(
                        "WEIGHT ({weight}): a sampling weight is a number, and the column is {other}; cast it in a query"
                    )));
                }
            },
        });
        selected.push(format!("({}) IS TRUE", table.is_starred_row()));
        let selected = selected
            .iter()
            .enumerate()
            .map(|(i, c)| format!("{c} AS c{i}"))
            .collect::<Vec<_>>();
        let sql = format!("SELECT {} FROM {}", selected.join(", "), quote(&table.name));
        let mut rows = stored(session, &sql).await?;
        let columns = statement.quasi_identifiers.len();
        let fields = rows.schema().fields().clone();
        let converters = fields
            .iter()
            .take(columns)
            .map(|f| RowConverter::new(vec![SortField::new(f.data_type().clone())]));
        let converters = converters.collect::<std::result::Result<Vec<_>, _>>()?;
        let mut values: Vec<HashMap<Vec<u8>, u32>> = vec![HashMap::new(); columns];
        let mut known: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut found = Self {
            class_of: vec![],
            columns: vec![vec![]; columns],
            classes: vec![],
            memory: MemoryConsumer::new("anonsql rows").register(session.task_ctx().memory_pool()),
        };
        let mut unfit = 0u64;
        while let Some(batch) = rows.next().await {
            let batch = batch.map_err(Error::from_data)?;
            let (mut codes, mut bytes, classes) = (vec![], batch.num_rows() * ROW, found.classes.len());
            for (i, values) in values.iter_mut().enumerate() {
                let texts = converters[i].convert_columns(&[Arc::clone(batch.column(i))])?;
                let before = values.len();
                codes.push(
                    texts
                        .iter()
                        .map(|text| number(values, text.data().to_vec()))
                        .collect::<Vec<u32>>(),
                );
                bytes += (values.len() - before) * (ENTRY + texts.size() / batch.num_rows().max(1));
            }
            let weights = batch.column(columns).as_primitive::<Float64Type>();
            let is_starred = batch.column(columns + 1).as_boolean();
            for row in 0..batch.num_rows() {
                if is_starred.value(row) {
                    found.class_of.push(None);
                    continue;
                }
                let weight = weights
                    .is_valid(row)
                    .then(|| weights.value(row))
                    .filter(|w| *w >= 1.0 && w.is_finite());
                unfit += u64::from(weight.is_none());
                let key: Vec<u32> = codes.iter().map(|codes| codes[row]).collect();
                let class = number(&mut known, key);
                if class as usize == found.classes.len() {
                    found
                        .columns
                        .iter_mut()
                        .zip(&codes)
                        .for_each(|(column, codes)| column.push(codes[row]));
                    found.classes.push(Weighed { rows: 0, weight: 0.0 });
                }
                let class_found = &mut found.classes[class as usize];
                class_found.rows += 1;
                class_found.weight += weight.unwrap_or(0.0);
                found.class_of.push(Some(class));
            }
            bytes += (found.classes.len() - classes) * (CLASS + 12 * columns);
            found.reserve(bytes)?;
        }
        match (unfit, &statement.weight) {
            (1.., Some(weight)) => Err(Error::data(format!(
                "WEIGHT ({weight}): {unfit} rows have no weight of at least 1; a row stands for itself and for others of the \
                 population"
            ))),
            _ => Ok(found),
        }
    }

    fn reserve(&self, bytes: usize) -> Result<()> {
        self.memory.try_grow(bytes).map_err(|_| {
            Error::new(
                ErrorKind::Resources,
                format!(
                    "the classes of {} rows do not fit the memory limit; raise --memory-limit, name fewer QUASI IDENTIFIERS, \
                     or generalize them in a query",
                    self.class_of.len()
                ),
            )
        })
    }

    /// Returns the share of the population that the rows are by their weights; `None` without rows.
    pub(super) fn fraction(&self) -> Option<f64> {
        let rows: u64 = self.classes.iter().map(|c| c.rows).sum();
        let weight: f64 = self.classes.iter().map(|c| c.weight).sum();
        (rows > 0).then(|| (rows as f64 / weight).min(1.0))
    }
}

fn number<K: Hash + Eq>(known: &mut HashMap<K, u32>, key: K) -> u32 {
    let next = known.len() as u32;
    *known.entry(key).or_insert(next)
}
