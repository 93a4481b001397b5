//! Detects whether the first line of a hierarchy file names the columns.

use super::rule::TOP;
use arrow::array::{Array, StringArray};

/// Words for a missing value. Such a word is not the name of a column, because a hierarchy may list
/// it as a value.
const MISSING: [&str; 8] = ["na", "n/a", "null", "none", "nan", "?", "-", "."];

/// Returns true if the first row names the columns. This is the case if all its labels have the
/// form `level 1`. In a file with at least three rows, two other conditions also suffice. The first
/// condition is that the last label is `*` in every row except the first. The second condition is
/// that the first ground value is text without digits, but not a word for a missing value, and all
/// other ground values are numbers. In any case, the result is false if the first row has the same
/// label as another row at some level, because the name of a column is not the name of one of its
/// groups.
pub(super) fn is_header(ground: &StringArray, labels: &[StringArray]) -> bool {
    let shares_a_label = |level: &StringArray| level.iter().skip(1).any(|label| label == Some(level.value(0)));
    if ground.len() < 2 || labels.iter().any(shares_a_label) {
        return false;
    }
    let is_called = !labels.is_empty() && labels.iter().all(|level| is_level(level.value(0)));
    if is_called || ground.len() < 3 {
        return is_called;
    }
    let is_under_top = labels.last().is_some_and(|last| {
        let mut rest = last.iter().skip(1);
        last.value(0) != TOP && rest.all(|label| label == Some(TOP))
    });
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    let first = ground.value(0).trim();
    let is_missing = first.is_empty() || MISSING.iter().any(|word| first.eq_ignore_ascii_case(word));
    let is_above_numbers =
        !is_missing && !is_number(first) && ground.iter().skip(1).flatten().all(is_number) && has_no_digit(first);
    is_under_top || is_above_numbers
}

/// Returns true if a text has no digit. A text with digits, such as the range `<20` or `20-24`, may
/// also be listed before numbers, but it is not the name of a column.
fn has_no_digit(text: &str) -> bool {
    !text.contains(|c: char| c.is_ascii_digit())
}

/// Returns true for names such as `level 1`, `Level_2`, `level-3` and `L4`.
fn is_level(text: &str) -> bool {
    let lower = text.trim().to_lowercase();
    let number = lower
        .strip_prefix("level")
        .or_else(|| lower.strip_prefix('l'))
        .map(|rest| rest.trim_start_matches([' ', '_', '-']));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_found_and_a_row_is_kept() {
        for (rows, expected) in [
            (
                &[["age", "five", "all"], ["31", "30-34", "*"], ["34", "30-34", "*"]][..],
                true,
            ),
            (&[["job", "kind", "top"], ["nurse", "a", "*"], ["cook", "b", "*"]], true),
            (
                &[
                    ["age", "five", "ten"],
                    ["31", "30-34", "30-39"],
                    ["41", "40-44", "40-49"],
                ],
                true,
            ),
            (
                &[["job", "Level 1", "level_2"], ["nurse", "a", "x"], ["cook", "b", "y"]],
                true,
            ),
            (&[["x", "level 1", "level 2"], ["a", "A", "*"]], true),
            (&[["age", "group", "top"], ["31", "low", "*"]], false),
            // First rows that are not headers: without a top level, with a missing value, or with a
            // range among numbers.
            (&[["nurse", "a", "x"], ["cook", "b", "y"], ["pilot", "c", "y"]], false),
            (&[["?", "?", "*"], ["31", "30-34", "*"], ["34", "30-34", "*"]], false),
            (&[["NA", "x", "y"], ["31", "30-34", "y"], ["34", "30-34", "y"]], false),
            (&[["<20", "x", "y"], ["31", "30-34", "y"], ["34", "30-34", "y"]], false),
            (
                &[["31", "30-34", "*"], ["34", "30-34", "*"], ["41", "40-44", "*"]],
                false,
            ),
            (&[["nurse", "a", "*"], ["cook", "b", "*"], ["pilot", "c", "*"]], false),
            // First rows with a ground value of letters, which share a label with another row at
            // some level.
            (&[["SS", "a", "x"], ["76114", "a", "y"], ["76102", "b", "y"]], false),
            (&[["SS", "a", "x"], ["76114", "b", "x"], ["76102", "b", "y"]], false),
            (&[["unknown", "a", "all"], ["31", "a", "*"], ["34", "a", "*"]], false),
        ] {
            let column = |i: usize| rows.iter().map(|row| Some(row[i])).collect::<StringArray>();
            assert_eq!(is_header(&column(0), &[column(1), column(2)]), expected, "{rows:?}");
        }
    }
}
