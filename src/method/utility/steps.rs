//! The numbers of a column as whole numbers of steps between the smallest and the largest of them.
//!
//! Sums of floating-point numbers depend on the order of the rows. Sums of whole numbers are exact.

/// The number of binary digits of the steps from the middle of a column's numbers to the largest.
const STEP_BITS: u32 = 46;
/// The number of steps from the middle of a column's numbers to the largest.
const STEPS: f64 = (1u64 << STEP_BITS) as f64;
/// Larger whole numbers lose their lowest two digits, so that twice their range does not overflow.
const MOST_WHOLE: u128 = 1 << 124;

/// The whole numbers of steps that represent the numbers of one column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Steps {
    /// The steps of floating-point numbers.
    Float {
        /// Half of the number in the middle between the smallest and the largest number.
        middle: f64,
        /// The factor that converts halves of numbers to steps; 0 if all numbers are equal, or
        /// nearly equal: their range is below 1e-294.
        per_half: f64,
    },
    /// The steps of whole numbers. If the range of the numbers is at most 2^46, no digit is lost.
    Whole {
        /// The smallest and the largest number.
        ends: (i128, i128),
        /// The number of binary digits that all numbers lose.
        lost: u32,
        /// The number of binary digits by which twice the distance from the middle is shifted to
        /// the left, or to the right if it is negative.
        shift: i32,
    },
}

impl Steps {
    /// Returns the steps between two finite numbers, given as the smaller and the larger one.
    pub(crate) fn of_floats((low, high): (f64, f64)) -> Self {
        // Halves do not overflow.
        let (low, high) = (low / 2.0, high / 2.0);
        let per_half = 2.0 * STEPS / (high - low);
        Self::Float {
            middle: low / 2.0 + high / 2.0,
            per_half: if per_half.is_finite() { per_half } else { 0.0 },
        }
    }

    /// Returns the steps between two whole numbers, given as the smaller and the larger one.
    pub(crate) fn of_whole(ends: (i128, i128)) -> Self {
        let is_large = ends.0.unsigned_abs().max(ends.1.unsigned_abs()) >= MOST_WHOLE;
        let lost = if is_large { 2 } else { 0 };
        let range = (ends.1 >> lost) - (ends.0 >> lost);
        let bits = i128::BITS - range.leading_zeros();
        Self::Whole {
            ends,
            lost,
            shift: STEP_BITS as i32 - bits as i32,
        }
    }

    /// Returns the number of steps from the middle to a floating-point number.
    pub(crate) fn float(self, x: f64) -> i64 {
        match self {
            Self::Float { middle, per_half } => ((x / 2.0 - middle) * per_half).clamp(-STEPS, STEPS) as i64,
            Self::Whole { .. } => self.whole(x as i128),
        }
    }

    /// Returns the number of steps from the middle to a whole number.
    pub(crate) fn whole(self, x: i128) -> i64 {
        match self {
            Self::Float { .. } => self.float(x as f64),
            Self::Whole { ends, lost, shift } => {
                // A number that was not there when the ends were read is moved to an end.
                let x = x.clamp(ends.0, ends.1) >> lost;
                let twice = 2 * x - ((ends.0 >> lost) + (ends.1 >> lost));
                let digits = shift.unsigned_abs();
                let steps = if shift < 0 {
                    twice / (1 << digits)
                } else {
                    twice << digits
                };
                steps as i64
            }
        }
    }

    /// Returns the difference between two numbers that are one step apart.
    pub(crate) fn width(self) -> f64 {
        match self {
            Self::Float { per_half: 0.0, .. } => 0.0,
            Self::Float { per_half, .. } => 2.0 / per_half,
            Self::Whole { lost, shift, .. } => 2f64.powi(lost as i32 - shift - 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_keep_their_distances() {
        let (low, high) = (1i128 << 60, (1 << 60) + 17_000);
        for origin in [0i128, -low, 3 * low, u64::MAX.into()] {
            let steps = Steps::of_whole((origin + low, origin + high));
            let apart = |a: i128, b: i128| (steps.whole(origin + b) - steps.whole(origin + a)) as f64 * steps.width();
            assert_eq!(apart(low, low + 1), 1.0);
            assert_eq!(apart(low, high), 17_000.0);
            // The middle is as far from one end as from the other.
            assert_eq!(steps.whole(origin + low), -steps.whole(origin + high));
        }
        let one = Steps::of_whole((7, 7));
        assert_eq!((one.whole(7), one.whole(9)), (0, 0));
    }

    #[test]
    fn the_largest_whole_numbers_do_not_overflow() {
        for (low, high) in [
            (i128::MIN, i128::MAX),
            (-(1i128 << 124), (1i128 << 124) - 1),
            (0, i128::MAX),
        ] {
            let steps = Steps::of_whole((low, high));
            let (first, last) = (steps.whole(low), steps.whole(high));
            let range = high as f64 - low as f64;
            assert!(((last - first) as f64 * steps.width() / range - 1.0).abs() < 1e-12);
            assert!((first + last).abs() <= 1, "{first} {last}");
            assert!(last <= 1 << STEP_BITS);
        }
    }

    #[test]
    fn floating_point_numbers_keep_their_distances() {
        for (low, high) in [(1e-200, 3e-200), (-1.0, 1e17), (f64::MIN, f64::MAX)] {
            let steps = Steps::of_floats((low, high));
            let apart = (steps.float(high) - steps.float(low)) as f64 * steps.width();
            // The difference of the largest numbers is not a double.
            assert!((apart / 2.0 / (high / 2.0 - low / 2.0) - 1.0).abs() < 1e-12 || apart.is_infinite());
        }
        let one = Steps::of_floats((0.1, 0.1));
        assert_eq!((one.float(0.1), one.width()), (0, 0.0));
    }
}
