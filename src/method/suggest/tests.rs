//! Tests of proposals.

mod safe_harbor;

use super::*;
use proptest::prelude::*;

fn facts(name: &str, kind: ValueKind, sample: &[&str]) -> Facts {
    Facts {
        name: name.into(),
        kind,
        rows: 1_000,
        values: 1_000,
        distinct: 100,
        estimated: false,
        separation: 0.9,
        range: (kind == ValueKind::Integer || kind == ValueKind::Number).then_some(70.0),
        oldest: None,
        is_finite: true,
        sample: sample.iter().map(|s| s.to_string()).collect(),
    }
}

fn role(name: &str, kind: ValueKind) -> ProposedRole {
    propose(&facts(name, kind, &[])).role
}

#[test]
fn every_identifier_of_safe_harbor_is_known_by_name() {
    for name in "name, FirstName, last_name, patient name, street_address, latitude, phone, mobile_no, fax, email, \
         EMail, ssn, social_security_number, mrn, medical_record_number, patient_id, health_plan_member_id, \
         beneficiary, account_number, iban, licence_no, passport, license_plate, vin, device_id, \
         serial_number, url, ip, ip_address, fingerprint, photo, customer_id, uuid"
        .split(", ")
    {
        assert_eq!(role(name, ValueKind::Text), ProposedRole::Identifier, "{name}");
    }
}

#[test]
fn what_others_know_and_what_they_should_not() {
    for name in "age, sex, Gender, zip, ZipCode, city, native-country, race, marital_status, occupation".split(", ") {
        assert_eq!(role(name, ValueKind::Text), ProposedRole::QuasiIdentifier, "{name}");
    }
    for name in "diagnosis, disease, income, salary_class, religion, blood_pressure, HIV, capital-gain".split(", ") {
        assert_eq!(role(name, ValueKind::Text), ProposedRole::Sensitive, "{name}");
    }
    // A word does not match a part of a longer word.
    for name in "language, village, country_name, description_of_page".split(", ") {
        assert_ne!(role(name, ValueKind::Text), ProposedRole::Identifier, "{name}");
    }
    assert_eq!(role("label", ValueKind::Integer), ProposedRole::QuasiIdentifier);
    assert_eq!(
        propose(&Facts {
            distinct: 2,
            ..facts("label", ValueKind::Integer, &[])
        })
        .role,
        ProposedRole::ClassLabel
    );
}

#[test]
fn forms_go_before_names() {
    for (sample, said) in [
        (["ann@example.org", "b.c@mail.test", "d@e.fr"], "e-mail"),
        (["901-22-3333", "902-33-4444", "903-44-5555"], "national numbers"),
        (["+44 20 7946 0018", "(555) 010-9999", "555-010-1234"], "telephone"),
        (["10.0.0.1", "192.168.7.12", "fe80::1"], "IP addresses"),
        (["https://a.test/x", "http://b.test", "www.c.test"], "web addresses"),
        (
            ["4111 1111 1111 1111", "5500000000000004", "340000000000009"],
            "payment cards",
        ),
        (
            ["1HGCM82633A004352", "JH4KA7561PC008269", "WBAFR7C57CC811956"],
            "vehicle",
        ),
        (
            ["00:1b:44:11:3a:b7", "00:1b:44:11:3a:b8", "00:1b:44:11:3a:b9"],
            "network devices",
        ),
        (["a.jpg", "b.png", "c.dcm"], "pictures"),
        (
            ["48.85837, 2.29448", "51.50073, -0.12462", "40.68925, -74.04450"],
            "coordinates",
        ),
    ] {
        let proposal = propose(&facts("city", ValueKind::Text, &sample));
        assert_eq!(proposal.role, ProposedRole::Identifier, "{said}");
        assert!(proposal.reason.contains(said), "{said}: {}", proposal.reason);
    }
    let dates = propose(&facts(
        "x",
        ValueKind::Text,
        &["2024-05-17", "2024-05-18", "2023-01-01"],
    ));
    assert_eq!(dates.role, ProposedRole::QuasiIdentifier);
    assert_eq!(dates.levels, Some((1, 3)));
    // The form of most values decides, not that of a single value.
    let mixed = propose(&facts(
        "city",
        ValueKind::Text,
        &["ann@example.org", "Lyon", "Paris", "Nice", "Metz"],
    ));
    assert_eq!(mixed.role, ProposedRole::QuasiIdentifier);
}

#[test]
fn counts_decide_where_nothing_else_does() {
    let unknown = facts("x", ValueKind::Integer, &[]);
    assert_eq!(propose(&unknown).role, ProposedRole::QuasiIdentifier);
    let unique = Facts {
        distinct: 990,
        ..unknown.clone()
    };
    assert_eq!(propose(&unique).role, ProposedRole::Identifier);
    assert_eq!(
        propose(&Facts {
            values: 10,
            distinct: 10,
            ..unknown.clone()
        })
        .role,
        ProposedRole::QuasiIdentifier
    );
    assert_eq!(
        propose(&Facts {
            distinct: 1,
            separation: 0.0,
            ..unknown.clone()
        })
        .role,
        ProposedRole::Keep
    );
    assert_eq!(
        propose(&Facts {
            kind: ValueKind::Number,
            ..unknown.clone()
        })
        .role,
        ProposedRole::Sensitive
    );
    assert_eq!(
        propose(&Facts {
            kind: ValueKind::Nested,
            ..unknown.clone()
        })
        .role,
        ProposedRole::Identifier
    );
    let person = Facts {
        distinct: 300,
        ..facts("patient_id", ValueKind::Text, &[])
    };
    assert!(propose(&person).is_entity);
    assert!(
        !propose(&Facts {
            distinct: 1_000,
            ..person
        })
        .is_entity
    );
}

#[test]
fn names_of_other_languages_are_known() {
    use ProposedRole::{Identifier, QuasiIdentifier, Sensitive};
    for (role, names) in [
        (
            Identifier,
            "vorname, nachname, Familienname, Geburtsname, straße, Hausnummer, Telefon, Handynummer, E-Mail-Adresse, \
             Sozialversicherungsnummer, SVNR, steuer-id, PatientenNr, Versichertennummer, Kontonummer, Personalausweis, \
             prénom, nom, nom_de_famille, adresse, téléphone, courriel, numéro_sécurité_sociale, nss, carte_vitale, \
             nombre, apellidos, primer_apellido, dirección, teléfono, correo, dni, nie, tarjeta_sanitaria, pasaporte",
        ),
        (
            QuasiIdentifier,
            "geburtsdatum, Geburtsjahr, geburtsort, plz, Wohnort, geschlecht, staatsangehörigkeit, Familienstand, \
             beruf, Alter, bundesland, naissance, date_naissance, code_postal, ville, commune, sexe, âge, nationalité, \
             situation_familiale, métier, fecha_nacimiento, código_postal, municipio, sexo, edad, estado_civil, \
             profesión, nacionalidad, provincia",
        ),
        (
            Sensitive,
            "Diagnose, krankheit, Gehalt, einkommen, religion, Konfession, Blutdruck, medikament, maladie, diagnostic, \
             salaire, revenu, traitement, enfermedad, diagnóstico, salario, ingresos, tratamiento, religión, partido",
        ),
    ] {
        for name in names.split(", ") {
            assert_eq!(self::role(name, ValueKind::Text), role, "{name}");
        }
    }
}

#[test]
fn a_case_number_is_an_identifier_whatever_its_form() {
    let of = |name: &str, kind, distinct, sample: &[&str]| {
        let facts = Facts {
            distinct,
            ..facts(name, kind, sample)
        };
        (propose(&facts).role, identifying(&facts).is_some())
    };
    let codes = ["F100082", "F100083", "F100417"];
    for name in ["Fall-Nr", "x", "code"] {
        assert_eq!(
            of(name, ValueKind::Text, 990, &codes),
            (ProposedRole::Identifier, true),
            "{name}"
        );
    }
    for name in
        "Fall-Nr, Fall-Nr2, FALL_NR, Pat.-Nr, PatNr, pat_no, Vorgang, Vorgangsnummer, Rechnungs-Nr., order num, Case No"
            .split(", ")
    {
        for kind in [ValueKind::Text, ValueKind::Integer] {
            assert_eq!(of(name, kind, 900, &[]), (ProposedRole::Identifier, true), "{name}");
        }
    }
    // If the words beside the word for a number are known, they decide.
    let education = propose(&facts("education-num", ValueKind::Integer, &[]));
    assert!(
        education
            .reason
            .starts_with("named as an attribute that others may know"),
        "{}",
        education.reason
    );
    // A few room numbers are not codes of people, and a count is not a code at all.
    assert_eq!(
        of("Zimmer-Nr", ValueKind::Integer, 30, &[]),
        (ProposedRole::QuasiIdentifier, false)
    );
    assert_eq!(
        of("num_children", ValueKind::Integer, 300, &[]),
        (ProposedRole::QuasiIdentifier, false)
    );
}

#[test]
fn a_ward_is_no_diagnosis() {
    let of = |sample: &[&str]| {
        propose(&Facts {
            distinct: 30,
            ..facts("Station", ValueKind::Text, sample)
        })
        .role
    };
    assert_eq!(of(&["A12", "B03", "C01", "A11"]), ProposedRole::QuasiIdentifier);
    // Diagnoses without a dot are recognized by the number of their chapters.
    let codes: Vec<String> = ('A'..'K')
        .flat_map(|c| (10..15).map(move |n| format!("{c}{n}")))
        .collect();
    assert_eq!(
        of(&codes.iter().map(String::as_str).collect::<Vec<_>>()),
        ProposedRole::Sensitive
    );
}

#[test]
fn an_amount_written_as_text_is_no_code() {
    for sample in [
        ["7.213,99", "2.581,88", "85,60"],
        ["1,024.50", "3,055", "12,000.00"],
        ["7.213,99 €", "€ 5,00", "1,5"],
    ] {
        let facts = Facts {
            distinct: 996,
            ..facts("x", ValueKind::Text, &sample)
        };
        assert_eq!(propose(&facts).role, ProposedRole::Sensitive, "{sample:?}");
        assert_eq!(identifying(&facts), None);
    }
}

#[test]
fn texts_are_known_by_their_form() {
    for (sample, role, said) in [
        (["E11.9", "I10", "C50.9"], ProposedRole::Sensitive, "ICD"),
        (["A10BA02", "C09AA05", "N02BE01"], ProposedRole::Sensitive, "ATC"),
        (
            ["SW1A 1AA", "N1 9GU", "M1 1AE"],
            ProposedRole::QuasiIdentifier,
            "postal codes",
        ),
        (
            ["10115", "80331", "50667"],
            ProposedRole::QuasiIdentifier,
            "postal codes",
        ),
        (
            ["12345678Z", "X1234567L", "87654321X"],
            ProposedRole::Identifier,
            "national numbers",
        ),
        (
            [
                "DE89 3704 0044 0532 0130 00",
                "FR1420041010050500013M02606",
                "ES9121000418450200051332",
            ],
            ProposedRole::Identifier,
            "bank accounts",
        ),
        (
            [
                "Patient seen with her husband, who drove her here.",
                "Came back today; the wound heals well, no fever at all.",
                "Nothing new to be said since the visit of last week.",
            ],
            ProposedRole::Identifier,
            "free text",
        ),
        (
            ["24.12.1980", "1.2.2001", "31.01.1999"],
            ProposedRole::QuasiIdentifier,
            "dates",
        ),
    ] {
        let proposal = propose(&facts("x", ValueKind::Text, &sample));
        assert_eq!(proposal.role, role, "{said}");
        assert!(proposal.reason.contains(said), "{said}: {}", proposal.reason);
    }
    // Short notes differ from row to row.
    let notes = Facts {
        distinct: 900,
        ..facts(
            "x",
            ValueKind::Text,
            &["fell off his bike", "has pain at night", "lives with her son"],
        )
    };
    assert!(propose(&notes).reason.starts_with("free text"));
    let grades = facts("note", ValueKind::Text, &["A", "B", "C"]);
    assert_eq!(
        propose(&Facts { distinct: 3, ..grades }).role,
        ProposedRole::QuasiIdentifier
    );
}

#[test]
fn what_is_empty_is_dropped_and_what_is_the_same_is_kept() {
    let empty = Facts {
        values: 0,
        distinct: 0,
        ..facts("x", ValueKind::Text, &[])
    };
    assert_eq!(propose(&empty).role, ProposedRole::Identifier);
    // A table without rows has only names and types.
    assert_eq!(
        propose(&Facts {
            rows: 0,
            name: "age".into(),
            ..empty
        })
        .role,
        ProposedRole::QuasiIdentifier
    );
    let constant = Facts {
        distinct: 1,
        separation: 0.0,
        ..facts("country", ValueKind::Text, &["a"])
    };
    assert_eq!(propose(&constant).role, ProposedRole::Keep);
    assert_eq!(
        propose(&Facts {
            values: 900,
            separation: 0.18,
            ..constant.clone()
        })
        .role,
        ProposedRole::QuasiIdentifier
    );
    let endless = Facts {
        is_finite: false,
        ..facts("height", ValueKind::Number, &[])
    };
    assert_eq!(propose(&endless).role, ProposedRole::Identifier);
    // A few equal rows do not show that other rows are equal too.
    assert_eq!(
        propose(&Facts {
            rows: 4,
            values: 4,
            ..constant
        })
        .role,
        ProposedRole::QuasiIdentifier
    );
}

proptest! {
    /// A reason contains no value of the sample.
    #[test]
    fn no_reason_shows_a_value(name in "[a-z_]{1,12}", sample in prop::collection::vec("[A-Z]{9}[!-~]{0,30}", 1..9), distinct in 0u64..1_000) {
        let proposal = propose(&Facts {
            distinct,
            sample: sample.clone(),
            ..facts(&name, ValueKind::Text, &[])
        });
        for value in sample {
            prop_assert!(!proposal.reason.contains(&value));
            prop_assert!(!proposal.hierarchy.iter().any(|h| h.contains(&value)));
        }
    }
}
