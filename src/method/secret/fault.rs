//! Finds the fault of a secret: too few bytes, too few different bytes, or a repetition of a short
//! part.
//!
//! A program that has no value for a field may fill it with blanks, NUL bytes or a repeated
//! character. The result is long enough for a secret, but it is among the first guesses of an
//! attacker.

use crate::base::plain::acts;

/// The minimum number of bytes in a secret.
const LEAST: usize = 16;
/// The minimum length, in bytes, of the shortest part that gives the secret when it is repeated.
const LEAST_REPEATED: usize = 8;
/// The minimum number of different bytes in a secret. Of all secrets that consist of 16 random
/// decimal digits, 9 in 100,000 have fewer.
const LEAST_DIFFERENT: usize = 5;
/// Invisible characters that are neither white space nor characters for which [`acts`] returns
/// true.
const FILLERS: [char; 6] = ['\u{115f}', '\u{1160}', '\u{2800}', '\u{3164}', '\u{ffa0}', '\u{200d}'];

/// Returns the fault of a secret as a predicate, such as `has fewer than 16 bytes`; `None` if it
/// has no fault. In a secret that is text, invisible characters are not counted.
pub(super) fn fault(secret: &[u8]) -> Option<&'static str> {
    let shown = match std::str::from_utf8(secret) {
        Ok(text) => text
            .chars()
            .filter(|c| !c.is_whitespace() && !acts(*c) && !FILLERS.contains(c))
            .collect::<String>()
            .into_bytes(),
        Err(_) => secret.to_vec(),
    };
    let mut different = shown.clone();
    different.sort_unstable();
    different.dedup();
    match () {
        () if secret.len() < LEAST => Some("has fewer than 16 bytes"),
        () if shown.len() < LEAST => Some("has fewer than 16 bytes besides blanks and invisible characters"),
        () if different.len() < LEAST_DIFFERENT => Some("has fewer than 5 different bytes"),
        () if repeated(&shown) < LEAST_REPEATED => Some("is a repetition of a shorter text"),
        () => None,
    }
}

/// Returns the length of the shortest prefix that gives all of `bytes` when it is repeated. The
/// last repetition may be incomplete.
fn repeated(bytes: &[u8]) -> usize {
    let is_period = |n: &usize| bytes[*n..].iter().zip(bytes).all(|(a, b)| a == b);
    (1..bytes.len()).find(is_period).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_anybody_would_try_is_no_secret() {
        for secret in [
            "short".to_string(),
            " ".repeat(16),
            "\t".repeat(40),
            " \t\r\n".repeat(10),
            "\0".repeat(32),
            "\u{a0}".repeat(16),
            "\u{2003}\u{3000}".repeat(16),
            "\u{200b}\u{feff}\u{2800}\u{3164}".repeat(16),
            format!("{}short", " ".repeat(16)),
            "a".repeat(64),
            "ab".repeat(20),
            "abcd".repeat(20),
            "secret".repeat(8),
            "letmein letmein letmein".to_string(),
            format!("{}b", "a".repeat(40)),
        ] {
            assert!(fault(secret.as_bytes()).is_some(), "{secret:?}");
        }
        assert!(fault(&[0xff; 32]).is_some());
        assert!(fault(&[0; 32]).is_some());
    }

    #[test]
    fn what_is_random_or_long_is_one() {
        for secret in [
            "0123456789abcdef",
            "0123456789abcdef0123456789abcdef",
            "0123456789012345",
            "correct horse battery staple",
            "7305928461730594",
            "f1f2f3f4a1a2a3a4",
        ] {
            assert_eq!(fault(secret.as_bytes()), None, "{secret}");
        }
        let random: Vec<u8> = (0..32u8).map(|i| i.wrapping_mul(73) ^ 0x9e).collect();
        assert_eq!(fault(&random), None);
    }
}
