//! Seeded random numbers in integer arithmetic, so that a table has the same bytes on every
//! machine.

use crate::base::arithmetic::gcd;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Returns the random number generator for part `index` of the table with this seed.
pub(super) fn stream(seed: u64, index: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(index);
    rng
}

/// Returns a number below `bound`, uniform to within 2^-32; 0 for a bound of 0.
pub(super) fn below(rng: &mut impl Rng, bound: u32) -> u32 {
    scale(u64::from(rng.next_u32()) << 32, u64::from(bound)) as u32
}

/// Returns `whole * part / 2^64`, rounded down.
pub(super) fn scale(part: u64, whole: u64) -> u64 {
    ((u128::from(part) * u128::from(whole)) >> 64) as u64
}

/// Returns true with a probability of `percent` percent.
pub(super) fn chance(rng: &mut impl Rng, percent: u32) -> bool {
    below(rng, 100) < percent
}

/// Returns a number below `bound` with a bell-shaped distribution: the mean of four uniform
/// numbers.
pub(super) fn bell(rng: &mut impl Rng, bound: u32) -> u32 {
    let sum: u64 = (0..4).map(|_| u64::from(below(rng, bound))).sum();
    (sum / 4) as u32
}

/// Returns a number below `bound`, with low numbers more likely than high ones: the lesser of two
/// uniform numbers.
pub(super) fn low(rng: &mut impl Rng, bound: u32) -> u32 {
    below(rng, bound).min(below(rng, bound))
}

/// Returns a well-mixed function of `x` (the finalizer of SplitMix64).
pub(super) fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A permutation of 0..n that scatters neighbours.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scatter {
    n: u64,
    factor: u64,
    offset: u64,
}

impl Scatter {
    /// Creates a permutation of 0..`n` that depends on the seed.
    pub(super) fn new(n: u64, seed: u64) -> Self {
        let n = n.max(1);
        // With a factor near the golden section of n, the images of neighbours are far apart.
        let mut factor = scale(0x9e37_79b9_7f4a_7c15, n).max(1);
        while gcd(factor, n) != 1 {
            factor += 1;
        }
        Self {
            n,
            factor,
            offset: scale(mix(seed), n),
        }
    }

    /// Returns the image of `i`.
    pub(super) fn at(&self, i: u64) -> u64 {
        ((u128::from(i) * u128::from(self.factor) + u128::from(self.offset)) % u128::from(self.n)) as u64
    }
}

/// A distribution over 0..len with integer weights.
#[derive(Debug, Clone)]
pub(super) struct Weights {
    cumulative: Vec<u64>,
    largest: u64,
}

impl Weights {
    /// Creates a distribution in which value i has weight `weights[i]`, but at least 1.
    pub(super) fn new(weights: impl IntoIterator<Item = u32>) -> Self {
        let mut total = 0;
        let mut largest = 0;
        let cumulative = weights.into_iter().map(|w| {
            let w = u64::from(w.max(1));
            largest = largest.max(w);
            total += w;
            total
        });
        Self {
            cumulative: cumulative.collect(),
            largest,
        }
    }

    /// Returns the number of values.
    pub(super) fn len(&self) -> usize {
        self.cumulative.len()
    }

    /// Returns the sum of the weights.
    pub(super) fn total(&self) -> u64 {
        self.cumulative.last().copied().unwrap_or(0)
    }

    /// Returns the largest weight.
    pub(super) fn largest(&self) -> u64 {
        self.largest
    }

    /// Returns the total weight of all values up to and including `value`.
    pub(super) fn up_to(&self, value: usize) -> u64 {
        self.cumulative[value]
    }

    /// Returns a random value by weight.
    pub(super) fn draw(&self, rng: &mut impl Rng) -> usize {
        let at = scale(rng.next_u64(), self.total());
        self.cumulative.partition_point(|c| *c <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scatter_is_one_to_one() {
        for n in [1, 2, 3, 12, 97, 1000] {
            let scatter = Scatter::new(n, 7);
            let mut seen: Vec<u64> = (0..n).map(|i| scatter.at(i)).collect();
            seen.sort_unstable();
            assert_eq!(seen, (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn draws_follow_the_weights() {
        let weights = Weights::new([700, 200, 100]);
        let mut rng = stream(1, 0);
        let mut counts = [0u32; 3];
        for _ in 0..10_000 {
            counts[weights.draw(&mut rng)] += 1;
        }
        for (count, expected) in counts.iter().zip([7000u32, 2000, 1000]) {
            assert!(count.abs_diff(expected) < 200, "{counts:?}");
        }
    }
}
