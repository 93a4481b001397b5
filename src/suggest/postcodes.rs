//! Postal codes of countries: their form, and how many characters keep a region.
//!
//! Forms of seven and eight digits with a dash (Japan, Portugal, Brazil) are telephone numbers elsewhere, and four digits
//! are years, so such codes are known by the name of their column alone.

use regex::Regex;
use std::sync::LazyLock;

/// Forms of postal codes with the characters that PREFIX keeps; the first form that fits counts.
const POSTCODES: &[(&str, &[u8])] = &[
    // Germany, France, Spain, Italy, the United States and others.
    (r"^\d{5}$", &[4, 3, 2]),
    // The United States, with the delivery route in some or all.
    (r"^\d{5}(-\d{4})?$", &[5, 4, 3]),
    // With the sign of the country before it.
    (r"^[A-Z]{1,3}-\d{4,5}$", &[6, 5, 4]),
    // The United Kingdom: the outward code has two to four characters.
    (r"^[A-Z]{1,2}\d[A-Z\d]? \d[A-Z]{2}$", &[4, 2, 1]),
    // Canada.
    (r"^[A-Z]\d[A-Z] ?\d[A-Z]\d$", &[3, 2, 1]),
    // The Netherlands.
    (r"^\d{4} ?[A-Z]{2}$", &[4, 3, 2]),
    // Poland.
    (r"^\d{2}-\d{3}$", &[4, 2, 1]),
    // Sweden, Czechia, Slovakia and Greece.
    (r"^\d{3} \d{2}$", &[3, 2, 1]),
];

static COMPILED: LazyLock<Vec<(Regex, &[u8])>> = LazyLock::new(|| {
    let compiled = POSTCODES
        .iter()
        .filter_map(|(form, kept)| Some((Regex::new(form).ok()?, *kept)));
    compiled.collect()
});

/// Returns the characters that PREFIX keeps of postal codes, if `most` holds for a form.
pub(super) fn kept(most: impl Fn(&dyn Fn(&str) -> bool) -> bool) -> Option<&'static [u8]> {
    let found = COMPILED.iter().find(|(form, _)| most(&|v| form.is_match(v)));
    found.map(|(_, kept)| *kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_of_several_countries_are_known() {
        assert_eq!(COMPILED.len(), POSTCODES.len());
        for (code, characters) in [
            ("10115", Some([4, 3, 2])),
            ("90210-1234", Some([5, 4, 3])),
            ("CH-8001", Some([6, 5, 4])),
            ("SW1A 1AA", Some([4, 2, 1])),
            ("K1A 0B6", Some([3, 2, 1])),
            ("1012 AB", Some([4, 3, 2])),
            ("00-950", Some([4, 2, 1])),
            ("111 22", Some([3, 2, 1])),
            ("555-0100", None),
            ("2024", None),
            ("E11.9", None),
        ] {
            let kept = kept(|form| form(code));
            assert_eq!(kept, characters.as_ref().map(|k| k.as_slice()), "{code}");
        }
    }
}
