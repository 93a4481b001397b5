//! The values of two columns, with one numbering for both.

use crate::base::error::Result;
use crate::method::canonical::one_spelling;
use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::{SortOptions, cast, concat, take};
use arrow::datatypes::DataType;
use arrow::row::{RowConverter, SortField};
use std::sync::Arc;

/// The values of two columns with one numbering. `all` contains the distinct values in ascending
/// order, with NULL last. `first` and `second` contain the index in `all` of each value of the
/// first and of the second column.
#[derive(Debug)]
pub(super) struct Numbered {
    pub(super) all: ArrayRef,
    pub(super) first: Vec<u32>,
    pub(super) second: Vec<u32>,
}

impl Numbered {
    /// Numbers the values of two columns. The values of `second` are cast to the type of `first`.
    pub(super) fn of(first: &ArrayRef, second: &ArrayRef) -> Result<Self> {
        let data_type = match first.data_type() {
            DataType::Dictionary(_, values) => values.as_ref().clone(),
            other => other.clone(),
        };
        let (one, other) = (cast(first, &data_type)?, cast(second, &data_type)?);
        let both = concat(&[one_spelling(&one)?.as_ref(), one_spelling(&other)?.as_ref()])?;
        let ascending = SortOptions {
            descending: false,
            nulls_first: false,
        };
        let field = SortField::new_with_options(data_type, ascending);
        let rows = RowConverter::new(vec![field])?.convert_columns(&[Arc::clone(&both)])?;
        let mut order: Vec<usize> = (0..both.len()).collect();
        order.sort_unstable_by(|a, b| rows.row(*a).cmp(&rows.row(*b)));
        let (mut numbers, mut firsts): (Vec<u32>, Vec<u32>) = (vec![0; both.len()], vec![]);
        for place in order {
            let is_new = |last: &u32| rows.row(*last as usize) != rows.row(place);
            if firsts.last().is_none_or(is_new) {
                firsts.push(place as u32);
            }
            numbers[place] = firsts.len() as u32 - 1;
        }
        let second = numbers.split_off(first.len());
        Ok(Self {
            all: take(&both, &UInt32Array::from(firsts), None)?,
            first: numbers,
            second,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int32Array, Int64Array};

    #[test]
    fn values_have_one_number_in_both_columns() {
        let first: ArrayRef = Arc::new(Int64Array::from(vec![Some(2), Some(7), None]));
        let second: ArrayRef = Arc::new(Int32Array::from(vec![Some(1), Some(7), None]));
        let numbered = Numbered::of(&first, &second).unwrap();
        assert_eq!((numbered.first, numbered.second), (vec![1, 2, 3], vec![0, 2, 3]));
        let all: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), Some(2), Some(7), None]));
        assert_eq!(&numbered.all, &all);
    }
}
