//! Wraps prose, so that a table of it fits a terminal.

use console::measure_text_width;

/// The narrowest that a column of prose is made.
const NARROWEST: usize = 10;

/// Narrows the columns of prose, the widest first, until `needed` columns of the terminal are no more than `width`.
/// Returns false if that is not possible.
pub fn narrow(widths: &mut [usize], prose: &[bool], mut needed: usize, width: usize) -> bool {
    while needed > width {
        let columns = widths.iter_mut().zip(prose).filter(|(_, prose)| **prose);
        match columns.map(|(width, _)| width).max() {
            Some(widest) if *widest > NARROWEST => *widest -= 1,
            _ => return false,
        }
        needed -= 1;
    }
    true
}

/// Breaks a text into lines of at most `width` columns of a terminal, between words where possible.
pub fn lines(text: &str, width: usize) -> Vec<String> {
    let (mut lines, mut line) = (vec![], String::new());
    for word in text.split(' ') {
        let mut word = word.to_string();
        if !line.is_empty() && measure_text_width(&line) + 1 + measure_text_width(&word) > width {
            lines.push(std::mem::take(&mut line));
        }
        while measure_text_width(&word) > width {
            let rest = word.split_off(fitting(&word, width));
            lines.push(std::mem::replace(&mut word, rest));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.push(line);
    lines
}

/// Returns the bytes of the longest beginning of `text` that fits `width`, but at least of one character.
fn fitting(text: &str, width: usize) -> usize {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let fits = ends.take_while(|end| measure_text_width(&text[..*end]) <= width).last();
    fits.unwrap_or(text.chars().next().map_or(0, char::len_utf8))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_stay_whole_where_they_fit() {
        assert_eq!(lines("one two three", 7), ["one two", "three"]);
        assert_eq!(
            lines("a_very_long_name of it", 6),
            ["a_very", "_long_", "name", "of it"]
        );
        assert_eq!(lines("", 6), [""]);
        assert_eq!(lines("日本語", 4), ["日本", "語"]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_nothing_is_too_wide(text in "[a-z日 ]{0,60}", width in 2usize..30) {
            let found = lines(&text, width);
            prop_assert!(found.iter().all(|line| measure_text_width(line) <= width), "{found:?}");
            let letters = |text: &str| text.replace(' ', "");
            prop_assert_eq!(letters(&found.concat()), letters(&text));
        }
    }

    #[test]
    fn only_prose_is_narrowed() {
        let mut widths = [30, 40, 20];
        assert!(narrow(&mut widths, &[false, true, true], 100, 80));
        assert_eq!(widths, [30, 20, 20]);
        assert!(!narrow(&mut widths, &[false, true, false], 80, 70));
    }
}
