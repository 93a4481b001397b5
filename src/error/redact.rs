//! Texts without what may be a value of a person. What the user typed is no data, and stays.

/// Returns the text with every quoted part replaced by an ellipsis, except for parts that stand in `typed`.
pub(super) fn redact(text: &str, typed: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(['\'', '"', '`']) {
        let (before, from) = rest.split_at(start);
        let (quote, inside) = from.split_at(1);
        out += before;
        out += quote;
        rest = inside;
        if let Some((part, after)) = inside.split_once(quote) {
            out += if is_typed(part, typed) { part } else { "…" };
            out += quote;
            rest = after;
        }
    }
    out + rest
}

/// Returns true if `part` stands in the text `typed` by the user, and not as a piece of a longer word.
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

/// Names that contain a number: Arrow's types, and an encoding.
const NAMES: &[&str] = &[
    "Int", "UInt", "Float", "Decimal", "Date", "Time", "Utf", "LargeUtf", "UTF-", "utf-",
];
/// Words before a number that is a position in a file.
const PLACES: &[&str] = &["line ", "field ", "column ", "index "];

/// Returns the text with every word that contains a digit replaced by an ellipsis, except for [`NAMES`], for numbers
/// after [`PLACES`], and for words that stand in `typed`.
pub(super) fn without_numbers(text: &str, typed: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ',' | ':' | '+' | '-');
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(start) = rest.find(is_part) {
        let (before, from) = rest.split_at(start);
        let (word, after) = from.split_at(from.find(|c| !is_part(c)).unwrap_or(from.len()));
        let bare = word.trim_end_matches(['.', ',', ':']);
        let is_name = NAMES.contains(&bare.trim_end_matches(|c: char| c.is_ascii_digit()));
        out += before;
        let is_place = PLACES.iter().any(|place| out.ends_with(place));
        let is_kept = is_name || is_place || !bare.contains(char::is_numeric) || is_typed(bare, typed);
        out += if is_kept { bare } else { "…" };
        out += &word[bare.len()..];
        rest = after;
    }
    out + rest
}
