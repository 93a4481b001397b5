//! Splits the typed text into pieces, for colours and completion. The pieces are the tokens of the
//! SQL parser, and the unfinished rest of the text.

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Whitespace};
use std::ops::Range;

/// The class of a piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PieceClass {
    /// A keyword or a name.
    Word,
    /// A number.
    Number,
    /// `'text'`, possibly unfinished.
    Text,
    /// `"name"`, possibly unfinished.
    Quoted,
    /// `-- comment` or `/* comment */`, possibly unfinished.
    Comment,
    /// Whitespace and symbols.
    Other,
}

/// A piece of the typed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The class of the piece.
    pub class: PieceClass,
    /// The byte range of the piece.
    pub range: Range<usize>,
    /// Whether the piece is unfinished.
    pub open: bool,
}

/// Splits `text` into pieces that cover the whole text.
pub fn pieces(text: &str) -> Vec<Piece> {
    let mut tokens = vec![];
    // An unfinished token causes an error, but the tokens before it are already in the buffer.
    let mut tokenizer = Tokenizer::new(&GenericDialect {}, text);
    let _ = tokenizer.tokenize_with_location_into_buf(&mut tokens);
    let mut pieces = vec![];
    let mut add = |class, range: Range<usize>, open| pieces.push(Piece { class, range, open });
    let (mut at, mut line, mut column) = (0, 1, 1);
    for token in tokens {
        let (start, end) = (at, token.span.end);
        while (line, column) < (end.line, end.column)
            && let Some(c) = text[at..].chars().next()
        {
            (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
            at += c.len_utf8();
        }
        let part = &text[start..at];
        match &token.token {
            Token::Whitespace(Whitespace::SingleLineComment { .. }) => {
                let comment = start + part.trim_end_matches('\n').len();
                add(PieceClass::Comment, start..comment, comment == at);
                if comment < at {
                    add(PieceClass::Other, comment..at, false);
                }
            }
            token => add(class(token, part), start..at, false),
        }
    }
    if at < text.len() {
        add(unfinished(&text[at..]), at..text.len(), true);
    }
    pieces
}

/// Returns the class of a token with the text `part`.
fn class(token: &Token, part: &str) -> PieceClass {
    match token {
        Token::Word(word) if word.quote_style.is_some() => PieceClass::Quoted,
        Token::Word(_) => PieceClass::Word,
        Token::Number(..) => PieceClass::Number,
        Token::Whitespace(Whitespace::MultiLineComment(_)) => PieceClass::Comment,
        _ if part.len() > 1 && part.ends_with(['\'', '$']) => PieceClass::Text,
        _ => PieceClass::Other,
    }
}

/// Returns the class of the unfinished token in `rest`.
fn unfinished(rest: &str) -> PieceClass {
    match rest {
        _ if rest.starts_with("/*") => PieceClass::Comment,
        _ if rest.starts_with(['"', '`']) => PieceClass::Quoted,
        _ if rest.contains(['\'', '$']) => PieceClass::Text,
        _ => PieceClass::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pieces_are_told_apart() {
        let text = "SELECT 'it''s', \"a b\", 1.5e3 -- c\n/* d */ x1 'open";
        let found: Vec<(PieceClass, &str)> = pieces(text)
            .iter()
            .filter(|p| p.class != PieceClass::Other)
            .map(|p| (p.class, &text[p.range.clone()]))
            .collect();
        assert_eq!(
            found,
            [
                (PieceClass::Word, "SELECT"),
                (PieceClass::Text, "'it''s'"),
                (PieceClass::Quoted, "\"a b\""),
                (PieceClass::Number, "1.5e3"),
                (PieceClass::Comment, "-- c"),
                (PieceClass::Comment, "/* d */"),
                (PieceClass::Word, "x1"),
                (PieceClass::Text, "'open"),
            ]
        );
        assert!(pieces(text).last().unwrap().open);
    }

    #[test]
    fn what_has_no_end_is_open() {
        for (text, class) in [
            ("SELECT 'a", PieceClass::Text),
            ("SELECT E'a\\'", PieceClass::Text),
            ("SELECT $$a", PieceClass::Text),
            ("SELECT \"a", PieceClass::Quoted),
            ("SELECT 1 -- a", PieceClass::Comment),
            ("SELECT 1 /* a\n", PieceClass::Comment),
        ] {
            let last = pieces(text).pop().unwrap();
            assert_eq!((last.class, last.open), (class, true), "{text}");
        }
        let all = pieces("SELECT 'a' -- b\n");
        assert!(all.iter().all(|p| !p.open));
    }

    proptest! {
        #[test]
        fn pieces_cover_any_text(text in "[ a'\"/*\\-\n1é;._]{0,40}") {
            let joined: String = pieces(&text).iter().map(|p| &text[p.range.clone()]).collect();
            prop_assert_eq!(joined, text);
        }
    }
}
