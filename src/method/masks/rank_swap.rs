//! RANK SWAP: the value of another row whose rank is near.
//!
//! The rows that are released with a value are ranked by their values. `RANK SWAP (5 PERCENT)` goes
//! through the ranks in ascending order. For a rank i that has no partner yet, a rank from i + 1 to
//! i + d is drawn, where d is 5 percent of these n rows, rounded down. If the drawn rank already
//! has a partner, the next lower rank above i without a partner is taken instead. If there is none,
//! the next higher rank up to i + d without a partner is taken. The two rows swap their values. A
//! row for which no partner is found keeps its value.
//!
//! So the released column has the values of these rows in the source with the same frequencies, and
//! each value comes from a row at most d ranks away. NULL stays NULL, and rows with NULL take no
//! part. Suppressed rows take no part either, so no other row gets their values. But a row that is
//! suppressed because its own limit (`personal_privacy`) cannot be met does take part, because it
//! is suppressed after the swaps.
//!
//! Anyone with the secret can undo the swaps.
//!
//! Example: `SENSITIVE (income RANK SWAP (5 PERCENT) WITH SECRET 'env:ANONSQL_SECRET')`
//!
//! Reference: `generate_swap` of mu-Argus and sdcMicro; Moore, Controlled data-swapping techniques
//! for masking public use microdata sets, 1996.

use super::clause::{MaskClause, MaskItem, MaskKind, MaskPart, MaskPlace, MaskSyntax, Reads};
use super::draws::{Draws, RandomNumbers};
use super::key::Key;
use super::survey::Survey;
use super::swaps::Swaps;
use super::text::unfit;
use super::values::{Mask, Unmasked};
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::method::canonical::{one_spelling, plain};
use arrow::array::ArrayRef;
use arrow::compute::{cast, take};
use arrow::datatypes::DataType;
use std::sync::Arc;

pub(super) const KIND: MaskKind = MaskKind {
    info: Info {
        name: "rank_swap",
        summary: "the value of another row, at most a share of all ranks away",
        params: &[],
        example: "SENSITIVE (income RANK SWAP (5 PERCENT) WITH SECRET 'env:ANONSQL_SECRET')",
        reference: "rankswap of mu-Argus and sdcMicro; Moore, Controlled data-swapping techniques, 1996",
    },
    clause: MaskSyntax {
        start: "RANK SWAP",
        syntax: "RANK SWAP (p PERCENT) WITH SECRET 'env:NAME'",
        parts: &[
            MaskPart::Value(
                "share",
                MaskItem::Share,
                "how far apart the ranks of two rows are that swap: (5 PERCENT) or (0.05)",
            ),
            MaskPart::Secret,
        ],
    },
    places: &[MaskPlace::Values],
    reads: Reads::Ranks,
    function: None,
    noun: "a swapped value",
    phrase: "the value of another row whose rank is near",
    technique: "swapping: rows whose values have near ranks exchange them",
    is_pseudonym: false,
    tells_apart: false,
    limits: (
        "Swapped values",
        "A swapped value is one of the source, and near the person's own: anyone who knows it knows the approximate \
         rank of the person. If many rows share a value, a swap often changes nothing. A few rows without a partner \
         keep their value. No model counts such values.",
    ),
    build: |clause| {
        let share = clause.share("share", None)?;
        if !(share > 0.0 && share <= 1.0) {
            return Err(Error::usage(
                "RANK SWAP: the ranks of two rows that swap are more than 0 and at most 100 percent of all apart: RANK SWAP (5 \
                 PERCENT)",
            ));
        }
        // Fails early if the share has too many digits.
        clause.share_of("share", u32::MAX)?;
        Ok(Arc::new(RankSwap {
            clause: clause.clone(),
            drawn: None,
        }))
    },
};

/// The mask that swaps values.
#[derive(Debug)]
struct RankSwap {
    /// The clause, which gives the maximum distance between two swapped ranks, as a share of all
    /// ranks.
    clause: MaskClause,
    drawn: Option<Drawn>,
}

/// The swaps of a column.
#[derive(Debug)]
struct Drawn {
    values: ArrayRef,
    swaps: Swaps,
}

impl Mask for RankSwap {
    fn data_type(&self, values: &DataType) -> Result<DataType> {
        match plain(values) {
            nested if nested.is_nested() => Err(unfit(
                KIND.clause.start,
                "values that have an order",
                &nested,
                "select their parts in a query",
            )),
            flat => Ok(flat),
        }
    }

    fn surveyed(&self, survey: &Survey, key: &Key) -> Result<Arc<dyn Mask>> {
        survey.check()?;
        let rows = u32::try_from(survey.rows())
            .map_err(|_| survey.unfit("RANK SWAP is for at most 4294967295 rows; release parts of the source"))?;
        let most = self.clause.share_of("share", rows)?;
        if most == 0 && rows > 0 {
            return Err(survey.unfit(
                "RANK SWAP of this share swaps no rows, because the column has too few values in the released rows; write a larger \
                 share",
            ));
        }
        if survey.order.len() != rows as usize {
            return Err(Error::data("the source changed during the run"));
        }
        // The ids differ in each table, so that another table has other partners.
        let table = survey.order.iter().fold(0_u64, |sum, id| sum.wrapping_add(*id));
        let draws = Draws::new(key, &format!("{} {table:x}", KIND.info.name), &survey.column)?;
        let partners = partners(rows, most, &mut draws.of_column());
        let values = one_spelling(&cast(&survey.values, &plain(survey.values.data_type()))?)?;
        Ok(Arc::new(Self {
            clause: self.clause.clone(),
            drawn: Some(Drawn {
                values,
                swaps: Swaps::new(&survey.counts, &survey.order, &partners),
            }),
        }))
    }

    fn mask(&self, unmasked: &Unmasked) -> Result<ArrayRef> {
        let drawn = self.drawn.as_ref();
        let drawn = drawn.ok_or_else(|| Error::internal("swaps without the column's values"))?;
        let places = unmasked.known(drawn.swaps.places(unmasked.ids()?.values()))?;
        Ok(cast(&take(&drawn.values, &places, None)?, unmasked.values.data_type())?)
    }
}

/// Returns the partner of each rank. Ranks are counted from 0 here, and the distance between two
/// partners is at most `most`. A rank without a partner is paired with itself.
fn partners(rows: u32, most: u32, numbers: &mut RandomNumbers) -> Vec<u32> {
    let mut partners: Vec<u32> = (0..rows).collect();
    let mut free = FreeRanks::new(rows);
    while let Some(rank) = free.take_least() {
        // All ranks are below 2^32, so the sum of two ranks fits into 64 bits.
        let last = (u64::from(rank) + u64::from(most)).min(u64::from(rows) - 1) as u32;
        let step = (f64::from(most) * numbers.uniform()) as u64;
        let drawn = (u64::from(rank) + 1 + step).min(u64::from(rows) - 1) as u32;
        // All ranks up to `rank` are taken.
        let found = free.last_up_to(drawn);
        if let Some(partner) = found.or_else(|| free.first_from(drawn).filter(|other| *other <= last)) {
            free.remove(partner);
            partners[rank as usize] = partner;
            partners[partner as usize] = rank;
        }
    }
    partners
}

/// The ranks that have no partner yet, as one bit for each rank.
struct FreeRanks {
    words: Vec<u64>,
    /// The first word with a free rank; the number of words if there is none.
    first: usize,
}

impl FreeRanks {
    /// Creates the set of all ranks less than `rows`.
    fn new(rows: u32) -> Self {
        let mut words = vec![u64::MAX; rows.div_ceil(u64::BITS) as usize];
        if let Some(last) = words.last_mut() {
            *last >>= (u64::BITS - rows % u64::BITS) % u64::BITS;
        }
        Self { words, first: 0 }
    }

    /// Removes the least free rank, and returns it.
    fn take_least(&mut self) -> Option<u32> {
        let word = self.words.get(self.first)?;
        let rank = self.first as u32 * u64::BITS + word.trailing_zeros();
        self.remove(rank);
        Some(rank)
    }

    fn remove(&mut self, rank: u32) {
        self.words[place(rank)] &= !(1 << (rank % u64::BITS));
        while self.words.get(self.first) == Some(&0) {
            self.first += 1;
        }
    }

    /// Returns the greatest free rank that is not greater than `rank`.
    fn last_up_to(&self, rank: u32) -> Option<u32> {
        let own = self.words[place(rank)] & (u64::MAX >> (u64::BITS - 1 - rank % u64::BITS));
        let own = Some((place(rank), own)).filter(|(_, word)| *word != 0);
        let found = own.or_else(|| {
            let mut before = (self.first..place(rank)).rev().map(|place| (place, self.words[place]));
            before.find(|(_, word)| *word != 0)
        });
        found.map(|(place, word)| place as u32 * u64::BITS + (u64::BITS - 1 - word.leading_zeros()))
    }

    /// Returns the least free rank that is not less than `rank`.
    fn first_from(&self, rank: u32) -> Option<u32> {
        let own = self.words[place(rank)] & (u64::MAX << (rank % u64::BITS));
        let after = (place(rank) + 1..self.words.len()).map(|place| (place, self.words[place]));
        let mut words = std::iter::once((place(rank), own)).chain(after);
        let (place, word) = words.find(|(_, word)| *word != 0)?;
        Some(place as u32 * u64::BITS + word.trailing_zeros())
    }
}

/// Returns the index of the word with the bit of a rank.
fn place(rank: u32) -> usize {
    (rank / u64::BITS) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{AsArray, StringArray, UInt64Array};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn swaps(rows: u32, most: u32) -> Vec<u32> {
        let draws = Draws::new(&Key::new(b"0123456789abcdef").unwrap(), "rank_swap", "a").unwrap();
        partners(rows, most, &mut draws.of_column())
    }

    fn swap(share: &str) -> RankSwap {
        RankSwap {
            clause: MaskClause {
                kind: &KIND,
                given: vec![("share".into(), super::super::Given::Text(share.into()))],
            },
            drawn: None,
        }
    }

    #[test]
    fn the_distance_is_exact() {
        for (share, rows, most) in [
            ("0.29", 100, 29),
            ("0.05", 1_000, 50),
            ("1", 7, 7),
            ("0.007", 1_000, 7),
            ("0.5", 3, 1),
        ] {
            assert_eq!(
                swap(share).clause.share_of("share", rows).unwrap(),
                most,
                "{share} of {rows}"
            );
        }
        let long = format!("0.{}1", "0".repeat(60));
        assert!(swap(&long).clause.share_of("share", 5).is_err());
    }

    /// `generate_swap` of mu-Argus, translated line by line, except that the random numbers are
    /// those of this module.
    fn of_argus(rows: i64, most: i64, numbers: &mut RandomNumbers) -> Vec<u32> {
        let mut swap = vec![-1_i64; rows as usize];
        for i in 0..rows {
            if swap[i as usize] == -1 {
                let k = 1 + (most as f64 * numbers.uniform()) as i64 + i;
                let mut j = k.min(rows - 1);
                while swap[j as usize] >= 0 && i + 1 < j {
                    j -= 1;
                }
                if swap[j as usize] >= 0 {
                    j = k.min(rows - 1);
                    while swap[j as usize] >= 0 && j < rows - 1 && j < i + most {
                        j += 1;
                    }
                }
                if swap[j as usize] == -1 {
                    swap[i as usize] = j;
                    swap[j as usize] = i;
                } else {
                    swap[i as usize] = i;
                }
            }
        }
        swap.into_iter().map(|partner| partner as u32).collect()
    }

    proptest! {
        #[test]
        fn partners_are_those_of_mu_argus(rows in 1u32..200, share in 0.01f64..1.0) {
            let most = (f64::from(rows) * share) as u32;
            prop_assume!(most > 0);
            let found = swaps(rows, most);
            let draws = Draws::new(&Key::new(b"0123456789abcdef").unwrap(), "rank_swap", "a").unwrap();
            prop_assert_eq!(&found, &of_argus(rows.into(), most.into(), &mut draws.of_column()));
            for (rank, partner) in (0..).zip(&found) {
                prop_assert_eq!(found[*partner as usize], rank);
                prop_assert!(partner.abs_diff(rank) <= most);
            }
        }

        /// The released values are those of the source with the same frequencies, and NULL stays in
        /// its row.
        #[test]
        fn values_are_swapped(texts in prop::collection::vec(prop::option::of("[a-d]"), 2..60)) {
            let mut texts = texts;
            // In the order of their ranks, with NULL last.
            texts.sort_by_key(|text| (text.is_none(), text.clone()));
            let mut counts = BTreeMap::new();
            texts.iter().flatten().for_each(|text| *counts.entry(text.clone()).or_insert(0) += 1);
            let distinct: StringArray = counts.keys().map(Some).collect();
            let known = texts.iter().flatten().count() as u64;
            // The ids are spread over all 64 bits, and do not ascend with the ranks.
            let id = |rank: u64| rank.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let survey = Survey { column: "a".into(), values: Arc::new(distinct), counts: counts.into_values().collect(), order: (0..known).map(id).collect() };
            let key = Key::new(b"0123456789abcdef").unwrap();
            let mask = swap("0.5").surveyed(&survey, &key);
            let Ok(mask) = mask else { return Ok(()) };
            let values: ArrayRef = Arc::new(StringArray::from(texts.clone()));
            let ids: ArrayRef = Arc::new((0..texts.len() as u64).map(id).collect::<UInt64Array>());
            let found = mask.mask(&Unmasked { values: &values, beside: std::slice::from_ref(&ids), key: Some(&key) }).unwrap();
            let mut found: Vec<Option<String>> = found.as_string::<i32>().iter().map(|text| text.map(Into::into)).collect();
            for (own, other) in texts.iter().zip(&found) {
                prop_assert_eq!(own.is_none(), other.is_none());
            }
            found.sort_by_key(|text| (text.is_none(), text.clone()));
            prop_assert_eq!(found, texts);
        }
    }
}
