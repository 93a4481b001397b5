//! The treatment of every released column, and the labels of each row.

use super::labelling::{Grouped, Labelling};
use super::labels::Labels;
use super::order_key::{ORDER_PREFIX, SUPPRESSED};
use super::plain_type::plain;
use super::pseudonym::Pseudonym;
use crate::error::Result;
use crate::frequency::{Encoder, FrequencySet};
use crate::hierarchy::{Cover, OnUnmapped};
use crate::key::{KeySchema, PackedLayout, bits_for};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// The treatment of one released column.
#[derive(Debug, Clone)]
pub enum ColumnTreatment {
    /// The column is quasi-identifier number `.0`, and released as its label.
    Generalize(usize),
    /// The value is replaced by a keyed hash.
    Hash(Arc<Pseudonym>),
    /// The value is kept, but NULL in a starred row.
    Protect,
    /// The value is kept.
    Keep,
}

/// A column that is released.
#[derive(Debug, Clone)]
pub struct Released {
    /// The name of the column in the source and in the release.
    pub name: String,
    /// The treatment of the column.
    pub treatment: ColumnTreatment,
}

/// Everything needed to turn the source's rows into the release.
#[derive(Debug)]
pub struct RecodingPlan {
    pub(super) key_schema: Arc<KeySchema>,
    pub(super) labelling: Labelling,
    pub(super) quasi_identifiers: Vec<String>,
    pub(super) unmapped: Vec<OnUnmapped>,
    pub(super) starred: bool,
    pub(super) columns: Vec<Released>,
    /// The released values of each quasi-identifier.
    pub(super) labels: Vec<Labels>,
    /// For each quasi-identifier that is released as labels, the check that a label covers a value.
    pub(super) covers: Vec<Option<Arc<Cover>>>,
    /// The packed layout of the order key: the first quasi-identifier in the highest bits.
    pub(super) order: PackedLayout,
}

impl RecodingPlan {
    /// Creates the recoding plan that generalizes to the node of `classes` and suppresses the classes that are not
    /// `kept`.
    pub fn new(
        key_schema: Arc<KeySchema>,
        quasi_identifiers: Vec<(String, OnUnmapped)>,
        classes: &FrequencySet,
        kept: &[bool],
        starred: bool,
        columns: Vec<Released>,
    ) -> Result<Self> {
        let levels = key_schema.lookups().iter().zip(classes.node().levels());
        let labels = levels.map(|(lookup, level)| Labels::of_level(lookup, *level, starred));
        let labels = labels.collect::<Result<_>>()?;
        let labelling = Labelling::node(classes, kept);
        Self::assemble(key_schema, quasi_identifiers, labelling, labels, starred, columns)
    }

    /// Creates the recoding plan that gives each row the labels of its group. Every quasi-identifier is released as a
    /// string.
    pub fn partitioned(
        key_schema: Arc<KeySchema>,
        quasi_identifiers: Vec<(String, OnUnmapped)>,
        grouped: Grouped,
        starred: bool,
        columns: Vec<Released>,
    ) -> Result<Self> {
        let width = quasi_identifiers.len();
        let labels = (0..width).map(|column| Labels::of_texts(grouped.partition.texts(column), starred));
        let labels = labels.collect();
        let labelling = Labelling::Partition(grouped);
        Self::assemble(key_schema, quasi_identifiers, labelling, labels, starred, columns)
    }

    pub(super) fn assemble(
        key_schema: Arc<KeySchema>,
        quasi_identifiers: Vec<(String, OnUnmapped)>,
        labelling: Labelling,
        labels: Vec<Labels>,
        starred: bool,
        columns: Vec<Released>,
    ) -> Result<Self> {
        let covers = labels
            .iter()
            .zip(key_schema.lookups())
            .map(|(labels, lookup)| labels.cover(lookup));
        let covers = covers.collect::<Result<_>>()?;
        let bits: Vec<u32> = labels.iter().rev().map(|l| bits_for(l.values.len())).collect();
        let (quasi_identifiers, unmapped) = quasi_identifiers.into_iter().unzip();
        Ok(Self {
            order: PackedLayout::new(&bits),
            key_schema,
            labelling,
            quasi_identifiers,
            unmapped,
            starred,
            columns,
            labels,
            covers,
        })
    }

    /// Returns the columns that must be read from the source.
    pub fn reads(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.quasi_identifiers.iter().map(String::as_str).collect();
        names.extend(
            self.columns
                .iter()
                .filter(|c| !matches!(c.treatment, ColumnTreatment::Generalize(_)))
                .map(|c| c.name.as_str()),
        );
        names
    }

    /// Returns the schema of the release. A column kept at level 0 keeps its type, and a generalized one is a string;
    /// strings are dictionaries. If suppressed rows are starred, every quasi-identifier is a string.
    pub fn schema(&self, source: &Schema) -> Result<SchemaRef> {
        let mut fields = vec![];
        for column in &self.columns {
            let data_type = match &column.treatment {
                ColumnTreatment::Generalize(i) if self.labels[*i].is_text => {
                    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
                }
                ColumnTreatment::Hash(_) => DataType::Utf8,
                _ => plain(source.field_with_name(&column.name)?.data_type()),
            };
            fields.push(Field::new(&column.name, data_type, true));
        }
        Ok(Arc::new(Schema::new(fields)))
    }

    /// Returns true if the order key determines the value of a released column, which holds for quasi-identifiers.
    pub fn is_in_order_key(&self, column: &str) -> bool {
        let released = self.columns.iter().find(|c| c.name == column);
        released.is_some_and(|c| matches!(c.treatment, ColumnTreatment::Generalize(_)))
    }

    /// Returns the index of the released value of class `class` among the values of a column.
    pub(super) fn place_of_class(&self, classes: &FrequencySet, class: usize, column: usize) -> u32 {
        let label = self.labelling.of_class(&self.key_schema, classes, class, column);
        self.labels[column].place(label)
    }

    /// Returns the words of the order key of class `class`, most significant first.
    pub(crate) fn order_key(&self, classes: &FrequencySet, class: usize) -> Vec<u64> {
        let words = self.order.words();
        let mut key = vec![0u64; words];
        let columns = self.quasi_identifiers.len();
        for i in 0..columns {
            let label = self.place_of_class(classes, class, i);
            let (word, bits) = self.order.place(columns - 1 - i, label);
            key[words - 1 - word] |= bits;
        }
        key
    }

    /// Returns the number of words of an order key.
    pub(crate) fn order_words(&self) -> usize {
        self.order.words()
    }

    /// Returns the schema of the released columns followed by those of the order key, and by [`SUPPRESSED`] if
    /// suppressed rows are starred.
    pub(crate) fn ordered_schema(&self, source: &Schema) -> Result<SchemaRef> {
        let mut fields = self.schema(source)?.fields().to_vec();
        for word in 0..self.order.words() {
            fields.push(Arc::new(Field::new(
                format!("{ORDER_PREFIX}{word}"),
                DataType::UInt64,
                false,
            )));
        }
        if self.starred {
            fields.push(Arc::new(Field::new(SUPPRESSED, DataType::Boolean, false)));
        }
        Ok(Arc::new(Schema::new(fields)))
    }

    /// Returns `recoded` with kept columns in the types of `read` if these are dictionaries, whose values are cheaper
    /// to count.
    pub(crate) fn as_read(&self, recoded: &Schema, read: &Schema) -> SchemaRef {
        let is_kept = |name: &str| {
            let mut kept = self
                .columns
                .iter()
                .filter(|c| matches!(c.treatment, ColumnTreatment::Keep | ColumnTreatment::Protect));
            kept.any(|c| c.name == name)
        };
        let field = |f: &Arc<Field>| match read.field_with_name(f.name()) {
            Ok(read) if is_kept(f.name()) && matches!(read.data_type(), DataType::Dictionary(..)) => {
                Arc::new(f.as_ref().clone().with_data_type(read.data_type().clone()))
            }
            _ => Arc::clone(f),
        };
        Arc::new(Schema::new(recoded.fields().iter().map(field).collect::<Vec<_>>()))
    }

    /// Creates one encoder per quasi-identifier, for one stream.
    pub(super) fn encoders(&self) -> Result<Vec<Encoder>> {
        let named = self.quasi_identifiers.iter().zip(self.key_schema.lookups());
        named
            .map(|(name, lookup)| Encoder::new(name, lookup.values()))
            .collect()
    }
}
