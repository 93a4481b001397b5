//! Rounds floating-point numbers for human readers.

/// The minimum number of decimal places to which a number is rounded, so that amounts of money keep
/// their cents. Numbers in scientific notation are rounded to [`DIGITS`] digits instead.
const DECIMALS: i32 = 4;
/// The minimum number of significant digits to which a number is rounded.
const DIGITS: i32 = 6;

/// Shortens the text of a floating-point number if it has many digits. Returns any other text
/// unchanged.
pub fn rounded(text: &str) -> String {
    let Some(value) = text.parse::<f64>().ok().filter(|v| v.is_finite() && *v != 0.0) else {
        return text.to_string();
    };
    let size = value.abs().log10().floor() as i32;
    let short = match size {
        ..-5 | 15.. => format!("{value:.*e}", (DIGITS - 1) as usize),
        _ => format!("{value:.*}", (DIGITS - 1 - size).max(DECIMALS) as usize),
    };
    let (mantissa, exponent) = short.split_at(short.find('e').unwrap_or(short.len()));
    let trimmed = mantissa.trim_end_matches('0');
    let point = if trimmed.ends_with('.') { "0" } else { "" };
    let short = format!("{trimmed}{point}{exponent}");
    match short.len() < text.len() {
        true => short,
        false => text.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_that_nobody_reads_are_rounded() {
        for (exact, shown) in [
            ("0.30000000000000004", "0.3"),
            ("0.1117647058823529", "0.111765"),
            ("0.00012345678", "0.000123457"),
            ("12345.678912", "12345.6789"),
            ("-12345678.123456", "-12345678.1235"),
            ("1.0000000001", "1.0"),
            ("0.00000123456789", "1.23457e-6"),
        ] {
            assert_eq!(rounded(exact), shown);
        }
    }

    #[test]
    fn short_numbers_stay_as_they_are() {
        for text in [
            "5.0", "69400.25", "0.0", "-0.0", "1e300", "NaN", "inf", "NULL", "0.1", "1e-9",
        ] {
            assert_eq!(rounded(text), text);
        }
    }
}
