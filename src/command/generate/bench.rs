//! The bench table: only quasi-identifiers, as strings, with exactly the requested number of
//! distinct combinations of values.
//!
//! The combinations are a sample of the population without repetition. The `n` combinations are
//! divided among the values of the first column in proportion to their weights (systematic
//! sampling: cumulative weights times n, rounded with one random offset). The combinations for each
//! value are then divided among the values of the next column, and so on. A value never gets more
//! combinations than the later columns can distinguish. Therefore, combination p of n can be
//! computed from p alone, and nothing has to be stored.
//!
//! One row is made for each combination. All other rows are people generated column by column from
//! the population, restricted to values that occur in some combination. As in real tables, a few
//! combinations are common and most are rare.

use super::draw::{Scatter, Weights, mix, scale, stream};
use super::population::{OLDEST, Population, YOUNGEST};
use super::vocabulary::{self as words, Category};
use super::write::GeneratedRows;
use crate::base::error::{Error, Result};
use arrow::array::{Array, ArrayRef, DictionaryArray, Int32Array, StringArray};
use arrow::datatypes::{Field, Int32Type, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use rand::Rng;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// The number of columns and of distinct combinations of the bench table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BenchShape {
    columns: usize,
    combinations: Option<u64>,
}

impl Default for BenchShape {
    /// Returns the shape with the nine columns of the Adult table. The number of combinations
    /// depends on the number of rows, as in [`BenchShape::new`] without `combinations`.
    fn default() -> Self {
        Self {
            columns: ADULT.len(),
            combinations: None,
        }
    }
}

impl BenchShape {
    /// The possible numbers of columns.
    pub const COLUMNS: RangeInclusive<usize> = 2..=ADULT.len() + MORE.len();

    /// Returns the shape with the first `columns` columns. If `combinations` is `None`, the table
    /// has a number of distinct combinations that is typical of its number of rows (800,000 from 10
    /// million rows on), but at most as many as the columns can distinguish. Fails with a usage
    /// error if `columns` is not in [`Self::COLUMNS`].
    pub fn new(columns: usize, combinations: Option<u64>) -> Result<Self> {
        if !Self::COLUMNS.contains(&columns) {
            let (low, high) = (Self::COLUMNS.start(), Self::COLUMNS.end());
            return Err(Error::usage(format!(
                "the bench table has {low} to {high} columns, not {columns}"
            )));
        }
        Ok(Self { columns, combinations })
    }
}

/// The columns of the Adult table, each with its name and its vocabulary. The vocabulary of ages is
/// empty, because they are numbers.
const ADULT: [(&str, &[Category]); 9] = [
    ("sex", words::SEX),
    ("age", &[]),
    ("race", words::RACE),
    ("marital_status", words::MARITAL_STATUS),
    ("education", words::EDUCATION),
    ("native_country", words::NATIVE_COUNTRY),
    ("workclass", words::WORKCLASS),
    ("occupation", words::OCCUPATION),
    ("salary_class", words::SALARY_CLASS),
];
const SEX: usize = 0;
const AGE: usize = 1;
const RACE: usize = 2;
const EDUCATION: usize = 4;

/// Further columns, each with its name and its number of distinct values, which are numbered.
const MORE: [(&str, usize); 15] = [
    ("district", 60),
    ("household", 8),
    ("housing", 6),
    ("language", 20),
    ("commute", 7),
    ("insurance", 6),
    ("rooms", 9),
    ("religion", 10),
    ("health", 5),
    ("vehicle", 4),
    ("industry", 30),
    ("internet", 3),
    ("disability", 4),
    ("veteran", 2),
    ("pension", 3),
];

/// The typical number of distinct combinations for some numbers of rows. Numbers between two
/// entries are interpolated. The entry for 30,000 rows is the number in the Adult table.
const NATURAL: [(u64, u64); 7] = [
    (0, 0),
    (1, 1),
    (1_000, 920),
    (30_000, 19_400),
    (100_000, 42_000),
    (1_000_000, 185_000),
    (10_000_000, 800_000),
];

/// The maximum number of combinations that can be divided exactly in 64 bits.
const MOST: u64 = 1_000_000_000;

pub(super) struct Bench {
    seed: u64,
    combinations: u64,
    columns: Vec<Column>,
    population: Population,
    places: Scatter,
}

struct Column {
    name: &'static str,
    labels: Arc<StringArray>,
    /// The number of possible combinations of values in the later columns, at most `u64::MAX`.
    capacity: u64,
    /// The weights of the values if the column depends on no other column.
    own: Weights,
}

impl Bench {
    pub(super) fn new(shape: BenchShape, rows: u64, seed: u64) -> Result<Self> {
        let mut columns: Vec<Column> = (0..shape.columns).map(column).collect();
        let mut capacity = 1u64;
        for column in columns.iter_mut().rev() {
            column.capacity = capacity;
            capacity = capacity.saturating_mul(column.labels.len() as u64);
        }
        let combinations = match shape.combinations {
            Some(n) if n > MOST => return Err(Error::usage(format!("at most {MOST} combinations, not {n}"))),
            Some(0) => return Err(Error::usage("a table has at least 1 combination")),
            Some(n) if n > rows => {
                return Err(Error::usage(format!(
                    "{rows} rows cannot have {n} distinct combinations"
                )));
            }
            Some(n) if n > capacity => {
                let columns = shape.columns;
                return Err(Error::usage(format!(
                    "{columns} columns have at most {capacity} combinations, not {n}"
                )));
            }
            Some(n) => n,
            None => natural(rows).min(capacity),
        };
        let places = Scatter::new(rows, mix(seed));
        Ok(Self {
            seed,
            combinations,
            columns,
            population: Population::new(),
            places,
        })
    }

    /// Computes the values of combination `p`, column by column, and writes them to `codes`.
    fn combination(&self, mut p: u64, codes: &mut [usize]) {
        self.descend(codes, |_, split| {
            let value = split.find(p);
            p -= split.before(value);
            value
        });
    }

    /// Generates a person from the population, restricted to existing combinations, and writes the
    /// values to `codes`.
    fn person(&self, rng: &mut impl Rng, codes: &mut [usize]) {
        self.descend(codes, |weights, split| {
            if split.n > 1 {
                for _ in 0..TRIES {
                    let value = weights.draw(rng);
                    if split.share(value) > 0 {
                        return value;
                    }
                }
            }
            split.find(scale(rng.next_u64(), split.n))
        });
    }

    /// Visits the columns in order: divides the combinations among the values of a column, and
    /// continues with the combinations for the value that `choose` returns.
    fn descend(&self, codes: &mut [usize], mut choose: impl FnMut(&Weights, &Split) -> usize) {
        let mut n = self.combinations;
        let mut state = mix(self.seed);
        for (i, column) in self.columns.iter().enumerate() {
            let weights = self.weights(i, codes);
            let split = Split::new(weights, n, column.capacity, state);
            let value = choose(weights, &split);
            codes[i] = value;
            n = split.share(value);
            state = mix(state ^ (value as u64 + 1));
        }
    }

    /// Returns the weights of the values in column `i`, given the values of the earlier columns.
    fn weights(&self, i: usize, codes: &[usize]) -> &Weights {
        let people = &self.population;
        match i {
            SEX => &people.sex,
            AGE => &people.age,
            RACE => &people.race,
            3 => people.marital(codes[AGE], codes[SEX]),
            EDUCATION => people.education(codes[AGE]),
            5 => people.country(codes[RACE]),
            6 => people.workclass(codes[AGE]),
            7 => people.occupation(codes[EDUCATION], codes[SEX]),
            8 => people.salary(codes[EDUCATION], codes[AGE], codes[SEX]),
            _ => &self.columns[i].own,
        }
    }
}

/// The maximum number of draws from the population for one value. If none of the drawn values
/// occurs in an existing combination, the value of a random existing combination is taken.
const TRIES: usize = 8;

fn column(i: usize) -> Column {
    let (name, labels): (&str, Vec<String>) = match ADULT.get(i) {
        Some((name, [])) => (name, (YOUNGEST..=OLDEST).map(|age| age.to_string()).collect()),
        Some((name, values)) => (name, values.iter().map(|v| v.label.to_string()).collect()),
        None => {
            let (name, values) = MORE[i - ADULT.len()];
            (name, (1..=values).map(|v| format!("{name} {v:02}")).collect())
        }
    };
    let own = Weights::new((1..=labels.len() as u32).map(|rank| 10_000 / rank));
    Column {
        name,
        labels: Arc::new(StringArray::from(labels)),
        capacity: 1,
        own,
    }
}

fn natural(rows: u64) -> u64 {
    for pair in NATURAL.windows(2) {
        let ((low, from), (high, to)) = (pair[0], pair[1]);
        if rows < high {
            return from + (to - from) * (rows - low) / (high - low);
        }
    }
    NATURAL[NATURAL.len() - 1].1
}

/// A division of `n` combinations among the values of a column.
struct Split<'a> {
    weights: &'a Weights,
    n: u64,
    offset: u64,
    /// The cumulative numbers of combinations for the values; `None` unless a proportional number
    /// may exceed the capacity of a value.
    capped: Option<Vec<u64>>,
}

impl<'a> Split<'a> {
    /// Divides `n` in proportion to `weights`, with at most `capacity` combinations for each value.
    /// `state` determines the rounding.
    fn new(weights: &'a Weights, n: u64, capacity: u64, state: u64) -> Self {
        let offset = scale(state, weights.total());
        let mut split = Self {
            weights,
            n,
            offset,
            capped: None,
        };
        if weights.largest() * n / weights.total() + 1 > capacity {
            split.capped = Some(split.cap(capacity, mix(state)));
        }
        split
    }

    /// Reduces each number of combinations to the capacity of a value, and distributes the rest
    /// among the other values, beginning at a random one. Returns the cumulative numbers.
    fn cap(&self, capacity: u64, state: u64) -> Vec<u64> {
        let values = self.weights.len();
        let mut shares: Vec<u64> = (0..values).map(|value| self.share(value).min(capacity)).collect();
        let mut left = self.n - shares.iter().sum::<u64>();
        let start = (state % values as u64) as usize;
        for at in (start..values).chain(0..start) {
            let more = left.min(capacity - shares[at]);
            shares[at] += more;
            left -= more;
        }
        let mut sum = 0;
        shares.iter_mut().for_each(|share| {
            sum += *share;
            *share = sum;
        });
        shares
    }

    fn up_to(&self, value: usize) -> u64 {
        if let Some(capped) = &self.capped {
            return capped[value];
        }
        (self.weights.up_to(value) * self.n + self.offset) / self.weights.total()
    }

    fn before(&self, value: usize) -> u64 {
        if value == 0 { 0 } else { self.up_to(value - 1) }
    }

    fn share(&self, value: usize) -> u64 {
        self.up_to(value) - self.before(value)
    }

    /// Returns the value of combination `p`, which is the first value whose cumulative number
    /// exceeds `p`.
    fn find(&self, p: u64) -> usize {
        let (mut low, mut high) = (0, self.weights.len() - 1);
        while low < high {
            let middle = (low + high) / 2;
            if self.up_to(middle) > p {
                high = middle
            } else {
                low = middle + 1
            }
        }
        low
    }
}

impl GeneratedRows for Bench {
    fn schema(&self) -> SchemaRef {
        let field = |column: &Column| Field::new(column.name, super::census::category(), false);
        Arc::new(Schema::new(self.columns.iter().map(field).collect::<Vec<_>>()))
    }

    fn rows(&self, group: u64, range: Range<u64>) -> Result<RecordBatch> {
        let n = (range.end - range.start) as usize;
        let rng = &mut stream(self.seed, group);
        let mut codes = vec![0; self.columns.len()];
        let mut keys: Vec<Vec<i32>> = self.columns.iter().map(|_| Vec::with_capacity(n)).collect();
        for row in range {
            // The rows whose scattered position is below the number of combinations contain each
            // combination once. They are distributed over the whole table.
            match self.places.at(row) {
                place if place < self.combinations => self.combination(place, &mut codes),
                _ => self.person(rng, &mut codes),
            }
            for (keys, code) in keys.iter_mut().zip(&codes) {
                keys.push(*code as i32);
            }
        }
        let arrays = self.columns.iter().zip(keys).map(|(column, keys)| {
            let labels = column.labels.clone();
            Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(Int32Array::from(keys), labels)?) as ArrayRef)
        });
        Ok(RecordBatch::try_new(
            self.schema(),
            arrays.collect::<Result<Vec<_>>>()?,
        )?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::AsArray;
    use std::collections::HashMap;

    fn counts(shape: BenchShape, rows: u64) -> Result<HashMap<Vec<i32>, u64>> {
        let batch = Bench::new(shape, rows, 3)?.rows(0, 0..rows)?;
        let keys: Vec<_> = batch
            .columns()
            .iter()
            .map(|c| c.as_dictionary::<Int32Type>().keys().clone())
            .collect();
        let mut counts = HashMap::new();
        for row in 0..batch.num_rows() {
            *counts.entry(keys.iter().map(|k| k.value(row)).collect()).or_default() += 1;
        }
        Ok(counts)
    }

    #[test]
    fn the_combinations_are_as_many_as_asked() -> Result<()> {
        // 148 is the number of all combinations of the first two columns. 20,720 is a quarter of
        // all combinations of the first five.
        for (columns, combinations) in [(2, 1), (2, 148), (5, 20_720), (9, 1_000), (24, 30_000)] {
            let counts = counts(BenchShape::new(columns, Some(combinations))?, 40_000)?;
            assert_eq!(counts.len() as u64, combinations, "{columns} columns");
        }
        assert_eq!(counts(BenchShape::default(), 30_000)?.len(), 19_400);
        Ok(())
    }

    #[test]
    fn few_combinations_are_common() -> Result<()> {
        let counts = counts(BenchShape::default(), 200_000)?;
        let mut sizes: Vec<u64> = counts.into_values().collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        // If all combinations were equally common, the top tenth would have about a sixth of the
        // rows.
        let top: u64 = sizes[..sizes.len() / 10].iter().sum();
        assert!(top > 55_000, "the top tenth has {top} of 200,000 rows");
        let alone = sizes.iter().filter(|n| **n == 1).count();
        assert!(
            alone > sizes.len() / 5,
            "{alone} of {} combinations are of one row",
            sizes.len()
        );
        Ok(())
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (columns, combinations, rows) in [(2, 149, 1_000), (9, 1_001, 1_000), (9, 0, 1_000)] {
            let made = BenchShape::new(columns, Some(combinations)).and_then(|shape| Bench::new(shape, rows, 1));
            assert!(
                made.is_err(),
                "{combinations} combinations of {columns} columns in {rows} rows"
            );
        }
        assert!(BenchShape::new(1, None).is_err() && BenchShape::new(25, None).is_err());
    }
}
