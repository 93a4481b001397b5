//! Proposes a mask for a column that would otherwise be dropped. The masked values show which rows
//! belong to the same person, or are made-up values of the same kind, or are texts without the
//! parts that look like identifiers.

use super::facts::Facts;
use super::patterns::Pattern;
use super::vocabulary::Meaning;
use crate::base::quoting::ident;

/// The identifiers for which a mask can make up values. Each entry is a text that occurs in the
/// description of the identifier, and the mask.
const MADE_UP: &[(&str, &str)] = &[
    ("e-mail", "FAKE MAIL"),
    ("telephone", "FAKE TELEPHONE"),
    ("(Safe Harbor 1)", "FAKE NAME"),
];

/// Returns the clause that releases a mask of a column instead of dropping it; `None` if no mask is
/// useful. `is_entity` is true if rows with the same value belong to one person.
pub(super) fn clause(
    facts: &Facts,
    (pattern, meaning): (Option<Pattern>, Option<Meaning>),
    is_entity: bool,
) -> Option<String> {
    let column = ident(&facts.name);
    let in_secret = |mask: &str| format!("IDENTIFIERS ({column} {mask} WITH SECRET 'env:ANONSQL_SECRET')");
    if pattern == Some(Pattern::FreeText) || meaning == Some(Meaning::FreeText) {
        return Some(format!("KEEP ({column} REDACTED)"));
    }
    if is_entity {
        return Some(in_secret("HASH"));
    }
    let what = match (pattern, meaning) {
        (Some(Pattern::Identifier(what)), _) | (_, Some(Meaning::Identifier(what))) => what,
        _ => return None,
    };
    let made_up = MADE_UP.iter().find(|(word, _)| what.contains(word));
    made_up.map(|(_, mask)| in_secret(mask))
}
