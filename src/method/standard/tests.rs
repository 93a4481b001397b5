//! Tests which columns each standard allows and rejects.

use super::*;
use crate::method::masks::MaskKind;
use crate::method::suggest::{Facts, Limited, ValueKind};
use arrow::array::{Array, ArrayRef, Date32Array, Int32Array, Int64Array, StringArray};
use arrow::datatypes::Date32Type;
use chrono::{Datelike, NaiveDate, Utc};
use std::sync::Arc;

fn harbor(facts: Facts, treated: Treated) -> Vec<String> {
    named("hipaa_safe_harbor")
        .unwrap()
        .forbidden(&[Looked { facts, treated }])
        .unwrap()
}

fn mask(start: &str) -> &'static MaskKind {
    crate::method::masks::named(start).unwrap()
}

fn facts(name: &str, values: &ArrayRef, sample: Vec<String>) -> Facts {
    Facts {
        rows: 1_000,
        values: 1_000,
        distinct: values.len() as u64,
        sample,
        ..Facts::of_name(name, ValueKind::of(values.data_type()))
    }
}

/// Returns the sentences of Safe Harbor about a column with the given values and labels.
fn labelled<T: PartialEq + ToString>(
    name: &str,
    values: ArrayRef,
    sample: &[&str],
    labels: &[T],
    level: u8,
) -> Vec<String> {
    let first = |label: &T| labels.iter().position(|other| other == label).unwrap() as u32;
    let labelled = LowestLabels {
        level,
        labels: labels.iter().map(first).collect(),
        texts: labels.iter().map(|label| Some(label.to_string())).collect(),
        values: Arc::clone(&values),
        computed: false,
    };
    let sample = sample.iter().map(ToString::to_string).collect();
    harbor(facts(name, &values, sample), Treated::Generalized(labelled))
}

fn dates(days: &[(i32, u32, u32)]) -> ArrayRef {
    let days = days
        .iter()
        .map(|(y, m, d)| NaiveDate::from_ymd_opt(*y, *m, *d).unwrap());
    Arc::new(Date32Array::from_iter_values(days.map(Date32Type::from_naive_date)))
}

#[test]
fn ages_above_89_are_one_group() {
    let ages = || Arc::new(Int32Array::from(vec![30, 89, 90, 104])) as ArrayRef;
    assert!(labelled("age", ages(), &[], &["30", "89", ">=90", ">=90"], 0).is_empty());
    let found = labelled("age", ages(), &[], &["30", "89", "90", "104"], 0);
    assert!(
        found[0].contains("(C)") && found[0].contains("TOP CODE 90"),
        "{found:?}"
    );
    assert!(!labelled("age", ages(), &[], &["30-39", "80-89", "90-99", "100-109"], 1).is_empty());
    assert!(labelled("age", ages(), &[], &["*"; 4], 3).is_empty());
}

#[test]
fn dates_are_released_as_years() {
    let days = || dates(&[(2001, 1, 1), (2001, 12, 31), (2002, 5, 7)]);
    assert!(labelled("admitted", days(), &[], &["2001", "2001", "2002"], 1).is_empty());
    assert!(labelled("admitted", days(), &[], &["2000s", "2000s", "2000s"], 2).is_empty());
    let found = labelled("admitted", days(), &[], &["2001-01", "2001-12", "2002-05"], 1);
    assert!(
        found[0].contains("(C)") && found[0].contains("TRUNCATE (YEAR, DECADE)"),
        "{found:?}"
    );
    // A year of birth must not reveal that a person is 90 or older.
    let oldest = Utc::now().year() - 89;
    let births = || dates(&[(oldest - 30, 1, 1), (oldest - 1, 1, 1), (oldest, 1, 1)]);
    assert!(labelled("birth_date", births(), &[], &["old", "old", "young"], 1).is_empty());
    assert!(!labelled("birth_date", births(), &[], &["older", "old", "young"], 1).is_empty());
    assert!(labelled("admitted", births(), &[], &["older", "old", "young"], 1).is_empty());
    // The texts are dates in a known format, except one that is not a date.
    let texts = || Arc::new(StringArray::from(vec!["31.12.2001", "01.01.2001", "unknown"])) as ArrayRef;
    let sample = ["31.12.2001", "01.01.2001", "05.06.2002", "07.08.2003", "11.12.2004"];
    assert!(labelled("seen", texts(), &sample, &["2001", "2001", "*"], 1).is_empty());
    assert!(!labelled("seen", texts(), &sample, &["2001", "2001-01", "*"], 1).is_empty());
}

#[test]
fn zip_codes_have_three_digits_and_000_for_the_sparse_ones() {
    let texts = || Arc::new(StringArray::from(vec!["02139", "02142-1234", "03601", "82101"])) as ArrayRef;
    let sample = ["02139", "02142", "03601", "82101"];
    assert!(labelled("zip", texts(), &sample, &["021", "021", "000", "000"], 1).is_empty());
    let found = labelled("zip", texts(), &sample, &["021", "021", "036", "821"], 1);
    assert!(found[0].contains("(B)") && found[0].contains("CHANGE ("), "{found:?}");
    assert!(!labelled("zip", texts(), &sample, &["02139", "02142", "000", "000"], 0).is_empty());
    assert!(!labelled("zip", texts(), &sample, &["021", "021", "03601", "03601"], 1).is_empty());
    let numbers = || Arc::new(Int64Array::from(vec![2139, 2142, 3601, 82101])) as ArrayRef;
    assert!(labelled("zip_code", numbers(), &[], &["021", "021", "000", "000"], 1).is_empty());
    assert!(!labelled("zip_code", numbers(), &[], &["213", "214", "000", "000"], 1).is_empty());
    // For other geographic units, level 1 is assumed to contain states.
    let towns = || Arc::new(StringArray::from(vec!["Salem", "Boston"])) as ArrayRef;
    assert!(labelled("city", towns(), &[], &["Salem", "Boston"], 0)[0].contains("(B)"));
    assert!(labelled("city", towns(), &[], &["OR", "MA"], 1).is_empty());
}

/// Each of the eighteen identifiers, recognized by one of its names, is rejected unchanged, masked
/// and as labels.
#[test]
fn identifiers_are_dropped() {
    for (name, letter) in [
        ("first_name", 'A'),
        ("street", 'B'),
        ("phone", 'D'),
        ("fax", 'E'),
        ("email", 'F'),
        ("ssn", 'G'),
        ("mrn", 'H'),
        ("member_id", 'I'),
        ("account_number", 'J'),
        ("license", 'K'),
        ("vin", 'L'),
        ("device_id", 'M'),
        ("url", 'N'),
        ("ip_address", 'O'),
        ("fingerprint", 'P'),
        ("photo", 'Q'),
        ("employee_id", 'R'),
    ] {
        let of_name = || Facts::of_name(name, ValueKind::Text);
        let found = harbor(of_name(), Treated::Unchanged);
        assert!(found.len() == 1, "{name}: {found:?}");
        assert!(found[0].contains(&format!("(i)({letter})")), "{found:?}");
        assert_eq!(harbor(of_name(), Treated::Masked(mask("HASH"))).len(), 1, "{name}");
    }
    let values: ArrayRef = Arc::new(StringArray::from(vec!["ann@example.org", "bob@example.org"]));
    let found = labelled(
        "contact",
        values,
        &["ann@example.org", "bob@example.org"],
        &["a", "b"],
        1,
    );
    assert!(found[0].contains("(F)"), "{found:?}");
}

#[test]
fn what_is_no_identifier_is_allowed() {
    for (name, kind) in [
        ("sex", ValueKind::Text),
        ("diagnosis", ValueKind::Text),
        ("weight", ValueKind::Number),
    ] {
        assert!(
            harbor(Facts::of_name(name, kind), Treated::Unchanged).is_empty(),
            "{name}"
        );
    }
    assert!(!harbor(Facts::of_name("visits", ValueKind::Nested), Treated::Unchanged).is_empty());
    assert!(
        !harbor(
            Facts::of_name("weight", ValueKind::Number),
            Treated::Masked(mask("HASH"))
        )
        .is_empty()
    );
}

/// A column of another name is not called an identifier by its name.
#[test]
fn a_masked_column_is_refused_for_its_codes() {
    let found = harbor(Facts::of_name("x", ValueKind::Text), Treated::Masked(mask("HASH")));
    let wanted = "Column x: codes in place of its values (Safe Harbor 18) (45 CFR 164.514(b)(2)(i)(R)); a hash is derived \
                  from its values; name it in IDENTIFIERS without a mask, which drops it";
    assert_eq!(found, [wanted]);
    let found = harbor(Facts::of_name("mrn", ValueKind::Text), Treated::Masked(mask("HASH")));
    assert!(
        found[0].starts_with("Column mrn: a medical record number (Safe Harbor 8)"),
        "{found:?}"
    );
}

#[test]
fn a_risk_of_one_in_eleven_is_a_class_of_eleven() {
    let standard = named("health_canada").unwrap();
    assert!(
        standard
            .missing(&[Promised { class_size: 2 }, Promised { class_size: 11 }])
            .is_empty()
    );
    let missing = standard.missing(&[Promised { class_size: 10 }]);
    assert!(missing[0].contains("k_anonymity(11)"), "{missing:?}");
    assert!(
        standard
            .refuse(&missing)
            .unwrap_err()
            .to_string()
            .contains("FOLLOWING health_canada")
    );
    assert!(named("hippa").unwrap_err().to_string().contains("hipaa_safe_harbor"));
}

/// A single date, age above 89 or ZIP code is revealed if it is equal to its label, even if it is
/// the only value in its group.
#[test]
fn a_value_that_is_alone_is_no_group() {
    let day = || dates(&[(2001, 5, 7)]);
    assert!(labelled("admitted", day(), &[], &["2001"], 1).is_empty());
    assert!(!labelled("admitted", day(), &[], &["2001-05-07"], 0).is_empty());
    let age = || Arc::new(Int32Array::from(vec![97, 20])) as ArrayRef;
    assert!(labelled("age", age(), &[], &[">=90", "20"], 0).is_empty());
    assert!(!labelled("age", age(), &[], &["97", "20"], 0).is_empty());
    let zip = |code: &str| Arc::new(StringArray::from(vec![code])) as ArrayRef;
    assert!(labelled("zip", zip("02139"), &["02139"], &["021"], 1).is_empty());
    assert!(!labelled("zip", zip("02139"), &["02139"], &["02139"], 0).is_empty());
}

/// Siblings of a column's values fall into the same groups as the values and have the same type,
/// and the values themselves are kept.
#[test]
fn siblings_are_released_like_a_value() {
    let texts = |values: &[&str]| Arc::new(StringArray::from(values.to_vec())) as ArrayRef;
    for (name, values, sample) in [
        ("admitted", dates(&[(2001, 5, 7), (1990, 1, 1)]), vec![]),
        ("birth_date", dates(&[(1920, 5, 7), (1990, 1, 1)]), vec![]),
        (
            "seen",
            texts(&["31.12.2001", "01.02.1999"]),
            vec!["31.12.2001", "01.02.1999"],
        ),
        ("zip", texts(&["02139", "03601"]), vec!["02139", "03601"]),
        ("zip4", texts(&["02139-1234"]), vec!["02139-1234"]),
        ("zip_code", Arc::new(Int64Array::from(vec![2139, 82101])), vec![]),
        ("age", Arc::new(Int32Array::from(vec![20, 95])), vec![]),
    ] {
        let sample = sample.iter().map(ToString::to_string).collect();
        let limited = Limited::of(&facts(name, &values, sample)).unwrap();
        let more = limited.with_siblings(&values).unwrap();
        assert_eq!(&more.slice(0, values.len()), &values, "{name}");
        assert!(
            more.len() > values.len() && more.data_type() == values.data_type(),
            "{name}"
        );
        let groups = limited.groups(&more).unwrap().unwrap();
        let (own, siblings) = groups.split_at(values.len());
        assert!(
            siblings.iter().all(|group| own.contains(group)),
            "{name}: {own:?} {siblings:?}"
        );
    }
    let young: ArrayRef = Arc::new(Int32Array::from(vec![20, 30]));
    assert_eq!(Limited::Ages.with_siblings(&young).unwrap().len(), 2);
}
