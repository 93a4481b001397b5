//! Cuts and wraps text for a terminal.

use console::{measure_text_width, truncate_str};

/// Cuts a text to `width` columns. If anything is cut off, the text ends with `…`.
pub fn cut(text: &str, width: usize) -> String {
    truncate_str(text, width, "…").into_owned()
}

/// Breaks a text into lines of at most `width` columns, at spaces if possible. Existing line breaks
/// are kept. The parts of a broken line keep its indentation.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let indented = |line: &str| {
        let indent = line.len() - line.trim_start_matches(' ').len();
        let indent = if indent < width / 2 { indent } else { 0 };
        let lines = broken(&line[indent..], (width - indent).max(2));
        lines
            .into_iter()
            .map(move |part| format!("{}{part}", " ".repeat(indent)))
    };
    text.trim_end_matches('\n').split('\n').flat_map(indented).collect()
}

/// Breaks one line into lines of at most `width` columns.
fn broken(line: &str, width: usize) -> Vec<String> {
    let mut lines = vec![];
    let mut rest = line;
    while measure_text_width(rest) > width {
        let mut used = 0;
        let fits = |(_, c): &(usize, char)| {
            used += measure_text_width(c.encode_utf8(&mut [0; 4]));
            used <= width
        };
        let end = rest
            .char_indices()
            .take_while(fits)
            .last()
            .map_or(0, |(at, c)| at + c.len_utf8());
        // The break may also be directly before a space.
        let space = match rest[end..].starts_with(' ') {
            true => Some(end),
            false => rest[..end].rfind(' ').filter(|at| *at > 0),
        };
        let at = space.unwrap_or(end).max(rest.chars().next().map_or(1, char::len_utf8));
        lines.push(rest[..at].trim_end().to_string());
        rest = match space {
            Some(_) => rest[at..].trim_start(),
            None => &rest[at..],
        };
    }
    lines.push(rest.to_string());
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_marked() {
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abcd", 4), "abcd");
        assert_eq!(cut("日本語", 4), "日…");
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("a\nb c", 9), ["a", "b c"]);
        assert_eq!(wrapped("  Sort: a, b\n", 8), ["  Sort:", "  a, b"]);
        assert_eq!(wrapped("日本語", 4), ["日本", "語"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
