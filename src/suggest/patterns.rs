//! The forms of a column's values.

use super::facts::{Facts, Kind};
use regex::Regex;
use std::net::IpAddr;
use std::sync::LazyLock;

/// The form of most values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    /// One of the identifiers of Safe Harbor.
    Identifier(&'static str),
    /// A fact that others can know of a person.
    QuasiIdentifier(&'static str),
    /// Dates written as text.
    Date,
    /// Sentences.
    FreeText,
}

use Pattern::{Date, FreeText, Identifier, QuasiIdentifier};

/// Forms as regular expressions; the first that fits counts.
const FORMS: &[(&str, Pattern)] = &[
    (
        r"^[^@\s]+@[^@\s]+\.\p{L}{2,}$",
        Identifier("e-mail addresses (Safe Harbor 6)"),
    ),
    (
        r"^\d{3}-\d{2}-\d{4}$",
        Identifier("social security numbers (Safe Harbor 7)"),
    ),
    (
        r"^(?i:(https?|ftp)://|www\.)\S+$",
        Identifier("web addresses (Safe Harbor 14)"),
    ),
    (
        r"^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
        Identifier("universally unique identifiers (Safe Harbor 18)"),
    ),
    (
        r"^([0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}$",
        Identifier("network devices' addresses (Safe Harbor 13)"),
    ),
    (r"^\d{4}-\d{2}-\d{2}([T ].*)?$", Date),
    (r"^\d{1,2}[./]\d{1,2}[./](\d{2}|\d{4})$", Date),
    (
        r"^[+-]?\d{1,3}\.\d{3,}\s*[,;]\s*[+-]?\d{1,3}\.\d{3,}$",
        Identifier("coordinates (Safe Harbor 2)"),
    ),
    (
        r"^[A-Z]{2}\d{2}( ?[A-Z0-9]{4}){2,7}( ?[A-Z0-9]{1,3})?$",
        Identifier("bank accounts (Safe Harbor 10)"),
    ),
    (
        r"(?i)\.(jpe?g|png|gif|bmp|tiff?|dcm|heic)$",
        Identifier("names of pictures (Safe Harbor 17)"),
    ),
    (
        r"^([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{128})$",
        Identifier("hashes of something (Safe Harbor 18)"),
    ),
    (r"^\d{5}(-\d{4})?$", QuasiIdentifier("postal codes (Safe Harbor 2)")),
];

/// A predicate that returns true if a value has a form.
type Form<'a> = &'a dyn Fn(&str) -> bool;

static COMPILED: LazyLock<Vec<(Regex, Pattern)>> = LazyLock::new(|| {
    FORMS
        .iter()
        .filter_map(|(form, p)| Some((Regex::new(form).ok()?, *p)))
        .collect()
});
static PERSON: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\p{Lu}[\p{L}'’.-]*([ ,]+\p{Lu}[\p{L}'’.-]*){1,3}$").ok());

impl Pattern {
    /// Returns the form that at least the share `most` of the sampled values have.
    pub(super) fn of(facts: &Facts, most: f64) -> Option<Self> {
        let values: Vec<&str> = facts
            .sample
            .iter()
            .map(|v| v.trim())
            .filter(|v| !v.is_empty())
            .collect();
        if facts.kind != Kind::Text || values.is_empty() {
            return None;
        }
        let most = |form: Form| values.iter().filter(|v| form(v)).count() as f64 >= most * values.len() as f64;
        if let Some((_, pattern)) = COMPILED.iter().find(|(form, _)| most(&|v| form.is_match(v))) {
            return Some(*pattern);
        }
        let forms: [(Form, Pattern); 4] = [
            (
                &|v| v.parse::<IpAddr>().is_ok(),
                Identifier("IP addresses (Safe Harbor 15)"),
            ),
            (&is_card, Identifier("payment cards (Safe Harbor 10)")),
            (&is_vehicle, Identifier("vehicle numbers (Safe Harbor 12)")),
            (&is_phone, Identifier("telephone numbers (Safe Harbor 4)")),
        ];
        if let Some((_, pattern)) = forms.iter().find(|(form, _)| most(form)) {
            return Some(*pattern);
        }
        let is_person = |v: &str| PERSON.as_ref().is_some_and(|form| form.is_match(v));
        // Many different pairs of capitalised words are names of people; few different pairs are countries and the
        // like.
        if facts.distinct > 20 && facts.distinction() > 0.2 && most(&is_person) {
            return Some(Identifier("names of people (Safe Harbor 1)"));
        }
        let is_sentence = |v: &str| v.len() > 40 && v.split_whitespace().count() > 6;
        most(&is_sentence).then_some(FreeText)
    }
}

fn digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

/// Returns true for 13 to 19 digits with Luhn's check digit.
fn is_card(text: &str) -> bool {
    let digits = digits(text);
    let doubled = |(i, d): (usize, &u32)| match i % 2 {
        1 if *d > 4 => d * 2 - 9,
        1 => d * 2,
        _ => *d,
    };
    text.chars().all(|c| c.is_ascii_digit() || c == ' ' || c == '-')
        && (13..=19).contains(&digits.len())
        && digits.iter().rev().enumerate().map(doubled).sum::<u32>() % 10 == 0
}

/// Returns true for 17 capital letters and digits, with both of them, without I, O and Q.
fn is_vehicle(text: &str) -> bool {
    text.len() == 17
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || (c.is_ascii_uppercase() && !"IOQ".contains(c)))
        && text.chars().any(|c| c.is_ascii_digit())
        && text.chars().any(|c| c.is_ascii_uppercase())
}

/// Returns true for 7 to 15 digits, grouped or with the sign of a country.
fn is_phone(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit() || "+()-./ ".contains(c))
        && (7..=15).contains(&digits(text).len())
        && text.contains(['+', '(', ' ', '-'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_one() {
        assert_eq!(COMPILED.len(), FORMS.len());
        assert!(PERSON.is_some());
    }
}
