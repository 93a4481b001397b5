//! The first and the last year of a label for dates, parsed from the text of the label.

use super::date_format::DateFormat;
use super::line::LabelEnds;
use super::number::Number;
use chrono::Datelike;

/// An end of a label as a year, with a flag that is true if the year is included; `None` for an
/// open end.
type End = Option<(Number, bool)>;

/// Parses the first and the last year of a text. The text is a label, a date in `format`, or the
/// text form of bounds, in which an open end is empty. Returns `None` if the text cannot be parsed.
pub(super) fn ends(text: &str, format: Option<&DateFormat>) -> Option<(End, End)> {
    let span = |text: &str| span(text, format);
    let included = |year: i32| Some((Number::new(year.into(), 0), true));
    let inside = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    if let Some((low, high)) = inside.and_then(|inside| inside.split_once(", ")) {
        let end = |text: &str, of: fn((i32, i32)) -> i32| match text {
            "" => Some(None),
            text => span(text).map(|span| included(of(span))),
        };
        return end(low, |span| span.0).zip(end(high, |span| span.1));
    }
    let line = LabelEnds::read(text, |text| span(text).is_some())?;
    // An exclusive end excludes a year only if the end is a whole year.
    let is_whole = |text: &str| text.len() == 4;
    let low = line.low.map(|(text, with)| {
        let (first, last) = span(text)?;
        included(if with || !is_whole(text) { first } else { last + 1 })
    });
    let high = line.high.map(|(text, with)| {
        let (first, last) = span(text)?;
        included(if with || !is_whole(text) { last } else { first - 1 })
    });
    Some((low.flatten(), high.flatten()))
}

/// Returns the first and the last year of the span that a text names, such as `1950-05-17`,
/// `1950-Q2`, `1950s` or `1937-1939`.
fn span(text: &str, format: Option<&DateFormat>) -> Option<(i32, i32)> {
    if let Some(at) = format.and_then(|format| format.read(text)) {
        return Some((at.year(), at.year()));
    }
    let digits = |text: &str| {
        let is_year = text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit());
        text.parse::<i32>().ok().filter(|_| is_year)
    };
    let (year, rest) = text.split_at_checked(4)?;
    let year = digits(year)?;
    match (rest, rest.strip_prefix('-').and_then(digits)) {
        (_, Some(last)) => Some((year, last)),
        ("s", _) => Some((year, year + 9)),
        (rest, _) => (!rest.starts_with(|c: char| c.is_ascii_digit())).then_some((year, year)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<(Option<String>, Option<String>)> {
        let format = DateFormat::try_new("%d.%m.%Y").ok();
        let end = |end: End| end.map(|(year, included)| format!("{year}{}", if included { "" } else { "!" }));
        ends(text, format.as_ref()).map(|(low, high)| (end(low), end(high)))
    }

    #[test]
    fn years_of_labels_are_read() {
        for (text, low, high) in [
            ("1950", "1950", "1950"),
            ("1950-05-17", "1950", "1950"),
            ("1950-05-17T10:30:00+02:00", "1950", "1950"),
            ("24.12.1936", "1936", "1936"),
            ("1950-Q2", "1950", "1950"),
            ("1950s", "1950", "1959"),
            ("1937-1939", "1937", "1939"),
            ("[1930-01-01, 1941-05-02]", "1930", "1941"),
            ("[, 1941-05-02]", "", "1941"),
            ("<1937", "", "1936"),
            ("<=1941-05-02", "", "1941"),
            ("<1941-05", "", "1941"),
            (">=2020", "2020", ""),
            (">2020", "2021", ""),
        ] {
            let end = |text: &str| Some(text.to_string()).filter(|text| !text.is_empty());
            assert_eq!(shown(text), Some((end(low), end(high))), "{text}");
        }
        for text in ["", "x", "19500", "950", "31.2.1936", "[x, 1950]"] {
            assert_eq!(shown(text), None, "{text}");
        }
    }
}
