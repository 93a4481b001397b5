//! Chooses the columns of a table that fit on a terminal, and their widths.

/// The width that a column needs in addition to its text: `| ` before the text, and a blank after
/// it.
pub const FRAME: usize = 3;

/// The columns that are shown, and their widths.
#[derive(Debug, PartialEq, Eq)]
pub struct ColumnFit {
    /// The index and the width of each shown column, in order.
    pub shown: Vec<(usize, usize)>,
    /// The number of shown columns before the omitted ones; `None` if all columns are shown.
    pub gap: Option<usize>,
}

/// Chooses columns that fit into the width `room`. Columns are narrowed before any column is
/// omitted. The columns in the middle are omitted first.
///
/// For each column, `natural` contains the width at which it is shown in full, and `least` contains
/// its minimum width. If not all columns fit at their minimum widths, some are omitted.
pub fn fit(natural: &[usize], least: &[usize], room: usize) -> ColumnFit {
    // The frame ends with a further `|`.
    let room = room.saturating_sub(1);
    let needed: usize = least.iter().map(|w| w + FRAME).sum();
    let (mut columns, gap) = match needed <= room {
        true => ((0..natural.len()).collect::<Vec<_>>(), None),
        false => {
            let (left, right) = ends(least, room.saturating_sub(1 + FRAME));
            let gap = left.len().max(1);
            ([left, right].concat(), Some(gap))
        }
    };
    if columns.is_empty() && !natural.is_empty() {
        columns.push(0);
    }
    let gap = gap.filter(|_| columns.len() < natural.len());
    let marker = if gap.is_some() { 1 + FRAME } else { 0 };
    let room = room.saturating_sub(marker + columns.len() * FRAME).max(1);
    let shown = shares(&columns, natural, least, room);
    ColumnFit { shown, gap }
}

/// Takes columns alternately from the left and the right end, as long as they fit into `room`.
fn ends(least: &[usize], mut room: usize) -> (Vec<usize>, Vec<usize>) {
    let (mut left, mut right) = (vec![], vec![]);
    while left.len() + right.len() < least.len() {
        let from_left = left.len() <= right.len();
        let next = match from_left {
            true => left.len(),
            false => least.len() - 1 - right.len(),
        };
        let needed = least[next] + FRAME;
        if needed > room {
            break;
        }
        room -= needed;
        if from_left { &mut left } else { &mut right }.push(next);
    }
    right.reverse();
    (left, right)
}

/// Divides the width `room` among the columns. All columns get the same width, except that no
/// column is wider than its natural width or narrower than its minimum width.
fn shares(columns: &[usize], natural: &[usize], least: &[usize], room: usize) -> Vec<(usize, usize)> {
    let widths = |level: usize| {
        columns
            .iter()
            .map(move |i| (*i, level.clamp(least[*i], natural[*i]).min(room)))
    };
    let fits = |level: &usize| widths(*level).map(|(_, width)| width).sum::<usize>() <= room;
    let highest = columns.iter().map(|i| natural[*i]).max().unwrap_or(1);
    let level = (1..=highest).rev().find(fits).unwrap_or(1);
    widths(level).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_columns_give_way_first() {
        let fitted = fit(&[3, 40, 100], &[3, 12, 12], 80);
        assert_eq!((fitted.shown, fitted.gap), (vec![(0, 3), (1, 33), (2, 33)], None));
        assert_eq!(fit(&[3, 4], &[3, 4], 80).shown, [(0, 3), (1, 4)]);
        assert_eq!(fit(&[30, 30], &[30, 12], 60).shown, [(0, 30), (1, 23)]);
    }

    #[test]
    fn columns_in_the_middle_are_left_out() {
        let fitted = fit(&[7; 300], &[7; 300], 80);
        let columns: Vec<usize> = fitted.shown.iter().map(|(i, _)| *i).collect();
        assert_eq!((columns, fitted.gap), (vec![0, 1, 2, 3, 297, 298, 299], Some(4)));
    }

    #[test]
    fn one_column_is_always_shown() {
        assert_eq!(fit(&[50], &[50], 10).shown, [(0, 6)]);
        let fitted = fit(&[50, 50], &[50, 50], 12);
        assert_eq!((fitted.shown.len(), fitted.gap), (1, Some(1)));
        assert_eq!(fit(&[], &[], 10).shown, []);
    }

    proptest! {
        #[test]
        fn what_is_shown_fits(natural in prop::collection::vec(1usize..60, 1..40), room in 10usize..200) {
            let least: Vec<usize> = natural.iter().map(|w| if w % 3 == 0 { *w } else { 12.min(*w) }).collect();
            let fitted = fit(&natural, &least, room);
            let marker = if fitted.gap.is_some() { 1 + FRAME } else { 0 };
            let used: usize = fitted.shown.iter().map(|(_, w)| w + FRAME).sum::<usize>() + marker + 1;
            prop_assert!(used <= room, "{used} of {room}");
            prop_assert!(fitted.shown.windows(2).all(|w| w[0].0 < w[1].0));
            prop_assert_eq!(fitted.gap.is_some(), fitted.shown.len() < natural.len());
        }
    }
}
