//! The number of persons on whose values a figure is based, and the rule by which a report gives or
//! withholds the figure.
//!
//! A reader of a release can compute the figures of its rows. The same figure of the source then
//! tells about the rows that are not in the release: if one row is missing, the difference of two
//! totals is its value. And a mean and a deviation of two values are these two values.

/// The minimum number of persons on whose values a figure in a report is based. A greater class size
/// that a request requires replaces it.
pub const LEAST_PERSONS: u64 = 10;

/// The persons on whose values a figure is based. Without an entity, each row is a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FigureBasis {
    /// The number of persons with a value in the source.
    persons: u64,
    /// The difference between the numbers of persons with a value in the source and in the release.
    /// `None` if the release has all rows.
    left_out: Option<u64>,
}

impl FigureBasis {
    /// Returns the basis of a figure. `persons` are the numbers of persons with a value, and `rows`
    /// are the numbers of all rows, each in the release and in the source.
    pub fn new(persons: [u64; 2], rows: [u64; 2]) -> Self {
        let ([released, source], [rows_out, rows_in]) = (persons, rows);
        Self {
            persons: source,
            left_out: (rows_out != rows_in).then(|| source.abs_diff(released)),
        }
    }

    /// Returns the basis of a figure that has both bases: the fewest persons of the two.
    pub fn and(self, other: Self) -> Self {
        Self {
            persons: self.persons.min(other.persons),
            left_out: [self.left_out, other.left_out].into_iter().flatten().min(),
        }
    }

    /// Returns the reason for which a report withholds a figure with this basis; `None` if the report
    /// gives the figure. `least` is the minimum number of persons.
    pub fn reason(self, least: u64) -> Option<String> {
        if self.persons < least {
            return Some(format!("fewer than {least} persons of the source are described"));
        }
        let tells = self.left_out.is_some_and(|persons| persons < least);
        tells.then(|| {
            format!(
                "fewer than {least} persons with a value are in the source and not in the release, so their values could be \
                 computed"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if a figure is given, with these numbers of persons and of rows.
    fn is_given(persons: [u64; 2], rows: [u64; 2]) -> bool {
        FigureBasis::new(persons, rows).reason(10).is_none()
    }

    #[test]
    fn a_figure_tells_about_ten_persons_or_about_nobody() {
        assert!(is_given([10, 10], [10, 10]));
        assert!(!is_given([9, 9], [1_000, 1_000]));
        assert!(is_given([990, 1_000], [990, 1_000]));
        assert!(!is_given([991, 1_000], [991, 1_000]));
        // That none of the missing rows has a value would tell that all of them are NULL.
        assert!(!is_given([500, 500], [990, 1_000]));
        // The missing rows belong to one person.
        assert!(!is_given([49, 50], [980, 1_000]));
        let both = FigureBasis::new([90, 100], [90, 100]).and(FigureBasis::new([9, 9], [9, 9]));
        assert!(both.reason(10).is_some());
        let both = FigureBasis::new([90, 100], [90, 100]).and(FigureBasis::new([50, 50], [50, 50]));
        assert!(both.reason(10).is_none() && both.reason(11).is_some());
    }
}
