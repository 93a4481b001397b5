//! Assigns consecutive indices to combinations of values of any types. The values of each column
//! are encoded as codes, and a combination is a packed key of these codes.

use crate::base::error::{Error, Result};
use crate::data::frequency::{Interner, ranked};
use crate::method::key::Grouper;
use arrow::array::{Array, ArrayRef, AsArray, UInt32Array, UInt64Array};
use arrow::compute::take;
use arrow::datatypes::{DataType, Field, UInt64Type};
use std::sync::Arc;

/// The distinct combinations of values in some columns, indexed in order of first appearance.
#[derive(Debug)]
pub(crate) struct DistinctRows {
    columns: Vec<Column>,
    /// The keys of the combinations; `None` for a single column of values, whose codes are the
    /// indices.
    rows: Option<Grouper>,
}

#[derive(Debug)]
enum Column {
    /// A column of unsigned integers, each of which is its own code.
    Word,
    Values(Interner),
}

impl DistinctRows {
    /// Creates an empty set for columns of these types.
    pub(crate) fn new<'a>(types: impl IntoIterator<Item = &'a DataType>) -> Result<Self> {
        let columns = types.into_iter().map(|t| Ok(Column::Values(Interner::new(t)?)));
        Ok(Self::over(columns.collect::<Result<_>>()?))
    }

    /// Creates an empty set for columns with these fields.
    pub(crate) fn of_fields<'a>(fields: impl IntoIterator<Item = &'a Arc<Field>>) -> Result<Self> {
        let columns = fields.into_iter().map(|f| match f.data_type() {
            DataType::UInt64 if !f.is_nullable() => Ok(Column::Word),
            data_type => Ok(Column::Values(Interner::new(data_type)?)),
        });
        Ok(Self::over(columns.collect::<Result<_>>()?))
    }

    fn over(columns: Vec<Column>) -> Self {
        let words = columns.iter().map(|c| if matches!(c, Column::Word) { 2 } else { 1 });
        let words: usize = words.sum::<usize>().div_ceil(2);
        let alone = matches!(&columns[..], [Column::Values(_)]);
        Self {
            columns,
            rows: (!alone).then(|| Grouper::new(words.max(1))),
        }
    }

    /// Returns the index of the combination in each row. A new combination gets the next index.
    pub(crate) fn intern(&mut self, columns: &[ArrayRef]) -> Result<Vec<u32>> {
        let Some(rows) = &mut self.rows else {
            return match (&mut self.columns[..], columns) {
                ([Column::Values(values)], [column]) => values.intern(column),
                _ => Err(Error::internal("another number of columns than before")),
            };
        };
        let len = columns.first().map_or(0, |c| c.len());
        let words = rows.words();
        let mut keys = vec![0u64; len * words];
        let mut halves = Places::new(&self.columns);
        for (kept, column) in self.columns.iter_mut().zip(columns) {
            let (word, shift) = halves.next_of(kept);
            let places = keys.iter_mut().skip(word).step_by(words);
            match kept {
                Column::Word => {
                    let own = column.as_primitive::<UInt64Type>().values();
                    places.zip(own).for_each(|(key, own)| *key = *own);
                }
                Column::Values(values) => {
                    let codes = values.intern(column)?;
                    places
                        .zip(codes)
                        .for_each(|(key, code)| *key |= u64::from(code) << shift);
                }
            }
        }
        let mut numbers = vec![];
        rows.group(&keys, &mut numbers);
        Ok(numbers)
    }

    /// Returns the number of distinct combinations.
    pub(crate) fn len(&self) -> usize {
        match (&self.rows, &self.columns[..]) {
            (Some(rows), _) => rows.len(),
            (None, [Column::Values(values)]) => values.len(),
            _ => 0,
        }
    }

    /// Returns the memory of the set in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let of_columns = self.columns.iter().map(|c| match c {
            Column::Word => 0,
            Column::Values(values) => values.bytes(),
        });
        of_columns.sum::<usize>() + self.rows.as_ref().map_or(0, Grouper::bytes)
    }

    /// Returns the combinations as columns, in the order of their indices.
    pub(crate) fn into_values(self) -> Result<Vec<ArrayRef>> {
        let mut halves = Places::new(&self.columns);
        let mut values = vec![];
        for column in self.columns {
            let (word, shift) = halves.next_of(&column);
            let words = self.rows.as_ref().map(|rows| {
                let words = rows.keys().iter().skip(word).step_by(rows.words());
                words.map(move |w| w >> shift)
            });
            values.push(match (column, words) {
                (Column::Word, words) => Arc::new(words.into_iter().flatten().collect::<UInt64Array>()) as ArrayRef,
                (Column::Values(values), None) => values.into_values()?,
                (Column::Values(values), Some(codes)) => {
                    let codes: UInt32Array = codes.map(|code| code as u32).collect();
                    take(&values.into_values()?, &codes, None)?
                }
            });
        }
        Ok(values)
    }

    /// Returns the combinations in ascending order with NULL last, and the rank of each combination
    /// by its index.
    pub(crate) fn finish(self) -> Result<(Vec<ArrayRef>, Vec<u32>)> {
        ranked(&self.into_values()?)
    }
}

/// Iterates over the positions of the columns in a key. Integers come first and take whole words;
/// then come codes, two per word.
struct Places {
    word: usize,
    half: usize,
}

impl Places {
    fn new(columns: &[Column]) -> Self {
        let words = columns.iter().filter(|c| matches!(c, Column::Word)).count();
        Self {
            word: 0,
            half: 2 * words,
        }
    }

    /// Returns the index of the word that contains the next column, and the shift of the column in
    /// this word.
    fn next_of(&mut self, column: &Column) -> (usize, u32) {
        match column {
            Column::Word => {
                self.word += 1;
                (self.word - 1, 0)
            }
            Column::Values(_) => {
                self.half += 1;
                ((self.half - 1) / 2, 32 * ((self.half - 1) % 2) as u32)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{DictionaryArray, Int32Array, StringArray};
    use arrow::datatypes::Int32Type;
    use proptest::prelude::*;
    use std::collections::HashMap;

    type Row = (Option<u8>, Option<u8>, u64);

    fn text(value: u8) -> String {
        format!("value {value}")
    }

    /// Returns a dictionary array whose dictionary has unused values and is not sorted.
    fn dictionary(rows: &[Row], offset: i32) -> ArrayRef {
        let values = (0..10).map(|v| text(((v + offset) % 10) as u8));
        let values: ArrayRef = Arc::new(StringArray::from_iter_values(values));
        let keys = rows.iter().map(|r| r.0.map(|v| (i32::from(v) + 10 - offset) % 10));
        let keys: Int32Array = keys.collect();
        Arc::new(DictionaryArray::<Int32Type>::try_new(keys, values).unwrap())
    }

    proptest! {
        /// Combinations of a dictionary column, a plain column and an integer column are indexed as
        /// by a map, for any selection of these columns, and are returned unchanged.
        #[test]
        fn combinations_are_numbered_like_a_map(
            rows in prop::collection::vec((prop::option::of(0u8..10), prop::option::of(0u8..3), 0u64..3), 0..200),
            picked in prop::collection::vec(any::<bool>(), 3),
            offset in 0i32..10,
        ) {
            prop_assume!(picked.iter().any(|p| *p));
            let all = [
                Arc::new(Field::new_dictionary("text", DataType::Int32, DataType::Utf8, true)),
                Arc::new(Field::new("number", DataType::Int32, true)),
                Arc::new(Field::new("word", DataType::UInt64, false)),
            ];
            let pick = |row: &Row| (
                row.0.filter(|_| picked[0]),
                row.1.filter(|_| picked[1]),
                if picked[2] { row.2 } else { 0 },
            );
            let fields: Vec<_> = all.iter().zip(&picked).filter(|(_, p)| **p).map(|(f, _)| Arc::clone(f)).collect();
            let mut distinct = DistinctRows::of_fields(&fields).unwrap();
            let mut map: HashMap<Row, u32> = HashMap::new();
            for (batch, rows) in rows.chunks(40).enumerate() {
                let columns: [ArrayRef; 3] = [
                    // Every other batch has a different dictionary.
                    dictionary(rows, (offset + batch as i32 / 2) % 10),
                    Arc::new(rows.iter().map(|r| r.1.map(i32::from)).collect::<Int32Array>()),
                    Arc::new(rows.iter().map(|r| r.2).collect::<UInt64Array>()),
                ];
                let columns: Vec<_> = columns.into_iter().zip(&picked).filter(|(_, p)| **p).map(|(c, _)| c).collect();
                let mut seen: HashMap<u32, Row> = map.iter().map(|(row, n)| (*n, *row)).collect();
                for (row, number) in rows.iter().zip(distinct.intern(&columns).unwrap()) {
                    prop_assert_eq!(*seen.entry(number).or_insert(pick(row)), pick(row));
                    prop_assert_eq!(*map.entry(pick(row)).or_insert(number), number);
                }
            }
            prop_assert_eq!(distinct.len(), map.len());
            let mut values = distinct.into_values().unwrap().into_iter();
            let texts = picked[0].then(|| values.next().unwrap());
            let numbers = picked[1].then(|| values.next().unwrap());
            let words = picked[2].then(|| values.next().unwrap());
            for ((one, two, word), number) in map {
                let number = number as usize;
                if let Some(texts) = &texts {
                    let texts = texts.as_string::<i32>();
                    prop_assert_eq!(texts.is_valid(number).then(|| texts.value(number).to_string()), one.map(text));
                }
                if let Some(numbers) = &numbers {
                    let numbers = numbers.as_primitive::<Int32Type>();
                    prop_assert_eq!(numbers.is_valid(number).then(|| numbers.value(number)), two.map(i32::from));
                }
                if let Some(words) = &words {
                    prop_assert_eq!(words.as_primitive::<UInt64Type>().value(number), word);
                }
            }
        }
    }

    #[test]
    fn ranks_are_ascending_with_null_last() {
        let mut distinct = DistinctRows::new([&DataType::Utf8]).unwrap();
        let column: ArrayRef = Arc::new(StringArray::from(vec![Some("b"), None, Some("a"), Some("b")]));
        let numbers = distinct.intern(&[column]).unwrap();
        let (values, ranks) = distinct.finish().unwrap();
        let of_rows: Vec<u32> = numbers.iter().map(|n| ranks[*n as usize]).collect();
        assert_eq!(of_rows, [1, 2, 0, 1]);
        let values = values[0].as_string::<i32>();
        assert!(values.value(0) == "a" && values.value(1) == "b" && values.is_null(2));
        assert!(DistinctRows::new([&DataType::Utf8]).unwrap().finish().unwrap().0[0].is_empty());
    }
}
