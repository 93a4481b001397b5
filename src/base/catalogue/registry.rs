//! A catalogue to which entries can be added at run time.

use super::entry::{Entry, Info};
use crate::base::error::{Error, Result};

/// A type with a description for the catalogue.
pub trait Described {
    /// Returns the description.
    fn info(&self) -> &Info;
}

impl<B> Described for Entry<B> {
    fn info(&self) -> &Info {
        &self.info
    }
}

/// An extensible list of entries. Built-in entries come first, followed by registered entries, and
/// help lists them in this order.
#[derive(Debug, Clone)]
pub struct Catalogue<E> {
    what: &'static str,
    entries: Vec<E>,
}

impl<E: Described + Copy> Catalogue<E> {
    /// Creates a catalogue that contains `entries`. `what` is the word for an entry in error
    /// messages.
    pub fn new(what: &'static str, entries: &[E]) -> Self {
        Self {
            what,
            entries: entries.to_vec(),
        }
    }

    /// Returns all entries.
    pub fn entries(&self) -> &[E] {
        &self.entries
    }

    /// Returns the descriptions of all entries.
    pub fn infos(&self) -> impl Iterator<Item = Info> {
        self.entries.iter().map(|e| *e.info())
    }

    /// Returns the names of all entries.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.infos().map(|info| info.name)
    }

    /// Returns the entry called `name`, ignoring case; `None` if there is no such entry.
    pub fn get(&self, name: &str) -> Option<E> {
        let found = self.entries.iter().find(|e| e.info().name.eq_ignore_ascii_case(name));
        found.copied()
    }

    /// Returns the entry called `name`, ignoring case. Fails with `ErrorKind::Usage` if there is no
    /// such entry; the error suggests the nearest name.
    pub fn find(&self, name: &str) -> Result<E> {
        self.get(name)
            .ok_or_else(|| Error::unknown(self.what, name, self.names()))
    }

    /// Fails with `ErrorKind::Usage` if the catalogue already has an entry called `name`.
    pub fn is_free(&self, name: &str) -> Result<()> {
        match self.get(name) {
            Some(_) => Err(Error::usage(format!("{} {name} already exists", self.what))),
            None => Ok(()),
        }
    }

    /// Adds an entry. Fails with `ErrorKind::Usage` if its name is already taken, or would need
    /// quotes in SQL.
    pub fn add(&mut self, entry: E) -> Result<()> {
        let name = entry.info().name;
        let fits = |(i, b): (usize, u8)| b.is_ascii_lowercase() || b == b'_' || (i > 0 && b.is_ascii_digit());
        if name.is_empty() || !name.bytes().enumerate().all(fits) {
            return Err(Error::usage(format!(
                "{} {name:?} cannot be named in SQL: use lower-case letters, digits and _",
                self.what
            )));
        }
        self.is_free(name)?;
        self.entries.push(entry);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFO: Info = Info {
        name: "tabu",
        summary: "",
        params: &[],
        example: "tabu",
        reference: "",
    };

    #[test]
    fn a_name_is_taken_once() {
        let entry = |name| Entry {
            info: Info { name, ..INFO },
            build: (),
        };
        let mut searches = Catalogue::new("search", &[entry("tabu")]);
        searches.add(entry("mine_2")).unwrap();
        assert_eq!(searches.names().collect::<Vec<_>>(), ["tabu", "mine_2"]);
        assert_eq!(searches.find("MINE_2").unwrap().info.name, "mine_2");
        let said = |e: Error| e.to_string();
        assert!(said(searches.add(entry("tabu")).unwrap_err()).contains("search tabu already exists"));
        for name in ["", "2nd", "Mine", "a b"] {
            assert!(said(searches.add(entry(name)).unwrap_err()).contains("cannot be named"));
        }
        assert!(said(searches.find("mine").unwrap_err()).contains("did you mean \"mine_2\""));
    }
}
