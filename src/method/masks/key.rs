//! The secret of a mask as a key.

use crate::base::error::{Error, Result};
use hmac::{Hmac, KeyInit, Mac};
use sha2::block_api::compress256;
use sha2::{Sha256, Sha512};
use std::fmt;

/// The number of bytes in a block of SHA-256.
const BLOCK: usize = 64;
/// The maximum number of bytes that fit in one block together with the padding of SHA-256, which is
/// a byte and the length.
const SHORT: usize = BLOCK - 9;
/// The state of SHA-256 before the first block (FIPS 180-4, 5.3.3).
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// A secret, as the key of HMAC-SHA-256.
#[derive(Clone)]
pub struct Key {
    keyed: Hmac<Sha256>,
    /// The state of the inner hash of HMAC after the block of the secret.
    inner: [u32; 8],
    /// The state of the outer hash of HMAC after the block of the secret.
    outer: [u32; 8],
    secret: Vec<u8>,
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(secret)")
    }
}

impl Key {
    /// Creates the key from a secret. Fails with a usage error if the secret is empty.
    pub fn new(secret: &[u8]) -> Result<Self> {
        let keyed = Hmac::new_from_slice(secret).map_err(|_| Error::usage("the secret is empty"))?;
        Ok(Self {
            keyed,
            inner: after_secret(secret, 0x36),
            outer: after_secret(secret, 0x5c),
            secret: secret.to_vec(),
        })
    }

    /// Returns the HMAC-SHA-256 of a text.
    pub(super) fn digest(&self, text: &[u8]) -> [u8; 32] {
        self.digest_of(&[text])
    }

    /// Returns the HMAC-SHA-256 of the concatenated parts. A short message, as most values are,
    /// takes two calls of the compression function. The buffers of the general implementation would
    /// take half as long again.
    pub(super) fn digest_of(&self, parts: &[&[u8]]) -> [u8; 32] {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        if length > SHORT {
            let mut mac = self.keyed.clone();
            parts.iter().for_each(|part| mac.update(part));
            return mac.finalize().into_bytes().into();
        }
        after_block(self.outer, &[&after_block(self.inner, parts)])
    }

    /// Returns the 64 bytes of the HMAC-SHA-512 of `purpose` with the secret. Released hashes are
    /// HMAC-SHA-256 values, so none of them reveals these bytes.
    pub(super) fn bytes_for(&self, purpose: &str) -> Result<[u8; 64]> {
        let mut mac = Hmac::<Sha512>::new_from_slice(&self.secret).map_err(|_| Error::usage("the secret is empty"))?;
        mac.update(purpose.as_bytes());
        Ok(mac.finalize().into_bytes().into())
    }

    /// Returns the key for `purpose`, derived from the secret.
    pub(super) fn key_for(&self, purpose: &str) -> Result<Self> {
        Self::new(&self.bytes_for(purpose)?)
    }

    /// Returns a text by which this secret can be compared with another one: 32 bits of the HMAC of
    /// `once`, which must be a text that is used only once.
    pub(crate) fn mark(&self, once: &str) -> String {
        let mut mark = hex::encode(self.digest(format!("the secret of a worker {once}").as_bytes()));
        mark.truncate(8);
        mark
    }
}

/// Returns the state of SHA-256 after the first block of an HMAC (RFC 2104). The block is the
/// secret, or the hash of a secret that is longer than a block, with each byte combined with `pad`.
fn after_secret(secret: &[u8], pad: u8) -> [u32; 8] {
    let mut block = [0u8; BLOCK];
    if secret.len() > BLOCK {
        let hash: [u8; 32] = <Sha256 as sha2::Digest>::digest(secret).into();
        block[..hash.len()].copy_from_slice(&hash);
    } else {
        block[..secret.len()].copy_from_slice(secret);
    }
    let mut state = INITIAL;
    compress256(&mut state, &[block.map(|byte| byte ^ pad)]);
    state
}

/// Returns the SHA-256 of one block and the parts after it. `state` is the state after the block,
/// and the parts have at most [`SHORT`] bytes.
fn after_block(mut state: [u32; 8], parts: &[&[u8]]) -> [u8; 32] {
    let (mut block, mut end) = ([0u8; BLOCK], 0usize);
    for part in parts {
        block[end..end + part.len()].copy_from_slice(part);
        end += part.len();
    }
    block[end] = 0x80;
    let bits = 8 * (BLOCK + end) as u64;
    block[BLOCK - 8..].copy_from_slice(&bits.to_be_bytes());
    compress256(&mut state, &[block]);
    let mut hash = [0u8; 32];
    for (bytes, word) in hash.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_be_bytes();
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of RFC 4231, 4.2 to 4.8, in their order. The fifth is truncated there.
    #[test]
    fn rfc_4231() {
        let long_key = [0xaa; 131];
        let counted: Vec<u8> = (1..=25).collect();
        let vectors: [(&[u8], &[u8], &str); 7] = [
            (
                &[0x0b; 20],
                b"Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                &[0xaa; 20],
                &[0xdd; 50],
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
            ),
            (
                &counted,
                &[0xcd; 50],
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
            ),
            (&[0x0c; 20], b"Test With Truncation", "a3b6167473100ee06e0c796c2955552b"),
            (
                &long_key,
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
            (
                &long_key,
                b"This is a test using a larger than block-size key and a larger than block-size data. The key needs \
                  to be hashed before being used by the HMAC algorithm.",
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
            ),
        ];
        for (secret, text, mac) in vectors {
            let digest = hex::encode(Key::new(secret).unwrap().digest(text));
            assert_eq!(&digest[..mac.len()], mac);
        }
    }

    #[test]
    fn messages_of_every_length_have_the_hmac_of_the_crate() {
        let message: Vec<u8> = (0..200).collect();
        for secret in [1usize, 16, 63, 64, 65, 131].map(|length| &message[..length]) {
            let key = Key::new(secret).unwrap();
            for length in 0..=message.len() {
                let text = &message[..length];
                let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
                mac.update(text);
                let expected: [u8; 32] = mac.finalize().into_bytes().into();
                assert_eq!(key.digest(text), expected, "{length} bytes");
                let (start, end) = text.split_at(length / 3);
                assert_eq!(key.digest_of(&[start, end]), expected, "{length} bytes in two parts");
            }
        }
    }
}
