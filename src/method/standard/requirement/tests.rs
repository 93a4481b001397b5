//! Tests that VERIFY compares something for each requirement of each standard.

use super::Requirement;
use crate::method::standard::{RecordedColumn, RecordedForm, RecordedRelease, ReleaseCheck, STANDARDS};
use crate::method::suggest::{Facts, ValueKind};

/// Columns that reveal a lot about persons.
const TELLING: &[(&str, ValueKind)] = &[
    ("ssn", ValueKind::Text),
    ("name", ValueKind::Text),
    ("age", ValueKind::Integer),
    ("birth_date", ValueKind::Date),
    ("zip", ValueKind::Text),
    ("notes", ValueKind::Text),
    ("photo", ValueKind::Binary),
];

/// A column that tells little.
const HARMLESS: &[(&str, ValueKind)] = &[("sex", ValueKind::Text)];

/// Returns a release of these columns with unchanged values.
fn release(columns: &[(&str, ValueKind)], smallest_class: u64, lacks_persons: bool) -> RecordedRelease {
    let column = |(name, kind): &(&str, ValueKind)| RecordedColumn {
        facts: Facts::of_name(name, *kind),
        form: RecordedForm::Unchanged,
    };
    RecordedRelease {
        columns: columns.iter().map(column).collect(),
        smallest_class: Some(smallest_class),
        lacks_persons,
    }
}

/// Returns whether the release satisfies the requirement; `None` if it was not compared.
fn holds(ask: &dyn Requirement, release: &RecordedRelease) -> Option<bool> {
    match ask.compared("a standard", release).unwrap() {
        ReleaseCheck::Checked { check, .. } => Some(check.holds()),
        ReleaseCheck::NotChecked(_) => None,
    }
}

/// The first release violates every requirement.
#[test]
fn every_requirement_is_compared_with_a_release() {
    let (wrong, right) = (release(TELLING, 1, false), release(HARMLESS, 11, false));
    for standard in STANDARDS {
        assert!(!standard.asks.is_empty(), "{}", standard.info.name);
        for ask in standard.asks {
            assert_eq!(holds(*ask, &wrong), Some(false), "{ask:?}");
            assert_eq!(holds(*ask, &right), Some(true), "{ask:?}");
        }
    }
}

/// Rows are not persons: the size of a class in rows does not show how many persons it has.
#[test]
fn classes_of_persons_are_not_compared_without_the_persons() {
    let rows = release(HARMLESS, 11, true);
    for (name, expected) in [("health_canada", None), ("hipaa_safe_harbor", Some(true))] {
        let standard = crate::method::standard::named(name).unwrap();
        for ask in standard.asks {
            assert_eq!(holds(*ask, &rows), expected, "{ask:?}");
        }
    }
}
