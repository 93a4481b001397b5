//! The order that a transition probability matrix defines (MADARS, section 3.4).
//!
//! Row r of the output takes the element at the free position with the largest entry in row r of
//! the matrix. A position is free until an earlier row has taken it. **Interpretation**, from the
//! paper's worked example: if several entries of a row are equal, only the frontmost position is a
//! candidate, and the others are skipped. If a row then has no free candidate, it takes the free
//! position with the largest entry, or the frontmost of several such positions. For an i.i.d.
//! random matrix, this order is a uniform random permutation, so no n by n matrix is needed to
//! generate such a permutation ([`super::Sequence`]).
//!
//! Reference: Guo et al., MADARS: a method of multi-attributes generalized randomization privacy
//! preserving, 2015.

/// Returns, for each output row, the index of the element that it takes. `rows` contains the rows
/// of the matrix, which must be square.
pub fn order(rows: &[Vec<f64>]) -> Vec<usize> {
    let mut free = vec![true; rows.len()];
    let mut taken = Vec::with_capacity(rows.len());
    for row in rows {
        let mut descending: Vec<usize> = (0..row.len()).collect();
        // The sort is stable, so the frontmost of equal entries comes first.
        descending.sort_by(|a, b| row[*b].total_cmp(&row[*a]));
        let is_front = |place: usize| place == 0 || row[descending[place - 1]] != row[descending[place]];
        let candidates = (0..descending.len()).filter(|place| is_front(*place));
        let position = candidates
            .map(|place| descending[place])
            .find(|position| free[*position])
            .or_else(|| descending.iter().copied().find(|position| free[*position]));
        if let Some(position) = position {
            free[position] = false;
            taken.push(position);
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The matrices M1, M2 and M3 of the paper, side by side.
    const MATRICES: &str = "
        0.6 0.4 0.2 0.8 0.3 0.2 | 0.83 0.22 0.74 0.63 0.57 0.34 | 0.4 0.8 0.6 0.4 0.1 0.3
        0.9 0.7 0.1 0.4 0.9 0.2 | 0.25 0.17 0.44 0.32 0.76 0.33 | 0.7 0.9 0.9 0.1 0.6 0.2
        0.6 0.5 0.8 0.5 0.4 0.7 | 0.65 0.36 0.77 0.87 0.64 0.77 | 0.3 0.8 0.6 0.4 0.7 0.5
        0.5 0.1 0.4 0.3 0.1 0.5 | 0.28 0.47 0.47 0.25 0.16 0.33 | 0.3 0.3 0.5 0.8 0.2 0.1
        0.2 0.5 0.3 0.4 0.6 0.3 | 0.46 0.47 0.64 0.75 0.27 0.47 | 0.5 0.6 0.6 0.2 0.4 0.1
        0.1 0.5 0.1 0.2 0.2 0.4 | 0.15 0.36 0.35 0.57 0.55 0.24 | 0.6 0.5 0.3 0.1 0.2 0.3";

    fn matrix(number: usize) -> Vec<Vec<f64>> {
        let rows = MATRICES.trim().lines();
        let row = |line: &str| {
            let entries = line.split('|').nth(number - 1).unwrap().split_whitespace();
            entries.map(|entry| entry.parse().unwrap()).collect()
        };
        rows.map(row).collect()
    }

    /// Returns the positions counted from 1, as in the paper.
    fn positions(number: usize) -> Vec<usize> {
        order(&matrix(number)).into_iter().map(|p| p + 1).collect()
    }

    #[test]
    fn the_worked_example_of_the_paper() {
        assert_eq!(positions(3), [2, 1, 5, 4, 6, 3]);
    }

    /// The columns race, salary and illness in the paper's Table 1, each with the number of its
    /// matrix: P = [3, 1, 2].
    const TABLE_1: [(usize, [&str; 6]); 3] = [
        (3, ["black", "white", "white", "yellow", "yellow", "white"]),
        (1, ["6100", "8000", "2200", "4500", "5300", "3300"]),
        (2, ["C", "T", "H", "H", "G", "C"]),
    ];
    const TABLE_2: [[&str; 6]; 3] = [
        ["white", "black", "yellow", "yellow", "white", "white"],
        ["4500", "6100", "2200", "8000", "5300", "3300"],
        ["C", "G", "H", "T", "H", "C"],
    ];

    #[test]
    fn every_cell_of_the_papers_table_2() {
        for ((number, values), expected) in TABLE_1.iter().zip(TABLE_2) {
            let moved: Vec<&str> = positions(*number).into_iter().map(|p| values[p - 1]).collect();
            assert_eq!(moved, expected);
        }
    }

    /// The text of the paper could also mean that the second of two equal entries is taken if the
    /// frontmost one is not free. The worked example and Table 2 exclude this interpretation: this
    /// test finds the cells in which its result differs from Table 2.
    #[test]
    fn equal_entries_that_stay_candidates_would_not_give_table_2() {
        let mut departs = vec![];
        for (column, ((number, values), expected)) in TABLE_1.iter().zip(TABLE_2).enumerate() {
            let mut free = [true; 6];
            for (row, entries) in matrix(*number).iter().enumerate() {
                let best = (0..6)
                    .filter(|p| free[*p])
                    .max_by(|a, b| entries[*a].total_cmp(&entries[*b]).then(b.cmp(a)));
                let position = best.unwrap();
                free[position] = false;
                if values[position] != expected[row] {
                    departs.push((column, row, values[position]));
                }
            }
        }
        // Row 2 of M3 has 0.9 twice, and position 2 is not free, so position 3 (white) would be
        // taken where the paper takes position 1 (black). Row 4 of M1 has 0.5 twice, and position 6
        // would be taken where the paper takes position 2.
        assert!(
            departs.contains(&(0, 1, "white")) && departs.contains(&(1, 3, "3300")),
            "{departs:?}"
        );
    }

    proptest! {
        #[test]
        fn every_position_is_taken_once(entries in prop::collection::vec(0u8..4, 0..50)) {
            let n = entries.len().isqrt();
            let rows: Vec<Vec<f64>> = (0..n).map(|r| entries[r * n..][..n].iter().map(|e| f64::from(*e)).collect()).collect();
            let mut taken = order(&rows);
            taken.sort_unstable();
            prop_assert_eq!(taken, (0..n).collect::<Vec<_>>());
        }
    }
}
