//! Cuts what is typed into pieces, finished or not: for colours and completion, where a tokenizer that fails is no use.

use std::ops::Range;

/// What a piece is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A keyword or a name.
    Word,
    /// A number.
    Number,
    /// `'text'`, perhaps without its end.
    Text,
    /// `"name"`, perhaps without its end.
    Quoted,
    /// `-- comment` or `/* comment */`, perhaps without its end.
    Comment,
    /// Blanks and signs.
    Other,
}

/// A piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub class: Class,
    /// Where it is, in bytes.
    pub range: Range<usize>,
    /// Whether its end is missing.
    pub open: bool,
}

/// Cuts `text` into pieces that cover it.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = vec![];
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let (class, length, open) = piece(&text[at..], c);
        pieces.push(Piece {
            class,
            range: at..at + length,
            open,
        });
        at += length;
    }
    pieces
}

/// The first piece of `rest`, which starts with `first`: its class, its bytes, whether its end is missing.
fn piece(rest: &str, first: char) -> (Class, usize, bool) {
    let run = |fits: fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
    match first {
        '\'' => quoted(Class::Text, rest, '\''),
        '"' => quoted(Class::Quoted, rest, '"'),
        '-' if rest.starts_with("--") => {
            let end = rest.find('\n');
            (Class::Comment, end.unwrap_or(rest.len()), end.is_none())
        }
        '/' if rest.starts_with("/*") => match rest[2..].find("*/") {
            Some(end) => (Class::Comment, end + 4, false),
            None => (Class::Comment, rest.len(), true),
        },
        c if c.is_alphabetic() || c == '_' => (Class::Word, run(|c| c.is_alphanumeric() || c == '_'), false),
        c if c.is_ascii_digit() => (Class::Number, run(|c| c.is_ascii_alphanumeric() || c == '.'), false),
        c => (Class::Other, c.len_utf8(), false),
    }
}

/// A piece in quotes; a doubled quote is part of it.
fn quoted(class: Class, rest: &str, quote: char) -> (Class, usize, bool) {
    let mut at = 1;
    while let Some(end) = rest[at..].find(quote) {
        at += end + 1;
        if !rest[at..].starts_with(quote) {
            return (class, at, false);
        }
        at += 1;
    }
    (class, rest.len(), true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pieces_are_told_apart() {
        let text = "SELECT 'it''s', \"a b\", 1.5e3 -- c\n/* d */ x1 'open";
        let found: Vec<(Class, &str)> = pieces(text)
            .iter()
            .filter(|p| p.class != Class::Other)
            .map(|p| (p.class, &text[p.range.clone()]))
            .collect();
        assert_eq!(
            found,
            [
                (Class::Word, "SELECT"),
                (Class::Text, "'it''s'"),
                (Class::Quoted, "\"a b\""),
                (Class::Number, "1.5e3"),
                (Class::Comment, "-- c"),
                (Class::Comment, "/* d */"),
                (Class::Word, "x1"),
                (Class::Text, "'open"),
            ]
        );
        assert!(pieces(text).last().unwrap().open);
    }

    proptest! {
        #[test]
        fn pieces_cover_any_text(text in "[ a'\"/*\\-\n1é;._]{0,40}") {
            let joined: String = pieces(&text).iter().map(|p| &text[p.range.clone()]).collect();
            prop_assert_eq!(joined, text);
        }
    }
}
