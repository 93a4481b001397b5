//! The recoding plan: the treatment of every released column, and the labels of each row. A starred
//! row is a suppressed row that is released with `*` in every quasi-identifier.

use super::forms::{ChosenLabels, Computed, KeyColumn, Members, computed};
use super::items::ItemRecoding;
use super::labelling::{Grouped, KeptClasses, Labelling};
use super::labels::Labels;
use super::order_key::{ORDER_PREFIX, SUPPRESSED};
use crate::base::error::{Error, Result};
use crate::data::frequency::{Encoder, FrequencySet};
use crate::method::canonical::plain;
use crate::method::hierarchy::{Cover, LabelForm, OnUnmapped};
use crate::method::key::{KeySchema, PackedLayout, bits_for};
use crate::method::masks::{Masking, OwnRows, RowIds};
use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;

/// The treatment of one released column.
#[derive(Debug, Clone)]
pub enum ColumnTreatment {
    /// The column is the quasi-identifier with this index. Its labels are released.
    Generalize(usize),
    /// The column contains lists, which are released as sets of labels.
    Items(Arc<ItemRecoding>),
    /// The value is masked.
    Mask {
        /// The mask.
        masking: Arc<Masking>,
        /// True if the released value is NULL in a starred row.
        is_protected: bool,
    },
    /// The value is released unchanged, except that it is NULL in a starred row.
    Protect,
    /// The value is released unchanged.
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

/// The options for a quasi-identifier.
#[derive(Debug, Clone)]
pub struct QuasiIdentifierRule {
    /// The name of the column.
    pub column: String,
    /// The treatment of values that the hierarchy does not map.
    pub on_unmapped: OnUnmapped,
    /// The form in which labels are released.
    pub form: LabelForm,
}

/// The parts of a recoding plan that do not depend on how the labels of the rows were chosen.
#[derive(Debug)]
pub struct RecodingParts {
    /// The key schema of the quasi-identifiers.
    pub key_schema: Arc<KeySchema>,
    /// The options for each quasi-identifier.
    pub quasi_identifiers: Vec<QuasiIdentifierRule>,
    /// Whether suppressed rows are released with `*` in every quasi-identifier.
    pub starred: bool,
    /// The released columns.
    pub columns: Vec<Released>,
}

/// Everything needed to convert the rows of the source to the release.
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
    /// For each quasi-identifier, the check that a label covers a value; `None` if the values
    /// themselves are released, or if the released value alone does not determine which values it
    /// covers.
    pub(super) covers: Vec<Option<Arc<Cover>>>,
    /// For each quasi-identifier with a computed form, the check that the chosen label, from which
    /// the released value is computed, covers a value.
    pub(super) chosen: Vec<Option<Arc<Cover>>>,
    /// The packed layout of the order key. The first quasi-identifier has the highest bits.
    pub(super) order: PackedLayout,
}

impl RecodingPlan {
    /// Creates the recoding plan that generalizes to the node of the classes and suppresses the
    /// classes that are not kept. `combinations` contains the combinations of ground values, and is
    /// required for forms that are computed for each class.
    pub fn new(parts: RecodingParts, of: KeptClasses<'_>, combinations: Option<&FrequencySet>) -> Result<Self> {
        let KeptClasses { classes, kept } = of;
        let (key_schema, starred) = (&parts.key_schema, parts.starred);
        let labelling = Labelling::node(of);
        let released = |column: usize| {
            let released = (0..classes.len()).filter(|class| kept[*class]);
            let known = released.map(|class| {
                let number = labelling.number_of_class(classes, class);
                let number = number.ok_or_else(|| Error::internal("a class without a number"))?;
                Ok((number, labelling.of_class(key_schema, classes, class, column)))
            });
            known.collect::<Result<Vec<_>>>()
        };
        let numbers = numbers(&labelling, key_schema, combinations)?;
        let mut labels = vec![];
        for (column, (rule, level)) in parts.quasi_identifiers.iter().zip(classes.node().levels()).enumerate() {
            labels.push(match rule.form {
                LabelForm::Text => own(
                    Labels::of_level(key_schema.lookup(column), *level, starred)?,
                    key_schema,
                    column,
                )?,
                form => {
                    let members = members(form, combinations, &numbers, classes.len(), || released(column))?;
                    let column = KeyColumn { key_schema, column };
                    computed(form, column, &ChosenLabels::Level(*level), members, starred)
                        .map_err(|e| e.context(format!("column {}", rule.column)))?
                }
            });
        }
        Ok(Self::assemble(parts, labelling, labels))
    }

    /// Creates the recoding plan in which each row has the labels of its group. In the form TEXT, a
    /// quasi-identifier is released as a string. For `combinations`, see [`RecodingPlan::new`].
    pub fn partitioned(parts: RecodingParts, grouped: Grouped, combinations: Option<&FrequencySet>) -> Result<Self> {
        let (key_schema, starred) = (&parts.key_schema, parts.starred);
        let (partition, kept) = (Arc::clone(&grouped.partition), grouped.kept.clone());
        let labelling = Labelling::Partition(grouped);
        let numbers = numbers(&labelling, key_schema, combinations)?;
        let mut labels = vec![];
        for (column, rule) in parts.quasi_identifiers.iter().enumerate() {
            let (all, texts) = (partition.labels(column), partition.texts(column));
            labels.push(match rule.form {
                LabelForm::Text => own(Labels::of_texts(texts, starred), key_schema, column)?,
                form => {
                    let groups = (0..).zip(partition.cells(column)).zip(&kept);
                    let released = || {
                        Ok(groups
                            .filter(|(_, kept)| **kept)
                            .map(|((g, label), _)| (g, *label))
                            .collect())
                    };
                    let members = members(form, combinations, &numbers, partition.len(), released)?;
                    let column = KeyColumn { key_schema, column };
                    computed(form, column, &ChosenLabels::Labels(all, texts), members, starred)
                        .map_err(|e| e.context(format!("column {}", rule.column)))?
                }
            });
        }
        Ok(Self::assemble(parts, labelling, labels))
    }

    fn assemble(parts: RecodingParts, labelling: Labelling, computed: Vec<Computed>) -> Self {
        let RecodingParts {
            key_schema,
            quasi_identifiers,
            starred,
            columns,
        } = parts;
        let (mut labels, mut covers, mut chosen) = (vec![], vec![], vec![]);
        for column in computed {
            labels.push(column.labels);
            covers.push(column.released);
            chosen.push(column.chosen);
        }
        let bits: Vec<u32> = labels.iter().rev().map(|l: &Labels| bits_for(l.values.len())).collect();
        let rules = quasi_identifiers
            .into_iter()
            .map(|rule| (rule.column, rule.on_unmapped));
        let (quasi_identifiers, unmapped) = rules.unzip();
        Self {
            order: PackedLayout::new(&bits),
            key_schema,
            labelling,
            quasi_identifiers,
            unmapped,
            starred,
            columns,
            labels,
            covers,
            chosen,
        }
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
        names.extend(self.columns.iter().flat_map(|c| match &c.treatment {
            ColumnTreatment::Mask { masking, .. } => masking.beside().iter().map(String::as_str),
            _ => [].iter().map(String::as_str),
        }));
        names
    }

    /// Returns true if the values of a masked column are not released in suppressed rows, because
    /// these rows are left out or because the column is protected: NULL in a starred row.
    pub(crate) fn hides_suppressed(&self, is_protected: bool) -> bool {
        is_protected || !self.starred
    }

    /// Returns the schema of the release. A quasi-identifier at level 0 keeps its type, and a
    /// generalized quasi-identifier becomes a string column. If suppressed rows are starred, every
    /// quasi-identifier becomes a string column. String columns of quasi-identifiers are
    /// dictionaries. A quasi-identifier with a computed form has the type of its computed values.
    /// Sets of items are lists of strings, the mask of a column determines its type, and other
    /// columns keep their types, but not as dictionaries.
    pub fn schema(&self, source: &Schema) -> Result<SchemaRef> {
        let mut fields = vec![];
        for column in &self.columns {
            let data_type = match &column.treatment {
                ColumnTreatment::Generalize(i) if self.labels[*i].is_text => {
                    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
                }
                ColumnTreatment::Generalize(i) if self.labels[*i].form != LabelForm::Text => {
                    self.labels[*i].values.data_type().clone()
                }
                ColumnTreatment::Items(_) => ItemRecoding::data_type(),
                ColumnTreatment::Mask { masking, .. } => {
                    masking.data_type(source.field_with_name(&column.name)?.data_type())?
                }
                _ => plain(source.field_with_name(&column.name)?.data_type()),
            };
            fields.push(Field::new(&column.name, data_type, true));
        }
        Ok(Arc::new(Schema::new(fields)))
    }

    /// Returns the masked columns whose masks count the rows in which the released value reveals
    /// the row's own value, each with the rows counted so far.
    pub(crate) fn own_rows(&self) -> Vec<(&str, OwnRows)> {
        let counted = |c: &Released| match &c.treatment {
            ColumnTreatment::Mask { masking, .. } => masking.own_rows(),
            _ => None,
        };
        let columns = self.columns.iter();
        columns.filter_map(|c| Some((c.name.as_str(), counted(c)?))).collect()
    }

    /// Returns the ids of the rows from which masks are drawn. All drawn masks of a release share
    /// them. Returns `None` if no mask is drawn.
    pub(super) fn row_ids(&self) -> Option<&Arc<RowIds>> {
        self.columns.iter().find_map(|c| match &c.treatment {
            ColumnTreatment::Mask { masking, .. } => masking.ids(),
            _ => None,
        })
    }

    /// Returns true if the order key determines the value of a released column. This is true only
    /// for quasi-identifiers.
    pub fn is_in_order_key(&self, column: &str) -> bool {
        let released = self.columns.iter().find(|c| c.name == column);
        released.is_some_and(|c| matches!(c.treatment, ColumnTreatment::Generalize(_)))
    }

    /// Returns the index of the released value of class `class` among the released values of a
    /// column.
    pub(super) fn place_of_class(&self, classes: &FrequencySet, class: usize, column: usize) -> u32 {
        let labels = &self.labels[column];
        labels.place(match labels.form.is_of_class() {
            // The fallback is never used, because the scan fails if a row belongs to an unknown
            // class.
            true => self.labelling.number_of_class(classes, class).unwrap_or(0),
            false => self.labelling.of_class(&self.key_schema, classes, class, column),
        })
    }

    /// Returns the released values of a column and, for each class in `of`, the index of its
    /// released value. Returns `None` if the column is released in the form TEXT.
    pub(crate) fn computed_values(
        &self,
        classes: &FrequencySet,
        of: &[usize],
        column: usize,
    ) -> Option<(&ArrayRef, Vec<u32>)> {
        let labels = &self.labels[column];
        let place = |class: &usize| self.place_of_class(classes, *class, column);
        (labels.form != LabelForm::Text).then(|| (&labels.values, of.iter().map(place).collect()))
    }

    /// Returns true if a column is released in a form other than TEXT. In such a form, different
    /// labels may be released as the same value.
    pub(crate) fn has_computed_values(&self) -> bool {
        self.labels.iter().any(|labels| labels.form != LabelForm::Text)
    }

    /// Returns the words of the order key of class `class`, starting with the most significant.
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

    /// Returns the schema of the released columns, followed by the columns of the order key and, if
    /// suppressed rows are starred, by [`SUPPRESSED`].
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

    /// Returns the schema `recoded`, except that a kept column that is a dictionary in `read`
    /// remains a dictionary, because its values can be counted faster. So does a masked column if
    /// its mask keeps dictionaries.
    pub(crate) fn as_read(&self, recoded: &Schema, read: &Schema) -> SchemaRef {
        let coded = |name: &str| {
            let read = read.field_with_name(name).ok()?.data_type();
            let column = self.columns.iter().find(|c| c.name == name)?;
            match (&column.treatment, read) {
                (ColumnTreatment::Keep | ColumnTreatment::Protect, DataType::Dictionary(..)) => Some(read.clone()),
                (ColumnTreatment::Mask { masking, .. }, DataType::Dictionary(_, values))
                    if masking.keeps_dictionaries() =>
                {
                    Some(DataType::Dictionary(Box::new(DataType::Int32), Box::new(plain(values))))
                }
                _ => None,
            }
        };
        let field = |f: &Arc<Field>| match coded(f.name()) {
            Some(data_type) => Arc::new(f.as_ref().clone().with_data_type(data_type)),
            None => Arc::clone(f),
        };
        Arc::new(Schema::new(recoded.fields().iter().map(field).collect::<Vec<_>>()))
    }

    /// Creates an encoder for the items of each released column that contains sets, for one stream.
    pub(super) fn item_encoders(&self) -> Result<Vec<Option<Encoder>>> {
        let encoder = |c: &Released| match &c.treatment {
            ColumnTreatment::Items(recoding) => recoding.encoder().map(Some),
            _ => Ok(None),
        };
        self.columns.iter().map(encoder).collect()
    }

    /// Creates an encoder for each quasi-identifier, for one stream.
    pub(super) fn encoders(&self) -> Result<Vec<Encoder>> {
        let named = self.quasi_identifiers.iter().zip(self.key_schema.lookups());
        named
            .map(|(name, lookup)| Encoder::new(name, lookup.values()))
            .collect()
    }
}

/// Returns a column in the form TEXT, with the check that its labels cover values.
fn own(labels: Labels, key_schema: &KeySchema, column: usize) -> Result<Computed> {
    let released = labels.cover(&key_schema.lookups()[column])?;
    Ok(Computed {
        labels,
        chosen: None,
        released,
    })
}

/// Returns the index of the class of each combination; empty if there are no combinations.
fn numbers(labelling: &Labelling, key_schema: &KeySchema, combinations: Option<&FrequencySet>) -> Result<Vec<u32>> {
    combinations.map_or(Ok(vec![]), |set| labelling.numbers(key_schema, set))
}

/// Returns the classes if the form is computed for each class; `None` for any other form.
fn members<'a>(
    form: LabelForm,
    combinations: Option<&'a FrequencySet>,
    numbers: &'a [u32],
    classes: usize,
    released: impl FnOnce() -> Result<Vec<(u32, u32)>>,
) -> Result<Option<Members<'a>>> {
    let Some(combinations) = combinations.filter(|_| form.is_of_class()) else {
        return Ok(None);
    };
    Ok(Some(Members {
        classes,
        released: released()?,
        combinations,
        numbers,
    }))
}
