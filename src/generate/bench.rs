//! The bench table: quasi-identifiers as strings and nothing else, with exactly as many distinct combinations as asked.
//!
//! The combinations are a sample of the population that never takes the same one twice. `n` combinations are shared out
//! over the values of the first column in proportion to their weights (systematic sampling: cumulative weights times n,
//! rounded with one random offset), each value's share over the next column, and so on; a value never gets more than
//! the columns after it can tell apart. So combination p of n is found from p alone, and nothing is stored.
//!
//! Every combination has one row; the rest of the rows pick a combination by a rank whose logarithm is about evenly
//! spread (Zipf's law), so a few combinations are common and most are rare, as in real tables.

use super::draw::{Scatter, Weights, below, mix, scale, stream};
use super::population::{OLDEST, Population, YOUNGEST};
use super::vocabulary::{self as words, Value};
use super::write::Rows;
use crate::error::{Error, Result};
use arrow::array::{Array, ArrayRef, DictionaryArray, Int32Array, StringArray};
use arrow::datatypes::{Field, Int32Type, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use rand::Rng;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// What the bench table looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BenchShape {
    columns: usize,
    combinations: Option<u64>,
}

impl Default for BenchShape {
    /// The nine columns of the Adult table and as many combinations as a population of that size has.
    fn default() -> Self {
        Self {
            columns: ADULT.len(),
            combinations: None,
        }
    }
}

impl BenchShape {
    /// How many columns there can be.
    pub const COLUMNS: RangeInclusive<usize> = 2..=ADULT.len() + MORE.len();

    /// The first `columns` columns; without `combinations`, as many as a population of the table's size has (10 million
    /// rows and more: 800,000), or as the columns can tell apart.
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

/// The columns of the Adult table: name and vocabulary (ages have none).
const ADULT: [(&str, &[Value]); 9] = [
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

/// Further columns: name and number of values, which are numbered.
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

/// Distinct combinations of a table by its rows: as in Adult at its size, 800,000 from ten million on.
const NATURAL: [(u64, u64); 7] = [
    (0, 0),
    (1, 1),
    (1_000, 920),
    (30_000, 19_400),
    (100_000, 42_000),
    (1_000_000, 185_000),
    (10_000_000, 800_000),
];

pub(super) struct Bench {
    seed: u64,
    combinations: u64,
    columns: Vec<Column>,
    population: Population,
    rows: Scatter,
    ranks: Scatter,
}

struct Column {
    name: &'static str,
    labels: Arc<StringArray>,
    /// How many combinations of the later columns there are, at most u64::MAX.
    capacity: u64,
    /// The shares of a column that depends on no other.
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
        let (rows, ranks) = (Scatter::new(rows, mix(seed)), Scatter::new(combinations, mix(seed ^ 1)));
        Ok(Self {
            seed,
            combinations,
            columns,
            population: Population::new(),
            rows,
            ranks,
        })
    }

    /// The values of combination `p`, column by column.
    fn combination(&self, mut p: u64, codes: &mut [usize]) {
        let mut n = self.combinations;
        let mut state = mix(self.seed);
        for (i, column) in self.columns.iter().enumerate() {
            let weights = self.weights(i, codes);
            let (value, before, share) = share_out(weights, n, p, column.capacity, state);
            codes[i] = value;
            p -= before;
            n = share;
            state = mix(state ^ (value as u64 + 1));
        }
    }

    /// The shares of column `i`'s values, given the values of the columns before it.
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

    /// The rank of the combination of a row: each once, then by Zipf's law.
    fn rank(&self, row: u64, rng: &mut impl Rng) -> u64 {
        let at = self.rows.at(row);
        if at < self.combinations {
            return at;
        }
        let halvings = below(rng, OCTAVES);
        let high = self.combinations >> halvings;
        let low = if halvings + 1 == OCTAVES { 0 } else { high / 2 };
        low + scale(rng.next_u64(), high - low)
    }
}

/// How often the range of ranks is halved: beyond that all ranks are equally common, so none has a large part of all.
const OCTAVES: u32 = 13;

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

/// Shares `n` combinations out over the values of a column; answers the value that gets combination `p`, how many
/// combinations the values before it have, and how many it has itself. No value gets more than `capacity`.
fn share_out(weights: &Weights, n: u64, p: u64, capacity: u64, state: u64) -> (usize, u64, u64) {
    let total = u128::from(weights.total());
    let offset = u128::from(scale(state, weights.total()));
    let up_to = |value: usize| ((u128::from(weights.up_to(value)) * u128::from(n) + offset) / total) as u64;
    let from = |value: usize| if value == 0 { 0 } else { up_to(value - 1) };
    let most = u128::from(weights.largest()) * u128::from(n) / total + 1;
    if most <= u128::from(capacity) {
        // The first value whose running share passes p.
        let (mut low, mut high) = (0, weights.len() - 1);
        while low < high {
            let middle = (low + high) / 2;
            if up_to(middle) > p {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return (low, from(low), up_to(low) - from(low));
    }
    // Some value would get too many: what it cannot take goes to the others, from a random one on.
    let mut left = 0;
    let mut shares: Vec<u64> = (0..weights.len())
        .map(|value| {
            let share = up_to(value) - from(value);
            left += share.saturating_sub(capacity);
            share.min(capacity)
        })
        .collect();
    let start = (mix(state) % weights.len() as u64) as usize;
    for i in 0..shares.len() {
        let at = (start + i) % weights.len();
        let more = left.min(capacity - shares[at]);
        shares[at] += more;
        left -= more;
    }
    let mut before = 0;
    for (value, share) in shares.iter().enumerate() {
        if p < before + share {
            return (value, before, *share);
        }
        before += share;
    }
    let last = shares.len() - 1;
    (last, before - shares[last], shares[last])
}

impl Rows for Bench {
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
            let rank = self.rank(row, rng);
            self.combination(self.ranks.at(rank), &mut codes);
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
        // 148 is every combination of the first two columns, 20,720 of the first five is 1/4 of all.
        for (columns, combinations) in [(2, 1), (2, 148), (5, 20_720), (9, 1_000), (24, 30_000)] {
            let counts = counts(BenchShape::new(columns, Some(combinations))?, 40_000)?;
            assert_eq!(counts.len() as u64, combinations, "{columns} columns");
        }
        assert_eq!(counts(BenchShape::default(), 30_000)?.len(), 19_400);
        Ok(())
    }

    #[test]
    fn few_combinations_are_common() -> Result<()> {
        let counts = counts(BenchShape::new(9, Some(1_000))?, 100_000)?;
        let mut sizes: Vec<u64> = counts.into_values().collect();
        sizes.sort_unstable_by(|a, b| b.cmp(a));
        let top: u64 = sizes[..100].iter().sum();
        assert!(
            (60_000..85_000).contains(&top),
            "the top tenth has {top} of 100,000 rows"
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
