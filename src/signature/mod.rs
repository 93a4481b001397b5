//! The signature of a release: who holds the key vouches for its manifest, and so for its files.
//!
//! A manifest has the checksum of every file and of its own text. Whoever changes a file and the
//! manifest computes them again, and only the source tells. With `OPTIONS (sign 'env:KEY')` the
//! manifest also has a signature of its checksum, made with a private key (Ed25519, RFC 8032).
//! `VERIFY ... SIGNED BY 'key.pub'` checks it with the public key. Without the private key no
//! manifest with other content has a signature that holds.
//!
//! What is signed is an in-toto statement, version 1: its subjects are the files of the release,
//! and its predicate has the checksum of the manifest. It is in an envelope of DSSE, which signs
//! its type too. Both are formats of the tools that sign software.

mod envelope;
mod key;
mod pem;
mod statement;

pub use envelope::{Envelope, Mark};
pub(crate) use key::{PublicKey, SigningKey};
pub(crate) use statement::{Signed, Subject};
