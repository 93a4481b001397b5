//! The signature of a release. The holder of the key vouches for the manifest, and so for the
//! files.
//!
//! A manifest has the checksum of every file and of its own text. Anybody who changes a file and
//! the manifest can compute these again. Without a signature, only a comparison with the source
//! then reveals the change. With `OPTIONS (sign 'env:KEY')` the manifest also has a signature of
//! its checksum, made with a private key (Ed25519, RFC 8032). `VERIFY ... SIGNED BY 'key.pub'`
//! checks this signature with the public key. Without the private key, no manifest with other
//! content can have a valid signature.
//!
//! The signed text is an in-toto statement, version 1: its subjects are the files of the release,
//! and its predicate has the checksum of the manifest. The statement is in a DSSE envelope, whose
//! signature also covers the type of the text. Tools that sign software use in-toto and DSSE too.

mod envelope;
mod key;
mod pem;
mod statement;

pub use envelope::{Envelope, Mark};
pub(crate) use key::{PublicKey, SigningKey};
pub(crate) use statement::{Signed, SignedFile};
