//! A first hierarchy for a quasi-identifier, which can be run unchanged.

use super::facts::{Facts, Kind};
use super::patterns::Pattern;
use super::vocabulary::Meaning;
use crate::quoting::literal;

/// The approximate number of groups on the first level of numbers.
const GROUPS: f64 = 20.0;

/// Returns the rule of a hierarchy as SQL, from `AS` on, and a note about it for people.
pub(super) fn rule(facts: &Facts, pattern: Option<Pattern>, meaning: Option<Meaning>) -> (String, &'static str) {
    match (facts.kind, pattern) {
        (Kind::Date, _) => ("AS TRUNCATE (MONTH, QUARTER, YEAR, DECADE)".into(), ""),
        // 20240517 without its day, and without its month.
        (Kind::Integer, Some(Pattern::Date(_))) => ("AS INTERVALS (100, 10000)".into(), ""),
        (Kind::Integer | Kind::Number, _) if meaning == Some(Meaning::Age) => {
            ("AS INTERVALS (5, 10, 20) TOP CODE 90".into(), "")
        }
        // The digits of a postal code at its end are the finest.
        (Kind::Integer, _) if meaning == Some(Meaning::Place) && facts.range.is_some_and(|r| r >= 1000.0) => {
            ("AS INTERVALS (10, 100, 1000)".into(), "")
        }
        (Kind::Integer | Kind::Number, _) => (numbers(facts), ""),
        (Kind::Text, Some(Pattern::Date(spelling))) => {
            let (units, note) = match spelling.is_ambiguous {
                true => (
                    "YEAR, DECADE",
                    "; days and months may be either way round, so only the year is used",
                ),
                false => ("MONTH, QUARTER, YEAR, DECADE", ""),
            };
            let format = literal(spelling.format);
            (format!("AS TRUNCATE ({units}) FORMAT {format} ON UNMAPPED TOP"), note)
        }
        (Kind::Text, Some(Pattern::DateTime)) => ("AS PREFIX (10, 7, 4)".into(), ""),
        (Kind::Text, Some(Pattern::Postcode(kept))) => (prefix(kept), ""),
        (Kind::Text, _) => texts(facts),
        (Kind::Other | Kind::Binary | Kind::Nested, _) => (SUPPRESSION.into(), ""),
    }
}

const SUPPRESSION: &str = "AS SUPPRESSION";

fn prefix(kept: &[u8]) -> String {
    let kept: Vec<String> = kept.iter().map(ToString::to_string).collect();
    format!("AS PREFIX ({})", kept.join(", "))
}

/// Returns groups with a width of 1, 2 or 5 times a power of ten, and of twice and four times that width.
fn numbers(facts: &Facts) -> String {
    let range = facts.range.filter(|r| r.is_finite() && *r > 0.0);
    let Some(range) = range.filter(|_| facts.distinct > 2) else {
        return SUPPRESSION.into();
    };
    let wanted = range / GROUPS;
    let mut exponent = wanted.log10().floor() as i32;
    let steps = [1i64, 2, 5, 10];
    let mut step = steps
        .into_iter()
        .find(|s| *s as f64 * 10f64.powi(exponent) >= wanted * 0.999)
        .unwrap_or(10);
    // For whole numbers, groups of width 1 would leave each number alone.
    if facts.kind == Kind::Integer && step as f64 * 10f64.powi(exponent) < 2.0 {
        (step, exponent) = (2, 0);
    }
    if !(-15..=15).contains(&exponent) {
        return SUPPRESSION.into();
    }
    let width = |times: i64| decimal(step * times, exponent);
    format!("AS INTERVALS ({}, {}, {})", width(1), width(2), width(4))
}

/// Returns `digits` * 10^`exponent`, written exactly.
fn decimal(digits: i64, exponent: i32) -> String {
    let places = exponent.unsigned_abs() as usize;
    if exponent >= 0 {
        return format!("{digits}{}", "0".repeat(places));
    }
    let padded = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = padded.split_at(padded.len() - places);
    match fraction.trim_end_matches('0') {
        "" => whole.to_string(),
        fraction => format!("{whole}.{fraction}"),
    }
}

/// Returns a rule for strings: codes of one length lose their ends.
fn texts(facts: &Facts) -> (String, &'static str) {
    let values = facts.texts();
    let length = values.iter().map(|v| v.chars().count()).max().unwrap_or(0);
    let is_code = |v: &&str| v.chars().count() == length && v.chars().any(|c| c.is_ascii_digit());
    if (3..=12).contains(&length) && values.iter().all(is_code) {
        let kept: Vec<u8> = (1..length as u8).rev().take(3).collect();
        return (prefix(&kept), "");
    }
    let note = match facts.distinct > 3 {
        true => "; groups of your own keep more (FROM 'file.csv')",
        false => "",
    };
    (SUPPRESSION.into(), note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_round_and_exact() {
        for (kind, range, rule) in [
            (Kind::Integer, 73.0, "AS INTERVALS (5, 10, 20)"),
            (Kind::Integer, 6.0, "AS INTERVALS (2, 4, 8)"),
            (Kind::Integer, 99_999.0, "AS INTERVALS (5000, 10000, 20000)"),
            (Kind::Number, 1.0, "AS INTERVALS (0.05, 0.1, 0.2)"),
            (Kind::Number, 0.03, "AS INTERVALS (0.002, 0.004, 0.008)"),
            (Kind::Number, 19.0, "AS INTERVALS (1, 2, 4)"),
            (Kind::Number, 1e300, "AS SUPPRESSION"),
            (Kind::Number, 0.0, "AS SUPPRESSION"),
        ] {
            let facts = Facts {
                name: "x".into(),
                kind,
                rows: 100,
                values: 100,
                distinct: 50,
                estimated: false,
                separation: 0.9,
                range: Some(range),
                is_finite: true,
                sample: vec![],
            };
            assert_eq!(numbers(&facts), rule, "{range}");
        }
    }
}
