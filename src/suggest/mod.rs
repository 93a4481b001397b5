//! Proposed roles of columns, from the name of a column, the form of its values and their counts.
//!
//! The rules are those with which a reviewer begins, in this order. A column that cannot be generalized is dropped. A
//! column with values or a name of the 18 identifiers of HIPAA's Safe Harbor is dropped. Dates, and what others can
//! know of a person, are quasi-identifiers. What a person would not want told is sensitive. A column whose values are
//! nearly all different is a code of some kind. Any other column is taken for knowable if it distinguishes people. A
//! proposal is no judgement: it knows nothing of what else is published.
//!
//! No value is kept or shown: samples come in, and only counts and forms go out.
//!
//! References: 45 CFR 164.514(b)(2) (Safe Harbor); Regulation (EU) 2016/679, article 9 (special categories); Motwani
//! and Xu, Efficient algorithms for masking and finding quasi-identifiers, 2007 (distinction and separation).

mod facts;
mod identifying;
mod levels;
mod names;
mod patterns;

pub use facts::{Facts, Kind};
pub use identifying::{Identifying, identifying, may_be_entity, named_as_identifier};
pub use names::Meaning;

use facts::{CODES, FEW_ROWS, MOST, UNIQUE};
use patterns::Pattern;

/// The least separation of an identifying column, as a share of pairs of rows.
const SEPARATES: f64 = 0.01;

/// The proposed role of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The column is dropped.
    Identifier,
    /// The column is generalized.
    QuasiIdentifier,
    /// The column is kept, and a privacy model constrains it.
    Sensitive,
    /// The column is kept as the label that a classifier learns.
    ClassLabel,
    /// The column is kept.
    Keep,
}

impl Role {
    /// Returns the name of the role.
    pub fn name(self) -> &'static str {
        match self {
            Role::Identifier => "identifier",
            Role::QuasiIdentifier => "quasi-identifier",
            Role::Sensitive => "sensitive",
            Role::ClassLabel => "class label",
            Role::Keep => "keep",
        }
    }
}

/// The proposal for one column.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// The proposed role.
    pub role: Role,
    /// The reason for the role, for people.
    pub reason: String,
    /// For a quasi-identifier, the rule of a hierarchy as SQL, from `AS` on.
    pub hierarchy: Option<String>,
    /// True if rows with the same value are rows of one person.
    pub is_entity: bool,
}

/// Proposes a role for a column.
pub fn propose(facts: &Facts) -> Proposal {
    let (role, why) = decide(facts);
    let (hierarchy, note) = match role {
        Role::QuasiIdentifier => {
            let (rule, note) = levels::rule(facts);
            (Some(rule), note)
        }
        _ => (None, ""),
    };
    Proposal {
        role,
        reason: match facts.kind {
            Kind::Nested | Kind::Binary => why,
            _ => format!("{why}; {}{note}", facts.counts()),
        },
        hierarchy,
        is_entity: role == Role::Identifier && is_entity(facts),
    }
}

/// Returns true if equal values are rows of one person: the column is a code of people that occurs more than once.
pub fn is_entity(facts: &Facts) -> bool {
    facts.values >= FEW_ROWS && facts.distinction() < UNIQUE && facts.distinct > 1 && names::is_person(&facts.name)
}

fn decide(facts: &Facts) -> (Role, String) {
    match facts.kind {
        Kind::Nested => {
            return (
                Role::Identifier,
                "nested: nothing can be said of what is in it; select its parts in a query".into(),
            );
        }
        Kind::Binary => {
            return (
                Role::Identifier,
                "bytes: photographs, biometric data and documents identify (Safe Harbor 16, 17)".into(),
            );
        }
        _ => {}
    }
    let pattern = Pattern::of(facts, MOST);
    if let Some(Pattern::Identifier(what)) = pattern {
        return (Role::Identifier, format!("values have the form of {what}"));
    }
    let meaning = names::meaning(&facts.name);
    if let Some(Meaning::Identifier(what)) = meaning {
        return (Role::Identifier, format!("named as {what}"));
    }
    if let Some(Meaning::Code) = meaning
        && (facts.distinction() > CODES || names::is_person(&facts.name) || facts.values == 0)
    {
        return (Role::Identifier, "named as a unique code (Safe Harbor 18)".into());
    }
    if facts.kind == Kind::Date || matches!(pattern, Some(Pattern::Date)) {
        return (
            Role::QuasiIdentifier,
            "dates, finer than the year (Safe Harbor 3)".into(),
        );
    }
    match meaning {
        Some(Meaning::QuasiIdentifier(what)) => return (Role::QuasiIdentifier, format!("named as {what}")),
        Some(Meaning::Sensitive(what)) => return (Role::Sensitive, format!("named as {what}")),
        Some(Meaning::ClassLabel) if (2..=20).contains(&facts.distinct) => {
            return (Role::ClassLabel, "named as what a classifier learns".into());
        }
        _ => {}
    }
    if let Some(Pattern::QuasiIdentifier(what)) = pattern {
        return (Role::QuasiIdentifier, format!("values have the form of {what}"));
    }
    if facts.is_unique() && matches!(facts.kind, Kind::Text | Kind::Integer) {
        return (
            Role::Identifier,
            "nearly every row has a value of its own: a unique code (Safe Harbor 18)".into(),
        );
    }
    if let Some(Pattern::FreeText) = pattern {
        return (Role::Identifier, "free text, which may name anybody".into());
    }
    if facts.kind == Kind::Number && facts.distinct > 20 {
        return (
            Role::Sensitive,
            "a measured amount, which others seldom know exactly".into(),
        );
    }
    if facts.values > 0 && (facts.distinct <= 1 || facts.separation < SEPARATES) {
        return (Role::Keep, "tells hardly anybody apart".into());
    }
    (
        Role::QuasiIdentifier,
        "nothing is known of its name or form, so it is taken for something that others can know".into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn facts(name: &str, kind: Kind, sample: &[&str]) -> Facts {
        Facts {
            name: name.into(),
            kind,
            values: 1_000,
            distinct: 100,
            estimated: false,
            separation: 0.9,
            range: (kind == Kind::Integer || kind == Kind::Number).then_some(70.0),
            sample: sample.iter().map(|s| s.to_string()).collect(),
        }
    }

    fn role(name: &str, kind: Kind) -> Role {
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
            assert_eq!(role(name, Kind::Text), Role::Identifier, "{name}");
        }
    }

    #[test]
    fn what_others_know_and_what_they_should_not() {
        for name in "age, sex, Gender, zip, ZipCode, city, native-country, race, marital_status, occupation".split(", ")
        {
            assert_eq!(role(name, Kind::Text), Role::QuasiIdentifier, "{name}");
        }
        for name in "diagnosis, disease, income, salary_class, religion, blood_pressure, HIV, capital-gain".split(", ")
        {
            assert_eq!(role(name, Kind::Text), Role::Sensitive, "{name}");
        }
        // A part of a word does not count as the word.
        for name in "language, village, country_name, description_of_page".split(", ") {
            assert_ne!(role(name, Kind::Text), Role::Identifier, "{name}");
        }
        assert_eq!(role("label", Kind::Integer), Role::QuasiIdentifier);
        assert_eq!(
            propose(&Facts {
                distinct: 2,
                ..facts("label", Kind::Integer, &[])
            })
            .role,
            Role::ClassLabel
        );
    }

    #[test]
    fn forms_go_before_names() {
        for (sample, said) in [
            (["ann@example.org", "b.c@mail.test", "d@e.fr"], "e-mail"),
            (["901-22-3333", "902-33-4444", "903-44-5555"], "social security"),
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
            let proposal = propose(&facts("city", Kind::Text, &sample));
            assert_eq!(proposal.role, Role::Identifier, "{said}");
            assert!(proposal.reason.contains(said), "{said}: {}", proposal.reason);
        }
        let dates = propose(&facts("x", Kind::Text, &["2024-05-17", "2024-05-18", "2023-01-01"]));
        assert_eq!(dates.role, Role::QuasiIdentifier);
        assert_eq!(dates.hierarchy.as_deref(), Some("AS PREFIX (7, 4)"));
        // The form of most values decides, not that of a single value.
        let mixed = propose(&facts(
            "city",
            Kind::Text,
            &["ann@example.org", "Lyon", "Paris", "Nice", "Metz"],
        ));
        assert_eq!(mixed.role, Role::QuasiIdentifier);
    }

    #[test]
    fn counts_decide_where_nothing_else_does() {
        let unknown = facts("x", Kind::Integer, &[]);
        assert_eq!(propose(&unknown).role, Role::QuasiIdentifier);
        let unique = Facts {
            distinct: 990,
            ..unknown.clone()
        };
        assert_eq!(propose(&unique).role, Role::Identifier);
        assert_eq!(
            propose(&Facts {
                values: 10,
                distinct: 10,
                ..unknown.clone()
            })
            .role,
            Role::QuasiIdentifier
        );
        assert_eq!(
            propose(&Facts {
                distinct: 1,
                separation: 0.0,
                ..unknown.clone()
            })
            .role,
            Role::Keep
        );
        assert_eq!(
            propose(&Facts {
                kind: Kind::Number,
                ..unknown.clone()
            })
            .role,
            Role::Sensitive
        );
        assert_eq!(
            propose(&Facts {
                kind: Kind::Nested,
                ..unknown.clone()
            })
            .role,
            Role::Identifier
        );
        let person = Facts {
            distinct: 300,
            ..facts("patient_id", Kind::Text, &[])
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

    proptest! {
        /// A reason contains no value of the sample.
        #[test]
        fn no_reason_shows_a_value(name in "[a-z_]{1,12}", sample in prop::collection::vec("[A-Z]{9}[!-~]{0,30}", 1..9), distinct in 0u64..1_000) {
            let proposal = propose(&Facts {
                distinct,
                sample: sample.clone(),
                ..facts(&name, Kind::Text, &[])
            });
            for value in sample {
                prop_assert!(!proposal.reason.contains(&value));
                prop_assert!(!proposal.hierarchy.iter().any(|h| h.contains(&value)));
            }
        }
    }
}
