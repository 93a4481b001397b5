//! CHANGE in a PREFIX hierarchy: some codes get the same label at every level above 0, as in
//! `CHANGE ('036', '059') TO '000'`.

use crate::base::error::{Error, Result};
use crate::base::quoting::literal;

/// The prefixes of the codes to change, and the label that all of these codes get.
#[derive(Debug, Clone)]
pub(super) struct Changed {
    beginnings: Vec<String>,
    label: String,
}

impl Changed {
    /// Creates a change that gives `label` to all codes that begin with one of `beginnings`.
    /// Returns `None` if neither argument is given. Fails if only one of them is given or a text is
    /// empty.
    pub(super) fn try_new(beginnings: Vec<String>, label: Option<String>) -> Result<Option<Self>> {
        let Some(label) = label else {
            return match beginnings.is_empty() {
                true => Ok(None),
                false => Err(Error::usage(
                    "PREFIX: CHANGE needs the label that these codes get; example: CHANGE ('036', '059') TO '000'",
                )),
            };
        };
        if beginnings.is_empty() {
            return Err(Error::usage(
                "PREFIX: TO is the label of the codes that CHANGE names; example: CHANGE ('036', '059') TO '000'",
            ));
        }
        if label.is_empty() || beginnings.iter().any(String::is_empty) {
            return Err(Error::usage(
                "PREFIX: CHANGE and TO take texts of at least one character; example: CHANGE ('036', '059') TO '000'",
            ));
        }
        Ok(Some(Self { beginnings, label }))
    }

    /// Returns the label of a changed code; `None` for any other code. A code that begins with the
    /// label itself is changed too, because otherwise the label would also cover codes that have
    /// different labels at the next level. `at` separates the parts of a code.
    pub(super) fn label(&self, code: &str, at: Option<&str>) -> Option<&str> {
        let begins = |beginning: &String| {
            let rest = code.strip_prefix(beginning.as_str());
            rest.is_some_and(|rest| at.is_none_or(|at| rest.is_empty() || rest.starts_with(at)))
        };
        let mut changed = self.beginnings.iter().chain([&self.label]);
        changed.any(begins).then_some(self.label.as_str())
    }

    /// Returns the CHANGE part of the clause as SQL.
    pub(super) fn sql(&self) -> String {
        let beginnings: Vec<String> = self.beginnings.iter().map(|text| literal(text)).collect();
        format!(" CHANGE ({}) TO {}", beginnings.join(", "), literal(&self.label))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(beginnings: &[&str], label: Option<&str>) -> Result<Option<Changed>> {
        let beginnings = beginnings.iter().map(ToString::to_string).collect();
        Changed::try_new(beginnings, label.map(str::to_string))
    }

    #[test]
    fn codes_with_one_of_the_beginnings_have_the_label() {
        let sparse = changed(&["036", "059"], Some("000")).unwrap().unwrap();
        for (code, label) in [
            ("03601", Some("000")),
            ("05901-1234", Some("000")),
            ("036", Some("000")),
            ("00012", Some("000")),
            ("03", None),
            ("10360", None),
            ("", None),
        ] {
            assert_eq!(sparse.label(code, None), label, "{code}");
        }
        // A prefix consists of whole parts: `10` does not match `100`.
        let network = changed(&["10"], Some("own")).unwrap().unwrap();
        assert_eq!(network.label("10.0.0.1", Some(".")), Some("own"));
        assert_eq!(network.label("10", Some(".")), Some("own"));
        assert_eq!(network.label("101.0.0.1", Some(".")), None);
        assert_eq!(sparse.sql(), " CHANGE ('036', '059') TO '000'");
    }

    #[test]
    fn both_parts_are_asked_for() {
        assert!(changed(&[], None).unwrap().is_none());
        for (beginnings, label, said) in [
            (&["036"][..], None, "needs the label"),
            (&[], Some("000"), "TO is the label"),
            (&["036", ""], Some("000"), "at least one character"),
            (&["036"], Some(""), "at least one character"),
        ] {
            let e = changed(beginnings, label).unwrap_err().to_string();
            assert!(e.contains(said), "{e}");
        }
    }
}
