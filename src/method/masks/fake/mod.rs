//! FAKE: a made-up name, mail address or telephone number instead of the value.
//!
//! The word after FAKE determines what is made up: `NAME` (a forename and a surname), `FORENAME`,
//! `SURNAME`, `MAIL` or `TELEPHONE`. The HMAC-SHA-256 of the value's text selects the fake from two
//! lists: the most common names of a country (about a hundred forenames and a hundred surnames),
//! and telephone numbers that are never assigned. `LOCALE` is `'en'` (the United States, also the
//! default), `'de'` or `'fr'`. Mail addresses have the domains `example.com`, `example.net` and
//! `example.org`, which nobody can register (RFC 2606).
//!
//! The same value has the same fake in all releases with the same secret. A fake never equals the
//! value, even if case is ignored. Several values may have the same fake, because each locale has
//! only about ten thousand full names, and even fewer telephone numbers. NULL stays NULL.
//!
//! Example: `IDENTIFIERS (name FAKE NAME LOCALE 'de' WITH SECRET 'env:ANONSQL_SECRET')`

mod locales;

use self::locales::{LOCALES, Locale};
use super::clause::{MaskClause, MaskItem, MaskKind, MaskPart, MaskPlace, MaskSyntax, Reads};
use super::key::Key;
use super::text::{each, has_text};
use super::values::{Mask, Unmasked};
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use arrow::array::ArrayRef;
use arrow::datatypes::DataType;
use std::sync::Arc;

/// The texts that may follow LOCALE.
const WORDS: &[&str] = &[LOCALES[0].word, LOCALES[1].word, LOCALES[2].word];
/// Domains that are reserved for examples.
const DOMAINS: [&str; 3] = ["example.com", "example.net", "example.org"];
/// The maximum number of draws for a value. If a fake equals the value, another fake is drawn.
const ATTEMPTS: u8 = 16;
/// The number of bytes in most fakes.
const LENGTH: usize = 16;

pub(super) const KIND: MaskKind = MaskKind {
    info: Info {
        name: "fake",
        summary: "a made-up name, mail address or telephone number: equal values have the same one",
        params: &[],
        example: "IDENTIFIERS (name FAKE NAME LOCALE 'de' WITH SECRET 'env:ANONSQL_SECRET')",
        reference: "RFC 2104, FIPS 180-4; RFC 2606 and the numbers that each country keeps for fiction",
    },
    clause: MaskSyntax {
        start: "FAKE",
        syntax: "FAKE { NAME | FORENAME | SURNAME | MAIL | TELEPHONE } [LOCALE 'en'] WITH SECRET 'env:NAME'",
        parts: &[
            MaskPart::Value(
                "what",
                MaskItem::Word(&["NAME", "FORENAME", "SURNAME", "MAIL", "TELEPHONE"]),
                "what is made up",
            ),
            MaskPart::Maybe(
                "LOCALE",
                "locale",
                MaskItem::OneOf(WORDS),
                "a locale in quotes, such as 'de'",
            ),
            MaskPart::Secret,
        ],
    },
    places: &[MaskPlace::Identifiers],
    reads: Reads::Value,
    function: Some(Info {
        name: "mask_fake",
        summary: "a made-up name, mail or telephone number: mask_fake(value, 'name', 'de', 'env:NAME')",
        params: &[],
        example: "SELECT mask_fake(name, 'name', 'de', 'env:ANONSQL_SECRET') FROM people",
        reference: "RFC 2104, FIPS 180-4",
    }),
    noun: "a made-up value",
    phrase: "a made-up value",
    technique: "pseudonymization: a made-up value, drawn by a keyed hash (HMAC-SHA-256)",
    is_pseudonym: true,
    tells_apart: false,
    limits: (
        "Made-up values",
        "Anyone with the secret can compute a made-up value again, and it links the records of one value. Several \
         values may have the same made-up value, and it may be the name of another person. Pseudonymized data stay \
         personal data.",
    ),
    build: |clause| Ok(Arc::new(Fake::try_new(clause)?)),
};

#[derive(Debug, Clone, Copy)]
enum What {
    Name,
    Forename,
    Surname,
    Mail,
    Telephone,
}

#[derive(Debug)]
struct Fake {
    what: What,
    locale: &'static Locale,
}

impl Fake {
    fn try_new(clause: &MaskClause) -> Result<Self> {
        let word = clause.maybe("locale").unwrap_or(LOCALES[0].word);
        let locale = LOCALES.iter().find(|locale| locale.word == word);
        let locale = locale.ok_or_else(|| Error::internal("a locale that is not listed"))?;
        let what = match clause.text("what")? {
            "FORENAME" => What::Forename,
            "SURNAME" => What::Surname,
            "MAIL" => What::Mail,
            "TELEPHONE" => What::Telephone,
            _ => What::Name,
        };
        Ok(Self { what, locale })
    }

    /// Returns the fake of a value, which differs from the value. It is empty if all [`ATTEMPTS`]
    /// draws give the value itself.
    fn of(&self, key: &Key, value: &str) -> String {
        let own = LetterCounts::of(value);
        let is_other = |fake: &String| LetterCounts::of(fake).differ(&own) || words(fake) != words(value);
        let drawn = (0..ATTEMPTS).map(|attempt| self.drawn(key, value, attempt));
        drawn.into_iter().find(is_other).unwrap_or_default()
    }

    fn drawn(&self, key: &Key, value: &str, attempt: u8) -> String {
        let mut draw = Draw(key.digest_of(&[&[self.what as u8, attempt], value.as_bytes()]), 0);
        let (forenames, surnames) = (self.locale.forenames, self.locale.surnames);
        match self.what {
            What::Name => format!("{} {}", draw.of(forenames), draw.of(surnames)),
            What::Forename => draw.of(forenames).to_string(),
            What::Surname => draw.of(surnames).to_string(),
            What::Mail => {
                let (forename, surname) = (draw.of(forenames), draw.of(surnames));
                let (number, domain) = (draw.below(10_000), draw.of(&DOMAINS));
                format!("{forename}.{surname}.{number:04}@{domain}").to_ascii_lowercase()
            }
            What::Telephone => {
                let digits = draw.of(self.locale.telephones).chars().map(|c| match c {
                    '#' => char::from(b'0' + draw.below(10) as u8),
                    other => other,
                });
                digits.collect()
            }
        }
    }
}

/// Returns the words of a text in sorted order, in lower case and without accents. `Müller, Ann`
/// and `Ann Mueller` have the same words.
fn words(text: &str) -> Vec<String> {
    let plain = |c: char| match c {
        'ä' | 'æ' => "ae".to_string(),
        'ö' | 'œ' => "oe".to_string(),
        'ü' => "ue".to_string(),
        'ß' => "ss".to_string(),
        'à' | 'â' | 'á' => "a".to_string(),
        'ç' => "c".to_string(),
        'é' | 'è' | 'ê' | 'ë' => "e".to_string(),
        'î' | 'ï' | 'í' => "i".to_string(),
        'ô' | 'ó' => "o".to_string(),
        'û' | 'ù' | 'ú' => "u".to_string(),
        other => other.to_string(),
    };
    let text = text.to_lowercase();
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    let mut words: Vec<String> = words.map(|word| word.chars().map(plain).collect()).collect();
    words.sort();
    words
}

/// The number of each letter and digit in a text, regardless of case; `None` if the text is not
/// ASCII. Texts with different counts have different [`words`], and comparing the counts takes a
/// fraction of the time.
struct LetterCounts(Option<[u8; 36]>);

impl LetterCounts {
    fn of(text: &str) -> Self {
        let mut counts = [0u8; 36];
        for byte in text.bytes() {
            let index = match byte {
                b'0'..=b'9' => byte - b'0',
                b'a'..=b'z' => byte - b'a' + 10,
                b'A'..=b'Z' => byte - b'A' + 10,
                128.. => return Self(None),
                _ => continue,
            };
            // Counts that wrap around are still equal for equal words.
            let count = &mut counts[usize::from(index)];
            *count = count.wrapping_add(1);
        }
        Self(Some(counts))
    }

    /// Returns true if the words of the two texts certainly differ.
    fn differ(&self, other: &Self) -> bool {
        self.0.zip(other.0).is_some_and(|(one, other)| one != other)
    }
}

/// A source of numbers, each taken from four bytes of a digest.
struct Draw([u8; 32], usize);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        let bytes = self.0.iter().cycle().skip(self.1).take(4);
        self.1 += 4;
        bytes.fold(0, |number, byte| number << 8 | u64::from(*byte)) % end
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len() as u64) as usize]
    }
}

impl Mask for Fake {
    fn data_type(&self, values: &DataType) -> Result<DataType> {
        has_text(KIND.clause.start, values)
    }

    fn form(&self) -> Option<String> {
        let any = |all: &[&str]| format!("(?:{})", all.join("|"));
        let (forename, surname) = (any(self.locale.forenames), any(self.locale.surnames));
        Some(match self.what {
            What::Name => format!("{forename} {surname}"),
            What::Forename => forename,
            What::Surname => surname,
            What::Mail => format!(
                "[a-z]+\\.[a-z]+\\.[0-9]{{4}}@{}",
                any(&DOMAINS.map(|d| d.replace('.', "\\.")).each_ref().map(|d| d.as_str()))
            ),
            What::Telephone => any(self.locale.telephones).replace('+', "\\+").replace('#', "[0-9]"),
        })
    }

    fn mask(&self, unmasked: &Unmasked) -> Result<ArrayRef> {
        let key = unmasked.key()?.key_for("anonsql fake")?;
        each(unmasked.values, LENGTH, |value, fakes| {
            fakes.extend_from_slice(self.of(&key, value).as_bytes());
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_lists_are_of_different_names_and_may_not_change() {
        let mut all = vec![];
        for locale in LOCALES {
            for list in [locale.forenames, locale.surnames] {
                assert!(list.len() >= 98, "{}", list.len());
                assert_eq!(
                    list.iter().collect::<BTreeSet<_>>().len(),
                    list.len(),
                    "{}",
                    locale.word
                );
                assert!(list.iter().all(|name| name.chars().all(|c| c.is_ascii_alphabetic())));
            }
            all.push(format!("{:?}", locale));
        }
        let key = Key::new(b"the lists of names").unwrap();
        assert_eq!(
            &hex::encode(key.digest(all.join("\n").as_bytes()))[..16],
            "04dbb22f53413903"
        );
    }

    #[test]
    fn the_words_of_a_name_are_the_same_however_it_is_written() {
        assert_eq!(words("Müller, ANN"), words(" Ann  Mueller "));
        assert_ne!(words("Ann"), words("Anna"));
    }

    proptest! {
        /// Texts whose letter counts differ have different words.
        #[test]
        fn different_letters_are_different_words(one in "[aAbB1 ,ä]{0,4}", other in "[aAbB1 ,ä]{0,4}") {
            let differ = LetterCounts::of(&one).differ(&LetterCounts::of(&other));
            prop_assert!(!differ || words(&one) != words(&other));
        }
    }

    #[test]
    fn a_fake_is_never_the_value() {
        let key = Key::new(b"0123456789abcdef").unwrap();
        for what in [What::Forename, What::Surname] {
            let fake = Fake {
                what,
                locale: &LOCALES[0],
            };
            for name in LOCALES[0].forenames.iter().chain(LOCALES[0].surnames) {
                for written in [name.to_string(), name.to_uppercase(), format!(" {name} ")] {
                    assert_ne!(fake.of(&key, &written).to_lowercase(), name.to_lowercase());
                }
            }
        }
    }
}
