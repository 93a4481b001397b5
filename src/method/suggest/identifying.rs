//! Decides whether the values of a column identify people by themselves, whatever role a statement
//! gives to the column.

use super::facts::{CODES, Facts, MOST, ValueKind};
use super::names;
use super::patterns::Pattern;
use super::vocabulary::Meaning;

/// The maximum number of distinct values in a column of flags or categories. A column with at most
/// this number of distinct values does not identify anybody by its name, unless all its values are
/// different.
const CATEGORY: u64 = 20;

/// The reason why the values of a column identify people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identifying {
    /// The values have the form of the identifier with this description.
    Form(&'static str),
    /// The name of the column means the identifier with this description.
    Name(&'static str),
    /// The values are free text.
    FreeText,
    /// Nearly all values are different.
    Unique,
    /// The values cannot be examined, because they are bytes or nested.
    Unseen,
}

/// Returns why the values of a column identify people by themselves; `None` if there is no sign of
/// it. Amounts and other measurements differ in nearly every row, so for them uniqueness is not a
/// sign.
pub fn identifying(facts: &Facts) -> Option<Identifying> {
    if matches!(facts.kind, ValueKind::Binary | ValueKind::Nested) {
        return Some(Identifying::Unseen);
    }
    let form = Pattern::of(facts, MOST);
    if let Some(Pattern::Identifier(what)) = form {
        return Some(Identifying::Form(what));
    }
    let category = facts.distinct <= CATEGORY && facts.distinct < facts.values;
    let meaning = names::meaning(&facts.name);
    match meaning {
        Some(Meaning::Identifier(what)) if !category && facts.kind != ValueKind::Other => {
            return Some(Identifying::Name(what));
        }
        Some(Meaning::Code) if !category && (facts.distinction() > CODES || names::is_person(&facts.name)) => {
            return Some(Identifying::Name(CODE));
        }
        _ => {}
    }
    if let Some(Pattern::FreeText) = form {
        return Some(Identifying::FreeText);
    }
    let is_code = match facts.kind {
        ValueKind::Text => !matches!(form, Some(Pattern::Amount)),
        ValueKind::Integer => !matches!(meaning, Some(Meaning::Sensitive(_))),
        _ => false,
    };
    (is_code && facts.is_unique()).then_some(Identifying::Unique)
}

/// Returns the description of the identifier that a column's name and type suggest; `None` if they
/// do not suggest one.
pub fn named_as_identifier(name: &str, kind: ValueKind) -> Option<&'static str> {
    match names::meaning(name)? {
        Meaning::Identifier(what) if kind != ValueKind::Other => Some(what),
        Meaning::Code => Some(CODE),
        _ => None,
    }
}

/// Returns true if a column with this name may contain codes for people, which are the same in all
/// rows of a person. Names of people are not such codes, because several people may have the same
/// name.
pub fn may_be_entity(name: &str) -> bool {
    names::is_person(name) && !name.to_lowercase().contains("name")
}

const CODE: &str = "a unique code (Safe Harbor 18)";

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(name: &str, kind: ValueKind, values: u64, distinct: u64) -> Facts {
        Facts {
            rows: values,
            values,
            distinct,
            ..Facts::of_name(name, kind)
        }
    }

    #[test]
    fn what_a_column_holds_counts_before_its_name() {
        let mut of = facts("notes", ValueKind::Text, 1000, 900);
        of.sample = vec!["123-45-6789".into(), "987-65-4321".into()];
        assert!(matches!(identifying(&of), Some(Identifying::Form(form)) if form.contains("social security")));
        of.sample = vec!["He came on Monday and said that his neighbour had fallen on the stairs".into()];
        assert_eq!(identifying(&of), Some(Identifying::FreeText));
        of.sample.clear();
        assert_eq!(identifying(&of), None);
        assert_eq!(
            identifying(&facts("x", ValueKind::Binary, 0, 0)),
            Some(Identifying::Unseen)
        );
    }

    #[test]
    fn a_category_is_no_identifier_whatever_its_name() {
        assert_eq!(identifying(&facts("device", ValueKind::Text, 1000, 3)), None);
        assert_eq!(identifying(&facts("email", ValueKind::Other, 1000, 2)), None);
        for (rows, distinct) in [(1000, 600), (5, 5)] {
            let found = identifying(&facts("device", ValueKind::Text, rows, distinct));
            assert!(matches!(found, Some(Identifying::Name(_))), "{found:?}");
        }
        assert_eq!(identifying(&facts("ward_id", ValueKind::Integer, 10_000, 30)), None);
        assert!(identifying(&facts("doctor_id", ValueKind::Integer, 10_000, 3_000)).is_some());
    }

    #[test]
    fn codes_are_unique_and_amounts_are_not() {
        let of = |name, kind, distinct| identifying(&facts(name, kind, 1000, distinct));
        assert_eq!(of("invoice", ValueKind::Integer, 1000), Some(Identifying::Unique));
        assert_eq!(of("invoice", ValueKind::Integer, 900), None);
        assert_eq!(of("income", ValueKind::Integer, 1000), None);
        assert_eq!(of("reading", ValueKind::Number, 1000), None);
        assert_eq!(of("diagnosis", ValueKind::Text, 1000), Some(Identifying::Unique));
    }

    #[test]
    fn a_name_alone_says_so_too() {
        assert!(named_as_identifier("ssn", ValueKind::Text).is_some());
        assert!(named_as_identifier("customer_id", ValueKind::Integer).is_some());
        assert_eq!(named_as_identifier("has_email", ValueKind::Other), None);
        assert_eq!(named_as_identifier("education", ValueKind::Text), None);
    }

    #[test]
    fn people_share_names() {
        assert!(may_be_entity("patient_id") && may_be_entity("ssn"));
        assert!(!may_be_entity("patient_name") && !may_be_entity("street"));
    }
}
