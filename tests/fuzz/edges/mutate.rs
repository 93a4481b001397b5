//! Mutations of bytes and of words.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::ops::Range;

/// Numbers at boundaries, for lengths, counts and offsets that are read unchecked.
const EDGES: &[i64] = &[
    0,
    1,
    -1,
    2,
    7,
    8,
    15,
    16,
    31,
    32,
    63,
    64,
    100,
    127,
    128,
    255,
    256,
    1023,
    4096,
    32767,
    32768,
    65535,
    65536,
    i32::MAX as i64,
    i32::MIN as i64,
    u32::MAX as i64,
    i64::MAX,
    i64::MIN,
];

/// Returns the bytes after one to four changes, at positions that `place` draws.
pub fn bytes(
    rng: &mut ChaCha8Rng,
    original: &[u8],
    others: &[Vec<u8>],
    place: impl Fn(&mut ChaCha8Rng, usize) -> usize,
) -> Vec<u8> {
    let mut bytes = original.to_vec();
    let changes = [1, 1, 1, 2, 3, 4][rng.random_range(0..6)];
    for _ in 0..changes {
        if bytes.is_empty() {
            return bytes;
        }
        let at = place(rng, bytes.len()).min(bytes.len() - 1);
        match rng.random_range(0..13) {
            0..3 => bytes[at] ^= 1 << rng.random_range(0..8),
            3..5 => bytes[at] = rng.random(),
            5 => bytes[at] = bytes[at].wrapping_add(if rng.random() { 1 } else { 255 }),
            6 => number(rng, &mut bytes, at),
            7 => bytes.insert(at, rng.random()),
            8 => drop(bytes.drain(span(rng, at, bytes.len()))),
            9 => {
                let span = span(rng, at, bytes.len());
                let part = bytes[span].to_vec();
                let to = place(rng, bytes.len()).min(bytes.len() - 1);
                bytes.splice(to..to, part);
            }
            10 if !others.is_empty() => {
                let other = &others[rng.random_range(0..others.len())];
                let from = rng.random_range(0..other.len().max(1));
                let part = other[span(rng, from, other.len())].to_vec();
                bytes.splice(at..at, part);
            }
            11 => bytes.truncate(at),
            _ => {
                let span = span(rng, at, bytes.len());
                let byte = [0, 255, b'0', b',', b'"', b'\n', 0x80][rng.random_range(0..7)];
                bytes[span].fill(byte);
            }
        }
    }
    bytes
}

/// Draws a position below `len`. All positions are equally likely.
pub fn anywhere(rng: &mut ChaCha8Rng, len: usize) -> usize {
    rng.random_range(0..len)
}

fn span(rng: &mut ChaCha8Rng, at: usize, len: usize) -> Range<usize> {
    at.min(len)..(at + rng.random_range(1..=16)).min(len)
}

/// Overwrites the bytes from index `at` with one of the numbers in `EDGES`, encoded as an integer
/// of 1, 2, 4 or 8 bytes or as a zigzag varint, the variable-length encoding of Thrift.
fn number(rng: &mut ChaCha8Rng, bytes: &mut [u8], at: usize) {
    let value = EDGES[rng.random_range(0..EDGES.len())];
    let written = match rng.random_range(0..4) {
        0 => value.to_le_bytes()[..[1, 2, 4, 8][rng.random_range(0..4)]].to_vec(),
        1 => (value as i32).to_be_bytes().to_vec(),
        _ => variable(((value << 1) ^ (value >> 63)) as u64),
    };
    for (byte, new) in bytes[at..].iter_mut().zip(written) {
        *byte = new;
    }
}

fn variable(mut value: u64) -> Vec<u8> {
    let mut out = vec![];
    loop {
        let low = (value & 127) as u8;
        value >>= 7;
        out.push(if value == 0 { low } else { low | 128 });
        if value == 0 {
            return out;
        }
    }
}

/// Returns the words after one to five changes. A change drops, repeats, moves or mutates words,
/// replaces one by a word of `dictionary`, or inserts words of `dictionary` or `other`.
pub fn words(rng: &mut ChaCha8Rng, words: &[String], other: &[String], dictionary: &[String]) -> Vec<String> {
    let mut words = words.to_vec();
    for _ in 0..[1, 1, 2, 3, 5][rng.random_range(0..5)] {
        if words.is_empty() {
            words.push(dictionary[rng.random_range(0..dictionary.len())].clone());
        }
        let at = rng.random_range(0..words.len());
        let span = span(rng, at, words.len());
        match rng.random_range(0..9) {
            0 => drop(words.drain(span)),
            1 => words[at] = dictionary[rng.random_range(0..dictionary.len())].clone(),
            2 => words.insert(at, dictionary[rng.random_range(0..dictionary.len())].clone()),
            3 => {
                let to = rng.random_range(0..words.len());
                words.swap(at, to);
            }
            4 => {
                let part = words[span].to_vec();
                let times = [1, 2, 3, 40, 200, 3_000][rng.random_range(0..6)];
                let repeated: Vec<String> = part.iter().cycle().take(part.len() * times).cloned().collect();
                words.splice(at..at, repeated);
            }
            5 | 6 if !other.is_empty() => {
                let from = rng.random_range(0..other.len());
                let part = other[self::span(rng, from, other.len())].to_vec();
                words.splice(at..at, part);
            }
            7 => {
                let changed = bytes(rng, words[at].as_bytes(), &[], anywhere);
                words[at] = String::from_utf8_lossy(&changed).into_owned();
            }
            _ => words.truncate(at),
        }
    }
    words
}
