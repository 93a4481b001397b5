//! Lists every option of the language: the options of WITH (...), of OPTIONS (...) and of SET.

use super::bind::{RUN_OPTIONS, TARGET_OPTIONS};
use super::sources::PATH_OPTIONS;
use super::statements::risk::measure;
use crate::base::catalogue::{Info, Param};
use crate::base::settings::Settings;
use crate::method::hierarchy::file;
use datafusion::common::config::ExtensionOptions;

/// The clauses that have options. Each entry is a statement with its clause, and the description of
/// the options.
const CLAUSES: &[(&str, &Info)] = &[
    ("ANONYMIZE ... WITH (...)", &RUN_OPTIONS),
    ("ANONYMIZE ... TO ... OPTIONS (...)", &TARGET_OPTIONS),
    ("RISK OF ... WITH (...)", &measure::OPTIONS),
    ("CREATE HIERARCHY ... FROM ... OPTIONS (...)", &file::OPTIONS),
    ("'path' OPTIONS (...)", &PATH_OPTIONS),
];

/// The text that is shown in place of a clause if the option is a setting.
const SET: &str = "SET";

/// The description of an option: its clause, its values and its effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionInfo {
    /// The statement and the clause to which the option belongs.
    pub clause: &'static str,
    /// The name of the option.
    pub name: String,
    /// The values that the option takes; `None` if the summary describes them.
    pub value: Option<String>,
    /// The default value; `None` if the option has no effect by default.
    pub default: Option<String>,
    /// The effect of the option, in a few words.
    pub summary: &'static str,
}

/// Returns every option, grouped by clause.
pub fn options() -> Vec<OptionInfo> {
    let of = |(clause, info): &(&'static str, &Info)| {
        let clause = *clause;
        let option = move |param: &Param| OptionInfo {
            clause,
            name: param.name.to_string(),
            value: Some(param.kind.to_string()),
            default: param.default.filter(|d| !d.is_empty()).map(str::to_string),
            summary: param.summary,
        };
        info.params.iter().map(option).collect::<Vec<_>>()
    };
    let settings = Settings::default().entries().into_iter().map(|entry| OptionInfo {
        clause: SET,
        name: entry.key,
        value: None,
        default: entry.value,
        summary: entry.description,
    });
    CLAUSES.iter().flat_map(of).chain(settings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_every_clause_and_settings_are_listed() {
        let all = options();
        let find = |clause: &str, name: &str| all.iter().find(|o| o.clause == clause && o.name == name).unwrap();
        let seed = find(CLAUSES[0].0, "seed");
        assert_eq!(
            (seed.value.as_deref(), seed.default.as_deref()),
            (Some("a whole number of at least 0"), Some("0"))
        );
        assert_eq!(find(CLAUSES[0].0, "time_limit").default, None);
        for (clause, name) in [
            (CLAUSES[1].0, "rows_per_file"),
            (CLAUSES[2].0, "sampling_fraction"),
            (CLAUSES[3].0, "delimiter"),
            (CLAUSES[4].0, "has_header"),
        ] {
            assert!(!find(clause, name).summary.is_empty());
        }
        let setting = find(SET, "anonsql.node_execution");
        assert_eq!((&setting.value, setting.default.as_deref()), (&None, Some("fused")));
    }
}
