//! Exact comparison of fractions of counts with a parameter.
//!
//! A parameter is the decimal or the fraction that the user wrote: `t_closeness(0.2)` means one
//! fifth, not the nearest binary number, and `max_risk(1/11)` means one eleventh, which has no
//! finite decimal. So a class exactly at the bound is judged by the definition, for a table of any
//! size.

use crate::base::catalogue::Arguments;
use crate::base::error::Result;
use std::cmp::Ordering;
use std::fmt;

/// The number given to a model, exactly as written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    /// The nearest floating-point number.
    pub(super) value: f64,
    /// The numerator and the denominator, if the number was written as a fraction.
    fraction: Option<(u32, u32)>,
}

impl Bound {
    /// Returns the argument `name`. Fails if it is missing.
    pub(super) fn given(arguments: &Arguments, name: &str) -> Result<Self> {
        Ok(Self {
            value: arguments.real(name)?,
            fraction: arguments.fraction(name)?,
        })
    }

    /// Returns the bound that is written as the decimal `value`.
    pub(super) fn of(value: f64) -> Self {
        Self { value, fraction: None }
    }

    /// Returns the exact number as a fraction.
    pub(super) fn exact(self) -> Decimal {
        match self.fraction {
            Some((over, under)) => Decimal {
                numerator: over.into(),
                denominator: under.into(),
            },
            None => Decimal::of(self.value),
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.fraction {
            Some((over, under)) => write!(f, "{over}/{under}"),
            None => self.value.fmt(f),
        }
    }
}

/// A parameter as an exact fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Decimal {
    numerator: u128,
    denominator: u128,
}

/// The maximum exponent of a power of ten that fits in 128 bits.
const MOST_DIGITS: u32 = 38;

impl Decimal {
    /// Returns the shortest decimal that parses to `x`. `x` must not be negative. Drops digits
    /// beyond the 38th after the point. Returns the maximum possible number if the decimal does not
    /// fit in 128 bits.
    pub(super) fn of(x: f64) -> Self {
        let text = format!("{x:e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (_, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let add = |sum: u128, digit: char| Some(10 * sum + u128::from(digit.to_digit(10)?));
        let mantissa = digits.chars().filter(|c| *c != '.').try_fold(0, add);
        let exponent = exponent.parse::<i32>().map(|e| e - fraction.len() as i32);
        let (Some(mantissa), Ok(exponent)) = (mantissa, exponent) else {
            // `x` is not finite, so the result is above every fraction.
            return Self {
                numerator: u128::MAX,
                denominator: 1,
            };
        };
        let power = |digits: u32| 10u128.pow(digits.min(MOST_DIGITS));
        let (size, negative) = (exponent.unsigned_abs(), exponent < 0);
        match negative {
            true if size > MOST_DIGITS => Self {
                numerator: mantissa / power(size - MOST_DIGITS),
                denominator: power(MOST_DIGITS),
            },
            true => Self {
                numerator: mantissa,
                denominator: power(size),
            },
            false if size > MOST_DIGITS => Self {
                numerator: if mantissa == 0 { 0 } else { u128::MAX },
                denominator: 1,
            },
            false => Self {
                numerator: mantissa.saturating_mul(power(size)),
                denominator: 1,
            },
        }
    }

    /// Returns the whole number `number` as a fraction.
    pub(super) fn whole(number: u128) -> Self {
        Self {
            numerator: number,
            denominator: 1,
        }
    }

    /// Compares `numerator / denominator` with this number. A fraction with denominator 0 is above
    /// every number.
    pub(super) fn compared_with(self, numerator: u128, denominator: u128) -> Ordering {
        product(numerator, self.denominator).cmp(&product(self.numerator, denominator))
    }

    /// Returns the smallest whole number that is at least 1 / self. Returns `u64::MAX` if self is 0
    /// or the number does not fit.
    pub(super) fn reciprocal_ceiling(self) -> u64 {
        match self.denominator.checked_div(self.numerator) {
            Some(_) => u64::try_from(self.denominator.div_ceil(self.numerator)).unwrap_or(u64::MAX),
            None => u64::MAX,
        }
    }
}

/// Returns the 256-bit product of `a` and `b`, high half first.
fn product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (low, high) = (a0 * b0, a1 * b1);
    let (cross, carried) = (a1 * b0).overflowing_add(a0 * b1);
    let (low, carry) = low.overflowing_add(cross << 64);
    let high = high + (cross >> 64) + (u128::from(carried) << 64) + u128::from(carry);
    (high, low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_the_decimal_it_was_written_as() {
        let of = |x: f64| {
            let d = Decimal::of(x);
            (d.numerator, d.denominator)
        };
        assert_eq!(of(0.2), (2, 10));
        assert_eq!(of(12.5), (125, 10));
        assert_eq!(of(3.0), (3, 1));
        assert_eq!(of(1500.0), (1500, 1));
        assert_eq!(of(1e-60), (0, 10u128.pow(38)));
        assert_eq!(of(f64::INFINITY), (u128::MAX, 1));
    }

    #[test]
    fn comparing_does_not_round() {
        let fifth = Decimal::of(0.2);
        let n = 10u128.pow(35);
        assert_eq!(fifth.compared_with(n, 5 * n), Ordering::Equal);
        assert_eq!(fifth.compared_with(n + 1, 5 * n), Ordering::Greater);
        assert_eq!(fifth.compared_with(n - 1, 5 * n), Ordering::Less);
        assert_eq!(fifth.compared_with(u128::MAX / 5, u128::MAX), Ordering::Equal);
        assert_eq!(fifth.compared_with(1, 0), Ordering::Greater);
        assert_eq!(Decimal::of(0.3).reciprocal_ceiling(), 4);
        assert_eq!(Decimal::of(0.25).reciprocal_ceiling(), 4);
    }

    #[test]
    fn a_wide_product_is_right() {
        assert_eq!(product(u128::MAX, u128::MAX), (u128::MAX - 1, 1));
        assert_eq!(product(1 << 127, 6), (3, 0));
        assert_eq!(product(u128::from(u64::MAX), 3), (0, u128::from(u64::MAX) * 3));
    }
}
