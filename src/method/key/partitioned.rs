//! GROUP BY of many packed keys by radix-partitioned aggregation. Keys are first divided into parts
//! by their hash, so that the table of each part stays in the processor's cache. The parts are
//! grouped on several threads.

use super::grouper::{Grouper, hash};
use crate::base::pool::{MANY, join, map, pieces};
use std::borrow::Cow;
use std::ops::Range;

/// The distinct keys, and the group of each input key.
#[derive(Debug)]
pub(crate) struct KeyGroups {
    /// The words of the distinct keys, one key after another.
    pub(crate) keys: Vec<u64>,
    /// The group index of each input key.
    pub(crate) groups: Vec<u32>,
}

const PARTS: usize = 64;

/// Groups `n` keys of `words` words each. `keys` returns the keys with indices in a range. Fewer
/// than [`MANY`] keys are grouped in a single table. The group indices do not depend on the number
/// of threads.
pub(crate) fn group<'a>(
    words: usize,
    n: usize,
    keys: impl Fn(Range<usize>) -> Cow<'a, [u64]> + Sync + Send,
) -> KeyGroups {
    if n < MANY {
        let mut grouper = Grouper::new(words);
        let mut groups = vec![];
        grouper.group(&keys(0..n), &mut groups);
        return KeyGroups {
            keys: grouper.into_keys(),
            groups,
        };
    }
    let pieces = pieces(n);
    let divided: Vec<Divided> = map(pieces.len(), |i| Divided::new(words, &keys(pieces[i].clone())));
    let grouped: Vec<(Vec<u64>, Vec<Vec<u32>>)> = map(PARTS, |part| {
        let mut grouper = Grouper::new(words);
        let group = |piece: &Divided| {
            let mut groups = vec![];
            grouper.group(&piece.parts[part], &mut groups);
            groups
        };
        let groups = divided.iter().map(group).collect();
        (grouper.into_keys(), groups)
    });
    let mut first = [0u32; PARTS];
    let mut sum = 0;
    for (first, (keys, _)) in first.iter_mut().zip(&grouped) {
        *first = sum;
        sum += (keys.len() / words) as u32;
    }
    let numbered = map(divided.len(), |piece| {
        let mut parts = [const { [].as_slice() }; PARTS].map(<[u32]>::iter);
        for (part, (_, groups)) in parts.iter_mut().zip(&grouped) {
            *part = groups[piece].iter();
        }
        let number = |part: &u8| first[*part as usize] + parts[*part as usize].next().copied().unwrap_or_default();
        divided[piece].part_of.iter().map(number).collect::<Vec<u32>>()
    });
    KeyGroups {
        keys: join(grouped.into_iter().map(|(keys, _)| keys).collect()),
        groups: join(numbered),
    }
}

/// Returns the maximum number of bytes that grouping `len` keys of `words` words each can take,
/// which is reached if all keys are distinct. This includes the keys while they are moved, the
/// slots of the tables that exist at the same time (up to eight per key), and the part and the
/// group of each key.
pub(crate) fn bytes_to_group(len: usize, words: usize) -> usize {
    match len < MANY {
        true => len * (2 * words * 8 + 8 * 4 + 4),
        false => len * (3 * words * 8 + 8 + 1 + 2 * 4),
    }
}

/// Keys, divided into parts by their hash.
struct Divided {
    part_of: Vec<u8>,
    parts: Vec<Vec<u64>>,
}

impl Divided {
    fn new(words: usize, keys: &[u64]) -> Self {
        match words {
            1 => Self::of_words::<1>(words, keys),
            2 => Self::of_words::<2>(words, keys),
            _ => Self::of_words::<0>(words, keys),
        }
    }

    /// Divides keys. `W` is the number of words per key, or 0 for any number of words.
    fn of_words<const W: usize>(words: usize, keys: &[u64]) -> Self {
        let words = if W == 0 { words } else { W };
        let part = |key: &[u64]| (hash(key) >> (u64::BITS - PARTS.ilog2())) as u8;
        let part_of: Vec<u8> = keys.chunks_exact(words).map(part).collect();
        let mut lengths = [0usize; PARTS];
        part_of.iter().for_each(|part| lengths[*part as usize] += words);
        let mut parts: Vec<Vec<u64>> = lengths.iter().map(|n| Vec::with_capacity(*n)).collect();
        for (key, part) in keys.chunks_exact(words).zip(&part_of) {
            // Words are pushed one by one, because extend_from_slice would call memmove for each
            // key.
            (0..words).for_each(|i| parts[*part as usize].push(key[i]));
        }
        Self { part_of, parts }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::pool::Pool;
    use proptest::prelude::*;
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn groups_like_one_table(words in 1usize..4, n in MANY - 1..2 * MANY, values in 1u64..90, seed: u64) {
            let mut random = StdRng::seed_from_u64(seed);
            let keys: Vec<u64> = (0..n * words).map(|_| random.random_range(0..values)).collect();
            let answer = |range: Range<usize>| Cow::Borrowed(&keys[range.start * words..range.end * words]);
            let on = |threads| {
                Pool::new(threads).install(|| group(words, n, answer))
            };
            let one = on(1);
            let mut whole = Grouper::new(words);
            let mut expected = vec![];
            whole.group(&keys, &mut expected);
            prop_assert_eq!(one.keys.len(), whole.keys().len());
            prop_assert_eq!(one.groups.len(), n);
            for (key, group) in keys.chunks(words).zip(&one.groups) {
                prop_assert_eq!(&one.keys[*group as usize * words..][..words], key);
            }
            let three = on(3);
            prop_assert_eq!((one.keys, one.groups), (three.keys, three.groups), "numbers do not depend on threads");
        }
    }
}
