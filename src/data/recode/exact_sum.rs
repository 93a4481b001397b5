//! Lossless sums of floating-point numbers.
//!
//! Reference: Shewchuk, Adaptive precision floating-point arithmetic and fast robust geometric
//! predicates, 1997, section 2.4 (grow-expansion), doi:10.1007/PL00009321.

/// A sum, stored as parts whose digits do not overlap, in ascending order of magnitude.
#[derive(Debug, Default)]
pub(super) struct ExactSum {
    parts: Vec<f64>,
}

impl ExactSum {
    /// Adds `value` `times` times.
    pub(super) fn add(&mut self, value: f64, times: u64) {
        let product = value * times as f64;
        self.grow(value.mul_add(times as f64, -product));
        self.grow(product);
    }

    fn grow(&mut self, value: f64) {
        let mut carried = value;
        let mut parts = Vec::with_capacity(self.parts.len() + 1);
        for part in &self.parts {
            let (sum, rest) = two_sum(carried, *part);
            if rest != 0.0 {
                parts.push(rest);
            }
            carried = sum;
        }
        parts.push(carried);
        self.parts = parts;
    }

    /// Returns the rounded sum.
    pub(super) fn value(&self) -> f64 {
        self.parts.iter().rev().sum()
    }
}

/// Returns the rounded sum of two numbers, and the rounding error.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    let of_a = sum - of_b;
    (sum, (a - of_a) + (b - of_b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost() {
        let mut sum = ExactSum::default();
        for (value, times) in [(1e100, 1), (1.0, 3), (-1e100, 1), (0.5, 2)] {
            sum.add(value, times);
        }
        assert_eq!(sum.value(), 4.0);
        assert_eq!(ExactSum::default().value(), 0.0);
    }
}
