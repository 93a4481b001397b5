//! Integer arithmetic: divisors and multiples.

/// Returns the greatest common divisor of two numbers.
pub fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Returns the least common multiple of the given numbers, none of which is 0; `None` if it is
/// greater than `most`.
pub fn common_multiple(numbers: impl IntoIterator<Item = u64>, most: u64) -> Option<u64> {
    let mut numbers = numbers.into_iter();
    numbers.try_fold(1u64, |multiple, n| {
        let multiple = (multiple / gcd(multiple, n)).checked_mul(n)?;
        (multiple <= most).then_some(multiple)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_and_multiples() {
        assert_eq!([gcd(12, 18), gcd(7, 0), gcd(0, 7), gcd(5, 9)], [6, 7, 7, 1]);
        assert_eq!(common_multiple([4, 6, 10], 60), Some(60));
        assert_eq!(common_multiple([4, 6, 10], 59), None);
        assert_eq!(common_multiple([], 1), Some(1));
        assert_eq!(common_multiple([u64::MAX, u64::MAX - 1], u64::MAX), None);
    }
}
