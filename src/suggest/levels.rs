//! A first hierarchy for a quasi-identifier, which can be run unchanged.

use super::facts::{Facts, Kind};
use super::names;

/// The approximate number of groups on the first level of numbers.
const GROUPS: f64 = 20.0;

/// Returns the rule of a hierarchy as SQL, from `AS` on, and a note about it for people.
pub(super) fn rule(facts: &Facts) -> (String, &'static str) {
    match facts.kind {
        Kind::Date => ("AS TRUNCATE (MONTH, QUARTER, YEAR)".into(), ""),
        Kind::Integer | Kind::Number => numbers(facts),
        Kind::Text => texts(facts),
        Kind::Other | Kind::Binary | Kind::Nested => (SUPPRESSION.into(), ""),
    }
}

const SUPPRESSION: &str = "AS SUPPRESSION";

/// Returns groups with a width of 1, 2 or 5 times a power of ten, and of twice and four times that width.
fn numbers(facts: &Facts) -> (String, &'static str) {
    if names::is_age(&facts.name) {
        return ("AS INTERVALS (5, 10, 20) TOP CODE 90".into(), "");
    }
    let range = facts.range.filter(|r| r.is_finite() && *r > 0.0);
    let Some(range) = range.filter(|_| facts.distinct > 2) else {
        return (SUPPRESSION.into(), "");
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
        return (SUPPRESSION.into(), "");
    }
    let width = |times: i64| decimal(step * times, exponent);
    (format!("AS INTERVALS ({}, {}, {})", width(1), width(2), width(4)), "")
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

/// Returns a rule for strings: codes of one length lose their ends; dates lose the day, then the month.
fn texts(facts: &Facts) -> (String, &'static str) {
    let values = || facts.sample.iter().filter(|v| !v.is_empty());
    let is_iso = |v: &&String| v.len() >= 10 && v.is_ascii() && v[4..5] == *"-" && v[7..8] == *"-";
    if values().count() > 0 && values().all(|v| is_iso(&v)) {
        let rule = match values().any(|v| v.len() > 10) {
            true => "AS PREFIX (10, 7, 4)",
            false => "AS PREFIX (7, 4)",
        };
        return (rule.into(), "");
    }
    let length = values().map(|v| v.chars().count()).max().unwrap_or(0);
    let is_code = |v: &&String| v.chars().count() == length && v.chars().any(|c| c.is_ascii_digit());
    if (3..=12).contains(&length) && values().all(|v| is_code(&v)) {
        let kept: Vec<String> = (1..length).rev().take(3).map(|n| n.to_string()).collect();
        return (format!("AS PREFIX ({})", kept.join(", ")), "");
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
                values: 100,
                distinct: 50,
                estimated: false,
                separation: 0.9,
                range: Some(range),
                sample: vec![],
            };
            assert_eq!(super::rule(&facts).0, rule, "{range}");
        }
    }
}
