//! The forms of postal codes in several countries, and how many of their characters a hierarchy
//! keeps.
//!
//! Level 1 of a hierarchy for postal codes keeps at most three characters, not counting a country
//! code before them. For ZIP codes, Safe Harbor 2 allows no more than three digits, and requires
//! 000 instead if 20,000 people or fewer share the three digits.
//!
//! Codes of seven or eight digits with a dash (Japan, Portugal, Brazil) may be telephone numbers in
//! other countries, and codes of four digits may be years. So these codes are recognized only by
//! the name of the column.

use regex::Regex;
use std::sync::LazyLock;

/// The first three digits of ZIP codes that 20,000 people or fewer share, by the census of 2000.
/// The list is from the guidance on Safe Harbor by the Department of Health and Human
/// Services, 2012.
pub(super) const SPARSE: &[&str] = &[
    "036", "059", "063", "102", "203", "556", "692", "790", "821", "823", "830", "831", "878", "879", "884", "890",
    "893",
];

/// The kind of postal codes in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Postcode {
    /// ZIP codes of the United States. Some or all may have four more digits for the delivery
    /// route.
    Zip,
    /// Codes of another country. The numbers say how many characters each level of PREFIX keeps.
    Kept(&'static [u8]),
}

/// The forms of postal codes as regular expressions. The first form that matches is used.
const POSTCODES: &[(&str, Postcode)] = &[
    // The codes of Germany, France, Spain, Italy and others also have five digits: see
    // `names::is_foreign_postcode`.
    (r"^\d{5}(-\d{4})?$", Postcode::Zip),
    // Codes that begin with the code of a country.
    (r"^[A-Z]{1,3}-\d{4,5}$", Postcode::Kept(&[5, 4])),
    // The United Kingdom: the area is one or two letters, and the town one or two digits.
    (r"^[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}$", Postcode::Kept(&[2, 1])),
    // Canada.
    (r"^[A-Z]\d[A-Z] ?\d[A-Z]\d$", Postcode::Kept(&[3, 2, 1])),
    // The Netherlands.
    (r"^\d{4} ?[A-Z]{2}$", Postcode::Kept(&[3, 2, 1])),
    // Poland.
    (r"^\d{2}-\d{3}$", Postcode::Kept(&[2, 1])),
    // Sweden, Czechia, Slovakia and Greece.
    (r"^\d{3} \d{2}$", Postcode::Kept(&[3, 2, 1])),
];

static COMPILED: LazyLock<Vec<(Regex, Postcode)>> = LazyLock::new(|| {
    let compiled = POSTCODES
        .iter()
        .filter_map(|(form, kept)| Some((Regex::new(form).ok()?, *kept)));
    compiled.collect()
});

/// Returns the kind of the first form for which `most` returns true; `None` if there is none.
/// `most` receives a function that returns true if a text has the form.
pub(super) fn of(most: impl Fn(&dyn Fn(&str) -> bool) -> bool) -> Option<Postcode> {
    let found = COMPILED.iter().find(|(form, _)| most(&|v| form.is_match(v)));
    found.map(|(_, known)| *known)
}

/// Returns the rule for ZIP codes that are stored as text, as SQL.
pub(super) fn zip() -> String {
    format!("AS PREFIX (3, 2, 1) {}", changed())
}

/// Returns the rule for ZIP codes that are stored as whole numbers with at most `digits` digits, as
/// SQL. All other numbers become `*`.
pub(super) fn zip_number(digits: usize) -> String {
    format!("AS PREFIX (3, 2, 1) WIDTH {digits} {} ON UNMAPPED TOP", changed())
}

fn changed() -> String {
    let sparse: Vec<String> = SPARSE.iter().map(|digits| format!("'{digits}'")).collect();
    format!("CHANGE ({}) TO '000'", sparse.join(", "))
}

/// Returns true if the text looks like a ZIP code that has lost its leading zeros.
pub(super) fn has_lost_zeros(text: &str) -> bool {
    let first = text.split('-').next().unwrap_or_default();
    (1..5).contains(&first.len()) && first.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_several_countries_are_known() {
        assert_eq!(COMPILED.len(), POSTCODES.len());
        let kept = |characters| Some(Postcode::Kept(characters));
        for (code, known) in [
            ("10115", Some(Postcode::Zip)),
            ("90210-1234", Some(Postcode::Zip)),
            ("CH-8001", kept(&[5, 4])),
            ("SW1A 1AA", kept(&[2, 1])),
            ("K1A 0B6", kept(&[3, 2, 1])),
            ("1012 AB", kept(&[3, 2, 1])),
            ("00-950", kept(&[2, 1])),
            ("111 22", kept(&[3, 2, 1])),
            ("555-0100", None),
            ("2024", None),
            ("E11.9", None),
        ] {
            assert_eq!(of(|form| form(code)), known, "{code}");
        }
    }

    #[test]
    fn seventeen_beginnings_are_sparse() {
        assert_eq!(SPARSE.len(), 17);
        assert!(SPARSE.is_sorted() && SPARSE.iter().all(|digits| digits.len() == 3));
        assert!(has_lost_zeros("2116") && has_lost_zeros("501-1234"));
        assert!(!has_lost_zeros("02116") && !has_lost_zeros("x") && !has_lost_zeros(""));
    }
}
