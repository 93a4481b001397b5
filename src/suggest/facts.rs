//! What is known of a column: facts about its values, and never a value.

use arrow::datatypes::DataType;

/// From this part of distinct values on, a code is unique (counts may be estimates).
pub(super) const UNIQUE: f64 = 0.95;
/// Fewer rows are too few to call anything unique.
pub(super) const FEW_ROWS: u64 = 20;

/// What a column's values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Strings.
    Text,
    /// Whole numbers.
    Integer,
    /// Other numbers.
    Number,
    /// Dates and timestamps.
    Date,
    /// True and false, times of day.
    Other,
    /// Bytes.
    Binary,
    /// Lists, structs, maps.
    Nested,
}

impl Kind {
    /// The kind of a column's type.
    pub fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Self::Date,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
                Self::Binary
            }
            t if t.is_nested() => Self::Nested,
            t if t.is_integer() => Self::Integer,
            t if t.is_numeric() => Self::Number,
            _ => Self::Other,
        }
    }
}

/// What is known of a column.
#[derive(Debug, Clone)]
pub struct Facts {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// Rows with a value.
    pub values: u64,
    /// Distinct values.
    pub distinct: u64,
    /// Whether `distinct` is an estimate.
    pub estimated: bool,
    /// The share of pairs of rows that differ in it.
    pub separation: f64,
    /// Greatest less least value, of numbers.
    pub range: Option<f64>,
    /// Some values as text.
    pub sample: Vec<String>,
}

impl Facts {
    /// Distinct values per value.
    pub(super) fn distinction(&self) -> f64 {
        self.distinct as f64 / self.values.max(1) as f64
    }

    pub(super) fn is_unique(&self) -> bool {
        self.values >= FEW_ROWS && self.distinction() >= UNIQUE
    }

    /// The counts, as part of a reason.
    pub(super) fn counts(&self) -> String {
        if self.values == 0 {
            return "no values".into();
        }
        format!(
            "{}{} value{}, distinction {}, separation {}",
            if self.estimated { "about " } else { "" },
            self.distinct,
            if self.distinct == 1 { "" } else { "s" },
            percent(self.distinction().min(1.0)),
            percent(self.separation)
        )
    }
}

fn percent(share: f64) -> String {
    match share * 100.0 {
        p if p > 0.0 && p < 0.1 => "below 0.1 %".into(),
        p if p > 99.9 && p < 100.0 => "above 99.9 %".into(),
        p => format!("{p:.1} %"),
    }
}
