//! The signed text: an in-toto statement about a manifest and its files.

use super::envelope::Envelope;
use super::key::{PublicKey, SigningKey};
use crate::base::error::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The type of in-toto statements, version 1.
const TYPE: &str = "https://in-toto.io/Statement/v1";
/// The type of the predicate, which describes a release.
const RELEASE: &str = "https://github.com/anonsql/anonsql/release/v1";

/// The signed statement about a release.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Signed {
    #[serde(rename = "_type")]
    kind: String,
    subject: Vec<SignedFile>,
    predicate_type: String,
    predicate: Predicate,
}

/// A file of a release, with the hexadecimal checksums of its bytes by their algorithms.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignedFile {
    name: String,
    digest: BTreeMap<String, String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Predicate {
    /// The checksum of the manifest's text, as the manifest contains it.
    manifest_sha256: String,
}

impl SignedFile {
    /// Creates the subject of a file.
    pub(crate) fn new(name: &str, sha256: &str) -> Self {
        Self {
            name: name.into(),
            digest: BTreeMap::from([("sha256".into(), sha256.into())]),
        }
    }
}

impl Signed {
    /// Creates the statement about a manifest with this checksum and its files.
    pub(crate) fn new(manifest_sha256: &str, subject: Vec<SignedFile>) -> Self {
        Self {
            kind: TYPE.into(),
            subject,
            predicate_type: RELEASE.into(),
            predicate: Predicate {
                manifest_sha256: manifest_sha256.into(),
            },
        }
    }

    /// Signs the statement, and returns the envelope.
    pub(crate) fn seal(&self, key: &SigningKey) -> Result<Envelope> {
        let text = serde_json::to_string(self)
            .map_err(|e| Error::internal(format!("the signed statement cannot be written as JSON: {e}")))?;
        Ok(Envelope::seal(&text, key))
    }

    /// Returns true if an envelope contains this statement and a signature by the private key of
    /// this public key.
    pub(crate) fn is_in(&self, envelope: &Envelope, key: &PublicKey) -> bool {
        let text = envelope.open(key);
        text.and_then(|text| serde_json::from_slice::<Self>(&text).ok())
            .is_some_and(|signed| signed == *self)
    }
}
