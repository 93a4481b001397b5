//! A release as VERIFY knows it, and the result of comparing it with a requirement.

use super::looked::LowestLabels;
use crate::base::error::Result;
use crate::method::hierarchy::Hierarchy;
use crate::method::masks::MaskKind;
use crate::method::suggest::Facts;
use arrow::array::{ArrayRef, AsArray, UInt32Array};
use arrow::compute::{cast, take};
use arrow::datatypes::DataType;
use std::sync::Arc;

/// A release: its columns as the manifest describes them, and counts of its rows.
#[derive(Debug)]
pub struct RecordedRelease {
    /// The released columns.
    pub columns: Vec<RecordedColumn>,
    /// The number of rows, or of persons if the rows name them, in the smallest class; `None` if
    /// there is no class.
    pub smallest_class: Option<u64>,
    /// Whether the release counts persons, but its rows do not name them.
    pub lacks_persons: bool,
}

/// A column of a release.
#[derive(Debug)]
pub struct RecordedColumn {
    /// The facts about the column: its name and the kind of its values. No value is known.
    pub facts: Facts,
    /// How the column was released.
    pub form: RecordedForm,
}

/// How a column was released.
#[derive(Debug)]
pub enum RecordedForm {
    /// With its values unchanged.
    Unchanged,
    /// With a mask of this kind; `None` if the manifest names a mask that is not known.
    Masked(Option<&'static MaskKind>),
    /// With labels.
    Generalized(RecordedLabels),
}

/// The labels of a quasi-identifier, as far as the manifest shows them.
#[derive(Debug)]
pub struct RecordedLabels {
    /// The lowest level at which the column may have been released.
    pub lowest: u8,
    /// The column's hierarchy, if the manifest defines it.
    pub hierarchy: Option<Arc<Hierarchy>>,
    /// The type of the column in the source, if the manifest contains it.
    pub of_type: Option<DataType>,
    /// Whether the released value is computed from labels or values: see
    /// [`LowestLabels::computed`].
    pub computed: bool,
}

impl RecordedLabels {
    /// Returns the labels that the hierarchy gives at the lowest level to the values that `values`
    /// returns for the type of the column. Returns `None` if the manifest does not contain the
    /// hierarchy or the type, or if `values` returns `None`.
    pub fn of_values(
        &self,
        values: impl FnOnce(&DataType) -> Result<Option<ArrayRef>>,
    ) -> Result<Option<LowestLabels>> {
        let (Some(hierarchy), Some(of_type)) = (&self.hierarchy, &self.of_type) else {
            return Ok(None);
        };
        let Some(values) = values(of_type)? else {
            return Ok(None);
        };
        let level = self.lowest.min(hierarchy.height());
        let lookup = hierarchy.bind(values)?;
        let labels = lookup.level(level).codes.clone();
        let texts = cast(&lookup.level(level).labels, &DataType::Utf8)?;
        let texts = take(&texts, &UInt32Array::from(labels.clone()), None)?;
        Ok(Some(LowestLabels {
            level,
            texts: texts.as_string::<i32>().clone(),
            values: Arc::clone(lookup.values()),
            labels,
            computed: self.computed,
        }))
    }
}

/// The result of comparing a release with a requirement.
#[derive(Debug)]
pub enum ReleaseCheck {
    /// The release was compared. The remarks name the parts that could not be compared.
    Checked {
        /// The compared count.
        check: StandardCheck,
        /// What could not be compared.
        remarks: Vec<Remark>,
    },
    /// The release could not be compared, for the reason in the remark.
    NotChecked(Remark),
}

/// A count of a release that a requirement limits. Whether the check holds follows from the count
/// alone.
#[derive(Debug)]
pub enum StandardCheck {
    /// The count must be 0.
    NoneOf {
        /// What is counted.
        what: String,
        /// The number found.
        found: u64,
    },
    /// The count must be at least `least`.
    AtLeast {
        /// What is counted.
        what: String,
        /// The required minimum.
        least: u64,
        /// The count; `None` if there is nothing to count, in which case the check holds.
        reached: Option<u64>,
    },
}

impl StandardCheck {
    /// Returns true if the count is within the limit.
    pub fn holds(&self) -> bool {
        match self {
            Self::NoneOf { found, .. } => *found == 0,
            Self::AtLeast { least, reached, .. } => reached.is_none_or(|reached| reached >= *least),
        }
    }
}

/// A part of a requirement that could not be checked.
#[derive(Debug)]
pub enum Remark {
    /// More information about the release would decide it.
    Gap(String),
    /// No information about the release decides it.
    Unchecked(String),
}
