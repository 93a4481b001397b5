//! The location of a secret. Statements contain this location instead of the secret itself.

mod fault;

use crate::base::error::{Error, Result};
use fault::fault;
use std::path::PathBuf;

/// The location of a secret. The secret itself never appears in a statement, a log, a manifest or
/// an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Secret {
    /// The name of an environment variable.
    Environment(String),
    /// The path of a file.
    File(PathBuf),
}

impl Secret {
    /// Parses the location of a secret, `env:NAME` or `file:PATH`; `None` if the text is not a
    /// location.
    pub(crate) fn at(place: &str) -> Option<Self> {
        let (kind, name) = place.split_once(':').filter(|(_, name)| !name.is_empty())?;
        match kind {
            "env" => Some(Self::Environment(name.into())),
            "file" => Some(Self::File(name.into())),
            _ => None,
        }
    }

    /// Returns the location as text, `env:NAME` or `file:PATH`. The path is absolute, so that it
    /// refers to the same file in any working directory.
    pub(crate) fn place(&self) -> String {
        match self {
            Self::Environment(name) => format!("env:{name}"),
            Self::File(path) => {
                let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
                format!("file:{}", path.display())
            }
        }
    }

    /// Reads the bytes of the secret, without white space at their end.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>> {
        let read = match self {
            Self::Environment(name) => std::env::var(name).map_err(|_| not_set(name))?.into_bytes(),
            Self::File(path) => {
                std::fs::read(path).map_err(|e| Error::io(format!("secret file {}", path.display()), e))?
            }
        };
        Ok(read.trim_ascii_end().to_vec())
    }

    /// Reads the secret. Fails with a usage error if the secret could be guessed. `what` names the
    /// purpose of the secret in the error.
    pub(crate) fn read(&self, what: &str) -> Result<Vec<u8>> {
        let read = self.bytes()?;
        match fault(&read) {
            Some(fault) => Err(Error::usage(format!(
                "the secret of {what} {fault}, and could be guessed; use another one, such as 32 random bytes"
            ))),
            None => Ok(read),
        }
    }
}

/// Returns the error for an environment variable that is not set. A name that is unusual for a
/// variable is not shown, because it may be the secret itself.
fn not_set(name: &str) -> Error {
    let is_usual = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let name = if name.chars().all(is_usual) {
        name
    } else {
        "of this name"
    };
    Error::usage(format!("the environment variable {name} with the secret is not set"))
}
