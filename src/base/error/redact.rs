//! Removes everything from the error texts of other crates that may be a value of a person.
//!
//! A value can be any text, including quotes, colons and whole sentences. Therefore, no part of a
//! foreign text is trusted because of its position. Only two kinds of text are kept: text that the
//! user typed, and words in the [`vocabulary`](super::vocabulary) of error messages.

use super::vocabulary::{is_type, is_word};

const QUOTES: [char; 3] = ['\'', '"', '`'];
/// The text that replaces the removed parts.
const WITHHELD: &str = "…";

/// Replaces everything between the first and the last quote, or after the only quote, by an
/// ellipsis. Quotes in between are ignored, because a value can contain quotes. The text is
/// returned unchanged if the user typed everything that is quoted: it occurs in `typed`.
pub(super) fn redact(text: &str, typed: &str) -> String {
    let is_quote = |(at, c): &(usize, char)| QUOTES.contains(c) && !is_apostrophe(text, *at);
    let Some((first, opening)) = text.char_indices().find(is_quote) else {
        return text.to_string();
    };
    let (last, closing) = text.char_indices().rfind(is_quote).unwrap_or((first, opening));
    let (before, inside, after) = match last > first {
        true => (&text[..=first], &text[first + 1..last], &text[last..]),
        false => (&text[..=first], &text[first + 1..], ""),
    };
    let closed = opening == closing && !inside.contains(opening);
    let pairs = !closed && is_typed_throughout(inside, opening, typed);
    match pairs || is_typed(inside, typed) || inside.is_empty() {
        true => text.to_string(),
        false => format!("{before}{WITHHELD}{after}"),
    }
}

/// Returns true if the user typed all quoted parts, and all words between the quoted parts are in
/// the vocabulary.
fn is_typed_throughout(inside: &str, quote: char, typed: &str) -> bool {
    let parts = inside.split(quote).enumerate();
    inside.matches(quote).count().is_multiple_of(2)
        && parts.into_iter().all(|(i, part)| match i % 2 {
            0 => is_typed(part, typed),
            _ => words(part).all(|(_, word)| is_word(word)),
        })
}

/// Returns true if the character at `at` is an apostrophe as in `can't`, which does not begin a
/// quoted text.
fn is_apostrophe(text: &str, at: usize) -> bool {
    let is_letter = |c: char| c.is_alphabetic();
    let before = text[..at].rsplit(|c| !is_letter(c)).next().unwrap_or_default();
    let after = text[at + 1..].split(|c| !is_letter(c)).next().unwrap_or_default();
    text[at..].starts_with('\'') && after == "t" && is_word(&before.to_lowercase())
}

/// Returns true if `part` occurs in `typed`, the text of the user, and is not a part of a longer
/// word there.
fn is_typed(part: &str, typed: &str) -> bool {
    let is_bounded = |(at, found): (usize, &str)| {
        let (before, after) = (
            typed[..at].chars().next_back(),
            typed[at + found.len()..].chars().next(),
        );
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    };
    !part.is_empty() && typed.match_indices(part).any(is_bounded)
}

/// Words before a number that is a position in a file.
const PLACES: &[&str] = &["line ", "field ", "column ", "index "];
/// Words before a value.
const BEFORE_VALUES: &[&str] = &["got ", "found "];

/// Replaces two kinds of text by an ellipsis: each sequence of words that the user did not type and
/// that are not in the vocabulary, and everything after a colon, unless the user typed it or it is
/// a position in a file. A label at the start, such as `Cast error:`, is kept.
pub(super) fn in_known_words(text: &str, typed: &str) -> String {
    let (label, said) = text.split_at(label(text));
    match said.split_once(": ") {
        Some((before, value)) if !is_typed(value, typed) && !is_place(value) => {
            format!("{label}{}: {WITHHELD}", known(before, typed))
        }
        _ => format!("{label}{}", known(said, typed)),
    }
}

/// Returns true if the text contains a position in a file, and otherwise consists of known words.
fn is_place(text: &str) -> bool {
    text.contains(" at line ") && known(text, "") == text
}

/// Returns the length, in bytes, of the labels at the start of a text.
fn label(text: &str) -> usize {
    let mut length = 0;
    while let Some((label, _)) = text[length..].split_once(": ") {
        let is_label = label.ends_with("error") || label == "Arithmetic overflow";
        if !is_label || !words(label).all(|(_, word)| is_word(&word.to_lowercase())) {
            break;
        }
        length += label.len() + 2;
    }
    length
}

/// Returns the words of a text with their byte offsets.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || !c.is_ascii() || "_.,:+-".contains(c);
    let mut end = 0;
    std::iter::from_fn(move || {
        let start = end + text[end..].find(is_part)?;
        end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |n| start + n);
        Some((start, text[start..end].trim_end_matches(['.', ',', ':'])))
    })
}

fn known(text: &str, typed: &str) -> String {
    let is_known = |(at, word): &(usize, &str)| {
        let follows = |before: &[&str]| before.iter().any(|before| text[..*at].ends_with(before));
        let is_place = follows(PLACES) && word.bytes().all(|b| b.is_ascii_digit());
        let is_start = *at == 0 && is_word(&word.to_lowercase());
        let is_word = (is_word(word) || is_start) && !follows(BEFORE_VALUES);
        *word == WITHHELD || is_place || is_type(word) || is_word
    };
    let mut out = String::with_capacity(text.len());
    let (mut done, mut run) = (0, None);
    let mut close = |run: &mut Option<(usize, usize)>| {
        if let Some((start, end)) = run.take() {
            let part = &text[start..end];
            out += &text[done..start];
            out += if is_typed(part, typed) { part } else { WITHHELD };
            done = end;
        }
    };
    for (at, word) in words(text) {
        match is_known(&(at, word)) || word.is_empty() {
            true => close(&mut run),
            false => run = Some((run.map_or(at, |(start, _)| start), at + word.len())),
        }
    }
    close(&mut run);
    out + &text[done..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shown(text: &str, typed: &str) -> String {
        in_known_words(redact(text, typed).lines().next().unwrap_or_default(), typed)
    }

    #[test]
    fn quotes_within_a_value_do_not_show_it() {
        for (said, left) in [
            (
                "Cast error: Cannot cast string 'O'Neil Anna' to value of Float64 type",
                "Cast error: Cannot cast string '…' to value of Float64 type",
            ),
            (
                "Json error: failed to parse \"x \"Anna Schmidt\" y\" as Int64",
                "Json error: failed to parse \"…\" as Int64",
            ),
            (
                "Cannot cast string 'Anna\nNeil' to Int8",
                "Cannot cast string '…' to Int8",
            ),
            ("Cannot cast string 'Anna", "Cannot cast string '…"),
            ("Cannot cast `a' \"Anna\" to Int8", "Cannot cast `…\" to Int8"),
            (
                "map key must be unique, duplicate key found: O'Neil Anna",
                "map key must be unique, duplicate key found: …",
            ),
            (
                "map key must be unique, duplicate key found: Anna Neil",
                "map key must be unique, duplicate key found: …",
            ),
            (
                "Json error: expected string got true",
                "Json error: expected string got …",
            ),
            ("test found negative", "… found …"),
            ("Can't cast value 7 to type Int8", "Can't cast value … to type Int8"),
            (
                "Failed to parse anna maria as interval amount",
                "Failed to parse … as interval amount",
            ),
            ("Overflow happened on: 3 * 4", "Overflow happened on: …"),
            (
                "Json error: Not valid JSON: expected value at line 1 column 1",
                "Json error: Not valid JSON: expected value at line 1 column 1",
            ),
        ] {
            assert_eq!(shown(said, ""), left);
        }
    }

    #[test]
    fn what_was_typed_stays_only_as_it_was_typed() {
        let typed = "SELECT to_date('x-1', '%Y') FROM t WHERE name = 'Anna'";
        for (said, left) in [
            ("unable to parse 'x-1' as date", "unable to parse 'x-1' as date"),
            ("unable to parse 'x-1' with '%Y'", "unable to parse 'x-1' with '%Y'"),
            ("unable to parse 'x-1' Neil '%Y'", "unable to parse '…'"),
            ("key found: Anna", "key found: Anna"),
            ("key found: Anna Neil", "key found: …"),
            ("Anna Neil is invalid", "… is invalid"),
        ] {
            assert_eq!(shown(said, typed), left);
        }
    }

    proptest! {
        #[test]
        fn no_value_is_shown_wherever_a_message_has_it(
            value in "([A-Za-z'\"`:, .éß-]{0,6}Quixotica[A-Za-z'\"`:, .\n-]{0,6})",
            shape in 0..7usize,
        ) {
            let said = match shape {
                0 => format!("Cast error: Cannot cast string '{value}' to value of Int32 type"),
                1 => format!("failed to parse \"{value}\" as Int64"),
                2 => format!("duplicate key found: {value}"),
                3 => format!("Failed to parse {value} as interval amount"),
                4 => format!("expected string got {value}"),
                5 => format!("{value} is out of range"),
                _ => format!("Cannot cast '{value}' and \"{value}\": {value}"),
            };
            prop_assert!(!shown(&said, "").contains("Quixotica"), "{}", shown(&said, ""));
        }
    }
}
