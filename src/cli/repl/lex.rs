//! Cuts what is typed into pieces for colours and completion: the tokens of the parser, and what has no end yet.

use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer, Whitespace};
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
    let mut tokens = vec![];
    // A token without an end is an error, and the tokens before it are kept.
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
                add(Class::Comment, start..comment, comment == at);
                if comment < at {
                    add(Class::Other, comment..at, false);
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

/// What a token is that reads `part`.
fn class(token: &Token, part: &str) -> Class {
    match token {
        Token::Word(word) if word.quote_style.is_some() => Class::Quoted,
        Token::Word(_) => Class::Word,
        Token::Number(..) => Class::Number,
        Token::Whitespace(Whitespace::MultiLineComment(_)) => Class::Comment,
        _ if part.len() > 1 && part.ends_with(['\'', '$']) => Class::Text,
        _ => Class::Other,
    }
}

/// What begins here and has no end.
fn unfinished(rest: &str) -> Class {
    match rest {
        _ if rest.starts_with("/*") => Class::Comment,
        _ if rest.starts_with(['"', '`']) => Class::Quoted,
        _ if rest.contains(['\'', '$']) => Class::Text,
        _ => Class::Other,
    }
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

    #[test]
    fn what_has_no_end_is_open() {
        for (text, class) in [
            ("SELECT 'a", Class::Text),
            ("SELECT E'a\\'", Class::Text),
            ("SELECT $$a", Class::Text),
            ("SELECT \"a", Class::Quoted),
            ("SELECT 1 -- a", Class::Comment),
            ("SELECT 1 /* a\n", Class::Comment),
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
