//! Exact totals of numbers. They do not depend on the order in which the numbers are added.

/// The number of binary digits of a limb.
const DIGITS: usize = 32;
/// The index of the limb with the units. The binary digits after the point are below it: 1,088 of
/// them, and a double has at most 1,074.
const UNITS: usize = 34;
/// The number of limbs. The largest double has its highest digit in limb 65. The limbs above it
/// hold the digits that are carried from the sum of up to 2^64 numbers.
const LIMBS: usize = 70;
/// The number of binary digits of a double's fraction.
const FRACTION: u32 = 52;

/// An exact total of whole numbers and of finite floating-point numbers.
#[derive(Debug, Clone)]
pub(crate) struct ExactTotal {
    /// The digits to base 2^32, the lowest first. Their carries have not been propagated.
    limbs: [i128; LIMBS],
}

impl Default for ExactTotal {
    fn default() -> Self {
        Self { limbs: [0; LIMBS] }
    }
}

impl ExactTotal {
    /// Adds a finite floating-point number.
    pub(crate) fn add(&mut self, x: f64) {
        let exponent = ((x.to_bits() >> FRACTION) & 0x7ff) as usize;
        let fraction = x.to_bits() & ((1 << FRACTION) - 1);
        let leading = if exponent == 0 { 0 } else { 1 << FRACTION };
        // The lowest digit of the smallest doubles has the value 2^-1074.
        let place = exponent.max(1) - 1 + UNITS * DIGITS - 1_074;
        let digits = u128::from(fraction | leading) << (place % DIGITS);
        self.add_digits(digits, place / DIGITS, x.is_sign_negative());
    }

    /// Adds a whole number.
    pub(crate) fn add_whole(&mut self, x: i128) {
        self.add_digits(x.unsigned_abs(), UNITS, x < 0);
    }

    /// Adds or subtracts these digits. The lowest digit belongs to the limb `lowest`.
    fn add_digits(&mut self, mut digits: u128, lowest: usize, is_negative: bool) {
        for limb in &mut self.limbs[lowest..] {
            if digits == 0 {
                break;
            }
            let part = i128::from(digits as u32);
            *limb += if is_negative { -part } else { part };
            digits >>= DIGITS;
        }
    }

    /// Adds another total.
    pub(crate) fn merge(&mut self, other: &Self) {
        let limbs = self.limbs.iter_mut().zip(&other.limbs);
        limbs.for_each(|(limb, other)| *limb += other);
    }

    /// Returns the double that is nearest to the total; infinity if the total is too large.
    pub(crate) fn value(&self) -> f64 {
        let mut carry = 0i128;
        let digits = self.limbs.map(|limb| {
            let sum = limb + carry;
            carry = sum >> DIGITS;
            sum as u32
        });
        if carry < 0 {
            let limbs = self.limbs.map(|limb| -limb);
            return -Self { limbs }.value();
        }
        let Some(highest) = digits.iter().rposition(|digit| *digit != 0) else {
            return 0.0;
        };
        // The highest three limbs have at least 65 digits. Whether there are digits below them
        // decides only how the double is rounded.
        let lowest = highest.saturating_sub(2);
        let leading = digits[lowest..=highest].iter().rev();
        let mut whole = leading.fold(0u128, |whole, digit| (whole << DIGITS) | u128::from(*digit));
        whole |= u128::from(digits[..lowest].iter().any(|digit| *digit != 0));
        let exponent = (DIGITS * lowest) as i32 - (DIGITS * UNITS) as i32;
        // The power itself can be too small or too large for a double.
        let half = exponent / 2;
        whole as f64 * 2f64.powi(half) * 2f64.powi(exponent - half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn total(numbers: &[f64]) -> f64 {
        let mut total = ExactTotal::default();
        numbers.iter().for_each(|x| total.add(*x));
        total.value()
    }

    #[test]
    fn no_digit_is_lost() {
        assert_eq!(total(&[]), 0.0);
        assert_eq!(total(&[1e100, 1.0, -1e100, 0.5]), 1.5);
        assert_eq!(total(&[f64::MAX, 5e-324, -f64::MAX]), 5e-324);
        assert_eq!(total(&[1e-200, 2e-200, -1e-200]), 2e-200);
        assert_eq!(total(&[0.1, 0.2, -0.1, -0.2]), 0.0);
        assert_eq!(total(&[f64::MAX, f64::MAX]), f64::INFINITY);
        assert_eq!(total(&[-f64::MAX, -f64::MAX]), f64::NEG_INFINITY);
        // 2^53 + 1 lies between two doubles, and the even one is taken. Any further digit decides.
        let even = (1u64 << 53) as f64;
        assert_eq!(total(&[even, 1.0]), even);
        assert_eq!(total(&[even, 1.0, 1e-300]), even + 2.0);
        assert_eq!(total(&[-even, -1.0, -1e-300]), -even - 2.0);
    }

    #[test]
    fn whole_numbers_are_added_exactly() {
        let mut sum = ExactTotal::default();
        for x in [
            i128::MAX,
            i128::MAX,
            -i128::MAX,
            -i128::MAX,
            i128::MIN,
            3,
            -(i128::MIN + 1),
        ] {
            sum.add_whole(x);
        }
        assert_eq!(sum.value(), 2.0);
        let mut other = ExactTotal::default();
        other.add_whole(-(1 << 64));
        sum.merge(&other);
        assert_eq!(sum.value(), 2.0 - (1u128 << 64) as f64);
    }

    proptest! {
        /// A single number is its own total, and any order of several numbers has the same total.
        #[test]
        fn the_order_does_not_matter(numbers in prop::collection::vec(any::<f64>(), 1..20)) {
            let mut numbers: Vec<f64> = numbers.into_iter().filter(|x| x.is_finite()).collect();
            for x in &numbers {
                prop_assert_eq!(total(&[*x]), *x);
            }
            let found = total(&numbers);
            numbers.reverse();
            prop_assert_eq!(total(&numbers), found);
            numbers.sort_by(f64::total_cmp);
            prop_assert_eq!(total(&numbers), found);
        }
    }
}
