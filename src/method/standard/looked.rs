//! A column of a request, in the form in which a standard examines it.

use crate::base::error::Result;
use crate::method::masks::MaskKind;
use crate::method::suggest::Facts;
use arrow::array::{ArrayRef, AsArray, StringArray, new_empty_array};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use std::collections::HashMap;

/// A column of a request.
#[derive(Debug)]
pub struct Looked {
    /// The facts about the column. Before any data is read, only its name and its type are known.
    pub facts: Facts,
    /// How the column is released.
    pub treated: Treated,
}

/// How a column is released.
#[derive(Debug)]
pub enum Treated {
    /// With its values unchanged.
    Unchanged,
    /// With a mask of this kind.
    Masked(&'static MaskKind),
    /// With the given labels.
    Generalized(LowestLabels),
    /// With labels that are not known yet, because no data was read.
    Unseen,
}

/// The labels of a quasi-identifier at the lowest level that the request allows.
#[derive(Debug)]
pub struct LowestLabels {
    /// The level of the labels.
    pub level: u8,
    /// The distinct values of the column.
    pub values: ArrayRef,
    /// For each value, the index of its label. Values with the same index have the same label.
    pub labels: Vec<u32>,
    /// For each value, its label as text.
    pub texts: StringArray,
    /// Whether the released value is computed from labels or values, such as their mean. In this
    /// case, it is neither a label nor the bounds of a label.
    pub computed: bool,
}

impl LowestLabels {
    /// Returns a level without values and labels, for a request whose data has not been read.
    pub fn of_level(level: u8) -> Self {
        Self {
            level,
            values: new_empty_array(&DataType::Utf8),
            labels: vec![],
            texts: StringArray::new_null(0),
            computed: false,
        }
    }

    /// Returns true if any value is equal to its label.
    pub fn has_a_value(&self) -> Result<bool> {
        let values = cast(&self.values, &DataType::Utf8)?;
        let mut own = values.as_string::<i32>().iter().zip(&self.texts);
        Ok(own.any(|(value, label)| value.is_some() && value == label))
    }

    /// Returns true if all values of a group have the same label. `groups` has the group of each
    /// value; a value without a group may have any label.
    pub fn gathers(&self, groups: &[Option<i64>]) -> bool {
        let mut labels: HashMap<i64, u32> = HashMap::new();
        let mut grouped = groups.iter().zip(&self.labels);
        grouped.all(|(group, label)| group.is_none_or(|group| *labels.entry(group).or_insert(*label) == *label))
    }
}
