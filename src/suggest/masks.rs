//! Proposes the mask that keeps some information of a dropped column: which rows belong to one
//! person, a made-up value of the same kind, or a text without the parts that look like
//! identifiers.

use super::facts::Facts;
use super::patterns::Pattern;
use super::vocabulary::Meaning;
use crate::quoting::ident;

/// The identifiers for which values can be made up: words of an identifier's description, and the
/// mask.
const MADE_UP: &[(&str, &str)] = &[
    ("e-mail", "FAKE MAIL"),
    ("telephone", "FAKE TELEPHONE"),
    ("(Safe Harbor 1)", "FAKE NAME"),
];

/// Returns the clause that releases a mask of a dropped column; `None` if no mask is useful.
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
