//! Distributes rows to buckets. A bucket is a range of classes in release order.
//!
//! Rows are compared by their *position*: first by the positions of their labels in the columns of
//! PARTITIONED BY, and then by the words of the order key. The order of positions is the release
//! order, as far as the quasi-identifiers determine it. The last class of a bucket may also be the
//! first class of the next bucket. All rows of this class then go to both buckets, because it is
//! not known which rows belong to which bucket until all rows of the class are sorted.

use super::order_key::ORDER_PREFIX;
use super::recoding_plan::{ColumnTreatment, RecodingPlan};
use crate::base::error::{Error, Result};
use crate::base::operator::{Operator, Parcel, Rows, Travels};
use crate::data::frequency::FrequencySet;
use crate::method::key::PackedLayout;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt32Array, UInt64Array};
use arrow::compute::{cast, take};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The name of the last column of distributed rows. The column contains the number of the bucket of
/// each row.
pub(crate) const BUCKET: &str = "__anonsql_bucket";

/// A bucket: its number, and the positions of its first and its last row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Range {
    /// The number of the bucket. Numbers ascend with the positions.
    pub(crate) bucket: u64,
    /// The position of the first row.
    pub(crate) low: ClassPlace,
    /// The position of the last row.
    pub(crate) high: ClassPlace,
}

/// The position of a class or a row in the release: the position of its label in each column that
/// is compared first, followed by the words of the order key.
pub(crate) type ClassPlace = Vec<u64>;

/// Adds the bucket number to rows that have the order key. Drops rows that belong to no bucket.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Deal {
    /// The number of bits of each column in the order key, the last quasi-identifier first.
    bits: Vec<u32>,
    /// The indices of the quasi-identifiers that are compared first.
    first: Vec<usize>,
    /// The buckets, in ascending order.
    ranges: Vec<Range>,
}

impl RecodingPlan {
    /// Returns the indices of the quasi-identifiers with these names; `None` if one of the names is
    /// not the name of a quasi-identifier.
    fn numbers_of(&self, names: &[String]) -> Option<Vec<usize>> {
        let number = |name: &String| {
            let released = self.columns.iter().find(|c| c.name == *name)?;
            match released.treatment {
                ColumnTreatment::Generalize(i) => Some(i),
                _ => None,
            }
        };
        names.iter().map(number).collect()
    }

    /// Returns the positions of the classes with indices in `of`. If the plan has starred rows,
    /// also returns the position of the rows with `*` in every quasi-identifier. The columns in
    /// `first` are compared before the others. Returns `None` if a column in `first` is not a
    /// quasi-identifier.
    pub(crate) fn places(
        &self,
        classes: &FrequencySet,
        of: &[usize],
        first: &[String],
    ) -> Option<(Vec<ClassPlace>, Option<ClassPlace>)> {
        let first = self.numbers_of(first)?;
        let place = |class: &usize| {
            let own = first
                .iter()
                .map(|i| u64::from(self.place_of_class(classes, *class, *i)));
            own.chain(self.order_key(classes, *class)).collect()
        };
        Some((of.iter().map(place).collect(), self.place_of_stars(&first)))
    }

    fn place_of_stars(&self, first: &[usize]) -> Option<ClassPlace> {
        let stars = self
            .labels
            .iter()
            .map(|labels| labels.star)
            .collect::<Option<Vec<u32>>>()?;
        let (words, columns) = (self.order.words(), stars.len());
        let mut key = vec![0u64; words];
        for (i, star) in stars.iter().enumerate() {
            let (word, bits) = self.order.place(columns - 1 - i, *star);
            key[words - 1 - word] |= bits;
        }
        Some(first.iter().map(|i| u64::from(stars[*i])).chain(key).collect())
    }

    /// Returns the texts of the labels that the position `place` contains for the columns in
    /// `first`. The position must have been created by [`Self::places`] with the same `first`.
    pub(crate) fn texts_of(&self, place: &[u64], first: &[String]) -> Result<Vec<Option<String>>> {
        let first = self.numbers_of(first).unwrap_or_default();
        let text = |(place, i): (&u64, &usize)| {
            let at = UInt32Array::from(vec![u32::try_from(*place).unwrap_or(u32::MAX)]);
            let text = cast(&take(&self.labels[*i].values, &at, None)?, &DataType::Utf8)?;
            let text = text.as_string::<i32>();
            Ok(text.is_valid(0).then(|| text.value(0).to_string()))
        };
        place.iter().zip(&first).map(text).collect()
    }

    /// Returns the operator that distributes rows to these buckets.
    pub(crate) fn deal(&self, first: &[String], ranges: Vec<Range>) -> Deal {
        Deal {
            bits: (0..self.labels.len()).map(|column| self.order.bits(column)).collect(),
            first: self.numbers_of(first).unwrap_or_default(),
            ranges,
        }
    }
}

impl Deal {
    /// Returns the schema of distributed rows: the columns of `rows`, followed by the bucket
    /// number.
    pub(crate) fn schema(rows: &Schema) -> SchemaRef {
        let bucket = Arc::new(Field::new(BUCKET, DataType::UInt64, false));
        let fields = rows.fields().iter().cloned().chain([bucket]);
        Arc::new(Schema::new(fields.collect::<Vec<_>>()))
    }

    fn dealt(&self, batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
        let layout = PackedLayout::new(&self.bits);
        let words = layout.words();
        let key = (0..words).map(|word| {
            let name = format!("{ORDER_PREFIX}{word}");
            let column = batch.column_by_name(&name);
            column.ok_or_else(|| Error::internal(format!("dealt rows lack {name}")))
        });
        let key = key.collect::<Result<Vec<_>>>()?;
        let key: Vec<&[u64]> = key
            .iter()
            .map(|c| c.as_primitive::<UInt64Type>().values().as_ref())
            .collect();
        let columns = self.bits.len();
        let (mut rows, mut buckets): (Vec<u32>, Vec<u64>) = (vec![], vec![]);
        let mut place = vec![0u64; self.first.len() + words];
        let mut packed = vec![0u64; words];
        for row in 0..batch.num_rows() {
            // The order key starts with its most significant word, and the packed layout with its
            // least significant word.
            for (word, column) in key.iter().enumerate() {
                place[self.first.len() + word] = column[row];
                packed[words - 1 - word] = column[row];
            }
            for (at, i) in self.first.iter().enumerate() {
                place[at] = u64::from(layout.code(&packed, columns - 1 - i));
            }
            let from = self.ranges.partition_point(|range| range.high < place);
            for range in self.ranges[from..].iter().take_while(|range| range.low <= place) {
                rows.push(row as u32);
                buckets.push(range.bucket);
            }
        }
        let rows = UInt32Array::from(rows);
        let taken = batch.columns().iter().map(|column| Ok(take(column, &rows, None)?));
        let mut taken = taken.collect::<Result<Vec<ArrayRef>>>()?;
        taken.push(Arc::new(UInt64Array::from(buckets)));
        Ok(RecordBatch::try_new(Arc::clone(schema), taken)?)
    }
}

impl fmt::Display for Deal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "buckets={}", self.ranges.len())
    }
}

impl Operator for Deal {
    const NAME: &'static str = "DealExec";

    fn run(&self, input: SendableRecordBatchStream, schema: SchemaRef, _: &Arc<TaskContext>) -> Result<Rows> {
        let deal = self.clone();
        Ok(input.map(move |batch| Ok(deal.dealt(&batch?, &schema)?)).boxed())
    }
}

impl Travels for Deal {
    fn pack(&self) -> Result<Parcel> {
        Parcel::new(self)
    }

    fn unpack(parcel: Parcel) -> Result<Self> {
        parcel.header()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of a class that two buckets share go to both buckets. Rows outside all buckets are
    /// dropped.
    #[test]
    fn rows_go_to_the_buckets_of_their_place() {
        let range = |bucket, low, high| Range {
            bucket,
            low: vec![low],
            high: vec![high],
        };
        let deal = Deal {
            bits: vec![8],
            first: vec![],
            ranges: vec![range(3, 0, 2), range(5, 2, 4), range(9, 6, 6)],
        };
        let key: ArrayRef = Arc::new(UInt64Array::from(vec![6, 0, 2, 5, 4]));
        let rows = RecordBatch::try_from_iter([(format!("{ORDER_PREFIX}0"), key)]).unwrap();
        let dealt = deal.dealt(&rows, &Deal::schema(&rows.schema())).unwrap();
        let column = |i: usize| dealt.column(i).as_primitive::<UInt64Type>().values().to_vec();
        assert_eq!((column(0), column(1)), (vec![6, 0, 2, 2, 4], vec![9, 3, 3, 5, 5]));
    }

    #[test]
    fn the_columns_of_folders_are_compared_first() {
        // Two columns of four bits. The first column has the high bits. The second column is
        // compared first.
        let deal = Deal {
            bits: vec![4, 4],
            first: vec![1],
            ranges: vec![
                Range {
                    bucket: 0,
                    low: vec![0, 0],
                    high: vec![0, 255],
                },
                Range {
                    bucket: 1,
                    low: vec![1, 0],
                    high: vec![9, 255],
                },
            ],
        };
        let key: ArrayRef = Arc::new(UInt64Array::from(vec![0xF0, 0x01, 0xF9]));
        let rows = RecordBatch::try_from_iter([(format!("{ORDER_PREFIX}0"), key)]).unwrap();
        let dealt = deal.dealt(&rows, &Deal::schema(&rows.schema())).unwrap();
        let buckets = dealt.column(1).as_primitive::<UInt64Type>().values().to_vec();
        assert_eq!(buckets, [0, 1, 1]);
    }
}
