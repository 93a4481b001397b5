//! Checks that every released row is a row of the source: kept values are equal, labels cover the
//! values, and each source row is used at most once.

use chrono::{DateTime, NaiveDate, NaiveDateTime};

/// Assigns to each of `left` a different element of `right` that it fits (Kuhn's algorithm). The
/// error is the first element of `left` without a partner.
pub fn matching(left: usize, right: usize, fits: impl Fn(usize, usize) -> bool) -> Result<Vec<usize>, usize> {
    let edges: Vec<Vec<usize>> = (0..left)
        .map(|l| (0..right).filter(|r| fits(l, *r)).collect())
        .collect();
    let mut owner: Vec<Option<usize>> = vec![None; right];
    for l in 0..left {
        let mut seen = vec![false; right];
        if !assign(l, &edges, &mut owner, &mut seen) {
            return Err(l);
        }
    }
    let mut found = vec![0; left];
    for (r, l) in owner.iter().enumerate() {
        if let Some(l) = l {
            found[*l] = r;
        }
    }
    Ok(found)
}

fn assign(l: usize, edges: &[Vec<usize>], owner: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for &r in &edges[l] {
        if std::mem::replace(&mut seen[r], true) {
            continue;
        }
        if owner[r].is_none_or(|other| assign(other, edges, owner, seen)) {
            owner[r] = Some(l);
            return true;
        }
    }
    false
}

/// Returns true if a label of local recoding covers a value. The label is the value, one of the
/// value's labels, or a range around the value. A range has only one end if a code hides the value.
pub fn covers(label: Option<&str>, cell: &super::cell::Cell, ladder: &super::ladder::Ladder) -> bool {
    let of_hierarchy = (0..=ladder.height()).any(|level| ladder.label(cell, level).as_deref() == label);
    of_hierarchy || label.is_some_and(|label| in_range(label, cell, ladder.coded(cell).is_none()))
}

/// Returns true if a range contains a value. The range is `[a, b]` with both ends, `[a, b)` without
/// the upper end, or has a single end, such as `<a`.
fn in_range(label: &str, cell: &super::cell::Cell, may_close: bool) -> bool {
    let place = |end: &str| compare(cell, end);
    let open =
        |sign: &str, fits: fn(std::cmp::Ordering) -> bool| label.strip_prefix(sign).and_then(place).is_some_and(fits);
    if open("<=", std::cmp::Ordering::is_le)
        || open("<", std::cmp::Ordering::is_lt)
        || open(">=", std::cmp::Ordering::is_ge)
        || open(">", std::cmp::Ordering::is_gt)
    {
        return true;
    }
    let Some(inner) = label.strip_prefix('[').filter(|_| may_close) else {
        return false;
    };
    let (inner, closed) = match (inner.strip_suffix(']'), inner.strip_suffix(')')) {
        (Some(inner), _) => (inner, true),
        (_, Some(inner)) => (inner, false),
        _ => return false,
    };
    let Some((low, high)) = inner.split_once(", ") else {
        return false;
    };
    match (place(low), place(high)) {
        (Some(low), Some(high)) => low.is_ge() && (high.is_lt() || (closed && high.is_eq())),
        _ => false,
    }
}

/// Compares a value with the text of one end of a range.
fn compare(cell: &super::cell::Cell, end: &str) -> Option<std::cmp::Ordering> {
    use super::cell::{Cell, Exact, Ground};
    match &cell.ground {
        Ground::Number(_) => {
            let ground = Ground::Number(Exact::parse(end)?);
            Some(cell.order(&Cell {
                key: None,
                text: None,
                ground,
            }))
        }
        Ground::Instant(_, Some(at)) => {
            let end = end.trim_end_matches('Z');
            let day = || NaiveDate::parse_from_str(end, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0);
            let local = || NaiveDateTime::parse_from_str(end, "%Y-%m-%dT%H:%M:%S%.f").ok();
            let zoned = || Some(DateTime::parse_from_rfc3339(end).ok()?.naive_local());
            Some(at.cmp(&day().or_else(local).or_else(zoned)?))
        }
        // The texts of times of day sort in the order of the times.
        Ground::Instant(..) => {
            let plain = |text: &str| text.trim_end_matches('Z').to_string();
            Some(plain(cell.text.as_deref()?).cmp(&plain(end)))
        }
        _ => None,
    }
}
