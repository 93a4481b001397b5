//! A uniform random permutation of a multiset, read by position.
//!
//! A uniform permutation of a column does not depend on the original order of the values, so only
//! the counts of the distinct values matter. Values are distributed one by one to random buckets,
//! and each bucket is shuffled (Rao 1961; Sandelius 1962, doi:10.1111/j.2517-6161.1962.tb00474.x).
//! The concatenation of the buckets is a uniform permutation. The algorithm takes linear time. Only
//! one bucket at a time must be in the cache, and the other buckets are on disk if they do not fit
//! in memory. The number of buckets depends only on the number of rows, so the result does not
//! depend on the memory or the number of threads.

use super::codes::CodeVector;
use crate::base::error::{Error, Result};
use crate::base::spill::{Overflow, SpillSpace};
use datafusion::execution::memory_pool::MemoryReservation;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha12Rng;
use std::sync::Arc;

/// The average number of rows per bucket. With the widest codes, a bucket of this size takes 8 MiB.
const BUCKET_ROWS: u64 = 1 << 21;

/// The source of the random numbers of a permutation. The same seed and column always give the same
/// random numbers.
#[derive(Debug, Clone, Copy)]
pub struct RandomSource {
    /// The seed of the run.
    pub seed: u64,
    /// The index of the column among the sensitive attributes.
    pub column: u32,
}

impl RandomSource {
    /// Returns the random number generator for one part of the column's permutation. Stream 0 of
    /// the generator is reserved for the search.
    pub(super) fn rng(self, part: u32) -> ChaCha12Rng {
        let mut rng = ChaCha12Rng::seed_from_u64(self.seed);
        rng.set_stream((u64::from(self.column) + 1) << 32 | u64::from(part));
        rng
    }
}

/// Codes in random order.
#[derive(Debug)]
pub struct Sequence {
    buckets: Vec<Bucket>,
    width: CodeVector,
    source: RandomSource,
    _held: MemoryReservation,
}

#[derive(Debug)]
enum Bucket {
    /// Shuffled codes in memory.
    Held(CodeVector),
    /// Codes in a file, in the order in which they were distributed to the bucket. They are
    /// shuffled each time they are read.
    Spilled(Overflow),
}

impl Sequence {
    /// Generates a permutation of the multiset in which code `i` occurs `counts[i]` times.
    pub fn draw(counts: &[u64], source: RandomSource, spill_space: &SpillSpace) -> Result<Self> {
        Self::draw_in(counts, source, spill_space, BUCKET_ROWS)
    }

    fn draw_in(counts: &[u64], source: RandomSource, spill_space: &SpillSpace, bucket_rows: u64) -> Result<Self> {
        let rows: u64 = counts.iter().sum();
        let buckets = u32::try_from(rows.div_ceil(bucket_rows).max(1))
            .map_err(|_| Error::data("the column has too many rows for a permutation"))?;
        let width = CodeVector::for_values(counts.len());
        let held = spill_space.reservation("anonsql permutation");
        let fits = usize::try_from(rows).is_ok_and(|n| held.try_grow(n.saturating_mul(width.width())).is_ok());
        let mut scattered: Vec<(CodeVector, Option<Overflow>)> = (0..buckets)
            .map(|_| {
                Ok((
                    width.empty(),
                    (!fits)
                        .then(|| spill_space.overflow("putting values into random order"))
                        .transpose()?,
                ))
            })
            .collect::<Result<_>>()?;
        let mut rng = source.rng(u32::MAX);
        for (code, count) in counts.iter().enumerate() {
            for _ in 0..*count {
                let bucket = if buckets == 1 { 0 } else { rng.random_range(0..buckets) };
                let (codes, overflow) = &mut scattered[bucket as usize];
                codes.push(code as u32);
                if let Some(overflow) = overflow.as_ref().filter(|_| codes.len() >= Overflow::ROWS) {
                    overflow.append(&codes.take_bytes())?;
                }
            }
        }
        let finish = |(number, (mut codes, overflow)): (usize, (CodeVector, Option<Overflow>))| match overflow {
            None => {
                codes.shuffle(0, codes.len(), &mut source.rng(number as u32));
                Ok(Bucket::Held(codes))
            }
            Some(overflow) => {
                overflow.append(&codes.take_bytes())?;
                Ok(Bucket::Spilled(overflow))
            }
        };
        Ok(Self {
            buckets: scattered.into_iter().enumerate().map(finish).collect::<Result<_>>()?,
            width: width.empty(),
            source,
            _held: held,
        })
    }

    /// Returns a sequence of the codes in their given order.
    pub fn given(codes: &[u32], spill_space: &SpillSpace) -> Self {
        let mut held = CodeVector::for_values(codes.iter().max().map_or(0, |m| *m as usize + 1));
        codes.iter().for_each(|code| held.push(*code));
        Self {
            width: held.empty(),
            buckets: vec![Bucket::Held(held)],
            source: RandomSource { seed: 0, column: 0 },
            _held: spill_space.reservation("anonsql permutation"),
        }
    }

    fn load(&self, bucket: usize) -> Result<Option<CodeVector>> {
        match &self.buckets[bucket] {
            Bucket::Held(_) => Ok(None),
            Bucket::Spilled(overflow) => {
                let mut codes = self.width.with_bytes(&overflow.read()?);
                codes.shuffle(0, codes.len(), &mut self.source.rng(bucket as u32));
                Ok(Some(codes))
            }
        }
    }
}

/// A reader for a [`Sequence`], with its current position.
#[derive(Debug)]
pub(super) struct Reader {
    sequence: Arc<Sequence>,
    bucket: usize,
    at: usize,
    loaded: Option<CodeVector>,
}

impl Reader {
    pub(super) fn new(sequence: Arc<Sequence>) -> Self {
        Self {
            sequence,
            bucket: 0,
            at: 0,
            loaded: None,
        }
    }

    /// Returns the next `rows` codes. Fails with `ErrorKind::Data` if there are fewer codes left.
    pub(super) fn next(&mut self, rows: usize) -> Result<Vec<u32>> {
        let mut out = Vec::with_capacity(rows);
        while out.len() < rows {
            let Some(bucket) = self.sequence.buckets.get(self.bucket) else {
                return Err(changed());
            };
            if matches!(bucket, Bucket::Spilled(_)) && self.loaded.is_none() {
                self.loaded = self.sequence.load(self.bucket)?;
            }
            let codes = match (&self.loaded, bucket) {
                (Some(loaded), _) | (None, Bucket::Held(loaded)) => loaded,
                (None, Bucket::Spilled(_)) => return Err(Error::internal("a bucket was not loaded")),
            };
            let take = (rows - out.len()).min(codes.len() - self.at);
            codes.extend_into(&mut out, self.at, take);
            self.at += take;
            if self.at == codes.len() {
                (self.bucket, self.at, self.loaded) = (self.bucket + 1, 0, None);
            }
        }
        Ok(out)
    }
}

/// Returns the error for a second scan that returns other rows than the first scan.
pub(super) fn changed() -> Error {
    Error::data("the second scan has other rows than the first: the source changed during the run")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(counts: &[u64], seed: u64, spill_space: &SpillSpace, bucket_rows: u64) -> Vec<u32> {
        let source = RandomSource { seed, column: 1 };
        let sequence = Arc::new(Sequence::draw_in(counts, source, spill_space, bucket_rows).unwrap());
        let rows = counts.iter().sum::<u64>() as usize;
        let mut reader = Reader::new(sequence);
        // Reads twice, to test that a reader continues where it stopped.
        let mut codes = reader.next(rows / 2).unwrap();
        codes.extend(reader.next(rows - rows / 2).unwrap());
        assert!(reader.next(1).is_err(), "there is nothing after the last row");
        codes
    }

    /// Checks chi-squared over the 24 permutations of 4 values. For uniform permutations, it
    /// exceeds 49.73 in one of 1,000 cases.
    fn is_uniform(draw: impl Fn(u64) -> Vec<u32>) {
        let mut seen = std::collections::BTreeMap::<Vec<u32>, f64>::new();
        let draws = 24 * 500;
        for seed in 0..draws {
            *seen.entry(draw(seed)).or_default() += 1.0;
        }
        assert_eq!(seen.len(), 24, "every permutation is drawn");
        let expected = draws as f64 / 24.0;
        let chi_squared: f64 = seen.values().map(|n| (n - expected).powi(2) / expected).sum();
        assert!(chi_squared < 49.73, "{chi_squared}");
        assert!(chi_squared > 5.0, "{chi_squared} is too even to be drawn at random");
    }

    #[test]
    fn all_permutations_of_four_values_are_equally_likely() {
        let spill_space = SpillSpace::unlimited();
        is_uniform(|seed| drawn(&[1, 1, 1, 1], seed, &spill_space, 4));
        is_uniform(|seed| drawn(&[1, 1, 1, 1], seed, &spill_space, 2));
        is_uniform(|seed| drawn(&[1, 1, 1, 1], seed, &spill_space, 1));
    }

    #[test]
    fn spilled_and_held_are_the_same_permutation_of_the_same_values() {
        let counts: Vec<u64> = (0..1_000).map(|i| 37 * i % 11).collect();
        let (held, spilled) = (SpillSpace::unlimited(), SpillSpace::limited(0));
        let one = drawn(&counts, 7, &held, 500);
        assert_eq!(one, drawn(&counts, 7, &spilled, 500));
        assert_ne!(one, drawn(&counts, 8, &held, 500));
        let mut found = vec![0u64; counts.len()];
        one.iter().for_each(|code| found[*code as usize] += 1);
        assert_eq!(found, counts);
        assert!(one.windows(2).any(|w| w[0] > w[1]), "in random order");
    }

    #[test]
    fn no_rows_and_one_value() {
        let spill_space = SpillSpace::unlimited();
        assert_eq!(drawn(&[], 1, &spill_space, 10), Vec::<u32>::new());
        assert_eq!(drawn(&[0, 3], 1, &spill_space, 10), [1, 1, 1]);
    }
}
