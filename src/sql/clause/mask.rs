//! The mask of a column of IDENTIFIERS, as its declaration says.

use crate::error::Result;
use crate::masks::{Given, Item, MASKS, MaskClause, MaskKind, Part, SECRET};
use crate::sql::cursor::Cursor;
use crate::sql::hint::NEXT_ITEM;
use datafusion::sql::sqlparser::tokenizer::Token;

/// Parses the mask at the cursor, if one stands there.
pub(super) fn read(c: &mut Cursor) -> Result<Option<MaskClause>> {
    let starts = MASKS.iter().map(|kind| kind.clause.start);
    let Some(kind) = MASKS.iter().find(|kind| c.looks_at(kind.clause.start)) else {
        return match c.looks_at_token(&Token::Comma) || c.looks_at_token(&Token::RParen) {
            true => Ok(None),
            false => {
                let all: Vec<&str> = starts.collect();
                Err(c.expected(&format!("{}, {NEXT_ITEM}", all.join(", ")), all))
            }
        };
    };
    c.take(kind.clause.start);
    let mut given = vec![];
    for part in kind.clause.parts {
        match part {
            Part::Words(words) => need(c, kind, words)?,
            Part::Value(name, item, what) => given.push((name.to_string(), value(c, *item, what)?)),
            Part::Maybe(words, name, item, what) => {
                if c.take(words) {
                    let value = value(c, *item, what)?;
                    if !item.is_usual(&value) {
                        given.push((name.to_string(), value));
                    }
                }
            }
            Part::Secret => {
                need(c, kind, "WITH SECRET")?;
                given.push((SECRET.to_string(), Given::Text(place(c)?)));
            }
        }
    }
    Ok(Some(MaskClause { kind, given }))
}

/// Moves past these keywords. Fails with the syntax of the mask if they are not next.
fn need(c: &mut Cursor, kind: &MaskKind, words: &str) -> Result<()> {
    match c.take(words) {
        true => Ok(()),
        false => Err(c.expected(kind.clause.syntax, words.split(' ').next())),
    }
}

fn value(c: &mut Cursor, item: Item, what: &str) -> Result<Given> {
    Ok(match item {
        Item::Column => Given::Text(c.name(what)?),
        Item::Whole => Given::Whole(c.whole(what)?),
        Item::Text => Given::Text(c.string(what)?),
        Item::OneOf(texts) => {
            let before = c.clone();
            let found = Item::listed(texts, &c.string(what)?);
            let in_quotes: Vec<String> = texts.iter().map(|text| format!("'{text}'")).collect();
            let found = found.ok_or_else(|| before.clone().expected(&in_quotes.join(", "), []));
            Given::Text(found?.into())
        }
        Item::Word(words) => {
            let found = words.iter().find(|word| c.take(word));
            let found =
                found.ok_or_else(|| c.expected(&format!("{what}: {}", words.join(", ")), words.iter().copied()))?;
            Given::Text((*found).to_string())
        }
    })
}

/// Parses the place of a secret.
fn place(c: &mut Cursor) -> Result<String> {
    let what = "'env:NAME' or 'file:PATH' (the secret itself never stands in a statement)";
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
