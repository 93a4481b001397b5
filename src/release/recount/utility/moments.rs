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
use crate::release::recount::sql::steady;
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
    /// The totals of the negative and of the positive numbers.
    totals: [ExactTotal; 2],
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

    /// Returns what the rows contribute to the total of a column, and to the sum of its squared
    /// distances from the mean: each time, the sum of the absolute contributions divided by the
    /// greatest of them; `None` if all are 0. `pair` is the index of the pair of the column with
    /// itself.
    pub(super) fn contributions(&self, column: usize, pair: usize) -> [Option<f64>; 2] {
        let to_total = self.columns[column].contributions().map(steady);
        // No row decides the deviation of a column that does not vary.
        let deciding = self.pairs[pair].sums().map(StepSums::deciding);
        [to_total, deciding.filter(|rows| *rows > 0).map(|rows| rows as f64)]
    }
}

impl ColumnTotals {
    /// Returns the total of the numbers; `None` without numbers, or if one is NaN or infinite.
    pub(super) fn total(&self) -> Option<f64> {
        let [negative, positive] = &self.totals;
        let mut total = negative.clone();
        total.merge(positive);
        (self.rows > 0 && !self.has_others).then(|| total.value())
    }

    /// Returns the mean of the numbers; `None` without numbers, or if one is NaN or infinite.
    pub(super) fn mean(&self) -> Option<f64> {
        Some(self.total()? / self.rows as f64)
    }

    /// Returns the sum of the numbers without their signs, divided by the greatest of them; `None`
    /// if all are 0, or if one is NaN or infinite.
    fn contributions(&self) -> Option<f64> {
        let greatest = match (self.whole, self.floats) {
            (Some((low, high)), _) => low.unsigned_abs().max(high.unsigned_abs()) as f64,
            (None, ends) => ends.map_or(0.0, |(low, high)| low.abs().max(high.abs())),
        };
        let [negative, positive] = &self.totals;
        let sum = || positive.value() / greatest - negative.value() / greatest;
        (greatest > 0.0 && !self.has_others).then(sum)
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
                self.totals[usize::from(x > 0)].add_whole(x);
                let (low, high) = self.whole.unwrap_or((x, x));
                self.whole = Some((low.min(x), high.max(x)));
            }
            return Ok(());
        }
        for x in doubles(values)?.as_primitive::<Float64Type>().iter().flatten() {
            match x.is_finite() {
                true => {
                    self.totals[usize::from(x > 0.0)].add(x);
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
        let totals = self.totals.iter_mut().zip(&other.totals);
        totals.for_each(|(own, other)| own.merge(other));
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

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Decimal128Array, Float64Array};
    use arrow::datatypes::{Field, Schema};

    fn totals(parts: Vec<ArrayRef>) -> ColumnTotals {
        let mut all = ColumnTotals::default();
        for values in parts {
            let mut part = ColumnTotals::default();
            part.add(&values).unwrap();
            all.merge(&part);
        }
        all
    }

    fn floats(values: Vec<Option<f64>>) -> ArrayRef {
        Arc::new(Float64Array::from(values))
    }

    #[test]
    fn contributions_have_no_sign() {
        let whole = |values: Vec<Option<i128>>| -> ArrayRef { Arc::new(Decimal128Array::from(values)) };
        let found = totals(vec![whole(vec![Some(-3), None]), whole(vec![Some(1), Some(2)])]);
        assert_eq!((found.total(), found.contributions()), (Some(0.0), Some(2.0)));
        let found = totals(vec![floats(vec![Some(0.5), None]), floats(vec![Some(-0.25)])]);
        assert_eq!((found.total(), found.contributions()), (Some(0.25), Some(1.5)));
        // The sum of the absolute values is not a double.
        let found = totals(vec![floats(vec![Some(f64::MAX), Some(f64::MIN)])]);
        assert_eq!((found.total(), found.contributions()), (Some(0.0), Some(2.0)));
    }

    #[test]
    fn zeros_and_unknown_numbers_have_no_contributions() {
        let zeros = totals(vec![floats(vec![Some(0.0), Some(-0.0)])]);
        assert_eq!((zeros.total(), zeros.contributions()), (Some(0.0), None));
        let unknown = totals(vec![floats(vec![Some(1.0), Some(f64::NAN)])]);
        assert_eq!((unknown.total(), unknown.contributions()), (None, None));
        assert_eq!(totals(vec![floats(vec![None])]).contributions(), None);
    }

    /// The rows 0, 0 and 6 have the mean 2 and the squared distances 4, 4 and 16.
    #[test]
    fn squared_distances_contribute_to_the_deviation() {
        let contributions = |values: &[i128]| {
            let values: ArrayRef = Arc::new(Decimal128Array::from(values.to_vec()));
            let columns = vec![totals(vec![Arc::clone(&values)])];
            let field = Field::new("x", values.data_type().clone(), false);
            let schema = Arc::new(Schema::new(vec![field]));
            let batch = RecordBatch::try_new(schema, vec![values]).unwrap();
            let mut pairs = vec![PairMoments::default()];
            add_pairs(&mut pairs, &batch, &[columns[0].steps()], &[(0, 0)]).unwrap();
            let moments = TableMoments {
                rows: 3,
                columns,
                pairs,
            };
            moments.contributions(0, 0)
        };
        assert_eq!(contributions(&[0, 0, 6]), [Some(1.0), Some(1.0)]);
        assert_eq!(contributions(&[-3, 0, 3]), [Some(2.0), Some(2.0)]);
        assert_eq!(contributions(&[5, 5, 5]), [Some(3.0), None]);
    }
}
