//! Counts the rows that still reveal their own value, although a drawn mask may change it.
//!
//! The original value and the released value of a row are both known only where a mask is applied.
//! So two numbers are counted there, among the released rows with a value:
//!
//! - the rows whose released value is their own value in the source
//! - in a column of numbers, dates or timestamps, the rows whose own value is at most [`NEAR`]
//!   standard deviations away from the released value
//!
//! The counts are whole numbers, so their sums do not depend on the number of threads. Suppressed
//! rows are not counted. The counts reveal something about the source's values, so only a report
//! contains them.
//!
//! Reference: `dRisk` of sdcMicro with k = 0.01 for one column; Mateo-Sanz, Sebé, Domingo-Ferrer,
//! Outlier Protection in Continuous Microdata Masking, PSD 2004. **Interpretation**: here the
//! standard deviation is computed from the values of the released rows in the source. `dRisk`
//! computes it from the masked column, so its interval becomes wider with more noise.

use super::survey::{Survey, numbers};
use crate::base::error::Result;
use crate::method::canonical::{one_spelling, plain};
use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::compute::kernels::cmp::eq;
use arrow::compute::{and, cast, is_not_null, not};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// The maximum distance at which a released value is near the row's own value, in standard
/// deviations of the values in the survey.
const NEAR: f64 = 0.01;

/// The released rows of a column that reveal their own value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnRows {
    /// The number of released rows with a value; suppressed rows are not counted.
    pub rows: u64,
    /// The number of these rows whose released value equals their own value in the source.
    pub own: u64,
    /// The number of these rows whose own value is at most 0.01 standard deviations away from the
    /// released value; `None` if the column has no standard deviation.
    pub near: Option<u64>,
}

/// Counts the rows of a column while a scan masks them. Several threads may use the same counter.
#[derive(Debug)]
pub(super) struct OwnCounter {
    /// The maximum distance of a near value; `None` if the column has no standard deviation.
    within: Option<f64>,
    counts: Mutex<ScanCounts>,
}

/// The counts of the rows of one scan.
#[derive(Debug, Default)]
struct ScanCounts {
    scan: u64,
    rows: u64,
    own: u64,
    near: u64,
}

impl OwnCounter {
    /// Creates the counter for a column.
    pub(super) fn of(survey: &Survey) -> Result<Self> {
        let deviation = survey.deviation()?;
        Ok(Self::within(deviation.map(|deviation| NEAR * deviation)))
    }

    /// Creates the counter for a column with this maximum distance of a near value.
    fn within(within: Option<f64>) -> Self {
        Self {
            within,
            counts: Mutex::default(),
        }
    }

    /// Returns a counter for the same column that has not counted any row.
    pub(super) fn emptied(&self) -> Self {
        Self::within(self.within)
    }

    /// Counts the rows of a batch. `values` are their values in the source, and `released` are
    /// their released values. A scan may be given up before its end and begun again, so only the
    /// rows of the scan with the highest number are counted.
    pub(super) fn add(
        &self,
        scan: u64,
        (values, released): (&ArrayRef, &ArrayRef),
        suppressed: &BooleanArray,
    ) -> Result<()> {
        let values = one_spelling(&cast(values, &plain(values.data_type()))?)?;
        let released = one_spelling(&cast(released, &plain(released.data_type()))?)?;
        let known = and(&is_not_null(&values)?, &is_not_null(&released)?)?;
        let counted = and(&known, &not(suppressed)?)?;
        let own = and(&counted, &eq(&values, &released)?)?.true_count();
        let mut near = 0;
        if let Some(within) = self.within
            && let (Some(values), Some(released)) = (numbers(&values)?, numbers(&released)?)
        {
            let pairs = values.values().iter().zip(released.values()).enumerate();
            let is_near = |(row, (own, released)): &(usize, (&f64, &f64))| {
                counted.value(*row) && (**own - **released).abs() <= within
            };
            near = pairs.filter(is_near).count();
        }
        let mut counts = self.counts.lock();
        if counts.scan < scan {
            *counts = ScanCounts {
                scan,
                ..ScanCounts::default()
            };
        }
        if counts.scan == scan {
            counts.rows += counted.true_count() as u64;
            counts.own += own as u64;
            counts.near += near as u64;
        }
        Ok(())
    }

    /// Returns the counts of the last scan's rows added so far.
    pub(super) fn counted(&self) -> OwnRows {
        let counts = self.counts.lock();
        OwnRows {
            rows: counts.rows,
            own: counts.own,
            near: self.within.map(|_| counts.near),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{
        Date32Array, DictionaryArray, Float64Array, Int8Array, Int64Array, StringArray, TimestampSecondArray,
    };
    use arrow::datatypes::Int8Type;
    use std::sync::Arc;

    fn counter(values: ArrayRef, counts: &[u64]) -> OwnCounter {
        let survey = Survey {
            column: "a".into(),
            values,
            counts: counts.to_vec(),
            order: vec![],
        };
        OwnCounter::of(&survey).unwrap()
    }

    /// Adds rows to the counter, and returns the counts of these rows. The rows at the indices in
    /// `suppressed` are suppressed.
    fn counted(counter: &OwnCounter, values: &ArrayRef, released: &ArrayRef, suppressed: &[usize]) -> (u64, u64) {
        let before = counter.counted();
        let suppressed = (0..values.len()).map(|row| Some(suppressed.contains(&row)));
        let suppressed: BooleanArray = suppressed.collect();
        counter.add(1, (values, released), &suppressed).unwrap();
        let after = counter.counted();
        (after.rows - before.rows, after.own - before.own)
    }

    /// PRAM: a released category either equals the own category or differs from it. The values in
    /// the source may be dictionary-encoded.
    #[test]
    fn categories_by_hand() {
        let known = || -> ArrayRef { Arc::new(StringArray::from(vec!["a", "b", "c"])) };
        let own: ArrayRef = Arc::new(StringArray::from(vec![
            Some("a"),
            Some("a"),
            Some("b"),
            Some("c"),
            None,
        ]));
        let released: ArrayRef = Arc::new(StringArray::from(vec![
            Some("a"),
            Some("b"),
            Some("b"),
            Some("a"),
            None,
        ]));
        let texts = counter(known(), &[2, 1, 1]);
        assert_eq!(counted(&texts, &own, &released, &[]), (4, 2));
        let keys = Int8Array::from(vec![Some(0), Some(0), Some(1), Some(2), None]);
        let coded: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::try_new(keys, known()).unwrap());
        assert_eq!(counted(&texts, &coded, &released, &[2]), (3, 1));
        let all = OwnRows {
            rows: 7,
            own: 3,
            near: None,
        };
        assert_eq!(texts.counted(), all);
    }

    /// RANK SWAP: of the days 0, 100, 101 and 300, the second and the third are swapped. The
    /// standard deviation is 125.77 days, so a distance of one day is near and a distance of two
    /// days is not.
    #[test]
    fn swapped_dates_by_hand() {
        let dates = |days: Vec<Option<i32>>| -> ArrayRef { Arc::new(Date32Array::from(days)) };
        let own = dates(vec![Some(0), Some(100), Some(101), Some(300), None]);
        let released = dates(vec![Some(0), Some(101), Some(100), Some(300), None]);
        let known = || dates(vec![Some(0), Some(100), Some(101), Some(300)]);
        let swapped = counter(known(), &[1, 1, 1, 1]);
        assert_eq!(counted(&swapped, &own, &released, &[]), (4, 2));
        assert_eq!(swapped.counted().near, Some(4));
        assert_eq!(counted(&swapped, &own, &released, &[3]), (3, 1));
        assert_eq!(swapped.counted().near, Some(7));
        let farther = dates(vec![Some(2), Some(102), Some(100), Some(299), None]);
        assert_eq!(counted(&swapped, &own, &farther, &[]), (4, 0));
        assert_eq!(swapped.counted().near, Some(9));
        // A counter for another scan begins with no rows, and has the same standard deviation.
        let emptied = swapped.emptied();
        assert_eq!(counted(&emptied, &own, &released, &[]), (4, 2));
        assert_eq!((emptied.counted().rows, emptied.counted().near), (4, Some(4)));
        assert_eq!(swapped.counted().near, Some(9));
        // The same days in seconds.
        let times =
            |days: [i64; 4]| -> ArrayRef { Arc::new(TimestampSecondArray::from(days.map(|d| d * 86_400).to_vec())) };
        let seconds = counter(times([0, 100, 101, 300]), &[1, 1, 1, 1]);
        assert_eq!(
            counted(&seconds, &times([0, 100, 101, 300]), &times([2, 102, 100, 299]), &[]),
            (4, 0)
        );
        assert_eq!(seconds.counted().near, Some(2));
    }

    /// NOISE: the standard deviation of 1, 2, 2, 4, 4 and 4 is 1.32916, so a distance of 0.0132 is
    /// near and a distance of 0.02 is not.
    #[test]
    fn numbers_with_noise_by_hand() {
        let floats = |values: Vec<f64>| -> ArrayRef { Arc::new(Float64Array::from(values)) };
        let noise = counter(floats(vec![1.0, 2.0, 4.0]), &[1, 2, 3]);
        let own = floats(vec![1.0, 2.0, 2.0, 4.0, 4.0, 4.0]);
        let released = floats(vec![1.0, 2.01, 2.02, 4.0132, 3.98, 4.0]);
        assert_eq!(counted(&noise, &own, &released, &[]), (6, 2));
        assert_eq!(noise.counted().near, Some(4));
        assert_eq!(counted(&noise, &own, &released, &[0, 1]), (4, 1));
        assert_eq!(noise.counted().near, Some(6));
        // Positive and negative zero are the same value.
        let zeros = counter(floats(vec![0.0, 1.0]), &[1, 1]);
        assert_eq!(
            counted(&zeros, &floats(vec![-0.0, 1.0]), &floats(vec![0.0, 0.0]), &[]),
            (2, 1)
        );
        assert_eq!(zeros.counted().near, Some(1));
    }

    #[test]
    fn without_a_standard_deviation_nothing_is_near() {
        let floats = |values: Vec<f64>| -> ArrayRef { Arc::new(Float64Array::from(values)) };
        for (values, counts) in [
            (vec![3.0], vec![4]),
            (vec![3.0], vec![1]),
            (vec![], vec![]),
            (vec![1.0, f64::NAN], vec![1, 1]),
            (vec![1.0, f64::INFINITY], vec![1, 1]),
        ] {
            let rows = floats(values.clone());
            let found = counter(rows.clone(), &counts);
            assert_eq!(
                counted(&found, &rows, &rows, &[]),
                (values.len() as u64, values.len() as u64)
            );
            assert_eq!(found.counted().near, None, "{values:?}");
        }
        let none: ArrayRef = arrow::array::new_null_array(&arrow::datatypes::DataType::Null, 3);
        let found = counter(none.slice(0, 0), &[]);
        assert_eq!(counted(&found, &none, &none, &[]), (0, 0));
    }

    /// Only the rows of the last scan are counted, also if rows of a scan before it come late.
    #[test]
    fn a_scan_that_is_begun_again_counts_anew() {
        let whole = |values: Vec<i64>| -> ArrayRef { Arc::new(Int64Array::from(values)) };
        let found = counter(whole(vec![1, 2]), &[1, 1]);
        let add = |scan: u64, released: Vec<i64>| {
            let suppressed = BooleanArray::from(vec![false; 2]);
            let rows = (&whole(vec![1, 2]), &whole(released));
            found.add(scan, rows, &suppressed).unwrap();
            (found.counted().rows, found.counted().own)
        };
        assert_eq!(add(1, vec![1, 2]), (2, 2));
        assert_eq!(add(2, vec![2, 1]), (2, 0));
        assert_eq!(add(1, vec![1, 2]), (2, 0));
        assert_eq!(add(2, vec![1, 2]), (4, 2));
    }

    #[test]
    fn threads_add_up() {
        let whole = |values: Vec<i64>| -> ArrayRef { Arc::new(Int64Array::from(values)) };
        let found = counter(whole(vec![1, 2, 3]), &[1, 1, 1]);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        counted_once(&found, &whole(vec![1, 2, 3]), &whole(vec![1, 3, 2]));
                    }
                });
            }
        });
        let all = OwnRows {
            rows: 1_200,
            own: 400,
            near: Some(400),
        };
        assert_eq!(found.counted(), all);
    }

    fn counted_once(counter: &OwnCounter, values: &ArrayRef, released: &ArrayRef) {
        let suppressed = BooleanArray::from(vec![false; values.len()]);
        counter.add(1, (values, released), &suppressed).unwrap();
    }
}
