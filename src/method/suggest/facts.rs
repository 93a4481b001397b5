//! The facts about a column from which its role is proposed: its name and type, counts, and sampled
//! values.

use arrow::datatypes::DataType;

/// The minimum distinction (distinct values divided by values) for values to count as unique codes.
/// It is below 1, because counts may be estimates.
pub(super) const UNIQUE: f64 = 0.95;
/// The distinction above which a column is treated as a column of codes if its name means a code.
pub(super) const CODES: f64 = 0.05;
/// The minimum share of the sampled values that must have a form for the column to have this form.
pub(super) const MOST: f64 = 0.8;
/// The minimum number of rows or values required to call a column unique, constant or an entity.
/// With fewer, this may be due to chance.
pub(super) const FEW_ROWS: u64 = 20;

/// The kind of the values in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Strings.
    Text,
    /// Whole numbers.
    Integer,
    /// Other numbers.
    Number,
    /// Dates and timestamps.
    Date,
    /// Booleans and times of day.
    Other,
    /// Bytes.
    Binary,
    /// Lists, structs, maps, and other types that cannot be generalized.
    Nested,
}

impl ValueKind {
    /// Returns the kind of the values in a column with this type.
    pub fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Dictionary(_, values) => Self::of(values),
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Self::Date,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => {
                Self::Binary
            }
            t if t.is_integer() => Self::Integer,
            DataType::Decimal32(_, scale)
            | DataType::Decimal64(_, scale)
            | DataType::Decimal128(_, scale)
            | DataType::Decimal256(_, scale)
                if *scale <= 0 =>
            {
                Self::Integer
            }
            t if t.is_numeric() => Self::Number,
            DataType::Boolean | DataType::Time32(_) | DataType::Time64(_) => Self::Other,
            _ => Self::Nested,
        }
    }
}

/// The facts about a column.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The name of the column.
    pub name: String,
    /// The kind of its values.
    pub kind: ValueKind,
    /// The number of rows of the table.
    pub rows: u64,
    /// The number of rows with a value.
    pub values: u64,
    /// The number of distinct values.
    pub distinct: u64,
    /// True if `distinct` is an estimate.
    pub estimated: bool,
    /// The share of pairs of rows in which the two rows have different values.
    pub separation: f64,
    /// The difference between the maximum and the minimum, for columns of numbers.
    pub range: Option<f64>,
    /// The year of the earliest value, for columns of dates and timestamps.
    pub oldest: Option<i32>,
    /// False if a value is NaN or infinite.
    pub is_finite: bool,
    /// A sample of the values, as text.
    pub sample: Vec<String>,
}

impl Facts {
    /// Returns the facts about a column that are known before any value is read: its name and the
    /// kind of its values.
    pub(crate) fn of_name(name: &str, kind: ValueKind) -> Self {
        Self {
            name: name.into(),
            kind,
            rows: 0,
            values: 0,
            distinct: 0,
            estimated: false,
            separation: 0.0,
            range: None,
            oldest: None,
            is_finite: true,
            sample: vec![],
        }
    }

    /// Returns the number of distinct values divided by the number of values.
    pub(super) fn distinction(&self) -> f64 {
        self.distinct as f64 / self.values.max(1) as f64
    }

    /// Returns true if nearly all values are different.
    pub fn is_unique(&self) -> bool {
        self.values >= FEW_ROWS && self.distinction() >= UNIQUE
    }

    /// Returns true if all rows have the same value, and there are enough rows to rule out chance.
    pub(super) fn is_constant(&self) -> bool {
        self.rows >= FEW_ROWS && self.values == self.rows && self.distinct <= 1
    }

    /// Returns the sampled values, trimmed, without those that are then empty.
    pub(super) fn texts(&self) -> Vec<&str> {
        let texts = self.sample.iter().map(|v| v.trim());
        texts.filter(|v| !v.is_empty()).collect()
    }

    /// Returns the counts as text. A proposal appends this text to its reason.
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
