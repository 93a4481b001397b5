//! The trait of the generalization rules that the kinds of hierarchies build.

use super::codes::{Codes, Side};
use crate::error::Result;
use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use std::fmt;

/// The label of a suppressed cell, and of the top level that is added to a rule without a top
/// level.
pub const TOP: &str = "*";

/// The label of people whose value a hierarchy with ON UNMAPPED SUPPRESS does not map. No released
/// row has this label, so these people are in no released class.
pub(crate) const UNMAPPED: &str = "\u{10FFFF}not in the hierarchy";

/// The greatest number of levels above level 0.
pub const MAX_LEVELS: usize = 200;

/// A generalization rule: the label of a ground value at each level.
///
/// ```
/// use anonsql::error::{Error, Result};
/// use anonsql::extend::hierarchy::{GeneralizationRule, LevelRule};
/// use datafusion::arrow::array::{ArrayRef, AsArray, StringArray};
/// use datafusion::arrow::datatypes::DataType;
///
/// /// Texts by their first character.
/// #[derive(Debug)]
/// struct Initial;
///
/// impl GeneralizationRule for Initial {
///     fn kind(&self) -> &'static str {
///         "initial"
///     }
///
///     fn levels(&self) -> usize {
///         1
///     }
///
///     fn accepts(&self, data_type: &DataType) -> Result<()> {
///         match data_type {
///             DataType::Utf8 => Ok(()),
///             other => Err(Error::usage(format!("INITIAL generalizes strings, not {other}"))),
///         }
///     }
///
///     fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>> {
///         let texts = values.as_string::<i32>().iter();
///         let initial = |text: &str| text.chars().take(1).collect::<String>();
///         Ok(vec![texts.map(|text| text.map(initial)).collect()])
///     }
///
///     fn sql(&self) -> String {
///         "AS INITIAL".into()
///     }
///
///     fn describe(&self) -> Vec<LevelRule> {
///         vec![LevelRule { rule: "the first character".into(), labels: None }]
///     }
/// }
/// ```
pub trait GeneralizationRule: fmt::Debug + Send + Sync {
    /// Returns the name of the rule's kind, as in the entry of the kind.
    fn kind(&self) -> &'static str;

    /// Returns the number of levels above level 0 that [`GeneralizationRule::labels`] returns. If
    /// the last of these levels is not single-valued, a top level is added.
    fn levels(&self) -> usize;

    /// Returns the number of ground values that the rule lists; `None` for a rule that computes
    /// labels.
    fn listed(&self) -> Option<u64> {
        None
    }

    /// Fails if columns of this type cannot be generalized. The error names the types that can be
    /// generalized.
    fn accepts(&self, data_type: &DataType) -> Result<()>;

    /// Returns the labels of `values`, which have an accepted type: one array per level, starting
    /// at level 1. The label of an unmapped value or of NULL is null. A value has labels either at
    /// all levels or at none.
    fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>>;

    /// Returns the ground values of a rule that lists them, cast to `data_type` if possible; `None`
    /// for a rule that computes labels.
    fn ground(&self, data_type: &DataType) -> Result<Option<ArrayRef>> {
        let _ = data_type;
        Ok(None)
    }

    /// Returns the codes of the rule (TOP CODE, BOTTOM CODE); `None` for a rule without codes. No
    /// label at any level distinguishes the values beyond a code.
    fn codes(&self) -> Option<Codes> {
        None
    }

    /// Returns, for each value in `values`, the code that hides the value; `None` for every value
    /// if the rule has no codes. The values have an accepted type. The label of a hidden value is
    /// the same at every level, and it replaces the value at level 0.
    fn hidden(&self, values: &ArrayRef) -> Result<Vec<Option<Side>>> {
        Ok(vec![None; values.len()])
    }

    /// Returns whether level `level` can give `label` to some value of any accepted type. `level`
    /// is from 1 to [`GeneralizationRule::levels`]. Returns `None` if the answer depends on the
    /// values of the column, or is not known. The answer for a label that the level gives is never
    /// `Some(false)`. A rule that lists its values need not implement this method.
    fn is_label(&self, level: u8, label: &str) -> Option<bool> {
        let _ = (level, label);
        None
    }

    /// Returns true if the labels reveal no more than the intervals that they name, so that local
    /// recoding may release other ranges with the same ends.
    fn is_intervals(&self) -> bool {
        false
    }

    /// Returns true if the last level of [`GeneralizationRule::labels`] is single-valued for any
    /// data.
    fn ends_in_top(&self) -> bool {
        false
    }

    /// Returns true if [`GeneralizationRule::sql`] contains the whole rule and no part of it was
    /// taken from data.
    fn is_free_of_data(&self) -> bool {
        false
    }

    /// Returns true if the label of a value of this type depends on all values of the column, not
    /// on the value alone. Statements that see only some of the column's values refuse such a rule.
    fn reads_whole_column(&self, data_type: &DataType) -> bool {
        let _ = data_type;
        false
    }

    /// Returns the clause of CREATE HIERARCHY that recreates the rule. The clause begins with `AS`
    /// or `FROM`.
    fn sql(&self) -> String;

    /// Describes each level, starting at level 1. The number of descriptions is
    /// [`GeneralizationRule::levels`].
    fn describe(&self) -> Vec<LevelRule>;
}

/// The description of one level of a hierarchy, for people.
///
/// ```
/// use anonsql::extend::hierarchy::LevelRule;
/// let rule = LevelRule { rule: "the first character".into(), labels: Some(26) };
/// assert_eq!(rule.labels, Some(26));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelRule {
    /// The rule of the level, which must not contain a value of the data.
    pub rule: String,
    /// The number of labels at the level, if they are listed.
    pub labels: Option<u64>,
}
