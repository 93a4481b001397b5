//! The description of a statement: its keywords, its help, its parser and how it runs.

use crate::base::error::Result;
use crate::data::formats::{keywords, with_formats};
use crate::language::session::answer::Answer;
use crate::language::session::context::AnonContext;
use crate::language::sql::clause::list::ALL;
use crate::language::sql::cursor::Cursor;
use crate::language::sql::variable::Variables;
use crate::language::sql::words::Words;
use crate::language::sql::{self, Hidden, Parsed, Script};
use crate::method::hierarchy::{KINDS, Kind};
use crate::method::masks::{MASKS, MaskPlace};
use futures::future::BoxFuture;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The entry of a statement in [`super::STATEMENTS`]: its keywords, its help and its parser.
pub struct Entry {
    /// The name of the statement in help.
    pub name: &'static str,
    /// The keywords with which the statement starts, one string for each form of the statement; a
    /// `*` matches one further token of any kind.
    pub starts: &'static [&'static str],
    /// A summary of the statement in one line.
    pub summary: &'static str,
    /// The syntax of the statement. The placeholders `<kind>` and `<masks>` stand for the clauses
    /// of the kinds of hierarchies and of the masks. [`with_formats`] replaces further
    /// placeholders.
    pub(super) syntax: &'static str,
    /// An example of the statement, which the parser accepts.
    pub example: &'static str,
    /// Whether the statement is allowed in place of a query.
    pub(super) answers: bool,
    /// Parses the rest of the statement after its keywords. The second argument is the index of the
    /// form in `starts`.
    pub(super) read: fn(&mut Cursor, usize) -> Result<Statement>,
}

impl Entry {
    /// Returns the syntax of the statement, in which the clauses of the given kinds of hierarchies,
    /// the clauses of all masks, and the words of all table formats replace the placeholders.
    pub fn syntax(&self, kinds: &[Kind]) -> String {
        let clauses: Vec<&str> = kinds.iter().map(|kind| kind.clause.syntax).collect();
        let masks = [MaskPlace::Identifiers, MaskPlace::Values].map(masks);
        with_formats(self.syntax)
            .replace("<kind>", &clauses.join("\n  | "))
            .replace("<masks>", &masks.join("\n"))
    }

    /// Parses the statement at the cursor; returns `None` if the cursor is not at its keywords.
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

    /// Parses `text`, which must be exactly this statement; returns `None` unless the text contains
    /// a single statement. For another statement, fails with an error that names the expected
    /// keywords, or returns `None` if this statement has several forms.
    pub(in crate::language::session) fn parse(&self, text: &str, variables: &Variables) -> Result<Option<Statement>> {
        let script = Script::new(text, Arc::new(words([self], KINDS)))?;
        let mut statements = script.statements();
        let (Some(tokens), None) = (statements.next(), statements.next()) else {
            return Ok(None);
        };
        let read = |c: Cursor| {
            let read = self.read_at(&c)?;
            if let (None, [start]) = (&read, self.starts) {
                c.clone().need(start)?;
            }
            Ok(read)
        };
        Ok(sql::read(&script, tokens, variables, read)?.statement)
    }
}

/// Returns the syntax of the masks that are allowed in `place`.
fn masks(place: MaskPlace) -> String {
    let there = MASKS.iter().filter(|kind| kind.places.contains(&place));
    let clauses: Vec<&str> = there.map(|kind| kind.clause.syntax).collect();
    format!("mask of {}:\n    {}", place.name(), clauses.join("\n  | "))
}

/// Returns the words of the language, collected from the given statements, all clauses, masks and
/// table formats, and the given kinds of hierarchies.
pub(super) fn words<'e>(entries: impl IntoIterator<Item = &'e Entry>, kinds: &[Kind]) -> Words {
    let entries: Vec<&Entry> = entries.into_iter().collect();
    let starts = entries.iter().flat_map(|e| e.starts.iter().copied());
    let syntax = entries.iter().map(|e| e.syntax);
    Words::new(
        starts,
        ALL.iter().map(|clause| clause.start),
        syntax
            .chain(ALL.iter().map(|clause| clause.syntax))
            .chain(MASKS.iter().map(|kind| kind.clause.syntax))
            .chain(keywords()),
        kinds,
    )
}

/// A parsed statement. It can be printed as SQL that parses to the same statement, and it can be
/// run in a context.
///
/// ```
/// let anon = anonsql::AnonContext::new(Default::default());
/// let statements = anon.parse("create hierarchy age as intervals (5,10)")?;
/// let printed: Vec<String> = statements.into_iter().flatten().map(|s| s.to_string()).collect();
/// assert_eq!(printed, ["CREATE HIERARCHY age AS INTERVALS (5, 10)"]);
/// # Ok::<(), anonsql::error::Error>(())
/// ```
pub struct Statement {
    statement: Box<dyn Run>,
    hidden: Hidden,
    is_deep: bool,
}

impl Statement {
    pub(super) fn new(statement: impl Run) -> Self {
        Self {
            statement: Box::new(statement),
            hidden: Hidden::default(),
            is_deep: false,
        }
    }

    /// Returns the statement of a parse result, together with its hidden values. Also records in
    /// the statement whether it must run on threads with larger stacks.
    pub(in crate::language::session) fn of(parsed: Parsed<Self>) -> Self {
        Self {
            hidden: parsed.hidden,
            is_deep: parsed.is_deep,
            ..parsed.statement
        }
    }

    /// Returns true if the statement must run on threads with larger stacks.
    #[doc(hidden)]
    pub fn is_deep(&self) -> bool {
        self.is_deep
    }

    /// Returns the values in the statement that must not be shown.
    pub(in crate::language::session) fn hidden(&self) -> &Hidden {
        &self.hidden
    }

    /// Returns the name of the statement in the log.
    pub(crate) fn kind(&self) -> &'static str {
        self.statement.kind()
    }

    /// Returns the statement as type `T`; `None` if it has another type.
    pub(in crate::language::session) fn get<T: Run>(&self) -> Option<&T> {
        (self.statement.as_ref() as &dyn Any).downcast_ref()
    }

    /// Runs the statement inside an outer statement. `context` is the context of the outer
    /// statement, which already hides the values of both.
    pub(super) async fn run_within(&self, context: &AnonContext) -> Result<Answer> {
        self.statement.run(context).await
    }

    /// Runs the statement on the threads of the caller.
    pub(in crate::language::session) async fn run(&self, context: &AnonContext) -> Result<Answer> {
        let answer = self.statement.run(&context.hiding(&self.hidden)).await;
        // The result is also cleared of the hidden values of earlier statements: a statement may
        // use a view that an earlier statement defined with such a value, or a value that a
        // function computed from it.
        let seen = context.seen();
        let answer = answer.map_err(|e| seen.in_error(self.hidden.in_error(e)))?;
        Ok(answer.hiding(&self.hidden, seen))
    }
}

impl fmt::Debug for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.hidden.is_empty() {
            true => self.statement.fmt(f),
            false => fmt::Display::fmt(self, f),
        }
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hidden.in_statement(self.statement.to_string()))
    }
}

impl PartialEq for Statement {
    fn eq(&self, other: &Self) -> bool {
        (*self.statement).same(other.statement.as_ref() as &dyn Any)
    }
}

/// The behaviour of a parsed statement.
pub(in crate::language::session) trait Run:
    fmt::Debug + fmt::Display + Same + Send + Sync
{
    /// Returns the name of the statement in the log.
    fn kind(&self) -> &'static str;

    /// Runs the statement.
    fn run<'a>(&'a self, context: &'a AnonContext) -> BoxFuture<'a, Result<Answer>>;
}

/// Equality for trait objects: two values are equal if they have the same concrete type and are
/// equal as values of this type.
pub(in crate::language::session) trait Same: Any {
    fn same(&self, other: &dyn Any) -> bool;
}

impl<T: Any + PartialEq> Same for T {
    fn same(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<T>() == Some(self)
    }
}
