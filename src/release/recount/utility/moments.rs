//! Totals, deviations and correlations of columns of numbers.
//!
//! Each table is read twice: first for the totals and the ranges of the columns, and then for the
//! sums over steps between the ends of these ranges ([`Steps`]). All sums are exact, so the results
//! do not depend on threads, files or the order of rows.

use super::basis::persons_where;
use super::measurable::MeasurableColumn;
use super::sides::Tables;
use super::tables::selected;
use crate::base::error::{Error, Result};
use crate::base::quoting::quote;
use crate::method::utility::{ExactTotal, StepSums, Steps};
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::datatypes::{DataType, Decimal128Type, Float64Type};
use datafusion::prelude::SessionContext;
use futures::StreamExt;
use std::sync::Arc;
use tokio::task::JoinSet;

/// The sums over the columns of one table.
#[derive(Debug, Default)]
pub(super) struct TableMoments {
    /// The number of all rows.
    pub(super) rows: u64,
    pub(super) columns: Vec<ColumnTotals>,
    /// The sums of each pair of columns.
    pub(super) pairs: Vec<PairMoments>,
}

/// The total and the range of one column.
#[derive(Debug, Clone, Default)]
pub(super) struct ColumnTotals {
    /// The number of rows with a value.
    rows: u64,
    total: ExactTotal,
    /// The smallest and the largest whole number.
    whole: Option<(i128, i128)>,
    /// The smallest and the largest finite floating-point number.
    floats: Option<(f64, f64)>,
    /// Whether a value is NaN or infinite.
    has_others: bool,
}

/// The sums over the rows in which both columns of a pair have a value.
#[derive(Debug, Clone, Default)]
pub(super) struct PairMoments {
    sums: StepSums,
    /// The number of rows in which one of the values is NaN or infinite.
    others: u64,
    /// The number of persons of all these rows. Rows without a person are not counted if there is
    /// an entity.
    pub(super) persons: u64,
}

/// A value as a number of steps.
#[derive(Debug, Clone, Copy)]
enum StepValue {
    Null,
    /// NaN, or an infinite number.
    Other,
    Steps(i64),
}

/// The indices of two columns. A pair of a column with itself has the moments of the column.
pub(super) type ColumnPair = (usize, usize);

impl TableMoments {
    /// Reads the moments of these columns and pairs of columns in the release and in the source.
    /// Without pairs, nothing is read.
    pub(super) async fn of_both(
        tables: &Tables<'_>,
        columns: &[MeasurableColumn],
        pairs: &[ColumnPair],
    ) -> Result<[Self; 2]> {
        if pairs.is_empty() {
            return Ok(Default::default());
        }
        let released = Self::of(tables, 0, columns, pairs).await?;
        Ok([released, Self::of(tables, 1, columns, pairs).await?])
    }

    /// Reads the moments in a table: 0 is the release, and 1 is the source.
    async fn of(tables: &Tables<'_>, table: usize, columns: &[MeasurableColumn], pairs: &[ColumnPair]) -> Result<Self> {
        let from = match table {
            0 => tables.released.released(),
            _ => quote(tables.source),
        };
        let values: Vec<String> = columns.iter().map(|column| column.values[table].sql.clone()).collect();
        let sql = selected(&values, &from);
        let parts = scanned(
            tables.session,
            &sql,
            (0u64, vec![ColumnTotals::default(); columns.len()]),
            add_totals,
        );
        let (mut rows, mut totals) = (0u64, vec![ColumnTotals::default(); columns.len()]);
        for (of_part, part) in parts.await? {
            rows += of_part;
            totals.iter_mut().zip(&part).for_each(|(own, part)| own.merge(part));
        }
        let steps: Vec<Steps> = totals.iter().map(ColumnTotals::steps).collect();
        let pairs: Arc<[ColumnPair]> = pairs.into();
        let own = Arc::clone(&pairs);
        let add = move |sums: &mut Vec<PairMoments>, batch: &RecordBatch| add_pairs(sums, batch, &steps, &own);
        let mut moments = vec![PairMoments::default(); pairs.len()];
        for part in scanned(tables.session, &sql, moments.clone(), add).await? {
            moments.iter_mut().zip(&part).for_each(|(own, part)| own.merge(part));
        }
        let has_null: Vec<bool> = totals.iter().map(|totals| totals.rows < rows).collect();
        let counted = persons_where(tables, &from, &conditions(columns, &has_null, &pairs)).await?;
        for (at, pair) in moments.iter_mut().enumerate() {
            pair.persons = counted.as_ref().map_or(pair.rows(), |counted| counted[at]);
        }
        Ok(Self {
            rows,
            columns: totals,
            pairs: moments,
        })
    }
}

impl ColumnTotals {
    /// Returns the total of the numbers; `None` without numbers, or if one is NaN or infinite.
    pub(super) fn total(&self) -> Option<f64> {
        (self.rows > 0 && !self.has_others).then(|| self.total.value())
    }

    /// Returns the mean of the numbers; `None` without numbers, or if one is NaN or infinite.
    pub(super) fn mean(&self) -> Option<f64> {
        Some(self.total()? / self.rows as f64)
    }

    /// Returns the steps between the smallest and the largest number.
    pub(super) fn steps(&self) -> Steps {
        match (self.whole, self.floats) {
            (Some(ends), _) => Steps::of_whole(ends),
            (None, ends) => Steps::of_floats(ends.unwrap_or_default()),
        }
    }

    /// Adds the values of an array.
    fn add(&mut self, values: &ArrayRef) -> Result<()> {
        self.rows += (values.len() - values.null_count()) as u64;
        if let DataType::Decimal128(_, _) = values.data_type() {
            for x in values.as_primitive::<Decimal128Type>().iter().flatten() {
                self.total.add_whole(x);
                let (low, high) = self.whole.unwrap_or((x, x));
                self.whole = Some((low.min(x), high.max(x)));
            }
            return Ok(());
        }
        for x in doubles(values)?.as_primitive::<Float64Type>().iter().flatten() {
            match x.is_finite() {
                true => {
                    self.total.add(x);
                    let (low, high) = self.floats.unwrap_or((x, x));
                    self.floats = Some((low.min(x), high.max(x)));
                }
                false => self.has_others = true,
            }
        }
        Ok(())
    }

    /// Adds the totals of other rows.
    fn merge(&mut self, other: &Self) {
        self.rows += other.rows;
        self.total.merge(&other.total);
        self.has_others |= other.has_others;
        if let Some((low, high)) = other.whole {
            let own = self.whole.unwrap_or((low, high));
            self.whole = Some((own.0.min(low), own.1.max(high)));
        }
        if let Some((low, high)) = other.floats {
            let own = self.floats.unwrap_or((low, high));
            self.floats = Some((own.0.min(low), own.1.max(high)));
        }
    }
}

impl PairMoments {
    /// Returns the number of rows in which both columns have a value.
    fn rows(&self) -> u64 {
        self.sums.rows() + self.others
    }

    /// Returns the sums; `None` if one of the values is NaN or infinite.
    pub(super) fn sums(&self) -> Option<&StepSums> {
        (self.others == 0).then_some(&self.sums)
    }

    /// Adds the sums over other rows.
    fn merge(&mut self, other: &Self) {
        self.sums.merge(&other.sums);
        self.others += other.others;
    }
}

/// Returns, for each pair, the SQL for whether a row has a value in both columns. The condition on
/// columns without NULL is empty.
fn conditions(columns: &[MeasurableColumn], has_null: &[bool], pairs: &[ColumnPair]) -> Vec<String> {
    let condition = |(one, other): &ColumnPair| {
        let mut both = vec![*one, *other];
        both.dedup();
        let nullable = both.into_iter().filter(|column| has_null[*column]);
        let there = nullable.map(|column| format!("{} IS NOT NULL", quote(&columns[column].name)));
        there.collect::<Vec<_>>().join(" AND ")
    };
    pairs.iter().map(condition).collect()
}

/// Adds the rows of a batch to their number and to the totals of their columns.
fn add_totals((rows, totals): &mut (u64, Vec<ColumnTotals>), batch: &RecordBatch) -> Result<()> {
    *rows += batch.num_rows() as u64;
    totals
        .iter_mut()
        .zip(batch.columns())
        .try_for_each(|(totals, values)| totals.add(values))
}

/// Adds the rows of a batch to the sums of pairs of its columns.
fn add_pairs(sums: &mut [PairMoments], batch: &RecordBatch, steps: &[Steps], pairs: &[ColumnPair]) -> Result<()> {
    let columns = batch.columns().iter().zip(steps);
    let columns = columns.map(|(values, steps)| in_steps(values, *steps));
    let columns = columns.collect::<Result<Vec<_>>>()?;
    for (own, (one, other)) in sums.iter_mut().zip(pairs) {
        for values in columns[*one].iter().zip(&columns[*other]) {
            match values {
                (StepValue::Null, _) | (_, StepValue::Null) => {}
                (StepValue::Steps(x), StepValue::Steps(y)) => own.sums.add(*x, *y, 1),
                _ => own.others += 1,
            }
        }
    }
    Ok(())
}

/// Returns the values of a column as numbers of steps.
fn in_steps(values: &ArrayRef, steps: Steps) -> Result<Vec<StepValue>> {
    let value = |value: Option<i64>| value.map_or(StepValue::Null, StepValue::Steps);
    if let DataType::Decimal128(_, _) = values.data_type() {
        let whole = values.as_primitive::<Decimal128Type>().iter();
        return Ok(whole.map(|x| value(x.map(|x| steps.whole(x)))).collect());
    }
    let values = doubles(values)?;
    let floats = values.as_primitive::<Float64Type>().iter();
    let in_steps = floats.map(|x| match x {
        Some(x) if !x.is_finite() => StepValue::Other,
        x => value(x.map(|x| steps.float(x))),
    });
    Ok(in_steps.collect())
}

/// Returns the values as doubles.
fn doubles(values: &ArrayRef) -> Result<ArrayRef> {
    Ok(arrow::compute::cast(values, &DataType::Float64)?)
}

/// Reads the result of a query. Each of its partitions begins with `start`, and each batch is added
/// to its partition. Returns the partitions in any order.
async fn scanned<T: Clone + Send + 'static>(
    session: &SessionContext,
    sql: &str,
    start: T,
    add: impl Fn(&mut T, &RecordBatch) -> Result<()> + Clone + Send + 'static,
) -> Result<Vec<T>> {
    let rows = session.sql(sql).await?;
    let streams = rows.execute_stream_partitioned().await.map_err(Error::from_data)?;
    let mut tasks = JoinSet::new();
    for mut stream in streams {
        let (mut part, add) = (start.clone(), add.clone());
        tasks.spawn(async move {
            while let Some(batch) = stream.next().await {
                add(&mut part, &batch.map_err(Error::from_data)?)?;
                tokio::task::yield_now().await;
            }
            Ok::<_, Error>(part)
        });
    }
    let mut parts = vec![];
    while let Some(part) = tasks.join_next().await {
        parts.push(part.map_err(|e| Error::from_task("a scan task", &e))??);
    }
    Ok(parts)
}
