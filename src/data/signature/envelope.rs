//! The envelope of a signed text: DSSE (Dead Simple Signing Envelope) 1.0.2.

use super::key::{PublicKey, SigningKey};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

/// The type of an in-toto statement.
const TYPE: &str = "application/vnd.in-toto+json";

/// An envelope: a text, its type, and signatures of both.
///
/// ```
/// let envelope: anonsql::manifest::Envelope = serde_json::from_str(
///     r#"{"payloadType": "application/vnd.in-toto+json", "payload": "e30=", "signatures": []}"#,
/// )?;
/// assert!(envelope.signatures.is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[non_exhaustive]
pub struct Envelope {
    /// The type of the text.
    pub payload_type: String,
    /// The text in base64.
    pub payload: String,
    /// The signatures.
    pub signatures: Vec<Mark>,
}

/// A signature, and the name of its key.
///
/// ```
/// let mark: anonsql::manifest::Mark = serde_json::from_str(r#"{"keyid": "a1e91560", "sig": "e30="}"#)?;
/// assert_eq!(mark.keyid, "a1e91560");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Mark {
    /// The SHA-256 of the public key's SubjectPublicKeyInfo, in hexadecimal digits.
    pub keyid: String,
    /// The signature in base64.
    pub sig: String,
}

impl Envelope {
    /// Signs a text.
    pub(super) fn seal(text: &str, key: &SigningKey) -> Self {
        let sig = key.sign(&signed(TYPE, text.as_bytes()));
        Self {
            payload_type: TYPE.into(),
            payload: STANDARD.encode(text),
            signatures: vec![Mark {
                keyid: key.public().id(),
                sig: STANDARD.encode(sig),
            }],
        }
    }

    /// Returns the JSON `text` without its last field, `signature`, which must be this envelope;
    /// `None` if the text does not end with that field.
    pub(crate) fn cut_from(&self, text: &str) -> Option<String> {
        #[derive(Serialize)]
        struct Last<'a> {
            signature: &'a Envelope,
        }
        let last = serde_json::to_string_pretty(&Last { signature: self }).ok()?;
        let bare = text.strip_suffix(&format!(",{}\n", last.strip_prefix('{')?))?;
        Some(format!("{bare}\n}}\n"))
    }

    /// Returns the text if it is an in-toto statement that was signed with the private key that
    /// belongs to `key`; `None` otherwise.
    pub(super) fn open(&self, key: &PublicKey) -> Option<Vec<u8>> {
        let text = STANDARD.decode(&self.payload).ok()?;
        let message = signed(&self.payload_type, &text);
        let is_signed = |mark: &Mark| {
            let sig = STANDARD.decode(&mark.sig);
            sig.is_ok_and(|sig| key.has_signed(&message, &sig))
        };
        let is_known = self.payload_type == TYPE && self.signatures.iter().any(is_signed);
        is_known.then_some(text)
    }
}

/// Returns the bytes to sign for a text and its type: the pre-authentication encoding.
fn signed(kind: &str, text: &[u8]) -> Vec<u8> {
    let head = format!("DSSEv1 {} {kind} {} ", kind.len(), text.len());
    [head.as_bytes(), text].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// The keys of RFC 8410, section 10.
    const PRIVATE: &str = "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC";
    const PUBLIC: &str = "MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";

    fn file(text: &str) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    }

    fn pem(label: &str, body: &str) -> tempfile::NamedTempFile {
        file(&format!(
            "A comment\n-----BEGIN {label}-----\r\n{body}\n-----END {label}-----\n"
        ))
    }

    fn keys() -> (SigningKey, PublicKey) {
        let (private, public) = (pem("PRIVATE KEY", PRIVATE), pem("PUBLIC KEY", PUBLIC));
        let private = SigningKey::at(&format!("file:{}", private.path().display())).unwrap();
        (private, PublicKey::read(public.path()).unwrap())
    }

    #[test]
    fn the_keys_of_the_standard_belong_together() {
        let (private, public) = keys();
        assert_eq!(private.public(), public);
        // The output of `openssl pkey -pubin -outform DER | sha256sum`.
        let id = "a1e9156054e04fac899ae9f275132cdc07a5dbc4ea2c2ad3a1ffc6e0d253681f";
        assert_eq!(public.id(), id);
    }

    #[test]
    fn the_encoding_is_that_of_the_protocol() {
        // The example from the description of DSSE.
        let encoded = signed("http://example.com/HelloWorld", b"hello world");
        assert_eq!(encoded, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    }

    #[test]
    fn an_envelope_opens_with_its_key_alone() {
        let (private, public) = keys();
        let envelope = Envelope::seal("{}", &private);
        assert_eq!(envelope.open(&public).unwrap(), b"{}");
        assert_eq!(envelope, Envelope::seal("{}", &private));
        let changed = [
            Envelope {
                payload: STANDARD.encode("[]"),
                ..envelope.clone()
            },
            Envelope {
                payload_type: "text/plain".into(),
                ..envelope.clone()
            },
            Envelope {
                signatures: vec![],
                ..envelope.clone()
            },
        ];
        assert!(changed.iter().all(|changed| changed.open(&public).is_none()));
        let mut other = STANDARD.decode(PUBLIC).unwrap();
        other[20] ^= 1;
        let other = pem("PUBLIC KEY", &STANDARD.encode(other));
        assert!(envelope.open(&PublicKey::read(other.path()).unwrap()).is_none());
    }

    #[test]
    fn what_is_no_key_is_refused_without_being_shown() {
        let texts = ["", "x", PRIVATE, &format!("-----BEGIN PRIVATE KEY-----{PRIVATE}")];
        for text in texts {
            let file = file(text);
            let place = format!("file:{}", file.path().display());
            let failed = [
                SigningKey::at(&place).unwrap_err().to_string(),
                SigningKey::at(text).unwrap_err().to_string(),
                PublicKey::read(file.path()).unwrap_err().to_string(),
            ];
            assert!(
                failed
                    .iter()
                    .all(|e| !e.contains("MC4CAQAw") && e.contains("PEM") | e.contains("'env:NAME'")),
                "{failed:?}"
            );
        }
        let private = pem("PRIVATE KEY", PRIVATE);
        assert!(PublicKey::read(private.path()).is_err());
    }
}
