//! Recognizes the form of a column's values, such as dates or e-mail addresses.

use super::dates::{self, Spelling};
use super::facts::{Facts, ValueKind};
use super::national;
use super::postcodes::{self, Postcode};
use regex::Regex;
use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::LazyLock;

/// The form that most values of a column have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    /// One of the identifiers in the list of Safe Harbor, with its description.
    Identifier(&'static str),
    /// A fact that people do not want others to know, with its description.
    Sensitive(&'static str),
    /// Postal codes.
    Postal(Postcode),
    /// Amounts written as text, with a decimal comma or groups of digits.
    Amount,
    /// Dates written as text or as whole numbers, in this format.
    Date(Spelling),
    /// Dates with a time of day, or years with a month, quarter or week. They are written as text
    /// that begins with the year.
    DateTime,
    /// Dates without the century, or months followed by their year.
    ShortDate,
    /// Sentences.
    FreeText,
}

use Pattern::{Amount, Date, DateTime, FreeText, Identifier, Postal, Sensitive, ShortDate};

/// Forms as regular expressions. The first form that matches is used.
const FORMS: &[(&str, Pattern)] = &[
    (
        r"^[^@\s]+@[^@\s]+\.\p{L}{2,}$",
        Identifier("e-mail addresses (Safe Harbor 6)"),
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
    (r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}", DateTime),
    (r"^(1[89]|20|21)\d{2}[-/](0[1-9]|1[0-2])$", DateTime),
    // Quarters and weeks of a year: 2019Q3, 2019-W07.
    (r"^(1[89]|20|21)\d{2}[ -]?[QqWwKkTt]\d{1,2}$", DateTime),
    // Months of a year: 09/1930, Sep 1930.
    (r"^(0?[1-9]|1[0-2])[./-](1[89]|20|21)\d{2}$", ShortDate),
    (
        r"(?xi)^(
            jan(uary?)? | feb(ruary?)? | mar(ch)? | apr(il)? | may | june? | july? | aug(ust)? | sept?(ember)? | oct(ober)? |
            nov(ember)? | dec(ember)? | m(ä|ae)rz | mai | juni | juli | okt(ober)? | dez(ember)? |
            janv(ier)? | f[ée]v(rier)? | mars | avr(il)? | juin | juil(let)? | ao[ûu]t | septembre | octobre | novembre | d[ée]c(embre)? |
            ene(ro)? | febrero | marzo | abr(il)? | mayo | junio | julio | ago(sto)? | septiembre | octubre | noviembre | dic(iembre)?
        )\.?[\ ,/-]+(de\ )?(1[89]|20|21)\d{2}$",
        ShortDate,
    ),
    (r"^\d{1,2}([./-]\d{1,2}[./-]|[ -][A-Za-z]{3,9}[ -])\d{2}$", ShortDate),
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
];

/// Short forms, which other values may have by chance. They are tried last, before names of people
/// and free text, and the meaning of a column's name takes precedence over them.
const WEAK_FORMS: &[(&str, Pattern)] = &[
    (
        r"^[A-Z]\d{2}[A-Z]{2}\d{2}$",
        Sensitive("codes of medicines, as the ATC has them (GDPR article 9)"),
    ),
    (
        ICD,
        Sensitive("codes of diagnoses, as the ICD has them (GDPR article 9)"),
    ),
    (
        r"^[+-]?(\p{Sc} ?)?(\d{1,3}(\.\d{3})*,\d{1,2}|\d+,\d{1,2}|\d{1,3}(,\d{3})+(\.\d{1,2})?)( ?\p{Sc})?$",
        Amount,
    ),
];

/// The form of a diagnosis code (ICD). Case numbers and names of wards may have the same form: see
/// [`is_spread`].
const ICD: &str = r"^[A-TV-Z]\d[0-9AB](\.?[0-9X][0-9A-Z]{0,3})?[*+!]?$";
/// For diagnosis codes without dots, the minimum number of distinct first letters, which stand for
/// the chapters of the ICD, and the minimum number of distinct codes.
const SPREAD: (usize, usize) = (8, 30);

/// A function that returns true if a value has a form.
type Form<'a> = &'a dyn Fn(&str) -> bool;

static STRONG: LazyLock<Vec<(Regex, Pattern)>> = LazyLock::new(|| compiled(FORMS));
static WEAK: LazyLock<Vec<(Regex, Pattern)>> = LazyLock::new(|| compiled(WEAK_FORMS));
static PERSON: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"^\p{Lu}[\p{L}'’.-]*([ ,]+\p{Lu}[\p{L}'’.-]*){1,3}$").ok());

fn compiled(forms: &[(&str, Pattern)]) -> Vec<(Regex, Pattern)> {
    let compiled = forms.iter().filter_map(|(form, p)| Some((Regex::new(form).ok()?, *p)));
    compiled.collect()
}

const NATIONAL: Pattern = Pattern::Identifier("social security or national numbers (Safe Harbor 7)");

impl Pattern {
    /// Returns the form that at least the share `most` of the sampled values have; `None` if there
    /// is no such form.
    pub(super) fn of(facts: &Facts, most: f64) -> Option<Self> {
        let values = facts.texts();
        if values.is_empty() {
            return None;
        }
        let has = |form: Form| values.iter().filter(|v| form(v)).count() as f64 >= most * values.len() as f64;
        let found = |forms: &[(Regex, Pattern)]| {
            let found = forms.iter().find(|(form, _)| has(&|v| form.is_match(v)));
            found.map(|(_, pattern)| *pattern)
        };
        let date = || dates::spelling(&values, most).map(Date);
        let checked = || {
            let forms: [(Form, Pattern); 2] = [
                (&is_card, Identifier("payment cards (Safe Harbor 10)")),
                (&national::is_checked, NATIONAL),
            ];
            forms
                .into_iter()
                .find(|(form, _)| has(form))
                .map(|(_, pattern)| pattern)
        };
        match facts.kind {
            // Whole numbers have few forms: dates without separators, and numbers with check
            // digits.
            ValueKind::Integer => date().or_else(checked),
            ValueKind::Text => found(&STRONG)
                .or_else(|| has(&national::is_written).then_some(NATIONAL))
                .or_else(date)
                .or_else(checked)
                .or_else(|| {
                    let forms: [(Form, Pattern); 2] = [
                        (
                            &|v| v.parse::<IpAddr>().is_ok(),
                            Identifier("IP addresses (Safe Harbor 15)"),
                        ),
                        (&is_vehicle, Identifier("vehicle numbers (Safe Harbor 12)")),
                    ];
                    forms
                        .into_iter()
                        .find(|(form, _)| has(form))
                        .map(|(_, pattern)| pattern)
                })
                .or_else(|| postcodes::of(has).map(Postal))
                .or_else(|| has(&is_phone).then_some(Identifier("telephone numbers (Safe Harbor 4)")))
                .or_else(|| {
                    let weak = WEAK
                        .iter()
                        .filter(|(form, _)| form.as_str() != ICD || is_spread(&values));
                    let mut fitting = weak.filter(|(form, _)| has(&|v| form.is_match(v)));
                    fitting.next().map(|(_, pattern)| *pattern)
                })
                .or_else(|| sentences(facts, &values, &has)),
            _ => None,
        }
    }
}

/// Returns true if at least a tenth of the codes contain a dot, or if the codes have at least the
/// numbers of chapters and distinct codes in [`SPREAD`]. Otherwise the codes may be case numbers or
/// wards.
fn is_spread(values: &[&str]) -> bool {
    let dotted = values.iter().filter(|v| v.contains('.')).count();
    let chapters: HashSet<_> = values.iter().filter_map(|v| v.chars().next()).collect();
    let codes: HashSet<_> = values.iter().collect();
    10 * dotted >= values.len() || (chapters.len() >= SPREAD.0 && codes.len() >= SPREAD.1)
}

/// Returns the form of texts that consist of several words, which is names of people or free text;
/// `None` if the texts have neither form. `has` returns true if most values have the given form.
fn sentences(facts: &Facts, values: &[&str], has: &dyn Fn(Form) -> bool) -> Option<Pattern> {
    let is_person = |v: &str| PERSON.as_ref().is_some_and(|form| form.is_match(v));
    // If there are many different groups of two to four capitalised words, they are names of
    // people. If there are few, they may be countries, for example.
    let differ = facts.distinct > 20 && facts.distinction() > 0.2;
    if differ && has(&is_person) {
        return Some(Identifier("names of people (Safe Harbor 1)"));
    }
    let is_sentence = |v: &str| v.len() > 40 && v.split_whitespace().count() > 6;
    let words: usize = values.iter().map(|v| v.split_whitespace().count()).sum();
    // Short notes differ from row to row, but categories of several words do not.
    let are_notes = differ && facts.distinction() > 0.5 && words >= 4 * values.len();
    (has(&is_sentence) || are_notes).then_some(FreeText)
}

fn digits(text: &str) -> Vec<u32> {
    text.chars().filter_map(|c| c.to_digit(10)).collect()
}

/// Returns true for 13 to 19 digits that pass Luhn's check.
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

/// Returns true for 17 characters that are digits or capital letters other than I, O and Q, with at
/// least one digit and one letter.
fn is_vehicle(text: &str) -> bool {
    text.len() == 17
        && text
            .chars()
            .all(|c| c.is_ascii_digit() || (c.is_ascii_uppercase() && !"IOQ".contains(c)))
        && text.chars().any(|c| c.is_ascii_digit())
        && text.chars().any(|c| c.is_ascii_uppercase())
}

/// Returns true for 7 to 15 digits with at least one of the characters `+`, `(`, `-` or a blank.
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
        assert_eq!((STRONG.len(), WEAK.len()), (FORMS.len(), WEAK_FORMS.len()));
        assert!(PERSON.is_some());
    }
}
