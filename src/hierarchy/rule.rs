//! What a kind of hierarchy makes: a generalization rule.

use crate::error::Result;
use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use std::fmt;

/// The label of a top level that is added where it is missing, and of a suppressed cell.
pub const TOP: &str = "*";

/// The most levels above the ground that a hierarchy may have.
pub const MAX_LEVELS: usize = 200;

/// A generalization rule: it says which label a ground value has at each level.
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
    /// The name of its kind, as the kind's entry has it.
    fn kind(&self) -> &'static str;

    /// Levels above the ground that [`GeneralizationRule::labels`] returns; a last level that is not single-valued gets
    /// a top on it.
    fn levels(&self) -> usize;

    /// How many ground values it lists; `None` for a rule that computes labels.
    fn listed(&self) -> Option<u64> {
        None
    }

    /// Whether columns of this type can be generalized. The error says which types can.
    fn accepts(&self, data_type: &DataType) -> Result<()>;

    /// The labels of `values` (of a type that was accepted), one array per level from level 1 on; a null label where
    /// the value is unmapped or null. For one value either all levels have a label or none has.
    fn labels(&self, values: &ArrayRef) -> Result<Vec<StringArray>>;

    /// The ground values of a hierarchy that lists them, cast to `data_type` where that can be; `None` for a rule that
    /// computes labels.
    fn ground(&self, data_type: &DataType) -> Result<Option<ArrayRef>> {
        let _ = data_type;
        Ok(None)
    }

    /// Whether the last level of [`GeneralizationRule::labels`] is single-valued for whatever data.
    fn ends_in_top(&self) -> bool {
        false
    }

    /// Whether [`GeneralizationRule::sql`] says all of it and holds nothing that was taken from data.
    fn is_free_of_data(&self) -> bool {
        false
    }

    /// The clause of CREATE HIERARCHY that makes it again, from `AS` or `FROM` on.
    fn sql(&self) -> String;

    /// What each level from level 1 on does; as many as [`GeneralizationRule::levels`].
    fn describe(&self) -> Vec<LevelRule>;
}

/// What one level of a hierarchy does, for people.
///
/// ```
/// use anonsql::extend::hierarchy::LevelRule;
/// let rule = LevelRule { rule: "the first character".into(), labels: Some(26) };
/// assert_eq!(rule.labels, Some(26));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LevelRule {
    /// The rule, without any value of the data.
    pub rule: String,
    /// How many labels the level has, where they are listed.
    pub labels: Option<u64>,
}
