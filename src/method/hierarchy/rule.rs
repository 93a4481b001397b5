//! The trait of generalization rules. Every kind of hierarchy builds such a rule.

use super::codes::{Codes, Side};
use crate::base::error::Result;
use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use std::fmt;

/// The label of a suppressed cell, and of the top level that is added to a rule without a top
/// level.
pub const TOP: &str = "*";

/// The label of those people in a population whose values are unmapped in a hierarchy with ON
/// UNMAPPED SUPPRESS. No released row has this label, so these people belong to no released class.
pub(crate) const UNMAPPED: &str = "\u{10FFFF}not in the hierarchy";

/// The maximum number of levels above level 0.
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
    /// Returns the name of the kind that built the rule, as in the entry of the kind.
    fn kind(&self) -> &'static str;

    /// Returns the number of levels above level 0 that [`GeneralizationRule::labels`] returns. If
    /// the last of these levels may have more than one label, a top level is added.
    fn levels(&self) -> usize;

    /// Returns the number of ground values that the rule lists; `None` if the rule computes labels.
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

    /// Returns the ground values that the rule lists, cast to `data_type` if possible; `None` if
    /// the rule computes labels.
    fn ground(&self, data_type: &DataType) -> Result<Option<ArrayRef>> {
        let _ = data_type;
        Ok(None)
    }

    /// Returns the codes of the rule (TOP CODE, BOTTOM CODE); `None` if the rule has no codes. The
    /// values that a code hides have the same label at every level.
    fn codes(&self) -> Option<Codes> {
        None
    }

    /// Returns, for each value in `values`, the code that hides it, or `None` if no code hides it.
    /// The values have an accepted type. A hidden value has the same label at every level,
    /// including level 0.
    fn hidden(&self, values: &ArrayRef) -> Result<Vec<Option<Side>>> {
        Ok(vec![None; values.len()])
    }

    /// Returns true if level `level` can return `label` for some value of any accepted type, and
    /// false if it cannot. `level` is from 1 to [`GeneralizationRule::levels`]. Returns `None` if
    /// this depends on the values of the column, or is not known. For a label that the level does
    /// return, the result must not be `Some(false)`. A rule that lists its values need not
    /// implement this method.
    fn is_label(&self, level: u8, label: &str) -> Option<bool> {
        let _ = (level, label);
        None
    }

    /// Returns true if the labels reveal no more than the intervals that they name, so that local
    /// recoding may release other ranges with the same ends.
    fn is_intervals(&self) -> bool {
        false
    }

    /// Returns true if the last level of [`GeneralizationRule::labels`] has a single label for any
    /// data.
    fn ends_in_top(&self) -> bool {
        false
    }

    /// Returns true if [`GeneralizationRule::sql`] contains the whole rule and no part of the rule
    /// was taken from data.
    fn is_free_of_data(&self) -> bool {
        false
    }

    /// Returns true if, for a column of this type, the label of a value depends on all values of
    /// the column, and not on the value alone. Statements that process only some of the column's
    /// values fail with such a rule.
    fn reads_whole_column(&self, data_type: &DataType) -> bool {
        let _ = data_type;
        false
    }

    /// Returns the clause of CREATE HIERARCHY that recreates the rule, beginning with `AS` or
    /// `FROM`.
    fn sql(&self) -> String;

    /// Returns a description of each level, starting at level 1. The number of descriptions is
    /// [`GeneralizationRule::levels`].
    fn describe(&self) -> Vec<LevelRule>;
}

/// A human-readable description of one level of a hierarchy.
///
/// ```
/// use anonsql::extend::hierarchy::LevelRule;
/// let rule = LevelRule { rule: "the first character".into(), labels: Some(26) };
/// assert_eq!(rule.labels, Some(26));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelRule {
    /// The description of the rule. It must not contain a value from the data.
    pub rule: String,
    /// The number of labels at the level; `None` if the labels are computed.
    pub labels: Option<u64>,
}
