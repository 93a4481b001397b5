//! Hints on what to write instead. They correct common mistakes, based on the tokens around the
//! position of an error.

use super::script::{Script, spliced};
use super::words::Words;
use crate::base::quoting::{ident, literal};
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};

/// The first words of the most common DataFusion statements.
pub(super) const STARTS: &[&str] = &["SELECT", "CREATE", "INSERT", "COPY", "DROP", "SET", "SHOW"];

/// The expectation in an error after an item of a list in parentheses.
pub(super) const NEXT_ITEM: &str = "\",\" or \")\"";

/// The expectation in an error at a position where a statement should end.
pub(super) const END: &str = "the end of the statement";

/// The position of an error: the tokens of a statement, and the index of the token that was not
/// expected.
pub(super) struct ErrorPlace<'a> {
    pub(super) script: &'a Script,
    pub(super) tokens: &'a [TokenWithSpan],
    pub(super) at: usize,
}

/// Returns true if a statement contains `name` without quotes. SQL interprets an unquoted name with
/// a hyphen as a subtraction of its parts.
pub(crate) fn hyphenated(statement: &str, name: &str) -> bool {
    let (statement, name) = (statement.to_ascii_lowercase(), name.to_ascii_lowercase());
    let mut places = statement.match_indices(&name);
    places.any(|(at, _)| !statement[..at].ends_with('"'))
}

/// Describes a token for an error. The content of a string is not repeated, because it may be a
/// data value or a secret.
pub(super) fn describe(token: Option<&TokenWithSpan>) -> String {
    match token.map(|t| &t.token) {
        None => END.to_string(),
        Some(Token::Word(w)) => format!("\"{}\"", w.value),
        Some(Token::Number(n, _)) => n.clone(),
        Some(t) if is_string(t) => "a string".to_string(),
        Some(t) => format!("\"{t}\""),
    }
}

fn is_string(token: &Token) -> bool {
    !matches!(token, Token::Word(_)) && token.to_string().contains(['\'', '$'])
}

/// Returns the entry of `words` that is nearest to an unquoted word: it differs in a few letters,
/// or only in its ending. An entry with several keywords also matches by its first keyword alone.
pub(crate) fn nearest<'w>(found: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    let written = found.to_ascii_uppercase();
    let found = written.replace('_', " ");
    let one = |word: &str| {
        let few = strsim::damerau_levenshtein(word, &found);
        let alike = word.bytes().zip(found.bytes()).take_while(|(a, b)| a == b).count();
        let shorter = word.len().min(found.len());
        let is_near = few <= 2.min(word.len() / 3) || (alike >= 4 && alike + 1 >= shorter);
        is_near.then_some(few)
    };
    let distance = |words: &str| one(words).or_else(|| one(words.split(' ').next()?));
    let words = words.into_iter().filter(|word| *word != written);
    let near = words.filter_map(|word| Some((distance(word)?, word)));
    near.min().map(|(_, word)| word)
}

impl<'a> ErrorPlace<'a> {
    fn token(&self, at: usize) -> Option<&'a Token> {
        self.tokens.get(at).map(|t| &t.token)
    }

    fn previous(&self) -> Option<&'a Token> {
        self.token(self.at.checked_sub(1)?)
    }

    /// Returns the unquoted word at the position of the error, in upper case.
    fn word(&self) -> Option<String> {
        match self.token(self.at)? {
            Token::Word(w) if w.quote_style.is_none() => Some(w.value.to_ascii_uppercase()),
            _ => None,
        }
    }

    /// Returns true if there is no space between the tokens at `at` and `at + 1`.
    fn joined(&self, at: usize) -> bool {
        let next = self.tokens.get(at + 1);
        next.is_some_and(|next| self.tokens[at].span.end == next.span.start)
    }

    /// Returns the text of the tokens from `from` up to the next space, comma or parenthesis, such
    /// as `data/a.parquet`.
    pub(super) fn together(&self, from: usize) -> String {
        let ends = |at: usize| {
            !self.joined(at) || matches!(self.token(at + 1), Some(Token::Comma | Token::LParen | Token::RParen))
        };
        let end = (from..self.tokens.len()).find(|at| ends(*at)).unwrap_or(from);
        spliced(self.script, &self.tokens[from..=end], std::iter::empty())
    }

    /// Returns the text from the token `from` up to the next space, if this text continues beyond
    /// the position of the error; `None` if there is a space before the position, or if `from` is
    /// not before the position.
    pub(super) fn cut(&self, from: usize) -> Option<String> {
        let before = self.at.checked_sub(1).filter(|before| *before >= from)?;
        let goes_on = !matches!(self.token(self.at)?, Token::Comma | Token::LParen | Token::RParen);
        (goes_on && self.joined(before)).then(|| self.together(from))
    }

    /// Returns the hint for an error at a position where `what` was expected. `words` contains the
    /// keywords that are allowed there.
    pub(super) fn hint<'w>(&self, what: &str, words: impl IntoIterator<Item = &'w str>) -> Option<String> {
        let found = self.token(self.at)?;
        self.hyphen(found)
            .or_else(|| self.quote(found))
            .or_else(|| self.of_the_prompt(found))
            .or_else(|| self.path(found))
            .or_else(|| self.foreign_variable(found))
            .or_else(|| self.copy_options(found))
            .or_else(|| Some(format!("did you mean {}?", nearest(&self.word()?, words)?)))
            .or_else(|| self.separator(found, what))
            .or_else(|| self.next_statement(what))
    }

    /// Returns the hint for a name such as `native-country`, which SQL interprets as a subtraction.
    fn hyphen(&self, found: &Token) -> Option<String> {
        let first = self.at.checked_sub(1)?;
        if *found != Token::Minus || !self.joined(first) || !self.joined(self.at) {
            return None;
        }
        let is_name = matches!(
            (self.previous()?, self.token(self.at + 1)?),
            (Token::Word(_), Token::Word(_) | Token::Number(..))
        );
        let name = self.together(first);
        let spaced = name.to_ascii_uppercase().replace('-', " ");
        let is_keywords = spaced.split(' ').all(|word| self.words().keywords.contains(word));
        match is_keywords {
            _ if !is_name => None,
            true => Some(format!("write {spaced}")),
            false => Some(format!("write a name with a hyphen in double quotes: {}", ident(&name))),
        }
    }

    /// Returns the hint for quotes that do not exist in SQL, or that are of the wrong kind.
    fn quote(&self, found: &Token) -> Option<String> {
        let text = found.to_string();
        let first = text.chars().next()?;
        if matches!(
            first,
            '‘' | '’' | '‚' | '‛' | '“' | '”' | '„' | '‟' | '«' | '»' | '´' | '`'
        ) {
            return Some("write 'path' with straight single quotes, and \"name\" with straight double ones".into());
        }
        None
    }

    /// Returns the hint for a command of the interactive prompt, or for a word such as HELP, in
    /// place of a statement.
    fn of_the_prompt(&self, found: &Token) -> Option<String> {
        let is_help = matches!(self.word().as_deref(), Some("HELP" | "MAN" | "QUIT" | "EXIT"));
        match found {
            _ if self.at > 0 => None,
            Token::Backslash => {
                Some("commands with a backslash are for the prompt: start anonsql without -c and a file".into())
            }
            _ if is_help => {
                Some("at the prompt, \\? and \\? ANONYMIZE help, and \\q quits; in the shell, anonsql --help".into())
            }
            _ => None,
        }
    }

    /// Returns the hint for a path without quotes where DataFusion expects a table.
    fn path(&self, found: &Token) -> Option<String> {
        if !matches!(found, Token::Div | Token::Tilde | Token::Period | Token::Mul) {
            return None;
        }
        let first = (0..=self.at).rev().find(|at| *at == 0 || !self.joined(at - 1))?;
        let before = self.token(first.checked_sub(1)?)?.to_string().to_ascii_uppercase();
        matches!(before.as_str(), "FROM" | "JOIN" | "DESCRIBE" | "TO")
            .then(|| format!("write a path in single quotes: {}", literal(&self.together(first))))
    }

    /// Returns the hint for a variable in the syntax of a shell.
    fn foreign_variable(&self, found: &Token) -> Option<String> {
        let is_one = *found == Token::LBrace && self.previous()?.to_string() == "$";
        match (is_one, self.token(self.at + 1)) {
            (true, Some(Token::Word(name))) => Some(format!("write a variable as ${}", name.value)),
            _ => None,
        }
    }

    /// Returns the hint for options of COPY in the syntax of PostgreSQL.
    fn copy_options(&self, found: &Token) -> Option<String> {
        let is_copy = self.token(0)?.to_string().eq_ignore_ascii_case("COPY");
        let options = "write OPTIONS (format.has_header true, format.delimiter ';')";
        (is_copy && *found == Token::LParen && self.open() == 0).then(|| options.into())
    }

    /// Returns the hint for a missing or superfluous comma or parenthesis.
    fn separator(&self, found: &Token, what: &str) -> Option<String> {
        if what.ends_with(NEXT_ITEM) {
            let word = self.word();
            let is_keyword = |word: &String| self.words().starts_clause(word) || STARTS.contains(&word.as_str());
            return match (word, found) {
                (Some(word), _) if is_keyword(&word) => Some(format!("is a \")\" missing before {word}?")),
                (_, Token::Eq) => Some("write => between an argument and its value".into()),
                (_, Token::Word(_) | Token::SingleQuotedString(_) | Token::Number(..))
                    if !self.joined(self.at.checked_sub(1)?) =>
                {
                    Some(format!(
                        "is a \",\" missing before {}?",
                        describe(self.tokens.get(self.at))
                    ))
                }
                _ => None,
            };
        }
        match (self.previous()?, found) {
            (Token::Comma, Token::RParen) => Some("there is a \",\" too many".into()),
            (_, Token::Mul) if what == "a column" => {
                Some("name each column, so that no column is released by accident".into())
            }
            (_, Token::RParen) if self.open() == 0 => Some("this \")\" closes nothing".into()),
            _ => None,
        }
    }

    /// Returns the number of open parentheses before the position.
    fn open(&self) -> usize {
        let before = self.tokens[..self.at].iter();
        before.fold(0, |open: usize, t| match t.token {
            Token::LParen => open + 1,
            Token::RParen => open.saturating_sub(1),
            _ => open,
        })
    }

    /// Returns the hint for a missing `;` before the next statement.
    fn next_statement(&self, what: &str) -> Option<String> {
        let word = self.word().filter(|_| what.ends_with(END) && self.at > 0)?;
        let first = |start: &&str| start.split(' ').next() == Some(word.as_str());
        let begins = STARTS.contains(&word.as_str()) || self.words().starts.iter().any(first);
        begins.then(|| format!("is a \";\" missing before {word}?"))
    }

    /// Returns the hint for a name or a path at the position, where a text in single quotes is
    /// expected.
    pub(super) fn unquoted(&self) -> Option<String> {
        match self.token(self.at)? {
            Token::Word(w) if w.quote_style.is_some() => {
                Some(format!("write a text in single quotes: {}", literal(&w.value)))
            }
            Token::Word(_) if self.word().is_some_and(|word| self.words().starts_clause(&word)) => None,
            Token::Word(_) | Token::Number(..) | Token::Period | Token::Div | Token::Tilde => {
                Some(format!("write {}", literal(&self.together(self.at))))
            }
            _ => None,
        }
    }

    fn words(&self) -> &'a Words {
        self.script.words()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_word_has_few_other_letters_or_another_ending() {
        let words = ["QUASI IDENTIFIERS", "IDENTIFIERS", "KEEP", "MINIMIZING", "SATISFYING"];
        for (found, near) in [
            ("quasi_identifiers", Some("QUASI IDENTIFIERS")),
            ("identifier", Some("IDENTIFIERS")),
            ("keeping", Some("KEEP")),
            ("MINIMIZE", Some("MINIMIZING")),
            ("satisfy", Some("SATISFYING")),
            ("KEEP", None),
            ("where", None),
        ] {
            assert_eq!(nearest(found, words), near, "{found}");
        }
    }
}
