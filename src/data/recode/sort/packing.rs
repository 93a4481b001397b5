//! Packs rows into machine words: first each batch with the codes of the scan, and then all rows
//! with codes in the order of the values.

use super::codes::{BatchCodes, Coding, of_numbers, of_ranks};
use super::layout::RowLayout;
use crate::base::error::Result;
use crate::base::pool::{check_cancelled, map};
use crate::data::frequency::Dictionary;
use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::buffer::{BooleanBuffer, NullBuffer};
use arrow::datatypes::{DataType, SchemaRef};

/// The range of the codes of a column, and true if the column contains NULL. NULL sorts after all
/// codes.
#[derive(Debug, Clone, Copy)]
struct Span {
    least: u64,
    most: u64,
    nulls: bool,
}

impl Span {
    const EMPTY: Span = Span {
        least: u64::MAX,
        most: 0,
        nulls: false,
    };

    fn of(codes: &BatchCodes) -> Self {
        let add = |span: Span, code: u64| Span {
            least: span.least.min(code),
            most: span.most.max(code),
            nulls: span.nulls,
        };
        let words = codes.words.iter().copied();
        match &codes.nulls {
            None => words.fold(Self::EMPTY, add),
            Some(nulls) => {
                let valid = nulls.valid_indices().map(|row| codes.words[row]);
                Span {
                    nulls: true,
                    ..valid.fold(Self::EMPTY, add)
                }
            }
        }
    }

    fn and(self, other: Self) -> Self {
        Span {
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            nulls: self.nulls || other.nulls,
        }
    }

    /// Returns the packed code of NULL: the code that follows all other codes, or 0 if the column
    /// has no other codes.
    fn null(self) -> u64 {
        match self.least > self.most {
            true => 0,
            false => (self.most - self.least).wrapping_add(1),
        }
    }

    /// Returns the number of bits of a packed code; `None` if this is more than 64.
    fn bits(self) -> Option<u32> {
        let most = match self.nulls {
            true if self.least == 0 && self.most == u64::MAX => return None,
            true => self.null(),
            false => self.most.saturating_sub(self.least),
        };
        Some(u64::BITS - most.leading_zeros())
    }
}

/// A batch of rows with the codes of the scan, packed as tightly as the values in the batch allow.
#[derive(Debug)]
pub(super) struct PackedBatch {
    spans: Vec<Span>,
    layout: RowLayout,
    rows: usize,
}

impl PackedBatch {
    /// Packs the codes of a batch, the most significant column first. Returns the packed batch and
    /// its words, or `None` if a column needs more than 64 bits.
    pub(super) fn pack(columns: &[BatchCodes]) -> Option<(Self, Vec<u64>)> {
        let spans: Vec<Span> = columns.iter().map(Span::of).collect();
        let layout = layout(&spans)?;
        let rows = columns.first().map_or(0, |codes| codes.words.len());
        let mut words = vec![0; rows * layout.words()];
        for (i, (codes, span)) in columns.iter().zip(&spans).enumerate() {
            let own = codes.words.iter();
            match &codes.nulls {
                None => layout.put(i, own.map(|code| code - span.least), &mut words),
                Some(nulls) => {
                    let code = |(code, valid): (&u64, bool)| if valid { code - span.least } else { span.null() };
                    layout.put(i, own.zip(nulls.iter()).map(code), &mut words);
                }
            }
        }
        Some((Self { spans, layout, rows }, words))
    }

    /// Returns the number of rows.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }
}

fn layout(spans: &[Span]) -> Option<RowLayout> {
    let bits: Option<Vec<u32>> = spans.iter().map(|span| span.bits()).collect();
    bits.map(RowLayout::new)
}

/// The packing of all rows. Packed rows compare as the rows themselves do.
#[derive(Debug)]
pub(super) struct Packing {
    spans: Vec<Span>,
    /// For each column with a dictionary, its values and ranks.
    dictionaries: Vec<Option<Dictionary>>,
    layout: RowLayout,
}

impl Packing {
    /// Returns the packing for the rows of `chunks`. `codings` contains the coding of each column,
    /// in the column order of the chunks. Returns `None` if a column needs more than 64 bits.
    pub(super) fn of<'a>(codings: &[Coding], chunks: impl Iterator<Item = &'a PackedBatch>) -> Result<Option<Self>> {
        let finished = map(codings.len(), |i| check_cancelled().and_then(|()| codings[i].finish()));
        let dictionaries = finished.into_iter().collect::<Result<Vec<_>>>()?;
        let mut spans = vec![Span::EMPTY; codings.len()];
        for chunk in chunks {
            spans
                .iter_mut()
                .zip(&chunk.spans)
                .for_each(|(all, own)| *all = all.and(*own));
        }
        for (span, dictionary) in spans.iter_mut().zip(&dictionaries) {
            if let Some(dictionary) = dictionary {
                *span = Span {
                    least: 0,
                    most: dictionary.values.len().saturating_sub(1) as u64,
                    nulls: false,
                };
            }
        }
        Ok(layout(&spans).map(|layout| Self {
            spans,
            dictionaries,
            layout,
        }))
    }

    /// Returns the number of words per row.
    pub(super) fn words(&self) -> usize {
        self.layout.words()
    }

    /// Returns the memory of the dictionaries in bytes.
    pub(super) fn bytes(&self) -> usize {
        let held = |d: &Dictionary| d.values.get_array_memory_size() + d.ranks.capacity() * 4;
        self.dictionaries.iter().flatten().map(held).sum()
    }

    /// Packs the rows of a chunk again, and appends them to `rows`. `words` contains the rows as
    /// packed in the chunk.
    pub(super) fn append(&self, chunk: &PackedBatch, words: &[u64], rows: &mut Vec<u64>) {
        let start = rows.len();
        rows.resize(start + chunk.rows * self.words(), 0);
        let rows = &mut rows[start..];
        for (i, (all, own)) in self.spans.iter().zip(&chunk.spans).enumerate() {
            let codes = chunk.layout.codes(i, words);
            match &self.dictionaries[i] {
                Some(dictionary) => {
                    let rank = |code: u64| u64::from(dictionary.ranks[(code + own.least) as usize]);
                    self.layout.put(i, codes.map(rank), rows);
                }
                None => {
                    let (null, shift) = (own.null(), own.least.wrapping_sub(all.least));
                    let is_null = |code: u64| own.nulls && code == null;
                    let code = |code: u64| {
                        if is_null(code) {
                            all.null()
                        } else {
                            code.wrapping_add(shift)
                        }
                    };
                    self.layout.put(i, codes.map(code), rows);
                }
            }
        }
    }

    /// Converts packed rows to a batch. Column i of the packing becomes column `places[i]` of
    /// `schema`.
    pub(super) fn batch(&self, rows: &[u64], places: &[usize], schema: &SchemaRef) -> Result<RecordBatch> {
        let mut columns: Vec<Option<ArrayRef>> = vec![None; places.len()];
        for (i, place) in places.iter().enumerate() {
            columns[*place] = Some(self.column(i, rows, schema.field(*place).data_type())?);
        }
        let count = rows.len() / self.words();
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        let columns = columns.into_iter().flatten().collect();
        Ok(RecordBatch::try_new_with_options(
            SchemaRef::clone(schema),
            columns,
            &options,
        )?)
    }

    fn column(&self, i: usize, rows: &[u64], data_type: &DataType) -> Result<ArrayRef> {
        let (codes, span) = (self.layout.codes(i, rows), self.spans[i]);
        if let Some(dictionary) = &self.dictionaries[i] {
            return of_ranks(data_type, &dictionary.values, codes);
        }
        let codes: Vec<u64> = codes.collect();
        let nulls = span.nulls.then(|| {
            let valid = BooleanBuffer::collect_bool(codes.len(), |row| codes[row] != span.null());
            NullBuffer::new(valid)
        });
        let words = codes.iter().map(|code| code.wrapping_add(span.least)).collect();
        of_numbers(data_type, BatchCodes { words, nulls })
    }
}
