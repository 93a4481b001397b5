//! What becomes of values that a generalization rule says nothing of.

use std::fmt;

/// What becomes of a value that the hierarchy does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnUnmapped {
    /// The statement fails and says how many values and rows there are.
    #[default]
    Error,
    /// Its rows are suppressed.
    Suppress,
    /// It generalizes to the top at every level above the ground.
    Top,
}

/// What becomes of NULL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnNull {
    /// NULL is a value of its own below the top.
    #[default]
    Value,
    /// NULL generalizes to the top at every level above the ground.
    Top,
    /// The statement fails and says how many rows there are.
    Error,
}

/// As CREATE HIERARCHY has it.
impl fmt::Display for OnUnmapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OnUnmapped::Error => "ON UNMAPPED ERROR",
            OnUnmapped::Suppress => "ON UNMAPPED SUPPRESS",
            OnUnmapped::Top => "ON UNMAPPED TOP",
        })
    }
}

/// As CREATE HIERARCHY has it.
impl fmt::Display for OnNull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OnNull::Value => "NULLS AS VALUE",
            OnNull::Top => "NULLS AS TOP",
            OnNull::Error => "NULLS ERROR",
        })
    }
}
