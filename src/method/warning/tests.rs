use super::*;
use crate::method::suggest::Facts;

fn column(name: &str, kind: ValueKind, fate: Fate, distinct: u64) -> Examined {
    let facts = Facts {
        rows: 1000,
        values: 1000,
        distinct,
        ..Facts::of_name(name, kind)
    };
    Examined::new(facts, fate)
}

fn evidence(columns: Vec<Examined>) -> Evidence {
    Evidence {
        rows: 1000,
        columns,
        ..Evidence::default()
    }
}

/// Returns the kinds of the warnings about one column.
fn kinds(name: &str, kind: ValueKind, fate: Fate, distinct: u64) -> Vec<WarningKind> {
    let found = warnings(&evidence(vec![column(name, kind, fate, distinct)]), &[]);
    found.into_iter().map(|w| w.kind).collect()
}

#[test]
fn identifiers_are_warned_of_in_every_role_that_releases_them() {
    for fate in [Fate::Kept, Fate::Sensitive, Fate::ClassLabel] {
        assert_eq!(kinds("email", ValueKind::Text, fate, 990), [WarningKind::Identifier]);
        assert_eq!(kinds("reading", ValueKind::Text, fate, 990), [WarningKind::Unique]);
    }
    assert_eq!(kinds("email", ValueKind::Text, Fate::Dropped, 990), []);
    assert_eq!(
        kinds("photo", ValueKind::Binary, Fate::Kept, 0),
        [WarningKind::Identifier]
    );
    assert_eq!(kinds("ward", ValueKind::Text, Fate::Kept, 10), []);
}

#[test]
fn a_hash_that_no_two_rows_share_connects_nothing() {
    assert_eq!(
        kinds(
            "mrn",
            ValueKind::Text,
            Fate::Masked(&crate::method::masks::MASKS[0]),
            1000
        ),
        [WarningKind::Unique]
    );
    assert_eq!(
        kinds(
            "ward",
            ValueKind::Text,
            Fate::Masked(&crate::method::masks::MASKS[0]),
            400
        ),
        []
    );
}

#[test]
fn a_date_beside_a_shifted_one_is_warned_of() {
    let shift = crate::method::masks::MASKS
        .iter()
        .find(|kind| kind.is_of_person())
        .unwrap();
    let drawn = crate::method::masks::MASKS.iter().find(|kind| kind.is_drawn()).unwrap();
    let date = |name: &str, fate| column(name, ValueKind::Date, fate, 100);
    let plain = |beside, fate| {
        let found = vec![
            date("admitted", Fate::Masked(beside)),
            date("seen", fate),
            column("n", ValueKind::Integer, fate, 9),
        ];
        let kinds = warnings(&evidence(found), &[]).into_iter().map(|w| (w.kind, w.columns));
        kinds.collect::<Vec<_>>()
    };
    for fate in [Fate::Kept, Fate::Sensitive, Fate::ClassLabel] {
        assert_eq!(plain(shift, fate), [(WarningKind::Shifted, vec!["seen".to_string()])]);
        assert_eq!(plain(drawn, fate), []);
    }
    assert_eq!(plain(shift, Fate::Masked(shift)), []);
    assert_eq!(plain(shift, Fate::Dropped), []);
}

#[test]
fn several_rows_of_a_person_are_people_to_the_models() {
    assert_eq!(
        kinds("patient_id", ValueKind::Integer, Fate::Dropped, 300),
        [WarningKind::Entity]
    );
    assert_eq!(kinds("patient_id", ValueKind::Integer, Fate::Dropped, 1000), []);
    let mut counted = evidence(vec![column("patient_id", ValueKind::Integer, Fate::Dropped, 300)]);
    counted.has_entity = true;
    assert_eq!(warnings(&counted, &[]), []);
}

#[test]
fn a_constant_is_no_chance_only_in_many_rows() {
    let mut found = evidence(vec![]);
    found.constant.push("state".into());
    let text = &warnings(&found, &[])[0].text;
    assert!(text.contains("state has the same value in all 1000 rows"), "{text}");
    found.rows = 5;
    assert_eq!(warnings(&found, &[]), []);
}

#[test]
fn links_count_from_one_in_a_hundred_rows() {
    let mut found = evidence(vec![]);
    let links = |alone, of_people| Links {
        columns: vec!["ward".into(), "job".into()],
        alone,
        of_people,
        rows: 1000,
        estimated: false,
    };
    found.links = Some(links(9, false));
    assert_eq!(warnings(&found, &[]), []);
    found.links = Some(links(10, false));
    let text = warnings(&found, &[]).remove(0).text;
    assert!(
        text.contains("knows ward, job beside the quasi-identifiers finds 10 rows of 1000 alone"),
        "{text}"
    );
    found.links = Some(links(10, true));
    let text = warnings(&found, &[]).remove(0).text;
    assert!(
        text.contains("finds 10 groups of rows of one person in 1000 rows"),
        "{text}"
    );
}

#[test]
fn only_columns_with_values_enough_are_counted_together() {
    let columns = vec![
        column("ward", ValueKind::Text, Fate::Kept, 4),
        column("pay", ValueKind::Number, Fate::Sensitive, 900),
        column("email", ValueKind::Text, Fate::Kept, 900),
    ];
    let found = evidence(columns);
    assert_eq!(may_link(&found, 2, 1000), ["ward"]);
    assert!(may_link(&found, 1, 1000).is_empty());
    assert!(may_link(&found, 10, 19).is_empty());
    assert!(may_link(&evidence(vec![]), 100, 1000).is_empty());
}

#[test]
fn what_is_accepted_stays_on_record_and_stops_nothing() {
    let found = evidence(vec![
        column("email", ValueKind::Text, Fate::Kept, 990),
        column("Invoice No", ValueKind::Text, Fate::Kept, 990),
    ]);
    let both = warnings(&found, &[]);
    let error = refusal(&both).unwrap().to_string();
    assert!(
        error.contains("2 warnings are open") && error.contains("ON (email, \"Invoice No\")"),
        "{error}"
    );
    let one = warnings(&found, &["email".into()]);
    assert_eq!((one.len(), open(&one).count(), one[0].accepted), (2, 1, true));
    assert!(refusal(&one).unwrap().to_string().contains("a warning is open"));
    let none = warnings(&found, &["email".into(), "Invoice No".into()]);
    assert!(refusal(&none).is_none());
}

#[test]
fn estimates_say_no_more_than_they_know() {
    assert_eq!(words::counted(2_994_237, "value", true), "about 2990000 values");
    assert_eq!(words::counted(2_996_000, "row", true), "about 2990000 rows");
    assert_eq!(words::counted(2_994_237, "value", false), "2994237 values");
    assert_eq!(
        (words::counted(1, "row", false), words::rows(0)),
        ("1 row".into(), "0 rows".into())
    );
}

#[test]
fn an_empty_source_is_warned_of_and_nobody_accepts_it() {
    let empty = Evidence::default();
    let found = warnings(&empty, &["age".into()]);
    assert_eq!(
        found.iter().map(|w| (w.kind, w.accepted)).collect::<Vec<_>>(),
        [(WarningKind::Empty, false)]
    );
    let refused = refusal(&found).unwrap().to_string();
    assert!(refused.ends_with("check the delivery of the source"), "{refused}");
}
