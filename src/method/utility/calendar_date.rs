//! Means of dates, written for readers.

/// The number of minutes in a day.
const MINUTES: f64 = 1_440.0;

/// Returns the date and the time that is `days` after the beginning of 1970-01-01, rounded to a
/// minute: `2020-07-19 12:00`. Returns `None` if the date is outside the supported range.
pub fn date_of(days: f64) -> Option<String> {
    // A number outside the range of i64 becomes the nearest number in this range.
    let seconds = ((days * MINUTES).round() as i64).checked_mul(60)?;
    let time = chrono::DateTime::from_timestamp(seconds, 0)?;
    Some(time.format("%Y-%m-%d %H:%M").to_string())
}

#[cfg(test)]
mod tests {
    use super::date_of;

    #[test]
    fn days_are_dates() {
        let of = |days: f64| date_of(days).unwrap_or_default();
        assert_eq!(of(0.0), "1970-01-01 00:00");
        assert_eq!(of(18_262.5), "2020-01-01 12:00");
        assert_eq!(of(-0.25), "1969-12-31 18:00");
        assert_eq!((date_of(1e12), date_of(f64::INFINITY)), (None, None));
    }
}
