//! Formats numbers for readers.

/// Formats a count with a comma between groups of three digits.
pub(super) fn count(n: u64) -> String {
    grouped(&n.to_string())
}

/// Inserts a comma between groups of three digits. Returns `digits` unchanged if it contains
/// anything other than decimal digits.
pub(super) fn grouped(digits: &str) -> String {
    if !digits.bytes().all(|b| b.is_ascii_digit()) {
        return digits.into();
    }
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats a count with its unit in the singular or plural: `1 record`, `2 records`.
pub(super) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

/// Formats a share between 0 and 1 as a percentage. A share above 0 is never formatted as 0%, and a
/// share below 1 is never formatted as 100%.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    match percent {
        p if p <= 0.0 => "0%".into(),
        p if p < 0.01 => "under 0.01%".into(),
        p if p < 100.0 && p > 99.9 => "over 99.9%".into(),
        p => format!("{}%", rounded(p, if p < 1.0 { 2 } else { 1 })),
    }
}

/// Formats the share `part / whole` as a percentage; 0% if both are 0.
pub(super) fn share(part: u64, whole: u64) -> String {
    percent(if whole == 0 { 0.0 } else { part as f64 / whole as f64 })
}

/// Formats a number with about four significant digits, without trailing zeros. Digits before the
/// decimal point are never dropped. Numbers of at least 1e15, and fractions below 0.00001, are
/// formatted in scientific notation.
pub(super) fn number(value: f64) -> String {
    if !value.is_finite() {
        return value.to_string();
    }
    if value.fract() == 0.0 && value.abs() < 1e15 {
        let digits = grouped(&format!("{:.0}", value.abs()));
        return if value < 0.0 { format!("-{digits}") } else { digits };
    }
    let magnitude = value.abs().log10().floor() as i32;
    match magnitude {
        ..-5 | 15.. => format!("{value:.3e}"),
        5.. => number(value.round()),
        _ => rounded(value, (3 - magnitude).max(0) as usize),
    }
}

fn rounded(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// Formats a size in bytes.
pub(super) fn bytes(n: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if n < 1000 {
        return counted(n, "byte", "bytes");
    }
    let mut value = n as f64;
    let mut unit = "";
    for next in UNITS {
        if value < 999.5 {
            break;
        }
        (value, unit) = (value / 1000.0, next);
    }
    format!("{} {unit}", rounded(value, if value < 10.0 { 1 } else { 0 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_all_digits_have_an_exponent() {
        for (value, text) in [
            (1e15, "1.000e15"),
            (-3.5e18, "-3.500e18"),
            (999_999_999_999_999.9, "1.000e15"),
            (999_999_999_999_999.0, "999,999,999,999,999"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn counts_and_sizes() {
        let texts = [
            count(0),
            count(999),
            count(1000),
            count(1_234_567),
            counted(1, "row", "rows"),
            bytes(999),
            bytes(1000),
            bytes(2_345_678),
            bytes(999_999),
        ];
        assert_eq!(
            texts,
            [
                "0",
                "999",
                "1,000",
                "1,234,567",
                "1 row",
                "999 bytes",
                "1 kB",
                "2.3 MB",
                "1 MB"
            ]
        );
    }

    #[test]
    fn only_digits_are_grouped() {
        assert_eq!(["12960", "over 3.4e38"].map(grouped), ["12,960", "over 3.4e38"]);
    }

    #[test]
    fn a_share_is_never_rounded_to_nothing_or_to_everything() {
        let texts = [0.0, 0.00001, 0.0033, 0.05, 0.999, 0.9999999, 1.0].map(percent);
        assert_eq!(
            texts,
            ["0%", "under 0.01%", "0.33%", "5%", "99.9%", "over 99.9%", "100%"]
        );
        assert_eq!((share(0, 0), share(1, 3)), ("0%".into(), "33.3%".into()));
    }

    #[test]
    fn numbers_keep_four_digits() {
        let texts = [5.0, 0.2, 0.123456, 12.3456, 123456.7, -2.5, 1e-9, 0.0, f64::INFINITY].map(number);
        assert_eq!(
            texts,
            ["5", "0.2", "0.1235", "12.35", "123,457", "-2.5", "1.000e-9", "0", "inf"]
        );
    }
}
