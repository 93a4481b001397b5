//! Proposals for places, ages and dates follow the limits of Safe Harbor 2 and 3 (45 CFR
//! 164.514(b)(2)(i)).

use super::*;
use chrono::{Datelike, Utc};

/// A rule with its levels. `YEAR` in the rule stands for the first year of birth of people who do
/// not reach 90 this year.
type Expected = (&'static str, Option<(u32, u32)>);

const SPARSE: &str = "CHANGE ('036', '059', '063', '102', '203', '556', '692', '790', '821', '823', '830', '831', '878', \
                      '879', '884', '890', '893') TO '000'";
const WITHHELD: Expected = ("AS SUPPRESSION", Some((1, 1)));

fn proposed(facts: &Facts) -> (Option<String>, Option<(u32, u32)>) {
    let proposal = propose(facts);
    assert_eq!(proposal.role, ProposedRole::QuasiIdentifier, "{}", facts.name);
    (proposal.hierarchy, proposal.levels)
}

fn expected((rule, levels): Expected) -> (Option<String>, Option<(u32, u32)>) {
    let year = Utc::now().year() - 89;
    let rule = rule.replace("SPARSE", SPARSE).replace("YEAR-", &year.to_string());
    (Some(rule), levels)
}

#[test]
fn dates_are_years() {
    // This test is long because it contains the columns of one script.
    for (name, kind, sample, rule) in [
        (
            "x",
            ValueKind::Text,
            &["24.12.1980", "1.2.2001", "3.3.1999"][..],
            (
                "AS TRUNCATE (YEAR, DECADE) FORMAT '%d.%m.%Y' BOTTOM CODE YEAR- ON UNMAPPED TOP",
                Some((1, 3)),
            ),
        ),
        (
            "x",
            ValueKind::Text,
            &["01/02/1980", "02/03/2001", "3/3/1999"],
            (
                "AS TRUNCATE (YEAR, DECADE) FORMAT '%d/%m/%Y' BOTTOM CODE YEAR- ON UNMAPPED TOP",
                Some((1, 3)),
            ),
        ),
        (
            "x",
            ValueKind::Integer,
            &["20240101", "20231231", "20220228"],
            ("AS INTERVALS (10000, 100000) BOTTOM CODE YEAR-0101", Some((1, 3))),
        ),
        (
            "admitted",
            ValueKind::Date,
            &["2024-05-17"],
            ("AS TRUNCATE (YEAR, DECADE)", Some((1, 3))),
        ),
        (
            "dob",
            ValueKind::Date,
            &["1980-05-17"],
            ("AS TRUNCATE (YEAR, DECADE) BOTTOM CODE YEAR-", Some((1, 3))),
        ),
        (
            "birth_year",
            ValueKind::Integer,
            &["1930", "1999"],
            ("AS INTERVALS (5, 10, 20) BOTTOM CODE YEAR-", None),
        ),
        (
            "yob",
            ValueKind::Number,
            &["1930.0", "1999.0"],
            ("AS INTERVALS (5, 10, 20) BOTTOM CODE YEAR-", None),
        ),
        // Values that may not be years are withheld.
        ("birth_month", ValueKind::Integer, &["1", "12"], WITHHELD),
        ("month", ValueKind::Text, &["Jan", "Feb"], WITHHELD),
        ("birth_year", ValueKind::Text, &["1930", "1999"], WITHHELD),
        ("admitted", ValueKind::Text, &["24.12.80", "1.2.01"], WITHHELD),
        ("born", ValueKind::Text, &["24-Dec-80", "01 Feb 01"], WITHHELD),
    ] {
        assert_eq!(
            proposed(&facts(name, kind, sample)),
            expected(rule),
            "{name} {sample:?}"
        );
    }
    let old = Facts {
        oldest: Some(1930),
        ..facts("x", ValueKind::Date, &["1980-05-17"])
    };
    assert_eq!(
        proposed(&old),
        expected(("AS TRUNCATE (YEAR, DECADE) BOTTOM CODE YEAR-", Some((1, 3))))
    );
}

#[test]
fn texts_that_begin_with_a_year_keep_it() {
    for sample in [
        &["2024-01-01 10:00", "2024-01-02T09:15"][..],
        &["2024-01", "1936-12"],
        &["2024/01", "1936/12"],
        &["2024Q1", "1936-W07"],
    ] {
        let (rule, levels) = proposed(&facts("x", ValueKind::Text, sample));
        let (rule, year) = (rule.unwrap(), Utc::now().year() - 89);
        assert!(
            rule.starts_with("AS PREFIX (4, 3) CHANGE ('17', '18', '190', "),
            "{rule}"
        );
        assert!(
            rule.ends_with(&format!("'{}') TO '<{year}'", year - 1)) || year % 10 == 0,
            "{rule}"
        );
        assert_eq!(levels, Some((1, 3)));
    }
}

#[test]
fn a_month_before_its_year_is_withheld() {
    for sample in [
        ["Sep 1930", "October 2024"],
        ["09/1930", "1.2024"],
        ["Sept. 1930", "März 2024"],
    ] {
        let facts = facts("x", ValueKind::Text, &sample);
        assert_eq!(proposed(&facts), expected(WITHHELD), "{sample:?}");
        assert_eq!(Limited::of_unchanged(&facts), Some(Limited::PartOfDate), "{sample:?}");
    }
    // A number with four decimals is not a date, and neither is a word with a number.
    for sample in [["12.5000", "9.1930"], ["Marble 1930", "Decor 2024"]] {
        assert_ne!(
            Limited::of(&facts("x", ValueKind::Text, &sample)),
            Some(Limited::PartOfDate),
            "{sample:?}"
        );
    }
}

#[test]
fn ages_end_at_89() {
    for name in ["years_old", "agegroup", "AgeBand", "ageyears", "age3"] {
        assert_eq!(
            Limited::of(&facts(name, ValueKind::Integer, &["20", "95"])),
            Some(Limited::Ages),
            "{name}"
        );
    }
    let rule = ("AS INTERVALS (5, 10, 20) TOP CODE 90", None);
    assert_eq!(
        proposed(&facts("Alter", ValueKind::Integer, &["20", "90"])),
        expected(rule)
    );
    assert_eq!(
        proposed(&facts("age_at_diagnosis", ValueKind::Number, &["20.5"])),
        expected(rule)
    );
    assert_eq!(
        proposed(&facts("age", ValueKind::Text, &["20-29", "90-99"])),
        expected(WITHHELD)
    );
}

#[test]
fn places_are_three_digits_of_a_zip_code() {
    // This test is long because it contains the columns of one script.
    for (name, kind, sample, rule) in [
        (
            "zip",
            ValueKind::Text,
            &["90210", "90210-1234", "10001"][..],
            ("AS PREFIX (3, 2, 1) SPARSE", Some((1, 4))),
        ),
        (
            "x",
            ValueKind::Text,
            &["90210", "90210-1234", "10001"],
            ("AS PREFIX (3, 2, 1) SPARSE", Some((1, 4))),
        ),
        (
            "zip",
            ValueKind::Text,
            &["902101234", "100011234"],
            ("AS PREFIX (3, 2, 1) SPARSE", Some((1, 4))),
        ),
        (
            "zip3",
            ValueKind::Text,
            &["902", "036"],
            ("AS PREFIX (3, 2, 1) SPARSE", Some((1, 4))),
        ),
        (
            "zip",
            ValueKind::Integer,
            &["90210", "2116", "501"],
            ("AS PREFIX (3, 2, 1) WIDTH 5 SPARSE ON UNMAPPED TOP", Some((1, 4))),
        ),
        (
            "zip",
            ValueKind::Integer,
            &["902101234", "21161234"],
            ("AS PREFIX (3, 2, 1) WIDTH 9 SPARSE ON UNMAPPED TOP", Some((1, 4))),
        ),
        (
            "x",
            ValueKind::Text,
            &["SW1A 1AA", "N1 9GU", "M1 1AE"],
            ("AS PREFIX (2, 1)", Some((1, 3))),
        ),
        (
            "plz",
            ValueKind::Text,
            &["10115", "80331"],
            ("AS PREFIX (3, 2, 1)", Some((1, 4))),
        ),
        (
            "plz",
            ValueKind::Integer,
            &["10115", "1067"],
            ("AS PREFIX (3, 2, 1) WIDTH 5 ON UNMAPPED TOP", Some((1, 4))),
        ),
        // Values that may not be ZIP codes are withheld.
        ("zip", ValueKind::Number, &["90210.0", "2116.0"], WITHHELD),
        (
            "zip",
            ValueKind::Text,
            &["90210", "10001", "10002", "10003", "2116"],
            WITHHELD,
        ),
        ("city", ValueKind::Text, &["Lyon", "Nice"], WITHHELD),
        ("district", ValueKind::Integer, &["1", "20000"], WITHHELD),
        ("treatment_city", ValueKind::Text, &["Lyon", "Nice"], WITHHELD),
        ("birthplace", ValueKind::Text, &["Lyon", "Nice"], WITHHELD),
    ] {
        assert_eq!(
            proposed(&facts(name, kind, sample)),
            expected(rule),
            "{name} {sample:?}"
        );
    }
    assert_eq!(
        proposed(&facts("country of birth", ValueKind::Text, &["France"])),
        expected(("AS SUPPRESSION", None))
    );
}

#[test]
fn what_is_limited_is_not_kept_where_all_rows_are_alike() {
    for (name, kind, value) in [
        ("age", ValueKind::Integer, "95"),
        ("zip", ValueKind::Text, "90210"),
        ("x", ValueKind::Text, "90210"),
        ("admitted", ValueKind::Date, "2024-05-17"),
        ("dob", ValueKind::Text, "1936"),
        ("month", ValueKind::Integer, "3"),
    ] {
        let constant = Facts {
            distinct: 1,
            separation: 0.0,
            ..facts(name, kind, &[value])
        };
        assert_eq!(propose(&constant).role, ProposedRole::QuasiIdentifier, "{name}");
    }
}
