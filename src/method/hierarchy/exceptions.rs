//! The options of a hierarchy for unmapped values and for NULL.

use std::fmt;

/// The ON UNMAPPED option: the treatment of a value that the hierarchy does not map.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnUnmapped {
    /// The statement fails, and the error states the number of unmapped values and rows.
    #[default]
    Error,
    /// The rows with the value are suppressed.
    Suppress,
    /// The value is generalized to the top at every level above level 0. A column with an unmapped
    /// value is not released at level 0, where the label is the value itself.
    Top,
}

/// The NULLS option: the treatment of NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnNull {
    /// NULL is a separate value at every level below the top.
    #[default]
    Value,
    /// NULL is generalized to the top at every level above level 0.
    Top,
    /// The statement fails, and the error states the number of NULL rows.
    Error,
}

/// Writes the option as it is given in CREATE HIERARCHY.
impl fmt::Display for OnUnmapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OnUnmapped::Error => "ON UNMAPPED ERROR",
            OnUnmapped::Suppress => "ON UNMAPPED SUPPRESS",
            OnUnmapped::Top => "ON UNMAPPED TOP",
        })
    }
}

/// Writes the option as it is given in CREATE HIERARCHY.
impl fmt::Display for OnNull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OnNull::Value => "NULLS AS VALUE",
            OnNull::Top => "NULLS AS TOP",
            OnNull::Error => "NULLS ERROR",
        })
    }
}
