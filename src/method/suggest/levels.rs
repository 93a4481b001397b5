//! Proposes a first hierarchy for a quasi-identifier, as SQL that can be run without changes.

use super::facts::{Facts, MOST, ValueKind};
use super::names;
use super::oldest::{OLD, oldest_year};
use super::patterns::Pattern;
use super::postcodes::{self, Postcode, has_lost_zeros};
use super::vocabulary::Meaning;
use crate::base::quoting::literal;
use std::ops::RangeInclusive;

/// The approximate number of groups at the first level of a hierarchy for numbers.
const GROUPS: f64 = 20.0;

/// The definition of a hierarchy, with the levels that may be released.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    /// The definition as SQL, beginning with `AS`.
    pub(super) sql: String,
    /// The lowest and the highest level that Safe Harbor 2 and 3 allow; `None` if they allow every
    /// level.
    pub(super) levels: Option<(u32, u32)>,
    /// A note for the reader, which is appended to the reason of the proposal; empty if there is
    /// none.
    pub(super) note: &'static str,
}

impl Rule {
    /// Returns a rule all of whose levels may be released.
    fn free(sql: impl Into<String>) -> Self {
        Self {
            sql: sql.into(),
            levels: None,
            note: "",
        }
    }

    /// Returns a rule with `levels` levels between level 0 and the top level `*`. Level 0 may not
    /// be released, because it reveals more than Safe Harbor 2 and 3 allow.
    fn above_ground(sql: impl Into<String>, levels: u32) -> Self {
        Self {
            levels: Some((1, levels + 1)),
            ..Self::free(sql)
        }
    }

    /// Returns a rule that replaces every value with `*`.
    fn withheld(note: &'static str) -> Self {
        Self {
            note,
            ..Self::above_ground(SUPPRESSION, 0)
        }
    }

    fn with(self, note: &'static str) -> Self {
        Self { note, ..self }
    }
}

/// Returns the rule for the hierarchy of a quasi-identifier. For values that Safe Harbor 2 and 3
/// limit, the levels that may be released follow these limits. For example, dates become years,
/// people aged 90 or over form one group by age or year of birth, and ZIP codes keep three digits.
pub(super) fn rule(facts: &Facts, pattern: Option<Pattern>, meaning: Option<Meaning>) -> Rule {
    match (facts.kind, pattern, meaning) {
        (ValueKind::Date, ..) => dates(facts, meaning),
        // Level 1 of the date 20240517 is its year, and level 2 is its decade.
        (ValueKind::Integer, Some(Pattern::Date(_)), _) => Rule::above_ground(
            format!("AS INTERVALS (10000, 100000) BOTTOM CODE {}0101", oldest_year()),
            2,
        ),
        (ValueKind::Text, Some(Pattern::Date(spelling)), _) => {
            let format = literal(spelling.format);
            let note = match spelling.is_ambiguous {
                true => "; days and months may be in either order, so only the year is used",
                false => "",
            };
            let (code, unmapped) = (oldest_year(), "ON UNMAPPED TOP");
            Rule::above_ground(
                format!("AS TRUNCATE (YEAR, DECADE) FORMAT {format} BOTTOM CODE {code} {unmapped}"),
                2,
            )
            .with(note)
        }
        (ValueKind::Text, Some(Pattern::DateTime), _) => Rule::above_ground(years_of_texts(), 2),
        (_, Some(Pattern::ShortDate), _) => {
            Rule::withheld("; in this spelling the year is not certain: make dates of them in a query")
        }
        (_, _, Some(Meaning::DatePart)) => Rule::withheld("; Safe Harbor 3 allows only the year of a date"),
        (ValueKind::Integer | ValueKind::Number, _, Some(Meaning::Age)) => {
            Rule::free(format!("AS INTERVALS (5, 10, 20) TOP CODE {OLD}"))
        }
        (_, _, Some(Meaning::Age)) => {
            Rule::withheld("; ages that are text may be above 89: make numbers of them in a query")
        }
        (ValueKind::Integer | ValueKind::Number, _, Some(Meaning::Birth)) if is_years(facts) => {
            Rule::free(format!("AS INTERVALS (5, 10, 20) BOTTOM CODE {}", oldest_year()))
        }
        (_, _, Some(Meaning::Birth)) => Rule::withheld("; make dates or years of them in a query"),
        (_, Some(Pattern::Postal(_)), _) | (_, _, Some(Meaning::Place)) => places(facts, pattern),
        (ValueKind::Integer | ValueKind::Number, ..) => Rule::free(numbers(facts)),
        (ValueKind::Text, ..) => texts(facts),
        (ValueKind::Other | ValueKind::Binary | ValueKind::Nested, ..) => Rule::free(SUPPRESSION),
    }
}

const SUPPRESSION: &str = "AS SUPPRESSION";

/// Returns the rule for dates and timestamps, which releases only the year. If the dates are dates
/// of birth, or some are early enough, the years of birth of people aged 90 or over form one group.
fn dates(facts: &Facts, meaning: Option<Meaning>) -> Rule {
    let code = oldest_year();
    let is_old = meaning == Some(Meaning::Birth) || facts.oldest.is_some_and(|year| year < code);
    let code = if is_old {
        format!(" BOTTOM CODE {code}")
    } else {
        String::new()
    };
    Rule::above_ground(format!("AS TRUNCATE (YEAR, DECADE){code}"), 2)
}

/// Returns the rule for texts that begin with a year of four digits, as SQL.
fn years_of_texts() -> String {
    let code = oldest_year();
    let decade = code.div_euclid(10);
    let decades = (190..decade)
        .chain(decade * 10..code)
        .map(|beginning| beginning.to_string());
    let centuries = ["17", "18"].map(str::to_string);
    let early: Vec<String> = centuries
        .into_iter()
        .chain(decades)
        .map(|beginning| literal(&beginning))
        .collect();
    format!("AS PREFIX (4, 3) CHANGE ({}) TO '<{code}'", early.join(", "))
}

/// Returns true if at least the share [`MOST`] of the sampled numbers are years from 1800 to 2199.
pub(super) fn is_years(facts: &Facts) -> bool {
    let texts = facts.texts();
    let year = |text: &&&str| text.parse::<f64>().is_ok_and(|year| (1800.0..2200.0).contains(&year));
    !texts.is_empty() && texts.iter().filter(year).count() as f64 >= MOST * texts.len() as f64
}

/// Returns the rule for places smaller than a state. Postal codes keep a few characters, and ZIP
/// codes at most three digits. All other places are withheld.
fn places(facts: &Facts, pattern: Option<Pattern>) -> Rule {
    let (is_code, is_foreign) = (names::is_postcode(&facts.name), names::is_foreign_postcode(&facts.name));
    let texts = facts.texts();
    let most =
        |fits: &dyn Fn(&str) -> bool| texts.iter().filter(|v| fits(v)).count() as f64 >= MOST * texts.len() as f64;
    let are_digits = |lengths: RangeInclusive<usize>| {
        let fits = |v: &str| lengths.contains(&v.len()) && v.bytes().all(|b| b.is_ascii_digit());
        !texts.is_empty() && most(&fits)
    };
    let all = |longest: usize| texts.iter().map(|v| v.len()).max().unwrap_or(0).min(longest);
    match (facts.kind, pattern) {
        (ValueKind::Text, Some(Pattern::Postal(Postcode::Kept(kept)))) => {
            Rule::above_ground(prefix(kept), kept.len() as u32)
        }
        (ValueKind::Text, Some(Pattern::Postal(Postcode::Zip))) if is_foreign => {
            Rule::above_ground(prefix(&[3, 2, 1]), 3)
        }
        (ValueKind::Text, Some(Pattern::Postal(Postcode::Zip))) if texts.iter().any(|v| has_lost_zeros(v)) => {
            Rule::withheld("; some have lost the zeros before them: restore them in a query (lpad(zip, 5, '0'))")
        }
        (ValueKind::Text, Some(Pattern::Postal(Postcode::Zip))) => Rule::above_ground(postcodes::zip(), 3),
        (ValueKind::Text, _) if is_code && !is_foreign && (are_digits(9..=9) || are_digits(3..=3)) => {
            Rule::above_ground(postcodes::zip(), 3)
        }
        (ValueKind::Integer, _) if is_foreign && are_digits(3..=5) => {
            Rule::above_ground(format!("{} WIDTH {} ON UNMAPPED TOP", prefix(&[3, 2, 1]), all(5)), 3)
        }
        (ValueKind::Integer, _) if is_code && are_digits(3..=5) => Rule::above_ground(postcodes::zip_number(5), 3),
        (ValueKind::Integer, _) if is_code && are_digits(7..=9) => Rule::above_ground(postcodes::zip_number(9), 3),
        _ => Rule::withheld("; a hierarchy that maps them to states keeps more (FROM 'file.csv')"),
    }
}

fn prefix(kept: &[u8]) -> String {
    let kept: Vec<String> = kept.iter().map(ToString::to_string).collect();
    format!("AS PREFIX ({})", kept.join(", "))
}

/// Returns the rule for numbers, as SQL. The groups at level 1 have a width of 1, 2 or 5 times a
/// power of ten, and the groups at the next two levels are twice and four times as wide.
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
    // A group of whole numbers with a width of 1 would contain a single number.
    if facts.kind == ValueKind::Integer && step as f64 * 10f64.powi(exponent) < 2.0 {
        (step, exponent) = (2, 0);
    }
    if !(-15..=15).contains(&exponent) {
        return SUPPRESSION.into();
    }
    let width = |times: i64| decimal(step * times, exponent);
    format!("AS INTERVALS ({}, {}, {})", width(1), width(2), width(4))
}

/// Returns the exact decimal form of `digits` * 10^`exponent`.
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

/// Returns the rule for texts. Codes that all have the same length keep fewer characters at each
/// level, and all other texts are suppressed.
fn texts(facts: &Facts) -> Rule {
    let values = facts.texts();
    let length = values.iter().map(|v| v.chars().count()).max().unwrap_or(0);
    let is_code = |v: &&str| v.chars().count() == length && v.chars().any(|c| c.is_ascii_digit());
    if (3..=12).contains(&length) && values.iter().all(is_code) {
        let kept: Vec<u8> = (1..length as u8).rev().take(3).collect();
        return Rule::free(prefix(&kept));
    }
    let note = match facts.distinct > 3 {
        true => "; groups of your own keep more (FROM 'file.csv')",
        false => "",
    };
    Rule::free(SUPPRESSION).with(note)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_round_and_exact() {
        for (kind, range, rule) in [
            (ValueKind::Integer, 73.0, "AS INTERVALS (5, 10, 20)"),
            (ValueKind::Integer, 6.0, "AS INTERVALS (2, 4, 8)"),
            (ValueKind::Integer, 99_999.0, "AS INTERVALS (5000, 10000, 20000)"),
            (ValueKind::Number, 1.0, "AS INTERVALS (0.05, 0.1, 0.2)"),
            (ValueKind::Number, 0.03, "AS INTERVALS (0.002, 0.004, 0.008)"),
            (ValueKind::Number, 19.0, "AS INTERVALS (1, 2, 4)"),
            (ValueKind::Number, 1e300, "AS SUPPRESSION"),
            (ValueKind::Number, 0.0, "AS SUPPRESSION"),
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
                oldest: None,
                is_finite: true,
                sample: vec![],
            };
            assert_eq!(numbers(&facts), rule, "{range}");
        }
    }
}
