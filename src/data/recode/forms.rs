//! Computes the released values of a quasi-identifier whose form is not TEXT (LABELS).

use super::class_values::{GroundCount, class_values};
use super::labels::Labels;
use crate::base::error::{Error, ErrorKind, Result};
use crate::data::frequency::FrequencySet;
use crate::method::hierarchy::{Bounds, Cover, Label, LabelForm, Lookup, TOP, texts};
use crate::method::key::KeySchema;
use arrow::array::{Array, AsArray, BooleanArray, StringArray};
use arrow::compute::{cast, nullif};
use arrow::datatypes::DataType;
use std::sync::Arc;

/// The labels that were chosen for a column. A label is identified by its index.
pub(super) enum ChosenLabels<'a> {
    /// The labels of a level.
    Level(u8),
    /// Labels from a partition, with their texts.
    Labels(&'a [Label], &'a Arc<StringArray>),
}

impl ChosenLabels<'_> {
    fn texts(&self, lookup: &Lookup) -> Result<StringArray> {
        Ok(match self {
            ChosenLabels::Level(level) => texts(&lookup.level(*level).labels)?,
            ChosenLabels::Labels(_, texts) => StringArray::clone(texts),
        })
    }

    fn bounds(&self, lookup: &Lookup) -> Result<Bounds> {
        match self {
            ChosenLabels::Level(level) => Bounds::of_level(lookup, *level),
            ChosenLabels::Labels(labels, _) => Bounds::of_labels(lookup, labels),
        }
    }
}

/// The classes of a release, and the combinations of ground values in them.
pub(super) struct Members<'a> {
    /// The number of classes.
    pub(super) classes: usize,
    /// The index of each released class, and the index of its label in the column.
    pub(super) released: Vec<(u32, u32)>,
    /// The combinations of ground values.
    pub(super) combinations: &'a FrequencySet,
    /// For each combination, the index of its class.
    pub(super) numbers: &'a [u32],
}

/// A quasi-identifier as a column of packed keys.
#[derive(Clone, Copy)]
pub(super) struct KeyColumn<'a> {
    pub(super) key_schema: &'a KeySchema,
    /// The index of the column.
    pub(super) column: usize,
}

impl<'a> KeyColumn<'a> {
    fn lookup(self) -> &'a Arc<Lookup> {
        &self.key_schema.lookups()[self.column]
    }
}

/// A column in the form in which it is released.
pub(super) struct Computed {
    pub(super) labels: Labels,
    /// Checks that a chosen label covers a value; `None` unless the form is computed.
    pub(super) chosen: Option<Arc<Cover>>,
    /// Checks that a released value covers a value; `None` if the released value alone does not
    /// determine which values it covers.
    pub(super) released: Option<Arc<Cover>>,
}

/// Computes the released values for the labels that were chosen for a column, in the form `form`.
/// `members` is required if the form is computed for each class.
pub(super) fn computed(
    form: LabelForm,
    column: KeyColumn<'_>,
    chosen: &ChosenLabels,
    members: Option<Members>,
    starred: bool,
) -> Result<Computed> {
    let lookup = column.lookup();
    let texts = chosen.texts(lookup)?;
    let values = match (form, members) {
        (LabelForm::Bounds, _) => chosen.bounds(lookup)?.structs()?,
        (LabelForm::Midpoint, _) => {
            let bounds = chosen.bounds(lookup)?;
            let midpoints = bounds.midpoints()?;
            if !bounds.enclose(&midpoints)? {
                return Err(Error::new(
                    ErrorKind::Verification,
                    "the middle of a label is not within its bounds; nothing was published",
                ));
            }
            midpoints
        }
        (_, Some(members)) => of_classes(form, column, &texts, &members)?,
        (_, None) => return Err(Error::internal("a form of the class without classes")),
    };
    let labels = Labels::of_values(form, &values, starred)?;
    let released = match form {
        LabelForm::Bounds => Some(Arc::new(Cover::of_bounds(Arc::clone(lookup), &labels.values)?)),
        _ => None,
    };
    Ok(Computed {
        labels,
        chosen: Some(Arc::new(Cover::new(Arc::clone(lookup), texts)?)),
        released,
    })
}

/// Returns the value of each class. The value is NULL if the class is suppressed, or if the label
/// of the class is NULL or the label of the top.
fn of_classes(
    form: LabelForm,
    column: KeyColumn<'_>,
    texts: &StringArray,
    members: &Members,
) -> Result<arrow::array::ArrayRef> {
    let (lookup, layout) = (column.lookup(), column.key_schema.layout());
    let top = cast(&lookup.level(lookup.top()).labels, &DataType::Utf8)?;
    let top = top.as_string::<i32>().iter().flatten().next().unwrap_or(TOP);
    let mut is_told = vec![false; members.classes];
    for (number, label) in &members.released {
        let label = *label as usize;
        is_told[*number as usize] = texts.is_valid(label) && texts.value(label) != top;
    }
    let set = members.combinations;
    let told = (0..set.len()).filter(|i| is_told[members.numbers[*i] as usize]);
    let counted = told.map(|i| GroundCount {
        class: members.numbers[i],
        code: layout.code(set.key(i), column.column),
        rows: set.counts()[i],
    });
    let values = class_values(form, lookup, counted.collect(), members.classes)?;
    let untold: BooleanArray = is_told.into_iter().map(|told| Some(!told)).collect();
    Ok(nullif(&values, &untold)?)
}
