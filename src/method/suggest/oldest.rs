//! The oldest people, who form one group under Safe Harbor 3: their age and their years of birth.

use chrono::{Datelike, Utc};

/// The minimum age of people in the oldest group. Safe Harbor 3 allows single ages up to 89.
pub(super) const OLD: i32 = 90;

/// The number of years by which ages in the oldest group, as examples of all its ages, exceed
/// [`OLD`].
pub(super) const OLDER: [i32; 5] = [0, 1, 7, 14, 30];

/// Returns the earliest year of birth for which people turn at most 89 this year.
pub(super) fn oldest_year() -> i32 {
    Utc::now().year() - OLD + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::suggest::Limited;

    #[test]
    fn the_words_name_the_highest_age_outside_the_group() {
        let above = format!("above {}", OLD - 1);
        for limited in [Limited::Ages, Limited::BirthYears] {
            assert!(limited.what().contains(&above), "{}", limited.what());
        }
    }
}
