//! Labels that are released in a form other than TEXT: how they are interpreted, and of which
//! source values they are true.
//!
//! Bounds are read as the text of a range. The other forms are single values. A released midpoint,
//! mean or median is true of a value of the source if the bounds of the value's label enclose both
//! the released value and the source's value. A released mode is true of a value of the source if
//! both have the same label. This requires the hierarchy and the level, because a release of single
//! values does not contain the ranges of a local recoding. NULL contains no information, and is
//! true of every value.

use crate::base::error::Result;
use crate::method::hierarchy::{Bounds, LabelForm, Lookup, texts as written};
use arrow::array::{ArrayRef, StringArray};
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the released values of the labels at a level, for a form that depends on the label
/// alone. Bounds are returned as texts.
pub(super) fn values_of_level(form: LabelForm, lookup: &Lookup, level: u8) -> Result<ArrayRef> {
    let bounds = Bounds::of_level(lookup, level)?;
    Ok(match form {
        LabelForm::Bounds => Arc::new(bounds.texts()?) as ArrayRef,
        _ => bounds.midpoints()?,
    })
}

/// Released single values, and the ground codes of which they are true.
pub(super) struct SingleValues {
    /// The label of each ground code at the released level.
    codes: Vec<u32>,
    is_true: IsTrue,
}

enum IsTrue {
    /// True if the bounds of the label with index `.0` enclose the released value with index `.1`.
    Enclosed(Box<dyn Fn(usize, usize) -> bool + Send + Sync>),
    /// The label of each released value; `None` if the released value is not a value of the source.
    Same(Vec<Option<u32>>),
}

impl SingleValues {
    /// Returns the single values `texts` of a column that is released at `level`. Returns `None` if
    /// the labels at the level have no bounds, because it is then unknown of which ground codes the
    /// values are true.
    pub(super) fn of(form: LabelForm, lookup: &Lookup, level: u8, texts: &StringArray) -> Result<Option<Self>> {
        let codes = lookup.level(level).codes.clone();
        let is_true = match form {
            LabelForm::Mode => {
                let values = written(lookup.values())?;
                let index: HashMap<&str, usize> = values.iter().zip(0..).filter_map(|(v, i)| Some((v?, i))).collect();
                let label = |text: Option<&str>| index.get(text?).map(|code| codes[*code]);
                IsTrue::Same(texts.iter().map(label).collect())
            }
            _ => match Bounds::of_level(lookup, level).and_then(|bounds| bounds.enclosing_texts(texts)) {
                Ok(encloses) => IsTrue::Enclosed(encloses),
                Err(_) => return Ok(None),
            },
        };
        Ok(Some(Self { codes, is_true }))
    }

    /// Returns true if the released value with index `value` is true of the ground code `code`.
    pub(super) fn covers(&self, code: u32, value: u32) -> bool {
        let label = self.codes[code as usize];
        match &self.is_true {
            IsTrue::Enclosed(encloses) => encloses(label as usize, value as usize),
            IsTrue::Same(labels) => labels[value as usize] == Some(label),
        }
    }
}
