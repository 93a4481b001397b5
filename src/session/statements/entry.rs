//! A statement: how it is recognised, what help says of it, how it is read, and what it does.

use crate::error::Result;
use crate::hierarchy::{KINDS, Kind};
use crate::session::answer::Answer;
use crate::session::context::AnonContext;
use crate::sql::clause::list::ALL;
use crate::sql::cursor::Cursor;
use crate::sql::read_each;
use crate::sql::words::Words;
use async_trait::async_trait;
use std::any::Any;
use std::fmt;

/// A statement of the language: how it is recognised, what help says of it, and how it is read.
pub struct Entry {
    /// What it is called in help.
    pub name: &'static str,
    /// The keywords it starts with, one text for each form; a `*` stands for one more token of any kind.
    pub starts: &'static [&'static str],
    /// One line for people.
    pub summary: &'static str,
    /// Its syntax; `<kind>` is the clause of a kind of hierarchy.
    pub(super) syntax: &'static str,
    /// An example, which parses.
    pub example: &'static str,
    /// Reads what follows its keywords; the number is the index of the form in `starts`.
    pub(super) read: fn(&mut Cursor, usize) -> Result<Statement>,
}

impl Entry {
    /// Its syntax, with the clause of each of these kinds of hierarchies.
    pub fn syntax(&self, kinds: &[Kind]) -> String {
        let clauses: Vec<&str> = kinds.iter().map(|kind| kind.clause.syntax).collect();
        self.syntax.replace("<kind>", &clauses.join("\n  | "))
    }

    /// The statement at the cursor, where it is this one.
    pub(super) fn read_at(&self, cursor: &Cursor) -> Result<Option<Statement>> {
        for (form, start) in self.starts.iter().enumerate() {
            let words = start.trim_end_matches(" *");
            let more = words.len() < start.len();
            let mut after = cursor.clone();
            if after.take(words) && !(more && after.at_end()) {
                let statement = (self.read)(&mut after, form)?;
                after.end()?;
                return Ok(Some(statement));
            }
        }
        Ok(None)
    }

    /// The one statement that a text is, where it is this one. The error of another says which word is missing.
    pub(in crate::session) fn parse(&self, text: &str) -> Result<Option<Statement>> {
        let words = words([self], KINDS);
        let mut statements = read_each(text, &words, |c| {
            let read = self.read_at(&c)?;
            if let (None, [start]) = (&read, self.starts) {
                c.clone().need(start)?;
            }
            Ok(read)
        })?;
        match (statements.pop(), statements.is_empty()) {
            (Some(one), true) => one,
            _ => Ok(None),
        }
    }
}

/// The words of these statements, of the clauses and of these kinds of hierarchies.
pub(super) fn words<'e>(entries: impl IntoIterator<Item = &'e Entry>, kinds: &[Kind]) -> Words {
    let entries: Vec<&Entry> = entries.into_iter().collect();
    let starts = entries.iter().flat_map(|e| e.starts.iter().copied());
    let syntax = entries.iter().map(|e| e.syntax);
    Words::new(starts, syntax.chain(ALL.iter().map(|clause| clause.syntax)), kinds)
}

/// A statement that was read: it prints as SQL that reads back the same, and runs in a context.
///
/// ```
/// let anon = anonsql::AnonContext::new(Default::default());
/// let statements = anon.parse("create hierarchy age as intervals (5,10)")?;
/// let printed: Vec<String> = statements.into_iter().flatten().map(|s| s.to_string()).collect();
/// assert_eq!(printed, ["CREATE HIERARCHY age AS INTERVALS (5, 10)"]);
/// # Ok::<(), anonsql::error::Error>(())
/// ```
pub struct Statement(Box<dyn Run>);

impl Statement {
    pub(super) fn new(statement: impl Run) -> Self {
        Self(Box::new(statement))
    }

    /// What the log calls it.
    pub(crate) fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// What it says, where it is a statement of this type.
    pub(in crate::session) fn get<T: Run>(&self) -> Option<&T> {
        (self.0.as_ref() as &dyn Any).downcast_ref()
    }

    /// Runs it on the threads at hand.
    pub(in crate::session) async fn run(&self, context: &AnonContext) -> Result<Answer> {
        self.0.run(context).await
    }
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for Statement {
    fn eq(&self, other: &Self) -> bool {
        (*self.0).same(other.0.as_ref() as &dyn Any)
    }
}

/// What a statement's own value does.
#[async_trait]
pub(in crate::session) trait Run: fmt::Debug + fmt::Display + Same + Send + Sync {
    /// What the log calls it.
    fn kind(&self) -> &'static str;

    /// Carries it out.
    async fn run(&self, context: &AnonContext) -> Result<Answer>;
}

/// Equality of values of which only a trait is known.
pub(in crate::session) trait Same: Any {
    fn same(&self, other: &dyn Any) -> bool;
}

impl<T: Any + PartialEq> Same for T {
    fn same(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>() == Some(self)
    }
}
