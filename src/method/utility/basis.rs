//! The number of persons on whose values a figure is based, and the rule by which a report gives,
//! rounds or withholds the figure.
//!
//! A reader of a release can compute the figures of its rows. Together with these, the same figures
//! of the source describe the rows that are not in the release: if one row is missing, the
//! difference between the two totals is its value. A mean and a standard deviation of two values
//! reveal both values. A correlation with a column that is 1 for one person and 0 for all others
//! reveals the value of this person. A total to which one person contributes nearly everything is
//! nearly the value of this person.

/// The minimum number of persons on whose values a figure in a report is based. If a request
/// requires a greater class size, that size replaces this minimum.
pub const LEAST_PERSONS: u64 = 10;

/// The (n, k)-dominance rule of statistical offices with n = 1 and k = 50 percent: no person may
/// contribute more than half of a total. So the sum of the absolute contributions is at least this
/// many times the greatest of them.
const LEAST_CONTRIBUTIONS: f64 = 2.0;

/// A source is large if it has at least this many rows for each suppressed row, and at least this
/// many times the minimum number of persons. One of `n` rows changes a share by about `1 / n`: by
/// 0.001 if there are 1,000 rows. That is far below the rounding of a report to two decimals.
const ROWS_FOR_ONE: u64 = 100;

/// The persons on whose values a figure is based. Without an entity, each row is a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FigureBasis {
    /// The number of persons with a value in the source.
    persons: u64,
    /// The difference between the numbers of persons with a value in the source and in the release;
    /// `None` if the release has all rows.
    left_out: Option<u64>,
    /// The number of all rows of the source.
    rows: u64,
    /// The difference between the numbers of all rows of the source and of the release.
    rows_left_out: u64,
    /// The number of rows of the source that decide the figure.
    rows_deciding: u64,
    /// The maximum number of rows of a single person.
    rows_of_one: u64,
    /// Whether one person contributes more to the figure of the source than the dominance rule
    /// allows.
    is_dominated: bool,
}

impl FigureBasis {
    /// Returns the basis of a figure. `persons` are the numbers of persons with a value, and `rows`
    /// are the numbers of all rows, each in the release and in the source.
    pub fn new(persons: [u64; 2], rows: [u64; 2]) -> Self {
        let ([released, source], [rows_out, rows_in]) = (persons, rows);
        Self {
            persons: source,
            left_out: (rows_out != rows_in).then(|| source.abs_diff(released)),
            rows: rows_in,
            rows_left_out: rows_in.abs_diff(rows_out),
            rows_deciding: u64::MAX,
            rows_of_one: 1,
            is_dominated: false,
        }
    }

    /// Returns the basis of a figure to which persons contribute. `contributions` is the sum of
    /// their absolute contributions in the source, divided by the greatest of them; `None` if all
    /// are 0.
    pub fn with_contributions(self, contributions: Option<f64>) -> Self {
        Self {
            is_dominated: contributions.is_some_and(|all| all < LEAST_CONTRIBUTIONS),
            ..self
        }
    }

    /// Returns the basis of a figure that this number of rows of the source decides. All other rows
    /// change it by little.
    pub fn decided_by(self, rows: u64) -> Self {
        Self {
            rows_deciding: rows,
            ..self
        }
    }

    /// Returns the basis for a source in which one person has at most this number of rows.
    pub fn with_rows_of_one(self, rows: u64) -> Self {
        Self {
            rows_of_one: rows.max(1),
            ..self
        }
    }

    /// Returns the basis of a figure that has both bases: the fewest persons of the two.
    pub fn and(self, other: Self) -> Self {
        Self {
            persons: self.persons.min(other.persons),
            left_out: [self.left_out, other.left_out].into_iter().flatten().min(),
            rows: self.rows.min(other.rows),
            rows_left_out: self.rows_left_out.max(other.rows_left_out),
            rows_deciding: self.rows_deciding.min(other.rows_deciding),
            rows_of_one: self.rows_of_one.max(other.rows_of_one),
            is_dominated: self.is_dominated || other.is_dominated,
        }
    }

    /// Returns true if the source is so large that no suppressed person changes a share of its rows
    /// by more than 0.01. `least` is the minimum number of persons.
    pub fn is_large(self, least: u64) -> bool {
        self.persons >= least.saturating_mul(ROWS_FOR_ONE)
            && self.rows >= self.rows_left_out.saturating_mul(ROWS_FOR_ONE)
    }

    /// Returns the reason why a report does not give a figure with this basis as it is; `None` if
    /// the report does. `least` is the minimum number of persons.
    pub fn reason(self, least: u64) -> Option<String> {
        let is_of_few = self.persons.min(self.rows_deciding / self.rows_of_one) < least
            || self.left_out.is_some_and(|persons| persons < least)
            || self.is_dominated;
        // The reason does not say which of the conditions holds, because this depends on the
        // values.
        is_of_few.then(|| format!("the values of fewer than {least} persons could be computed from it"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns true if a report gives a figure that is based on these numbers of persons and rows.
    fn is_given(persons: [u64; 2], rows: [u64; 2]) -> bool {
        FigureBasis::new(persons, rows).reason(10).is_none()
    }

    #[test]
    fn a_figure_tells_about_ten_persons_or_about_nobody() {
        assert!(is_given([10, 10], [10, 10]));
        assert!(!is_given([9, 9], [1_000, 1_000]));
        assert!(is_given([990, 1_000], [990, 1_000]));
        assert!(!is_given([991, 1_000], [991, 1_000]));
        // No missing row has a value, so the figure would reveal that all of them are NULL.
        assert!(!is_given([500, 500], [990, 1_000]));
        // The missing rows belong to one person.
        assert!(!is_given([49, 50], [980, 1_000]));
        let both = FigureBasis::new([90, 100], [90, 100]).and(FigureBasis::new([9, 9], [9, 9]));
        assert!(both.reason(10).is_some());
        let both = FigureBasis::new([90, 100], [90, 100]).and(FigureBasis::new([50, 50], [50, 50]));
        assert!(both.reason(10).is_none() && both.reason(11).is_some());
    }

    #[test]
    fn ten_persons_decide_a_figure() {
        let all = FigureBasis::new([1_000, 1_000], [1_000, 1_000]);
        assert!(all.decided_by(10).reason(10).is_none());
        assert!(all.decided_by(9).reason(10).is_some());
        // The ten rows may be those of one person.
        let of_persons = FigureBasis::new([500, 500], [1_000, 1_000]).with_rows_of_one(10);
        assert!(all.decided_by(10).and(of_persons).reason(10).is_some());
        assert!(of_persons.and(all.decided_by(100)).reason(10).is_none());
        assert!(of_persons.reason(10).is_none());
    }

    #[test]
    fn one_person_contributes_at_most_half() {
        let all = FigureBasis::new([1_000, 1_000], [1_000, 1_000]);
        // The greatest contribution is half of all, all but a tenth, and none.
        assert!(all.with_contributions(Some(2.0)).reason(10).is_none());
        assert!(all.with_contributions(Some(10.0 / 9.0)).reason(10).is_some());
        assert!(all.with_contributions(None).reason(10).is_none());
        let dominated = all.with_contributions(Some(1.0));
        assert!(all.and(dominated).reason(10).is_some() && dominated.and(all).reason(10).is_some());
    }

    #[test]
    fn one_person_of_a_large_source_changes_a_share_by_little() {
        let is_large = |persons, rows| FigureBasis::new(persons, rows).is_large(10);
        assert!(is_large([999, 1_000], [999, 1_000]));
        assert!(!is_large([998, 999], [998, 999]));
        assert!(!FigureBasis::new([999, 1_000], [999, 1_000]).is_large(11));
        // Two persons with 20 rows each, and two persons with 1,000 rows each.
        assert!(is_large([998, 1_000], [19_960, 20_000]));
        assert!(!is_large([998, 1_000], [18_000, 20_000]));
        // The first basis counts each row as a person. The second counts the persons.
        let by_row = FigureBasis::new([19_960, 20_000], [19_960, 20_000]);
        let by_person = |persons| FigureBasis::new(persons, [19_960, 20_000]);
        assert!(by_row.and(by_person([998, 1_000])).is_large(10));
        assert!(!by_row.and(by_person([498, 500])).is_large(10));
    }
}
