//! Checks whether a level of QUANTILES can return a label.

use super::number::{Number, decimal};
use super::quantiles::{Quantiles, range};
use super::rule::TOP;
use arrow::array::Array;
use arrow::datatypes::DataType;
use chrono::NaiveDate;

impl Quantiles {
    /// Returns true if a level with `groups` groups has this label, and false if it does not. The
    /// type of the column is not known, so texts that are numbers are compared as numbers. Returns
    /// `None` if the bounds are instants that can be written in several ways, such as in several
    /// time zones.
    pub(super) fn has_label(&self, groups: u32, label: &str) -> Option<bool> {
        let step = (self.groups[0] / groups) as usize;
        let mut cuts: Vec<&str> = (step - 1..self.bounds.len())
            .step_by(step)
            .map(|i| self.bounds.value(i))
            .collect();
        cuts.dedup_by(|b, a| a == b || is_one_number(a, b));
        let is_own = (0..=cuts.len()).any(|group| {
            let low = group.checked_sub(1).map(|before| cuts[before]);
            has_ends(label, low, cuts.get(group).copied())
        });
        // A negative result is certain if the bounds are numbers or dates, because a date can be
        // written in only one way, or if the label has another format.
        let is_date = |text: &str| NaiveDate::parse_from_str(text, "%Y-%m-%d").is_ok();
        let is_certain = self.bare || self.bounds.iter().flatten().all(is_date) || !has_form(label);
        match is_own {
            true => Some(true),
            false => is_certain.then_some(false),
        }
    }
}

/// Returns true if `label` is the label of the values that are at least `low` and less than `high`.
fn has_ends(label: &str, low: Option<&str>, high: Option<&str>) -> bool {
    match (low, high) {
        (None, None) => label == TOP,
        (None, Some(high)) => label.strip_prefix('<').is_some_and(|text| is_same(text, high)),
        (Some(low), None) => label.strip_prefix(">=").is_some_and(|text| is_same(text, low)),
        (Some(low), Some(high)) => {
            let is_half_open = half_open(label).is_some_and(|(from, to)| is_same(from, low) && is_same(to, high));
            is_half_open || whole(low, high).as_deref() == Some(label)
        }
    }
}

/// Returns the two ends of a label with the format `[24.2, 27.3)`.
fn half_open(label: &str) -> Option<(&str, &str)> {
    label.strip_prefix('[')?.strip_suffix(')')?.split_once(", ")
}

/// Returns true if a label has the format of labels in a column whose values are not whole numbers.
fn has_form(label: &str) -> bool {
    label.starts_with('<') || label.starts_with(">=") || half_open(label).is_some()
}

/// Returns the label of the whole numbers that are at least `low` and less than `high`.
fn whole(low: &str, high: &str) -> Option<String> {
    let units = |text: &str| Number::parse(text)?.exact_at(0).map(|units| decimal(units, 0, 0));
    Some(range(&units(low)?, &units(high)?, &DataType::Int64))
}

/// Returns true if two texts represent the same number.
fn is_one_number(a: &str, b: &str) -> bool {
    Number::parse(a).is_some_and(|a| Some(a) == Number::parse(b))
}

/// Returns true if two texts represent the same value, for any type of numbers.
fn is_same(a: &str, b: &str) -> bool {
    // The bounds may have been computed from a column whose values have more digits than the values
    // of this column.
    let is_fraction = |text: &str| text.contains(['.', 'e', 'E']);
    let narrow = |text: &str| text.trim().parse::<f32>().ok().filter(|_| is_fraction(text));
    a == b || is_one_number(a, b) || narrow(a).is_some_and(|x| Some(x) == narrow(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::hierarchy::GeneralizationRule;
    use arrow::array::{ArrayRef, Date32Array, Float32Array, Float64Array, Int64Array, TimestampSecondArray};
    use arrow::compute::cast;
    use proptest::prelude::*;
    use std::sync::Arc;

    fn quantiles(groups: &[u32], bounds: &[&str]) -> Quantiles {
        let bounds: Vec<String> = bounds.iter().map(ToString::to_string).collect();
        Quantiles::from_bounds(groups, &bounds).unwrap()
    }

    #[test]
    fn only_labels_of_the_level_are_labels() {
        let ages = quantiles(&[4, 2], &["-5", "20", "40"]);
        for (label, levels) in [
            ("<-5", [true, false]),
            ("-5 to 19", [true, false]),
            ("20-39", [true, false]),
            (">=40", [true, false]),
            ("[20.0, 40.0)", [true, false]),
            ("<20", [false, true]),
            (">=20", [false, true]),
            ("<2999", [false; 2]),
            ("<=20", [false; 2]),
            ("20-38", [false; 2]),
            ("[20, 41)", [false; 2]),
            ("20", [false; 2]),
            ("*", [false; 2]),
            ("", [false; 2]),
        ] {
            assert_eq!(
                [1, 2].map(|level| ages.is_label(level, label)),
                levels.map(Some),
                "{label}"
            );
        }
        assert_eq!([ages.is_label(0, "<-5"), ages.is_label(3, "<-5")], [None; 2]);
        let days = quantiles(&[2], &["1950-01-01"]);
        assert_eq!(days.is_label(1, "<1950-01-01"), Some(true));
        assert_eq!(days.is_label(1, "<1960-01-01"), Some(false));
        let instants = quantiles(&[2], &["1950-01-01T00:00:00Z"]);
        assert_eq!(instants.is_label(1, "<1950-01-01T01:00:00+01:00"), None);
        assert_eq!(instants.is_label(1, "1950"), Some(false));
    }

    proptest! {
        /// Checks that each label of a level is recognized as a label of this level, for columns of
        /// every type.
        #[test]
        fn labels_are_not_refused(values in prop::collection::btree_set(-300i64..300, 1..40)) {
            let whole = Int64Array::from_iter_values(values.iter().copied());
            let tenths = Float64Array::from_iter_values(values.iter().map(|v| *v as f64 / 10.0));
            let narrow = Float32Array::from_iter_values(values.iter().map(|v| *v as f32 / 7.0));
            let days: ArrayRef = Arc::new(Date32Array::from_iter_values(values.iter().map(|v| *v as i32 * 40)));
            let decimals = cast(&tenths, &DataType::Decimal128(10, 3)).unwrap();
            let instants = TimestampSecondArray::from_iter_values(values.iter().map(|v| *v * 3_456_000));
            let instants: ArrayRef = Arc::new(instants.with_timezone("+02:00"));
            let columns: [ArrayRef; 6] = [Arc::new(whole), Arc::new(tenths), Arc::new(narrow), days, decimals, instants];
            for column in columns {
                let rule = Quantiles::of(&[8, 4, 2], &column, &vec![1; column.len()]).unwrap();
                for (level, labels) in (1..).zip(rule.labels(&column).unwrap()) {
                    for label in labels.iter().flatten() {
                        prop_assert_ne!(rule.is_label(level, label), Some(false), "{} {}", label, level);
                    }
                }
            }
        }
    }
}
