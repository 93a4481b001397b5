//! A published standard: the requirements that are checked, and the requirements that no program
//! can check.

use super::looked::Looked;
use super::requirement::{Promised, Requirement};
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};

/// A published standard.
#[derive(Debug, Clone, Copy)]
pub struct Standard {
    /// The description for help and errors.
    pub info: Info,
    /// The requirements for a request, which are checked.
    pub asks: &'static [&'static dyn Requirement],
    /// The requirements that no program can check, in one sentence.
    pub unchecked: &'static str,
}

/// Standards are compared by name.
impl PartialEq for Standard {
    fn eq(&self, other: &Self) -> bool {
        self.info.name == other.info.name
    }
}

impl Eq for Standard {}

impl Standard {
    /// Returns true if the standard has a requirement that can only be checked against the values
    /// of a source.
    pub fn reads_values(&self) -> bool {
        self.asks.iter().any(|ask| ask.reads_values())
    }

    /// Returns one sentence for each column whose released form the standard does not allow.
    pub fn forbidden(&self, columns: &[Looked]) -> Result<Vec<String>> {
        let mut found = vec![];
        for ask in self.asks {
            found.extend(ask.forbidden(columns)?);
        }
        Ok(found)
    }

    /// Returns one sentence for each required promise that no model gives.
    pub fn missing(&self, promised: &[Promised]) -> Vec<String> {
        self.asks.iter().filter_map(|ask| ask.missing(promised)).collect()
    }

    /// Fails with a usage error that contains the sentences in `found`, unless there are none.
    pub fn refuse(&self, found: &[String]) -> Result<()> {
        match found.is_empty() {
            true => Ok(()),
            false => Err(Error::usage(format!(
                "FOLLOWING {}: {}",
                self.info.name,
                found.join(". ")
            ))),
        }
    }
}
