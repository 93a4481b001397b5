//! The forms in which the labels of a quasi-identifier are released (LABELS).

use std::fmt;

/// The form of released labels.
///
/// The form determines how a label is released. It does not affect the choice and the checks of the
/// equivalence classes, which depend only on the labels. Two classes with the same released values
/// cannot be distinguished in the release, and the recount counts them as one class. In every form
/// except TEXT, the top of the hierarchy (`*`), which reveals nothing, is released as NULL. So are
/// the values of a suppressed row that is kept in the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LabelForm {
    /// The text of the label.
    #[default]
    Text,
    /// The minimum and the maximum value that the label covers, as a struct with the fields `low`
    /// and `high`.
    Bounds,
    /// The midpoint of the label's bounds.
    Midpoint,
    /// The mean of the values of the class.
    Mean,
    /// The median of the values of the class.
    Median,
    /// The most frequent value of the class.
    Mode,
}

impl LabelForm {
    /// Every form, in the order in which the language reference lists them.
    pub const ALL: [Self; 6] = [
        Self::Text,
        Self::Bounds,
        Self::Midpoint,
        Self::Mean,
        Self::Median,
        Self::Mode,
    ];

    /// Returns the keyword of the form.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Text => "TEXT",
            Self::Bounds => "BOUNDS",
            Self::Midpoint => "MIDPOINT",
            Self::Mean => "MEAN",
            Self::Median => "MEDIAN",
            Self::Mode => "MODE",
        }
    }

    /// Returns true if the released value is computed from the bounds of the label.
    pub const fn is_of_label(self) -> bool {
        matches!(self, Self::Bounds | Self::Midpoint)
    }

    /// Returns true if the released value is computed from the values of the class.
    pub const fn is_of_class(self) -> bool {
        matches!(self, Self::Mean | Self::Median | Self::Mode)
    }

    /// Returns true if the form can be computed only for numbers, dates or timestamps.
    pub const fn needs_order(self) -> bool {
        !matches!(self, Self::Text | Self::Mode)
    }
}

impl fmt::Display for LabelForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}
