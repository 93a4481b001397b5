//! PRAM (post randomization): keeps a category, or replaces it at random with another category of
//! the column.
//!
//! `PRAM (0.8)` first draws a probability between 0.8 and 1 for each of the L categories in the
//! column. A first matrix P keeps the category with this probability; all other categories are
//! equally likely. P and the shares p of the categories in the source give the reverse matrix Q,
//! with Q(k, j) = P(j, k) p(j) / sum over i of P(i, k) p(i). The transition matrix is the
//! weighted sum R = ALPHA PQ + (1 - ALPHA) I, where ALPHA is 0.5 if it is not given. The released
//! category of each record is drawn from the row of R for the record's own category.
//!
//! The categories and their shares are those of the rows that are released with a category. So a
//! category that only suppressed rows have is not released. But a row that is suppressed because
//! its own limit (`personal_privacy`) cannot be met does count, because it is suppressed after the
//! draws.
//!
//! R is invariant: p R = p. So the expected number of rows in each category is the same as before,
//! and tables of the released column alone need no correction. NULL stays NULL and is not a
//! category. PRAM fails for a column with only one category or with more than 1000 categories.
//!
//! Anyone with the secret can compute the matrix and the draws.
//!
//! Example: `KEEP (religion PRAM (0.8) WITH SECRET 'env:ANONSQL_SECRET')`
//!
//! Reference: `pram` of sdcMicro; Gouweleeuw et al., Post randomisation for statistical disclosure
//! control, Journal of Official Statistics 14(4), 1998.

use super::clause::{MaskItem, MaskKind, MaskPart, MaskPlace, MaskSyntax, Reads};
use super::draws::Draws;
use super::key::Key;
use super::survey::Survey;
use super::text::unfit;
use super::values::{Mask, UNKNOWN, Unmasked};
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::method::canonical::{one_spelling, plain};
use arrow::array::{Array, ArrayRef, AsArray, DictionaryArray, Int32Array, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Int32Type, UInt32Type};
use arrow::row::{Row, RowConverter, SortField};
use hashbrown::HashMap;
use std::sync::Arc;

/// The maximum number of categories. The matrix for this number has a million cells.
const MOST: usize = 1_000;
/// The value of ALPHA if the clause does not give one.
const ALPHA: f64 = 0.5;

pub(super) const KIND: MaskKind = MaskKind {
    info: Info {
        name: "pram",
        summary: "keeps a category, or replaces it at random with another one, by a matrix that keeps the expected numbers",
        params: &[],
        example: "KEEP (religion PRAM (0.8) WITH SECRET 'env:ANONSQL_SECRET')",
        reference: "pram of sdcMicro; Gouweleeuw et al., 1998",
    },
    clause: MaskSyntax {
        start: "PRAM",
        syntax: "PRAM (least) [ALPHA (share)] WITH SECRET 'env:NAME'",
        parts: &[
            MaskPart::Value(
                "least",
                MaskItem::Share,
                "the least probability of the first matrix to keep a category: (0.8)",
            ),
            MaskPart::Maybe(
                "ALPHA",
                "alpha",
                MaskItem::Share,
                "the share of the invariant matrix in the one of the transitions: (0.5)",
            ),
            MaskPart::Secret,
        ],
    },
    places: &[MaskPlace::Values],
    reads: Reads::Column,
    function: None,
    noun: "a category drawn by chance",
    phrase: "its category, or by chance another one",
    technique: "randomization: a category is exchanged for another by chance (PRAM)",
    is_pseudonym: false,
    tells_apart: false,
    limits: (
        "Categories drawn by chance",
        "Most records keep their category, and a rare category stays rare: anyone who finds a person's record \
         learns the likely category. The expected numbers of a category hold for the column alone; tables of it by \
         other columns have fewer differences than those of the source. No model counts such values.",
    ),
    build: |clause| {
        let (least, alpha) = (clause.share("least", None)?, clause.share("alpha", Some(ALPHA))?);
        if !((0.0..1.0).contains(&least) && alpha > 0.0 && alpha <= 1.0) {
            return Err(Error::usage(
                "PRAM: the least probability to keep a category is at least 0 and below 1, and ALPHA is above 0 and at most 1: \
                 PRAM (0.8) ALPHA (0.5)",
            ));
        }
        Ok(Arc::new(Pram {
            least,
            alpha,
            drawn: None,
        }))
    },
};

/// The mask that replaces categories at random.
#[derive(Debug)]
struct Pram {
    /// The minimum probability with which the first matrix keeps a category.
    least: f64,
    /// ALPHA: the weight of the invariant matrix PQ. The identity matrix has the weight 1 - ALPHA.
    alpha: f64,
    drawn: Option<Drawn>,
}

/// The transition probabilities of a column.
#[derive(Debug)]
struct Drawn {
    categories: ArrayRef,
    /// The index of each category in `categories`, by the category's row encoding.
    places: HashMap<Box<[u8]>, u32>,
    rows: RowConverter,
    /// For each category, the numbers with which it is kept: from the first one (inclusive) to the
    /// second one (exclusive).
    kept: Vec<(f64, f64)>,
    /// For each category, the cumulative probabilities of the categories that may replace it.
    sums: Vec<Vec<f64>>,
    draws: Draws,
}

impl Drawn {
    /// Draws the matrix for the categories in a survey.
    fn new(survey: &Survey, least: f64, alpha: f64, key: &Key) -> Result<Self> {
        let draws = Draws::new(key, KIND.info.name, &survey.column)?;
        let matrix = transitions(&survey.counts, least, alpha, &draws);
        let sums: Vec<Vec<f64>> = matrix.into_iter().map(sums).collect();
        let categories = one_spelling(&cast(&survey.values, &plain(survey.values.data_type()))?)?;
        let rows = RowConverter::new(vec![SortField::new(categories.data_type().clone())])?;
        let places = rows.convert_columns(std::slice::from_ref(&categories))?;
        let places = places.iter().map(|row| row.as_ref().into()).zip(0..).collect();
        Ok(Self {
            categories,
            places,
            rows,
            kept: kept(&sums),
            sums,
            draws,
        })
    }

    /// Returns the index of each value among the categories: [`UNKNOWN`] for any other value, and
    /// NULL for NULL. The values of a dictionary are looked up once for all rows.
    fn own(&self, values: &ArrayRef) -> Result<UInt32Array> {
        // A dictionary with more values than the array has rows is not read as a whole.
        if let Some(coded) = values.as_any_dictionary_opt()
            && coded.values().len() <= values.len()
        {
            let found = take(&self.own(coded.values())?, coded.keys(), None)?;
            return Ok(found.as_primitive::<UInt32Type>().clone());
        }
        let values = one_spelling(&cast(values, self.categories.data_type())?)?;
        let nulls = values.logical_nulls();
        let rows = self.rows.convert_columns(std::slice::from_ref(&values))?;
        let place = |row: Row| {
            let category: &[u8] = row.as_ref();
            self.places.get(category).copied().unwrap_or(UNKNOWN)
        };
        let found: Vec<u32> = rows.iter().map(place).collect();
        Ok(UInt32Array::new(found.into(), nulls))
    }

    /// Returns the index of the category that replaces `category` in a row with this random number;
    /// [`UNKNOWN`] if `category` is unknown.
    #[inline]
    fn place(&self, category: u32, number: f64) -> u32 {
        let Some((from, to)) = self.kept.get(category as usize) else {
            return UNKNOWN;
        };
        // Most rows keep their category, so it is checked before the others.
        match *from <= number && number < *to {
            true => category,
            false => other(&self.sums[category as usize], number),
        }
    }
}

/// Returns the index of the category that a random number chooses by cumulative probabilities.
fn other(sums: &[f64], number: f64) -> u32 {
    // The last sum may be slightly below 1 because of rounding.
    sums.partition_point(|sum| *sum <= number).min(sums.len() - 1) as u32
}

/// Returns the numbers with which each category is kept, by the cumulative probabilities for it.
fn kept(sums: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let rows = sums.iter().enumerate();
    rows.map(|(own, sums)| (if own == 0 { 0.0 } else { sums[own - 1] }, sums[own]))
        .collect()
}

impl Mask for Pram {
    fn data_type(&self, values: &DataType) -> Result<DataType> {
        match plain(values) {
            nested if nested.is_nested() => Err(unfit(
                KIND.clause.start,
                "categories",
                &nested,
                "select their parts in a query",
            )),
            flat => Ok(flat),
        }
    }

    fn surveyed(&self, survey: &Survey, key: &Key) -> Result<Arc<dyn Mask>> {
        survey.check()?;
        match survey.counts.len() {
            1 => {
                return Err(survey.unfit(
                    "PRAM draws another category by chance, and the column has only one in the released rows; drop the column",
                ));
            }
            number if number > MOST => {
                return Err(survey.unfit(&format!(
                    "PRAM is for categories, at most {MOST} of them, and the column has {number}; group its values in a query, or \
                     use RANK SWAP or NOISE"
                )));
            }
            _ => {}
        }
        Ok(Arc::new(Self {
            least: self.least,
            alpha: self.alpha,
            drawn: Some(Drawn::new(survey, self.least, self.alpha, key)?),
        }))
    }

    fn mask(&self, unmasked: &Unmasked) -> Result<ArrayRef> {
        let drawn = self.drawn.as_ref();
        let drawn = drawn.ok_or_else(|| Error::internal("transitions without the column's categories"))?;
        let own = drawn.own(unmasked.values)?;
        let numbers = drawn.draws.uniform(unmasked.ids()?.values());
        let places = own.values().iter().zip(numbers);
        let places = places.map(|(category, number)| drawn.place(*category, number));
        let places = unmasked.known(places.collect())?;
        if !matches!(unmasked.values.data_type(), DataType::Dictionary(..)) {
            let masked = take(&drawn.categories, &places, None)?;
            return Ok(cast(&masked, &plain(unmasked.values.data_type()))?);
        }
        let (places, nulls) = (places.values(), places.nulls().cloned());
        let keys: Vec<i32> = places.iter().map(|place| *place as i32).collect();
        let keys = Int32Array::new(keys.into(), nulls);
        let categories = Arc::clone(&drawn.categories);
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(keys, categories)?))
    }

    fn keeps_dictionaries(&self) -> bool {
        true
    }
}

/// Returns the cumulative sums of probabilities.
fn sums(probabilities: Vec<f64>) -> Vec<f64> {
    let sums = probabilities.into_iter().scan(0.0, |sum, probability| {
        *sum += probability;
        Some(*sum)
    });
    sums.collect()
}

/// Returns the transition matrix R. Each of its rows adds up to 1.
fn transitions(counts: &[u64], least: f64, alpha: f64, draws: &Draws) -> Vec<Vec<f64>> {
    let (categories, mut numbers) = (counts.len(), draws.of_column());
    let rows = counts.iter().sum::<u64>() as f64;
    let shares: Vec<f64> = counts.iter().map(|count| *count as f64 / rows).collect();
    let kept: Vec<f64> = (0..categories)
        .map(|_| least + (1.0 - least) * numbers.uniform())
        .collect();
    let first = |from: usize, to: usize| match from == to {
        true => kept[from],
        false => (1.0 - kept[from]) / (categories as f64 - 1.0),
    };
    let reached: Vec<f64> = (0..categories)
        .map(|to| (0..categories).map(|from| first(from, to) * shares[from]).sum())
        .collect();
    let back = |from: usize, to: usize| first(to, from) * shares[to] / reached[from];
    let one = |from: usize, to: usize| {
        let invariant: f64 = (0..categories).map(|by| first(from, by) * back(by, to)).sum();
        alpha * invariant + (1.0 - alpha) * f64::from(u8::from(from == to))
    };
    (0..categories)
        .map(|from| (0..categories).map(|to| one(from, to)).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int8Array, StringArray, UInt64Array};
    use arrow::datatypes::Int8Type;
    use proptest::prelude::*;

    fn key() -> Key {
        Key::new(b"0123456789abcdef").unwrap()
    }

    fn draws() -> Draws {
        Draws::new(&key(), "pram", "a").unwrap()
    }

    fn survey(values: ArrayRef, counts: Vec<u64>) -> Survey {
        Survey {
            column: "a".into(),
            values,
            counts,
            order: vec![],
        }
    }

    /// Returns the mask that is drawn from a column with these values. `counts` are the numbers of
    /// their rows.
    fn surveyed(least: f64, alpha: f64, values: ArrayRef, counts: Vec<u64>) -> Result<Arc<dyn Mask>> {
        let drawn = None;
        Pram { least, alpha, drawn }.surveyed(&survey(values, counts), &key())
    }

    /// Returns the masked values of the rows with these ids.
    fn masked(mask: &dyn Mask, values: &ArrayRef, ids: Vec<u64>) -> Result<ArrayRef> {
        mask.mask(&Unmasked {
            values,
            beside: &[Arc::new(UInt64Array::from(ids))],
            key: Some(&key()),
        })
    }

    proptest! {
        /// Each row of the matrix adds up to 1, the expected number of records in each category
        /// does not change, and each category is kept with at least the probability that the first
        /// matrix and ALPHA require.
        #[test]
        fn the_matrix_is_invariant(counts in prop::collection::vec(1u64..1_000, 2..12), least in 0.0f64..0.99, alpha in 0.01f64..1.0) {
            let matrix = transitions(&counts, least, alpha, &draws());
            for (from, row) in matrix.iter().enumerate() {
                prop_assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                prop_assert!(row.iter().all(|p| *p >= 0.0) && row[from] >= 1.0 - alpha - 1e-9);
            }
            for to in 0..counts.len() {
                let expected: f64 = (0..counts.len()).map(|from| counts[from] as f64 * matrix[from][to]).sum();
                prop_assert!((expected - counts[to] as f64).abs() < 1e-6 * counts[to] as f64 + 1e-9);
            }
        }
    }

    /// The matrix for two categories, computed by hand: P keeps them with the probabilities 0.9 and
    /// 0.8, and 3 of 4 rows are in the first category.
    #[test]
    fn two_categories_by_hand() {
        let (p, shares) = ([[0.9, 0.1], [0.2, 0.8]], [0.75, 0.25]);
        // The expected shares after P: 0.75 * 0.9 + 0.25 * 0.2 = 0.725, and 0.275.
        let q = [[0.675 / 0.725, 0.05 / 0.725], [0.075 / 0.275, 0.2 / 0.275]];
        let by_hand = |from: usize, to: usize| p[from][0] * q[0][to] + p[from][1] * q[1][to];
        let expected = shares[0] * by_hand(0, 0) + shares[1] * by_hand(1, 0);
        assert!((expected - 0.75_f64).abs() < 1e-12);
        // With the probabilities that `transitions` draws, it returns the same matrix as these
        // steps.
        let draws = draws();
        let mut numbers = draws.of_column();
        let kept: Vec<f64> = (0..2).map(|_| 0.5 + 0.5 * numbers.uniform()).collect();
        let p = [[kept[0], 1.0 - kept[0]], [1.0 - kept[1], kept[1]]];
        let reached = [0.75 * p[0][0] + 0.25 * p[1][0], 0.75 * p[0][1] + 0.25 * p[1][1]];
        let q = |k: usize, j: usize| p[j][k] * shares[j] / reached[k];
        let found = transitions(&[3, 1], 0.5, 0.5, &draws);
        for (from, row) in found.iter().enumerate() {
            for (to, found) in row.iter().enumerate() {
                let invariant = p[from][0] * q(0, to) + p[from][1] * q(1, to);
                let wanted = 0.5 * invariant + if from == to { 0.5 } else { 0.0 };
                assert!((found - wanted).abs() < 1e-12);
            }
        }
    }

    /// In 60,000 rows, the number of rows in each category and the number of each transition are
    /// within five standard errors of their expected values under the matrix.
    #[test]
    fn rows_change_as_the_matrix_says() {
        let counts = vec![30_000_u64, 20_000, 10_000];
        let categories = Arc::new(StringArray::from(vec!["x", "y", "z"]));
        let mask = surveyed(0.6, 1.0, categories, counts.clone()).unwrap();
        let own: Vec<usize> = (0..3).flat_map(|i| vec![i; counts[i] as usize]).collect();
        let values: ArrayRef = Arc::new(own.iter().map(|i| Some(["x", "y", "z"][*i])).collect::<StringArray>());
        let found = masked(mask.as_ref(), &values, (1..=60_000).collect()).unwrap();
        let matrix = transitions(&counts, 0.6, 1.0, &draws());
        for from in 0..3 {
            for to in 0..3 {
                let rows = own.iter().zip(found.as_string::<i32>());
                let went = rows.filter(|(own, other)| **own == from && *other == Some(["x", "y", "z"][to]));
                let (went, n, p) = (went.count() as f64, counts[from] as f64, matrix[from][to]);
                assert!(
                    (went - n * p).abs() < 5.0 * f64::sqrt(n * p * (1.0 - p)) + 1.0,
                    "{from} {to}"
                );
            }
        }
    }

    /// A dictionary array has the same masked values as a plain array, also in batches of other
    /// sizes. Values of the dictionary that no row has need not be categories.
    #[test]
    fn a_dictionary_has_the_values_of_its_rows() {
        let categories = Arc::new(StringArray::from(vec!["x", "y"]));
        let mask = surveyed(0.1, 1.0, categories, vec![30, 30]).unwrap();
        let masked = |values: &ArrayRef, ids: Vec<u64>| masked(mask.as_ref(), values, ids);
        let keys: Int8Array = (0..90).map(|row| [Some(0_i8), None, Some(2)][row % 3]).collect();
        let texts = Arc::new(StringArray::from(vec!["y", "unused", "x"]));
        let coded: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::try_new(keys, texts).unwrap());
        let plain = cast(&coded, &DataType::Utf8).unwrap();
        let found = masked(&coded, (1..=90).collect()).unwrap();
        let wanted = masked(&plain, (1..=90).collect()).unwrap();
        assert_eq!(wanted.null_count(), 30);
        assert_ne!(&wanted, &plain);
        assert_eq!(&cast(&found, &DataType::Utf8).unwrap(), &wanted);
        let part = masked(&coded.slice(40, 50), (41..=90).collect()).unwrap();
        assert_eq!(&cast(&part, &DataType::Utf8).unwrap(), &wanted.slice(40, 50));
        let other: ArrayRef = Arc::new(StringArray::from(vec!["unused"]));
        assert!(masked(&other, vec![1]).unwrap_err().to_string().contains("changed"));
    }

    proptest! {
        /// A category is replaced by the first one whose cumulative probability is above the random
        /// number, or by the last one.
        #[test]
        fn a_number_chooses_a_category(counts in prop::collection::vec(1u64..100, 2..8), alpha in 0.01f64..1.0, more in 0.0f64..1.0) {
            let categories = arrow::array::PrimitiveArray::<Int32Type>::from_iter_values(0..counts.len() as i32);
            let drawn = Drawn::new(&survey(Arc::new(categories), counts), 0.3, alpha, &key()).unwrap();
            for (own, sums) in (0..).zip(&drawn.sums) {
                for number in sums.iter().flat_map(|sum| [*sum, sum.next_down()]).chain([0.0, more]) {
                    let wanted = sums.iter().position(|sum| number < *sum).unwrap_or(sums.len() - 1);
                    prop_assert_eq!(drawn.place(own, number), wanted as u32);
                }
            }
            prop_assert_eq!(drawn.place(UNKNOWN, more), UNKNOWN);
        }
    }

    #[test]
    fn one_category_or_too_many_are_refused() {
        for (number, said) in [(1, "only one"), (MOST + 1, "1001")] {
            let values = arrow::array::PrimitiveArray::<Int32Type>::from_iter_values(0..number as i32);
            let refused = surveyed(0.8, 0.5, Arc::new(values), vec![1; number]).unwrap_err();
            let refused = refused.to_string();
            assert!(refused.contains(said) && refused.contains("column a"), "{refused}");
        }
    }
}
