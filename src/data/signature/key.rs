//! The private and the public key of a signature.

use super::pem::block;
use crate::base::error::{Error, Result};
use crate::method::secret::Secret;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The bytes that precede the 32 bytes of an Ed25519 public key in its SubjectPublicKeyInfo (RFC
/// 8410, section 4).
const BEFORE: [u8; 12] = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// The maximum size of a key file, in bytes.
const LARGEST: u64 = 64 << 10;

/// A private key. It appears in no statement, log, manifest or error.
pub(crate) struct SigningKey {
    pair: Ed25519KeyPair,
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public().id())
    }
}

impl SigningKey {
    /// Reads the key from `place`, which is `env:NAME` or `file:PATH`. The key is PKCS#8 as PEM.
    pub(crate) fn at(place: &str) -> Result<Self> {
        // A text of another form may be the key itself, so the error does not show it.
        let secret = Secret::at(place).ok_or_else(|| {
            Error::usage("option sign: write the place of the private key, as in sign 'env:NAME' or sign 'file:PATH'")
        })?;
        let pair = String::from_utf8(secret.bytes()?)
            .ok()
            .and_then(|text| block(&text, "PRIVATE KEY"))
            .and_then(|der| Ed25519KeyPair::from_pkcs8_maybe_unchecked(&der).ok());
        let pair = pair.ok_or_else(|| {
            Error::usage(
                "option sign: the text there is not a private key of Ed25519 in PEM; make one with: openssl genpkey \
                 -algorithm ed25519 -out release.key",
            )
        })?;
        Ok(Self { pair })
    }

    /// Returns the public key.
    pub(crate) fn public(&self) -> PublicKey {
        PublicKey {
            bytes: self.pair.public_key().as_ref().to_vec(),
        }
    }

    /// Signs a message. The same key and message always give the same signature.
    pub(super) fn sign(&self, message: &[u8]) -> Vec<u8> {
        self.pair.sign(message).as_ref().to_vec()
    }
}

/// A public key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PublicKey {
    /// The 32 bytes of the key, as RFC 8032 defines them.
    bytes: Vec<u8>,
}

impl PublicKey {
    /// Reads the key in a file: a SubjectPublicKeyInfo as PEM.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let failed = |e| Error::io(format!("cannot read the public key {}", path.display()), e);
        let mut text = vec![];
        let file = File::open(path).map_err(failed)?;
        file.take(LARGEST).read_to_end(&mut text).map_err(failed)?;
        let der = String::from_utf8(text).ok().and_then(|text| block(&text, "PUBLIC KEY"));
        let bytes = der.and_then(|der| Some(der.strip_prefix(&BEFORE)?.to_vec()));
        match bytes.filter(|bytes| bytes.len() == 32) {
            Some(bytes) => Ok(Self { bytes }),
            None => Err(Error::usage(format!(
                "SIGNED BY: {} is not a public key of Ed25519 in PEM; openssl writes it: openssl pkey -in release.key -pubout \
                 -out release.pub",
                path.display()
            ))),
        }
    }

    /// Returns the name of the key: the SHA-256 of its SubjectPublicKeyInfo.
    pub(crate) fn id(&self) -> String {
        hex::encode(Sha256::digest([&BEFORE[..], &self.bytes].concat()))
    }

    /// Returns true if this signature of the message was made with the private key.
    pub(super) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        UnparsedPublicKey::new(&ED25519, &self.bytes)
            .verify(message, signature)
            .is_ok()
    }
}
