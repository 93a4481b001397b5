//! National identification numbers and social security numbers: their forms, and the check digits
//! of numbers that consist of digits alone.

use regex::Regex;
use std::sync::LazyLock;

/// The forms of national numbers with letters or separators. Few other values have these forms.
const WRITTEN: &[&str] = &[
    // The United States: SSN.
    r"^\d{3}-\d{2}-\d{4}$",
    // Germany: the numbers of the pension insurance, and of the health insurance.
    r"^\d{2} ?\d{6} ?[A-Z] ?\d{3}$",
    r"^[A-Z]\d{9}$",
    // Spain: DNI and NIE.
    r"^\d{8}-?[A-HJ-NP-TV-Z]$",
    r"^[XYZ]-?\d{7}-?[A-HJ-NP-TV-Z]$",
    // The United Kingdom: the national insurance number.
    r"^[A-CEGHJ-PR-TW-Z]{2} ?\d{2} ?\d{2} ?\d{2} ?[A-D]$",
    // Italy: codice fiscale.
    r"^[A-Z]{6}\d{2}[A-EHLMPR-T]\d{2}[A-Z]\d{3}[A-Z]$",
    // Switzerland: AHV.
    r"^756\.\d{4}\.\d{4}\.\d{2}$",
    // Sweden, Finland and Denmark.
    r"^\d{6,8}[-+A]\d{3}[\dA-Z]$",
];

static COMPILED: LazyLock<Vec<Regex>> = LazyLock::new(|| WRITTEN.iter().filter_map(|f| Regex::new(f).ok()).collect());

/// Returns true if the text has one of the forms with letters or separators.
pub(super) fn is_written(text: &str) -> bool {
    COMPILED.iter().any(|form| form.is_match(text))
}

/// Returns true if the text consists of digits, and they have the check digits of a national
/// number.
pub(super) fn is_checked(text: &str) -> bool {
    let digits: Vec<u64> = text.chars().filter_map(|c| c.to_digit(10)).map(u64::from).collect();
    let plain = text.chars().all(|c| c.is_ascii_digit() || c == ' ');
    plain && (is_tax_number(&digits) || is_french(&digits))
}

/// Returns true if these are the digits of a German tax identification number. It has 11 digits,
/// and the last is the check digit of ISO 7064 (mod 11, 10).
fn is_tax_number(digits: &[u64]) -> bool {
    let [first @ .., check] = digits else { return false };
    let product = first.iter().fold(10, |product, digit| {
        let sum = (product + digit) % 10;
        let sum = if sum == 0 { 10 } else { sum };
        sum * 2 % 11
    });
    digits.len() == 11 && digits[0] != 0 && (11 - product) % 10 == *check
}

/// Returns true if these are the digits of a French national number (NIR). It consists of a number
/// with 13 digits, and of two check digits, which are 97 minus the remainder of the number divided
/// by 97.
fn is_french(digits: &[u64]) -> bool {
    let number = |digits: &[u64]| digits.iter().fold(0, |n, d| n * 10 + d);
    digits.len() == 15 && matches!(digits[0], 1 | 2) && 97 - number(&digits[..13]) % 97 == number(&digits[13..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_and_check_digits_are_known() {
        assert_eq!(COMPILED.len(), WRITTEN.len());
        for text in [
            "901-22-3333",
            "65 170839 J 003",
            "A123456780",
            "12345678Z",
            "X1234567L",
            "AB 12 34 56 C",
            "RSSMRA85T10A562S",
            "756.9217.0769.85",
            "19900101-2385",
        ] {
            assert!(is_written(text), "{text}");
        }
        for text in [
            "86095742719",
            "86 095 742 719",
            "255081416802538",
            "2 55 08 14 168 025 38",
        ] {
            assert!(is_checked(text), "{text}");
        }
        for text in ["86095742718", "255081416802539", "2024-01-01", "K1A 0B6", "1234567", ""] {
            assert!(!is_checked(text) && !is_written(text), "{text}");
        }
    }
}
