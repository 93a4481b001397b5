//! Checks that quotes in a CSV file occur only where they are allowed.
//!
//! CSV readers accept any bytes. If a quoted field is never closed, all following rows become part
//! of the field. Text between a closing quote and the next delimiter also becomes part of the
//! field. In both cases, the table would have a value that nobody wrote, so both are reported as
//! faults. An empty line in a file with one column is also a fault, because readers skip it. The
//! bytes are checked while they are streamed, and the bytes between two quotes are skipped by a
//! fast search.

use super::dialect::Dialect;
use memchr::{memchr, memchr_iter, memchr2};
use std::fmt;

/// A faulty line of a CSV file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Fault {
    /// The line, counted from 1.
    line: usize,
    kind: FaultKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum FaultKind {
    /// A quoted field is opened and never closed.
    Open,
    /// Text follows a closing quote.
    Text,
    /// An empty line in a file with one column. Readers skip it.
    Empty,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line;
        match self.kind {
            FaultKind::Open => write!(f, "line {line} has a quote that never closes; close it"),
            FaultKind::Text => write!(f, "line {line} has a text after a closing quote"),
            FaultKind::Empty => {
                return write!(
                    f,
                    "line {line} is empty, and would not be read as a row; write \"\" for a missing value, \
                     or delete the line"
                );
            }
        }?;
        f.write_str(
            "; double each quote within a text, declare the character before it: OPTIONS (escape '\\'), or, if this \
             file does not quote fields, declare a character that it does not contain: OPTIONS (quote '~')",
        )
    }
}

/// The state of the check within a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Plain,
    Comment,
    Quoted,
    /// After the escape character in a quoted field.
    Escaped,
    /// After a quote in a quoted field. The quote closes the field unless a second quote follows.
    /// Two quotes stand for one quote in the text.
    Closed,
}

/// The number of bytes that are compared one by one before the fast search, because quoted fields
/// are often short.
const NEAR: usize = 24;

/// Returns the position of the next byte that equals `one` or `other`.
#[inline]
fn next(one: u8, other: u8, text: &[u8]) -> Option<usize> {
    let (near, far) = text.split_at(NEAR.min(text.len()));
    let found = near.iter().position(|byte| *byte == one || *byte == other);
    found.or_else(|| memchr2(one, other, far).map(|found| near.len() + found))
}

/// Checks the quotes of a file, chunk by chunk.
#[derive(Debug)]
pub(crate) struct Quotes {
    dialect: Dialect,
    /// The byte that ends a line; `None` if lines end with `\n` or `\r`.
    terminator: Option<u8>,
    /// Whether the file has one column, so that an empty line could be meant as a row.
    is_single: bool,
    state: State,
    /// The last two bytes before the current chunk, as context for its first bytes.
    last: [u8; 2],
    /// The number of lines that ended before the current chunk.
    lines: usize,
    /// The line of the last opening quote before the current chunk.
    opened: usize,
    is_first: bool,
}

impl Quotes {
    /// Creates a check for the start of a file with `columns` columns.
    pub(crate) fn new(dialect: Dialect, terminator: Option<u8>, columns: usize) -> Self {
        Self {
            dialect,
            terminator,
            is_single: columns == 1,
            state: State::Plain,
            // These bytes indicate that the file begins at the start of a line, but not after an
            // empty line.
            last: [0, terminator.unwrap_or(b'\n')],
            lines: 0,
            opened: 0,
            is_first: true,
        }
    }

    /// Returns the first fault of a text in memory; `None` if it has no fault. `whole` is false if
    /// the text is only the beginning of the file.
    pub(super) fn fault(mut self, text: &[u8], whole: bool) -> Option<Fault> {
        self.read(text)
            .and_then(|()| if whole { self.end() } else { Ok(()) })
            .err()
    }

    /// Checks the next chunk. Fails with the first fault.
    pub(crate) fn read(&mut self, chunk: &[u8]) -> Result<(), Fault> {
        // The loop is one function, because its branches are the states of one automaton.
        let chunk = match std::mem::take(&mut self.is_first) {
            true => chunk.strip_prefix(b"\xef\xbb\xbf").unwrap_or(chunk),
            false => chunk,
        };
        let Dialect { quote, escape, .. } = self.dialect;
        let (mut at, mut opened) = (0, None);
        while let Some(rest) = chunk.get(at..).filter(|rest| !rest.is_empty()) {
            match self.state {
                State::Plain => match self.special(rest) {
                    None => break,
                    Some(found) => {
                        at += found;
                        self.pass(chunk, at)?;
                        opened = (self.state == State::Quoted).then_some(at).or(opened);
                        at += 1;
                    }
                },
                State::Quoted => match next(quote, escape.unwrap_or(quote), rest) {
                    None => break,
                    Some(found) => {
                        at += found + 1;
                        self.state = if rest[found] == quote {
                            State::Closed
                        } else {
                            State::Escaped
                        };
                    }
                },
                State::Escaped => {
                    self.state = State::Quoted;
                    at += 1;
                }
                State::Closed => {
                    self.state = match rest[0] {
                        byte if byte == quote => State::Quoted,
                        byte if byte == self.dialect.delimiter || self.ends_line(byte) => State::Plain,
                        _ => return Err(self.at(FaultKind::Text, chunk, at)),
                    };
                    at += 1;
                }
                State::Comment => match rest.iter().position(|byte| self.ends_line(*byte)) {
                    None => break,
                    Some(found) => {
                        self.state = State::Plain;
                        at += found + 1;
                    }
                },
            }
        }
        if let Some(opened) = opened {
            self.opened = self.line(chunk, opened);
        }
        self.lines += memchr_iter(b'\n', chunk).count();
        self.last = match chunk {
            [.., a, b] => [*a, *b],
            [b] => [self.last[1], *b],
            [] => self.last,
        };
        Ok(())
    }

    /// Checks the end of the file. Fails if a quote is still open.
    pub(crate) fn end(&self) -> Result<(), Fault> {
        match self.state {
            State::Quoted | State::Escaped => Err(Fault {
                line: self.opened,
                kind: FaultKind::Open,
            }),
            _ => Ok(()),
        }
    }

    /// Returns the position of the next byte outside quotes that may have a special meaning.
    fn special(&self, rest: &[u8]) -> Option<usize> {
        let Dialect { quote, comment, .. } = self.dialect;
        let marks = next(quote, comment.unwrap_or(quote), rest);
        match self.is_single {
            true => memchr(b'\n', &rest[..marks.unwrap_or(rest.len())]).or(marks),
            false => marks,
        }
    }

    /// Processes a byte outside quotes that may have a special meaning.
    fn pass(&mut self, chunk: &[u8], at: usize) -> Result<(), Fault> {
        let before = |n: usize| match at.checked_sub(n) {
            Some(i) => chunk[i],
            None => self.last[2 + at - n],
        };
        let (one, two) = (before(1), before(2));
        let starts_line = self.ends_line(one);
        let starts_field = starts_line || one == self.dialect.delimiter;
        let byte = chunk[at];
        if byte == self.dialect.quote && starts_field {
            self.state = State::Quoted;
        } else if Some(byte) == self.dialect.comment && starts_line {
            self.state = State::Comment;
        } else if byte == b'\n' && self.is_single && (one == b'\n' || (one == b'\r' && two == b'\n')) {
            return Err(self.at(FaultKind::Empty, chunk, at));
        }
        Ok(())
    }

    fn ends_line(&self, byte: u8) -> bool {
        match self.terminator {
            Some(terminator) => byte == terminator,
            None => matches!(byte, b'\n' | b'\r'),
        }
    }

    fn line(&self, chunk: &[u8], at: usize) -> usize {
        self.lines + memchr_iter(b'\n', &chunk[..at]).count() + 1
    }

    fn at(&self, kind: FaultKind, chunk: &[u8], at: usize) -> Fault {
        Fault {
            line: self.line(chunk, at),
            kind,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dialect(escape: Option<u8>, comment: Option<u8>) -> Dialect {
        Dialect {
            delimiter: b',',
            quote: b'"',
            escape,
            comment,
            has_header: false,
            trim: false,
        }
    }

    #[test]
    fn faults_are_told_by_their_lines() {
        let told = |text: &str, columns| {
            let fault = Quotes::new(dialect(None, None), None, columns).fault(text.as_bytes(), true);
            fault.map(|f| (f.line, f.kind))
        };
        for (text, columns, fault) in [
            ("a,b\n\"x\ny\",1\n", 2, None),
            ("a,b\n\"x \"\"y\"\"\",1\r\n\"\",2", 2, None),
            ("a,b\nx\"y,5\" 1\n", 2, None),
            ("\u{feff}\"a\",b\n", 2, None),
            ("a,b\n\"x,1\nAnn,2\n", 2, Some((2, FaultKind::Open))),
            ("a,b\n1,\"", 2, Some((2, FaultKind::Open))),
            ("a,b\n1,2\n3,\"x\"y\n", 2, Some((3, FaultKind::Text))),
            ("a\n1\n\n2\n", 1, Some((3, FaultKind::Empty))),
            ("a\r\n1\r\n\r\n", 1, Some((3, FaultKind::Empty))),
            ("a\n1\n\"\"\n\"\n\n\"\n", 1, None),
            ("a,b\n1,2\n\n", 2, None),
        ] {
            assert_eq!(told(text, columns), fault, "{text:?}");
        }
    }

    /// Implements the automaton of the csv crate byte by byte.
    fn by_bytes(text: &[u8], dialect: Dialect) -> bool {
        #[derive(PartialEq, Clone, Copy)]
        enum At {
            Record,
            Field,
            InField,
            Quoted,
            Escaped,
            Closed,
            Comment,
        }
        let mut at = At::Record;
        for byte in text {
            let ends = matches!(byte, b'\n' | b'\r');
            let unquoted = || match byte {
                _ if ends => At::Record,
                b',' => At::Field,
                _ => At::InField,
            };
            at = match at {
                At::Record if dialect.comment == Some(*byte) => At::Comment,
                At::Record | At::Field if *byte == b'"' => At::Quoted,
                At::Record | At::Field | At::InField => unquoted(),
                At::Quoted if *byte == b'"' => At::Closed,
                At::Quoted if dialect.escape == Some(*byte) => At::Escaped,
                At::Quoted | At::Escaped => At::Quoted,
                At::Closed if *byte == b'"' => At::Quoted,
                At::Closed if unquoted() == At::InField => return false,
                At::Closed => unquoted(),
                At::Comment if ends => At::Record,
                At::Comment => At::Comment,
            };
        }
        at != At::Quoted && at != At::Escaped
    }

    proptest! {
        #[test]
        fn any_text_in_any_chunks_is_judged_as_byte_by_byte(
            text in "[\",#x\n\r\\\\]{0,14}",
            cuts in proptest::collection::vec(0..14usize, 0..3),
            escape: bool,
            comment: bool,
        ) {
            let dialect = dialect(escape.then_some(b'\\'), comment.then_some(b'#'));
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
            cuts.extend([0, text.len()]);
            cuts.sort();
            let mut quotes = Quotes::new(dialect, None, 2);
            let read = cuts.windows(2).try_for_each(|w| quotes.read(&text.as_bytes()[w[0]..w[1]]));
            let found = read.and_then(|()| quotes.end());
            prop_assert_eq!(found.is_ok(), by_bytes(text.as_bytes(), dialect), "{:?}: {:?}", text, found);
            let whole = Quotes::new(dialect, None, 2).fault(text.as_bytes(), true);
            prop_assert_eq!(found.err(), whole, "the same fault and line, however it is cut");
        }
    }
}
