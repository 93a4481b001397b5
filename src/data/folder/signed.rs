//! The signature in a manifest. It signs the checksum of the manifest, and thereby its whole
//! content.

use super::manifest::Manifest;
use crate::base::error::Result;
use crate::data::signature::{PublicKey, Signed, SignedFile, SigningKey};

impl Manifest {
    /// Signs the whole content of the manifest, and returns it with the signature.
    pub(crate) fn signed(self, key: &SigningKey) -> Result<Self> {
        let signature = self.to_sign(&self.checksum()?).seal(key)?;
        Ok(Self {
            signature: Some(signature),
            ..self
        })
    }

    /// Returns true if the manifest has a valid signature by the private key that belongs to the
    /// public key `key`. Only the stored checksum is verified. Therefore, the caller must first
    /// make sure, with [`Manifest::read_sealed`], that the checksum matches the content.
    pub(crate) fn is_signed_by(&self, key: &PublicKey) -> bool {
        let signature = self.signature.as_ref();
        signature.is_some_and(|envelope| self.to_sign(&self.sha256).is_in(envelope, key))
    }

    fn to_sign(&self, sha256: &str) -> Signed {
        let files = self.output.iter();
        Signed::new(
            sha256,
            files.map(|file| SignedFile::new(&file.name, &file.sha256)).collect(),
        )
    }
}
