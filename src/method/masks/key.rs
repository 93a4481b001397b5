//! The secret of a mask as a key.

use crate::base::error::{Error, Result};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Sha256, Sha512};
use std::fmt;

/// A secret, as the key of HMAC-SHA-256.
#[derive(Clone)]
pub struct Key {
    keyed: Hmac<Sha256>,
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
        let secret = secret.to_vec();
        Ok(Self { keyed, secret })
    }

    /// Returns the HMAC-SHA-256 of a text.
    pub(super) fn digest(&self, text: &[u8]) -> [u8; 32] {
        let mut mac = self.keyed.clone();
        mac.update(text);
        mac.finalize().into_bytes().into()
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
