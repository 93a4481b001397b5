//! Random numbers for millions of draws.

/// The binary logarithm of the number of different numbers that [`FastDraws::exponential`] returns.
const QUANTILE_BITS: u32 = 12;

/// Random numbers (SplitMix64), whose seed is a random number of the run.
#[derive(Debug)]
pub(super) struct FastDraws {
    state: u64,
    exponentials: Vec<f64>,
}

impl FastDraws {
    pub(super) fn new(seed: u64) -> Self {
        let quantiles = 0..1u32 << QUANTILE_BITS;
        Self {
            state: seed,
            exponentials: quantiles.map(exponential).collect(),
        }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Returns a number below `n`. `n` is at most 2^32. Returns 0 if `n` is 0.
    pub(super) fn below(&mut self, n: usize) -> usize {
        (((self.next() >> 32) * n as u64) >> 32) as usize
    }

    /// Returns a random number that is nearly exponentially distributed with mean 1.
    pub(super) fn exponential(&mut self) -> f64 {
        let quantile = (self.next() >> (u64::BITS - QUANTILE_BITS)) as usize;
        self.exponentials[quantile]
    }
}

/// Returns a quantile of a distribution that is nearly the exponential distribution with mean 1. It
/// is computed from square roots instead of logarithms, because square roots give the same result
/// on every machine, and logarithms do not.
fn exponential(quantile: u32) -> f64 {
    let above = (f64::from(quantile) + 0.5) / f64::from(1u32 << QUANTILE_BITS);
    64.0 * (1.0 - (0..6).fold(above, |root, _| root.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_are_nearly_exponential() {
        let mut draws = FastDraws::new(1);
        let drawn: Vec<f64> = (0..100_000).map(|_| draws.exponential()).collect();
        let above = |x: f64| drawn.iter().filter(|d| **d > x).count() as f64 / drawn.len() as f64;
        assert!((drawn.iter().sum::<f64>() / drawn.len() as f64 - 1.0).abs() < 0.05);
        for x in [0.5_f64, 1.0, 2.0] {
            assert!((above(x) - (-x).exp()).abs() < 0.02, "{x} {}", above(x));
        }
        assert!((0..1000).all(|_| draws.below(3) < 3));
        assert_eq!(draws.below(0), 0);
    }
}
