//! The random numbers of a drawn mask. They depend only on the secret, the kind of mask, the column
//! and the id of a row, so they are the same in each run and with any number of threads.
//!
//! The number of a row is a value of SipHash-2-4 for the row's id. Its key follows from the secret
//! by HMAC, so nobody can predict a number without the secret, even if other numbers are known. The
//! numbers for the whole column come from a stream of ChaCha12, whose key follows from the secret,
//! too.
//!
//! Reference: Aumasson, Bernstein, SipHash: a fast short-input PRF, INDOCRYPT 2012.

use super::key::Key;
use super::normal::replace_by_quantiles;
use crate::base::error::Result;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha12Rng;
use std::fmt;

/// A source of random numbers for a column.
#[derive(Debug)]
pub(super) struct Draws {
    column: ChaCha12Rng,
    /// The key of the numbers of rows.
    rows: RowKey,
}

impl Draws {
    /// Creates the source for a kind of mask and a column.
    pub(super) fn new(key: &Key, kind: &str, column: &str) -> Result<Self> {
        let of_column = key.key_for(&format!("anonsql {kind}"))?;
        let of_rows = key.key_for(&format!("anonsql {kind} of rows"))?;
        Ok(Self {
            column: ChaCha12Rng::from_seed(of_column.digest(column.as_bytes())),
            rows: RowKey::new(&of_rows.digest(column.as_bytes())),
        })
    }

    /// Returns the random numbers for draws about the whole column.
    pub(super) fn of_column(&self) -> RandomNumbers {
        RandomNumbers(self.column.clone())
    }

    /// Returns the number of each row with one of these ids, from 0 (inclusive) to 1 (exclusive).
    /// All multiples of 2^-53 in this range are equally likely.
    pub(super) fn uniform(&self, ids: &[u64]) -> Vec<f64> {
        self.rows.of_all(ids).into_iter().map(fraction).collect()
    }

    /// Returns the number of each row with one of these ids from the standard normal distribution.
    pub(super) fn normal(&self, ids: &[u64]) -> Vec<f64> {
        let words = self.rows.of_all(ids);
        // The lowest bit is the sign. The upper 52 bits are the probability of a smaller number.
        let below = words
            .iter()
            .map(|word| ((word >> 12) as f64 + 0.5) * (0.5_f64).powi(53));
        let mut numbers: Vec<f64> = below.collect();
        replace_by_quantiles(&mut numbers);
        for (number, word) in numbers.iter_mut().zip(&words) {
            *number = if word & 1 == 0 { *number } else { -*number };
        }
        numbers
    }
}

/// Returns the upper 53 bits of a random word as a number from 0 (inclusive) to 1 (exclusive).
fn fraction(word: u64) -> f64 {
    (word >> 11) as f64 * (0.5_f64).powi(53)
}

/// The random numbers for a whole column, in order.
pub(super) struct RandomNumbers(ChaCha12Rng);

impl RandomNumbers {
    /// Returns a number from 0 (inclusive) to 1 (exclusive). All multiples of 2^-53 in this range
    /// are equally likely.
    pub(super) fn uniform(&mut self) -> f64 {
        fraction(self.0.next_u64())
    }
}

/// The number of messages that are hashed at a time. Each step of a hash needs the result of the
/// step before, and the processor computes steps of the other hashes in the meantime.
const AT_A_TIME: usize = 4;

/// A key of SipHash-2-4.
struct RowKey([u64; 2]);

impl fmt::Debug for RowKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RowKey(secret)")
    }
}

impl RowKey {
    /// Returns the key that the first sixteen of these bytes contain.
    fn new(bytes: &[u8; 32]) -> Self {
        let word = |i: usize| {
            let mut word = [0; 8];
            word.copy_from_slice(&bytes[8 * i..8 * (i + 1)]);
            u64::from_le_bytes(word)
        };
        Self([word(0), word(1)])
    }

    /// Returns the hash of each message.
    fn of_all(&self, messages: &[u64]) -> Vec<u64> {
        let (several, rest) = messages.as_chunks::<AT_A_TIME>();
        let mut hashes = Vec::with_capacity(messages.len());
        for messages in several {
            hashes.extend(self.of(*messages));
        }
        for message in rest {
            hashes.extend(self.of([*message]));
        }
        hashes
    }

    /// Returns the SipHash-2-4 of each of these messages of eight bytes. The first byte has the
    /// lowest bits.
    #[inline]
    fn of<const N: usize>(&self, messages: [u64; N]) -> [u64; N] {
        let [low, high] = self.0;
        let mut states = [[
            low ^ 0x736f_6d65_7073_6575,
            high ^ 0x646f_7261_6e64_6f6d,
            low ^ 0x6c79_6765_6e65_7261,
            high ^ 0x7465_6462_7974_6573,
        ]; N];
        // The last word contains the length of the message.
        for words in [messages, [8 << 56; N]] {
            states.iter_mut().zip(words).for_each(|(state, word)| state[3] ^= word);
            rounds::<2, N>(&mut states);
            states.iter_mut().zip(words).for_each(|(state, word)| state[0] ^= word);
        }
        states.iter_mut().for_each(|state| state[2] ^= 0xff);
        rounds::<4, N>(&mut states);
        states.map(|[a, b, c, d]| a ^ b ^ c ^ d)
    }
}

/// Changes each state of SipHash by this number of rounds.
#[inline]
fn rounds<const ROUNDS: usize, const N: usize>(states: &mut [[u64; 4]; N]) {
    for _ in 0..ROUNDS {
        for [a, b, c, d] in &mut *states {
            *a = a.wrapping_add(*b);
            *b = b.rotate_left(13) ^ *a;
            *a = a.rotate_left(32);
            *c = c.wrapping_add(*d);
            *d = d.rotate_left(16) ^ *c;
            *a = a.wrapping_add(*d);
            *d = d.rotate_left(21) ^ *a;
            *c = c.wrapping_add(*b);
            *b = b.rotate_left(17) ^ *c;
            *c = c.rotate_left(32);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn draws(secret: &[u8], column: &str) -> Draws {
        Draws::new(&Key::new(secret).unwrap(), "noise", column).unwrap()
    }

    /// The value for eight bytes in the test vectors of the reference implementation.
    #[test]
    fn the_hash_is_that_of_the_reference() {
        let key = RowKey([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]);
        assert_eq!(key.of([0x0706_0504_0302_0100]), [0x93f5_f579_9a93_2462]);
        let bytes: Vec<u8> = (0..32).collect();
        let same = RowKey::new(&bytes.try_into().unwrap());
        assert_eq!(same.0, key.0);
        assert_eq!(format!("{same:?}"), "RowKey(secret)");
    }

    proptest! {
        /// A row has the same numbers alone and among any number of other rows.
        #[test]
        fn a_batch_has_the_numbers_of_its_rows(ids in prop::collection::vec(any::<u64>(), 0..600)) {
            let draws = draws(b"0123456789abcdef", "a");
            let alone: Vec<u64> = ids.iter().flat_map(|id| draws.rows.of([*id])).collect();
            prop_assert_eq!(draws.rows.of_all(&ids), alone);
            let alone = |draw: fn(&Draws, &[u64]) -> Vec<f64>| ids.iter().flat_map(|id| draw(&draws, &[*id])).collect::<Vec<f64>>();
            prop_assert_eq!(draws.uniform(&ids), alone(Draws::uniform));
            prop_assert_eq!(draws.normal(&ids), alone(Draws::normal));
        }
    }

    #[test]
    fn a_row_has_its_numbers_in_any_order_of_rows() {
        let (one, same) = (draws(b"0123456789abcdef", "a"), draws(b"0123456789abcdef", "a"));
        let ids: Vec<u64> = (1..20).collect();
        let turned: Vec<u64> = (1..20).rev().collect();
        let numbers = one.uniform(&ids);
        assert!(numbers.iter().eq(same.uniform(&turned).iter().rev()));
        for other in [draws(b"0123456789abcdef", "b"), draws(b"fedcba9876543210", "a")] {
            assert!(
                other
                    .uniform(&ids)
                    .iter()
                    .zip(&numbers)
                    .all(|(other, one)| other != one)
            );
            assert_ne!(other.of_column().uniform(), one.of_column().uniform());
        }
        assert_eq!(one.of_column().uniform(), same.of_column().uniform());
    }

    /// The first moments of 100,000 numbers are within five standard errors of the moments of the
    /// distribution.
    #[test]
    fn numbers_have_the_moments_of_their_distributions() {
        let draws = draws(b"0123456789abcdef", "a");
        let n = 100_000_u32;
        let ids: Vec<u64> = (1..=u64::from(n)).collect();
        let mean = |of: &dyn Fn(f64) -> f64, draw: fn(&Draws, &[u64]) -> Vec<f64>| {
            let sum: f64 = draw(&draws, &ids).into_iter().map(of).sum();
            sum / f64::from(n)
        };
        let near = |found: f64, wanted: f64, variance: f64| {
            let error = f64::sqrt(variance / f64::from(n));
            assert!((found - wanted).abs() < 5.0 * error, "{found} for {wanted}");
        };
        near(mean(&|x| x, Draws::uniform), 0.5, 1.0 / 12.0);
        near(mean(&|x| x, Draws::normal), 0.0, 1.0);
        near(mean(&|x| x * x, Draws::normal), 1.0, 2.0);
        near(mean(&|x| x.powi(4), Draws::normal), 3.0, 96.0);
    }
}
