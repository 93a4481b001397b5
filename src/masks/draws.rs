//! The random numbers of a drawn mask. They depend only on the secret, the kind of mask, the column
//! and the rank of a row, so they are the same in each run and with any number of threads.

use super::key::Key;
use crate::error::Result;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;
use std::f64::consts::TAU;

/// A source of random numbers for a column.
#[derive(Debug)]
pub(super) struct Draws(ChaCha12Rng);

impl Draws {
    /// Creates the source for a kind of mask and a column.
    pub(super) fn new(key: &Key, kind: &str, column: &str) -> Result<Self> {
        let key = key.key_for(&format!("anonsql {kind}"))?;
        Ok(Self(ChaCha12Rng::from_seed(key.digest(column.as_bytes()))))
    }

    /// Returns the random numbers for the row with this rank. No row has rank 0, so rank 0 is free
    /// for draws about the whole column.
    pub(super) fn of(&self, rank: u64) -> RandomNumbers {
        let mut rng = self.0.clone();
        rng.set_stream(rank);
        RandomNumbers(rng)
    }
}

/// The random numbers for one rank, in order.
pub(super) struct RandomNumbers(ChaCha12Rng);

impl RandomNumbers {
    /// Returns a number from 0 (inclusive) to 1 (exclusive). All multiples of 2^-53 in this range
    /// are equally likely.
    pub(super) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (0.5_f64).powi(53)
    }

    /// Returns a number from the standard normal distribution.
    ///
    /// Box and Muller, 1958, doi:10.1214/aoms/1177706645
    pub(super) fn normal(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.uniform(), self.uniform());
        f64::sqrt(-2.0 * radius.ln()) * f64::cos(TAU * angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(secret: &[u8], column: &str) -> Draws {
        Draws::new(&Key::new(secret).unwrap(), "noise", column).unwrap()
    }

    #[test]
    fn a_rank_has_its_numbers_in_any_order_of_rows() {
        let (one, same) = (draws(b"0123456789abcdef", "a"), draws(b"0123456789abcdef", "a"));
        let numbers: Vec<f64> = (1..20).map(|rank| one.of(rank).uniform()).collect();
        let again: Vec<f64> = (1..20).rev().map(|rank| same.of(rank).uniform()).collect();
        assert!(numbers.iter().eq(again.iter().rev()));
        for other in [draws(b"0123456789abcdef", "b"), draws(b"fedcba9876543210", "a")] {
            assert!((1..20).all(|rank| other.of(rank).uniform() != one.of(rank).uniform()));
        }
    }

    /// The first moments of 100,000 numbers are within five standard errors of the moments of the
    /// distribution.
    #[test]
    fn numbers_have_the_moments_of_their_distributions() {
        let draws = draws(b"0123456789abcdef", "a");
        let n = 100_000_u32;
        let mean = |of: &dyn Fn(f64) -> f64, draw: fn(&mut RandomNumbers) -> f64| {
            let sum: f64 = (1..=n).map(|rank| of(draw(&mut draws.of(rank.into())))).sum();
            sum / f64::from(n)
        };
        let near = |found: f64, wanted: f64, variance: f64| {
            let error = f64::sqrt(variance / f64::from(n));
            assert!((found - wanted).abs() < 5.0 * error, "{found} for {wanted}");
        };
        near(mean(&|x| x, RandomNumbers::uniform), 0.5, 1.0 / 12.0);
        near(mean(&|x| x, RandomNumbers::normal), 0.0, 1.0);
        near(mean(&|x| x * x, RandomNumbers::normal), 1.0, 2.0);
        near(mean(&|x| x.powi(4), RandomNumbers::normal), 3.0, 96.0);
    }
}
