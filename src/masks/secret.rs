//! The place of a secret, and the secret as a key.

use super::fault::fault;
use crate::error::{Error, Result};
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Sha256, Sha512};
use std::fmt;
use std::path::PathBuf;

/// The place of a secret. The secret itself is in no statement, log, manifest or error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// The name of an environment variable.
    Environment(String),
    /// The path of a file.
    File(PathBuf),
}

impl Secret {
    /// Returns the secret at a place, `env:NAME` or `file:PATH`; `None` if it is no place.
    pub(crate) fn at(place: &str) -> Option<Self> {
        let (kind, name) = place.split_once(':').filter(|(_, name)| !name.is_empty())?;
        match kind {
            "env" => Some(Self::Environment(name.into())),
            "file" => Some(Self::File(name.into())),
            _ => None,
        }
    }

    /// Returns the place as a text, `env:NAME` or `file:PATH`, which stands for the same file in
    /// any folder.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Environment(name) => format!("env:{name}"),
            Self::File(path) => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                format!("file:{}", path.display())
            }
        }
    }

    /// Reads the secret of `what`. Fails if it could be guessed.
    pub(crate) fn read(&self, what: &str) -> Result<Vec<u8>> {
        let read = match self {
            Self::Environment(name) => {
                let text = std::env::var(name).map_err(|_| not_set(name))?;
                text.trim_ascii_end().as_bytes().to_vec()
            }
            Self::File(path) => {
                let bytes = std::fs::read(path).map_err(|e| Error::io(format!("secret file {}", path.display()), e))?;
                bytes.trim_ascii_end().to_vec()
            }
        };
        match fault(&read) {
            Some(fault) => Err(Error::usage(format!(
                "the secret of {what} {fault}, and could be guessed; use another one, such as 32 random bytes"
            ))),
            None => Ok(read),
        }
    }
}

/// Returns the error for an environment variable that is not set. A name that no variable has by
/// custom may be the secret itself, and is not shown.
fn not_set(name: &str) -> Error {
    let is_usual = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let name = if name.chars().all(is_usual) {
        name
    } else {
        "of this name"
    };
    Error::usage(format!("the environment variable {name} with the secret is not set"))
}

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
    /// Creates the key of a secret. Fails with a usage error if the secret is empty.
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

    /// Returns the 64 bytes of the HMAC-SHA-512 of the name of a use. A hash, which is public, is
    /// an HMAC-SHA-256, so no hash of any value tells of them.
    pub(super) fn bytes_for(&self, purpose: &str) -> Result<[u8; 64]> {
        let mut mac = Hmac::<Sha512>::new_from_slice(&self.secret).map_err(|_| Error::usage("the secret is empty"))?;
        mac.update(purpose.as_bytes());
        Ok(mac.finalize().into_bytes().into())
    }

    /// Returns the key of another use of the secret.
    pub(super) fn key_for(&self, purpose: &str) -> Result<Self> {
        Self::new(&self.bytes_for(purpose)?)
    }

    /// Returns a text that tells this secret from another one: 32 bits of the hash of a text that
    /// is used once.
    pub(crate) fn mark(&self, once: &str) -> String {
        let mut mark = hex::encode(self.digest(format!("the secret of a worker {once}").as_bytes()));
        mark.truncate(8);
        mark
    }
}
