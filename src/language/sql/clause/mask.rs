//! Parses the mask of a column, based on the description of the kind of mask.

use crate::base::error::Result;
use crate::language::sql::cursor::Cursor;
use crate::language::sql::hint::NEXT_ITEM;
use crate::method::masks::{Given, MASKS, MaskClause, MaskItem, MaskKind, MaskPart, MaskPlace, SECRET};
use datafusion::sql::sqlparser::tokenizer::Token;

/// Parses the mask at the cursor; returns `None` if a comma or a `)` follows instead. Fails if
/// there is anything else at the cursor, or if the mask is not allowed in `place`.
pub(super) fn read(c: &mut Cursor, place: MaskPlace) -> Result<Option<MaskClause>> {
    let mask = take(c, place)?;
    match mask.is_some() || c.looks_at_token(&Token::Comma) || c.looks_at_token(&Token::RParen) {
        true => Ok(mask),
        false => {
            let all: Vec<&str> = starts(place).collect();
            Err(c.expected(&format!("{}, {NEXT_ITEM}", all.join(", ")), all))
        }
    }
}

/// Returns the first keywords of the masks that are allowed in `place`.
pub(super) fn starts(place: MaskPlace) -> impl Iterator<Item = &'static str> {
    let there = MASKS.iter().filter(move |kind| kind.places.contains(&place));
    there.map(|kind| kind.clause.start)
}

/// Parses the mask at the cursor; returns `None` if there is no mask. Fails if the mask is not
/// allowed in `place`.
pub(super) fn take(c: &mut Cursor, place: MaskPlace) -> Result<Option<MaskClause>> {
    // At the end of the text, completion should offer only masks that are allowed in this place.
    starts(place).for_each(|start| {
        c.looks_at(start);
    });
    let Some(kind) = MASKS.iter().find(|kind| !c.at_end() && c.looks_at(kind.clause.start)) else {
        return Ok(None);
    };
    if !kind.places.contains(&place) {
        let places: Vec<&str> = kind.places.iter().map(|place| place.name()).collect();
        return Err(c.error(format_args!(
            "{} is for columns of {}; name the column there, or leave the mask out",
            kind.clause.start,
            places.join(", ")
        )));
    }
    c.take(kind.clause.start);
    let mut given = vec![];
    for part in kind.clause.parts {
        match part {
            MaskPart::Words(words) => need(c, kind, words)?,
            MaskPart::Value(name, item, what) => given.push((name.to_string(), value(c, *item, what)?)),
            MaskPart::Maybe(words, name, item, what) => {
                if c.take(words) {
                    let value = value(c, *item, what)?;
                    if !item.is_usual(&value) {
                        given.push((name.to_string(), value));
                    }
                }
            }
            MaskPart::Secret => {
                need(c, kind, "WITH SECRET")?;
                given.push((SECRET.to_string(), Given::Text(secret(c)?)));
            }
        }
    }
    Ok(Some(MaskClause { kind, given }))
}

/// Moves past the keywords `words`. If they are not the next tokens, fails with an error that shows
/// the syntax of the mask.
fn need(c: &mut Cursor, kind: &MaskKind, words: &str) -> Result<()> {
    match c.take(words) {
        true => Ok(()),
        false => Err(c.expected(kind.clause.syntax, words.split(' ').next())),
    }
}

fn value(c: &mut Cursor, item: MaskItem, what: &str) -> Result<Given> {
    Ok(match item {
        MaskItem::Column if c.take("ENTITY") => Given::Entity,
        MaskItem::Column => Given::Text(c.name(what)?),
        MaskItem::Whole => Given::Whole(c.whole(what)?),
        MaskItem::Text => Given::Text(c.string(what)?),
        MaskItem::Share => Given::Text(share(c, what)?),
        MaskItem::OneOf(texts) => {
            let before = c.clone();
            let found = MaskItem::listed(texts, &c.string(what)?);
            let in_quotes: Vec<String> = texts.iter().map(|text| format!("'{text}'")).collect();
            let found = found.ok_or_else(|| before.clone().expected(&in_quotes.join(", "), []));
            Given::Text(found?.into())
        }
        MaskItem::Word(words) => {
            let found = words.iter().find(|word| c.take(word));
            let found =
                found.ok_or_else(|| c.expected(&format!("{what}: {}", words.join(", ")), words.iter().copied()))?;
            Given::Text((*found).to_string())
        }
    })
}

/// Parses `(0.1)` or `(10 PERCENT)`, and returns the share as a decimal number.
fn share(c: &mut Cursor, what: &str) -> Result<String> {
    c.need_token(&Token::LParen, what)?;
    let before = c.clone();
    let number = c.real(what)?;
    if !(number.is_finite() && number >= 0.0) {
        return Err(before.expected(what, []));
    }
    let share = match c.take("PERCENT") {
        true => hundredth(&number.to_string()),
        false => number.to_string(),
    };
    c.need_token(&Token::RParen, "PERCENT, )")?;
    Ok(share)
}

/// Divides a decimal number by 100. The result is computed from the digits: 29 gives exactly 0.29,
/// which a division of floating-point numbers would not guarantee.
fn hundredth(number: &str) -> String {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let digits = format!("{whole:0>3}{decimals}");
    let (whole, decimals) = digits.split_at(digits.len() - decimals.len() - 2);
    match decimals.trim_end_matches('0') {
        "" => whole.into(),
        decimals => format!("{whole}.{decimals}"),
    }
}

/// Parses the location of a secret.
fn secret(c: &mut Cursor) -> Result<String> {
    let what = "'env:NAME' or 'file:PATH' (a statement never contains the secret itself)";
    let before = c.clone();
    if let Some(name) = c.environment() {
        return Ok(format!("env:{name}"));
    }
    let place = c.string(what)?;
    match place.split_once(':') {
        Some(("env" | "file", name)) if !name.is_empty() => Ok(place),
        _ => Err(before.expected(what, [])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_are_exact() {
        for (percent, share) in [
            ("29", "0.29"),
            ("0.7", "0.007"),
            ("100", "1"),
            ("5", "0.05"),
            ("150", "1.5"),
            ("0", "0"),
            ("12.5", "0.125"),
            ("1234.5", "12.345"),
        ] {
            assert_eq!(hundredth(percent), share, "{percent}");
        }
    }
}
