//! The sample of a differentially private release, drawn from the classes of the source.
//!
//! Each row of a class is drawn independently with the same probability. The number of drawn rows
//! therefore describes the sample of a class completely, and rows need no identifiers. The draws of
//! a class come from a stream of ChaCha20 whose key is the HMAC-SHA-256 of the labels of the class
//! under the key of the sample. The draws do not depend on the order of the rows, or on the files,
//! threads and memory with which they are read.
//!
//! The key of the sample is never written anywhere, because it reveals how many rows a class had.
//! Without a secret, the operating system draws the key for every run. With a secret, the key is
//! the HMAC-SHA-256, under the secret, of the probability, of k, and of the classes with their
//! counts. Therefore the same table has the same sample, and a different table has an independent
//! sample.

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::pool::check_cancelled;
use crate::data::frequency::{Base, BaseSet};
use crate::data::model::{SampleKey, Sampling};
use crate::method::hierarchy::Lookup;
use crate::method::secret::Secret;
use crate::release::job::QuasiIdentifier;
use arrow::array::{Array, ArrayRef, UInt32Array};
use arrow::compute::take;
use arrow::row::{RowConverter, Rows, SortField};
use hmac::{Hmac, KeyInit, Mac};
use rand::rngs::SysRng;
use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::ChaCha20Rng;
use sha2::Sha256;
use std::sync::Arc;

/// The key of a sample, or of the draws of a class.
type Key = [u8; 32];

/// The number of rows that are drawn between two cancellation checks.
const PATIENCE: u64 = 1 << 20;

/// Returns the classes of `base` from which enough rows are drawn, each with its number of drawn
/// rows. The result contains nothing else from the source.
pub(super) fn sampled(base: &Base, quasi_identifiers: &[QuasiIdentifier], sampling: &Sampling) -> Result<Base> {
    let BaseSet::Held(set) = &base.set else {
        return Err(Error::new(
            ErrorKind::Resources,
            "the classes of the source do not fit the memory limit, and a sample is drawn from all of them; raise \
             --memory-limit, or give coarser levels",
        ));
    };
    let (labels, counts) = (labels(base)?, set.counts());
    let key = key(sampling, &labels, counts)?;
    let mut drawn = Vec::with_capacity(counts.len());
    for (class, rows) in counts.iter().enumerate() {
        let n = draw(keyed(&key, &[labels.row(class).as_ref()])?, *rows, sampling.share)?;
        drawn.push(if n >= sampling.k { n } else { 0 });
    }
    base.kept(&drawn, |column, values| {
        let q = &quasi_identifiers[column];
        q.hierarchy
            .bind(values)
            .map_err(|e| e.context(format!("column {}", q.column)))
    })
}

/// Returns the labels of each class as bytes. The bytes of two classes are equal if and only if all
/// their labels are equal.
fn labels(base: &Base) -> Result<Rows> {
    let (set, layout) = (base.held()?, base.key_schema.layout());
    let column = |(column, lookup): (usize, &Arc<Lookup>)| {
        let level = lookup.level(set.node().level(column));
        let codes = (0..set.len()).map(|class| level.codes.get(layout.code(set.key(class), column) as usize).copied());
        Ok(take(&level.labels, &codes.collect::<UInt32Array>(), None)?)
    };
    let columns: Vec<ArrayRef> = base
        .key_schema
        .lookups()
        .iter()
        .enumerate()
        .map(column)
        .collect::<Result<_>>()?;
    let fields = columns.iter().map(|c| SortField::new(c.data_type().clone()));
    Ok(RowConverter::new(fields.collect())?.convert_columns(&columns)?)
}

/// Returns the key of a sample: random for each run, or computed from a secret, the parameters of
/// the sample and the classes.
fn key(sampling: &Sampling, labels: &Rows, counts: &[u64]) -> Result<Key> {
    match &sampling.key {
        SampleKey::Fresh => {
            let mut key = Key::default();
            SysRng.try_fill_bytes(&mut key).map_err(|_| {
                Error::new(
                    ErrorKind::Resources,
                    "the operating system gives no random bytes, without which no sample can be drawn",
                )
            })?;
            Ok(key)
        }
        SampleKey::Secret(place) => {
            let secret = Secret::at(place).ok_or_else(|| Error::internal("a secret that is nowhere"))?;
            let secret = secret.read("a sample")?;
            let mut order: Vec<usize> = (0..counts.len()).collect();
            order.sort_unstable_by(|a, b| labels.row(*a).cmp(&labels.row(*b)));
            let mut mac = mac(&secret)?;
            mac.update(b"sample of a differentially private release");
            for number in [sampling.share.into(), sampling.k, counts.len() as u64] {
                mac.update(&number.to_le_bytes());
            }
            for class in order {
                let row = labels.row(class);
                mac.update(&(row.as_ref().len() as u64).to_le_bytes());
                mac.update(row.as_ref());
                mac.update(&counts[class].to_le_bytes());
            }
            Ok(mac.finalize().into_bytes().into())
        }
        #[cfg(test)]
        SampleKey::Given(key) => Ok(*key),
    }
}

fn keyed(key: &Key, parts: &[&[u8]]) -> Result<Key> {
    let mut mac = mac(key)?;
    parts.iter().for_each(|part| mac.update(part));
    Ok(mac.finalize().into_bytes().into())
}

fn mac(key: &[u8]) -> Result<Hmac<Sha256>> {
    Hmac::new_from_slice(key).map_err(|_| Error::internal("a sample without a key"))
}

/// Returns how many of `rows` rows are drawn, each with a probability of `share` / 2^32.
fn draw(key: Key, rows: u64, share: u32) -> Result<u64> {
    let mut stream = ChaCha20Rng::from_seed(key);
    let mut drawn = 0;
    for row in 0..rows {
        if row % PATIENCE == PATIENCE - 1 {
            check_cancelled()?;
        }
        drawn += u64::from(stream.next_u32() < share);
    }
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests that the numbers of rows drawn with 4000 keys follow the binomial distribution.
    #[test]
    fn each_row_is_drawn_with_the_given_probability() {
        for (rows, share) in [
            (12u64, 1u32 << 30),
            (12, 3 << 30),
            (30, 429_496_730),
            (1, 4_000_000_000),
        ] {
            let p = f64::from(share) / 2f64.powi(32);
            let mut expected = vec![1.0];
            for _ in 0..rows {
                expected.resize(expected.len() + 1, 0.0);
                for j in (0..expected.len()).rev() {
                    let below = if j == 0 { 0.0 } else { expected[j - 1] };
                    expected[j] = expected[j] * (1.0 - p) + below * p;
                }
            }
            let mut found = vec![0.0; rows as usize + 1];
            for i in 0..4000u64 {
                let key = keyed(&[5; 32], &[&i.to_le_bytes()]).unwrap();
                found[draw(key, rows, share).unwrap() as usize] += 1.0;
            }
            // Numbers of rows that are too rare to compare are merged into one group.
            let (mut chi, mut degrees, mut rare) = (0.0, -1.0, (0.0, 0.0));
            for (e, f) in expected.iter().map(|p| p * 4000.0).zip(found) {
                if e < 5.0 {
                    rare = (rare.0 + e, rare.1 + f);
                } else {
                    (chi, degrees) = (chi + (f - e) * (f - e) / e, degrees + 1.0);
                }
            }
            if rare.0 >= 1.0 {
                (chi, degrees) = (chi + (rare.1 - rare.0) * (rare.1 - rare.0) / rare.0, degrees + 1.0);
            }
            // Wilson and Hilferty: the cube root of chi / degrees is normal. The probability of 4
            // deviations is one in 30,000.
            let spread: f64 = 2.0 / (9.0 * degrees);
            let deviations = ((chi / degrees).cbrt() - (1.0 - spread)) / spread.sqrt();
            assert!(deviations < 4.0, "{rows} rows, {p}: {chi} with {degrees} degrees");
        }
    }

    #[test]
    fn one_row_more_is_one_more_draw() {
        let drawn = |rows| draw([9; 32], rows, 1 << 31).unwrap();
        assert!((0..200).all(|rows| (0..=1).contains(&(drawn(rows + 1) - drawn(rows)))));
        assert_ne!(drawn(200), draw([8; 32], 200, 1 << 31).unwrap());
    }
}
