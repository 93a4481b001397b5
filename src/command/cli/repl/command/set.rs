//! `\set`: stores a value under a name for later statements, like SET VARIABLE.

use super::entry::{CommandArgument, Entry, Flow, Shell, bare};
use crate::base::error::{Error, Result};
use crate::base::quoting::literal;

pub(super) const ENTRY: Entry = Entry {
    name: "\\set",
    words: &[],
    usage: "[NAME VALUE]",
    summary: "set the value of $NAME in statements, or list all variables",
    argument: CommandArgument::None,
    run,
};

fn run(shell: &mut Shell, argument: &str) -> Result<Flow> {
    let argument = bare(argument);
    let sql = match argument.split_once(char::is_whitespace) {
        _ if argument.is_empty() => "SHOW VARIABLES".into(),
        Some((name, value)) => format!("SET VARIABLE {name} = {}", value_of(value.trim())),
        None => {
            return Err(Error::usage(format!(
                "\\set {argument} needs a value: \\set {argument} VALUE; \\unset {argument} forgets the variable"
            )));
        }
    };
    shell.runner.run_text(&sql)?;
    Ok(Flow::Go)
}

/// Converts a value to an SQL literal. A value becomes a string unless it is a number or in quotes.
fn value_of(value: &str) -> String {
    let inner = value.strip_prefix('\'').and_then(|v| v.strip_suffix('\''));
    let is_text = inner.is_some_and(|text| !text.replace("''", "").contains('\''));
    let is_literal = is_text || value.parse::<f64>().is_ok_and(f64::is_finite);
    match is_literal {
        true => value.to_string(),
        false => literal(value).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_never_sql() {
        for (value, sql) in [
            ("5", "5"),
            ("-0.5", "-0.5"),
            ("data/x.csv", "'data/x.csv'"),
            ("'it''s'", "'it''s'"),
            ("it's; DROP TABLE t", "'it''s; DROP TABLE t'"),
            ("inf", "'inf'"),
            ("'a'; DROP TABLE t; '", "'''a''; DROP TABLE t; '''"),
        ] {
            assert_eq!(value_of(value), sql);
        }
    }
}
