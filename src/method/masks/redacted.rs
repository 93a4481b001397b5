//! REDACTED: a free text in which everything that looks like an identifier is replaced.
//!
//! In the text, `[mail]` replaces a mail address, `[link]` a web address, `[ip]` an IP address,
//! `[mac]` the hardware address of a device, and `[date]` a date. `[number]` replaces six digits or
//! more, with or without separators (telephone numbers, accounts, national numbers). `[code]`
//! replaces a word of six characters or more with letters and at least two digits, and an IBAN.
//! `[name]` replaces each word that also occurs in one of the row's own identifiers, in any case. A
//! word of one letter, or of one or two digits, is not replaced as a name. NULL stays NULL.
//!
//! A web address begins with `http://`, `https://`, `ftp://` or `www.`. A name with periods is also
//! a web address if its last part has two letters or more and `/` with a path follows, as in
//! `example.xyz/ann`, or if it ends with `.com`, `.edu`, `.eu`, `.gov`, `.info`, `.net` or `.org`
//! in lower case. The name of a file, such as `report.txt`, is not a web address, and neither is
//! `Dr.Smith/Jones`: a last part with one capital letter at its beginning counts only if it is one
//! of these seven. An IPv4 address is four numbers from 0 to 255 with periods between them, so a
//! version of four numbers is replaced, too, unless it begins with `v`. A version of three or five
//! numbers is not. An IPv6 address has at least one digit, and is written in full or with `::`
//! before, between or after its groups. A hardware address is six or more pairs of hexadecimal
//! digits with `:` or `-` between them, or three groups of four with periods between them. A date
//! in three numbers has a month from 1 to 12 and a day from 1 to 31, in one of the usual orders.
//!
//! A form is also found beside `_`, and beside the letters of a script that writes no spaces
//! between words, such as Chinese. An IPv4 address is found beside any letter, and so is a number
//! with separators other than spaces, whose letters are replaced with it.
//!
//! **No guarantee**: a text can identify a person by words that have none of these forms and are in
//! no identifier of the row, such as a nickname, a relative, an employer, or an illness that only
//! one person has.
//!
//! Example: `KEEP (comment REDACTED)`
//!
//! Reference: 45 CFR 164.514(b)(2)(i). Of the identifiers listed there, those with a recognizable
//! form are replaced

use super::clause::{MaskKind, MaskPlace, MaskSyntax, Reads};
use super::text::{texts, unfit};
use super::values::{Mask, Unmasked};
use crate::base::catalogue::Info;
use crate::base::error::{Error, Result};
use crate::method::canonical::plain;
use arrow::array::{Array, ArrayRef, StringArray};
use arrow::datatypes::DataType;
use regex::Regex;
use std::borrow::Cow;
use std::collections::HashSet;
use std::net::Ipv6Addr;
use std::sync::Arc;

pub(super) const KIND: MaskKind = MaskKind {
    info: Info {
        name: "redacted",
        summary: "a free text without addresses, dates, numbers, codes and the row's own names; no guarantee",
        params: &[],
        example: "KEEP (comment REDACTED)",
        reference: "45 CFR 164.514(b)(2)(i), whose identifiers are looked for as far as they have a form",
    },
    clause: MaskSyntax {
        start: "REDACTED",
        syntax: "REDACTED",
        parts: &[],
    },
    places: &[MaskPlace::Values],
    reads: Reads::Identifiers,
    function: Some(Info {
        name: "mask_redacted",
        summary: "a text without addresses, dates, numbers and codes: mask_redacted(text)",
        params: &[],
        example: "SELECT mask_redacted(comment) FROM visits",
        reference: "in-house",
    }),
    noun: "a redacted text",
    phrase: "its text without what looks like an identifier",
    technique: "masking: words of free text that look like identifiers are replaced, without a guarantee",
    is_pseudonym: false,
    tells_apart: false,
    limits: (
        "Redacted texts",
        "No guarantee: a text can name a person in words that no form and no identifier of the row shows, such as a \
         nickname, a relative, an employer or a rare illness. What is left of a text can single a person out by itself. \
         Somebody has to read the texts before they are handed on, or the column is dropped.",
    ),
    build: |_| Ok(Arc::new(Redacted::try_new()?)),
};

/// The replacement of an IP address.
const IP_ADDRESS: &str = "[ip]";

/// The replacement of a hardware address.
const HARDWARE_ADDRESS: &str = "[mac]";

/// The names of the months in English, German, French and Spanish, in full or abbreviated.
const MONTHS: &str = "jan(?:uary|uar|vier)?|ene(?:ro)?|feb(?:ruary|ruar|rero)?|f[ée]v(?:rier)?|mar(?:ch|s|zo)?|märz|mrz|apr(?:il)?|avr(?:il)?|abr(?:il)?|\
     may(?:o)?|mai|june?|juni|juin|junio|july?|juli|juillet|julio|aug(?:ust)?|ao[uû]t|ago(?:sto)?|sept?(?:ember|embre|iembre)?|\
     o[ck]t(?:ober|obre|ubre)?|nov(?:ember|embre|iembre)?|dec(?:ember)?|dez(?:ember)?|d[ée]c(?:embre)?|dic(?:iembre)?";

/// The replacement of a web address.
const LINK: &str = "[link]";

/// The replacement of a date.
const DATE: &str = "[date]";

/// The replacement of a number of six digits or more.
const NUMBER: &str = "[number]";

/// A character that separates words where a text does not ([`parted`]). It is a control character
/// that texts have no use for. It is in ASCII, because a regular expression with `\b` is slower in
/// texts with other characters.
const BREAK: char = '\u{1}';

/// The forms of addresses.
const ADDRESSES: [(&str, &str); 9] = [
    (r"[^\s@<>()\[\],;:]+@[^\s@<>()\[\],;:]+\.\p{L}{2,}", "[mail]"),
    (r#"(?i)\b(?:(?:https?|ftp)://|www\.)\S*[^\s.,;:!?)\]'"]"#, LINK),
    (
        r#"(?x)\b(?:[\p{L}\p{N}\x01-]+\.)+
           (?:\p{Lu}{2}\p{L}* | [\p{L}--\p{Lu}]\p{L}+ | (?i:com|edu|eu|gov|info|net|org))
           (?::[0-9]{1,5})?/\S*[^\s.,;:!?)\]'"]"#,
        LINK,
    ),
    (
        r"\b(?:[\p{L}\p{N}\x01-]+\.)+(?:com|edu|eu|gov|info|net|org)(?:\.\p{L}{2})?\b",
        LINK,
    ),
    (r"(?i)\b[0-9a-f]{2}(?:[:-][0-9a-f]{2}\b){5,}", HARDWARE_ADDRESS),
    (r"(?i)\b[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}\b", HARDWARE_ADDRESS),
    (
        r"(?i)\b[0-9a-f]{1,4}(?:::?[0-9a-f]{1,4}\b)+(?:::)?(?:\.[0-9]{1,3}){0,3}",
        IP_ADDRESS,
    ),
    // What is before `::` is part of the match, so that a path of code, such as `std::1`, is not an
    // address.
    (
        r"(?i)[\p{Latin}0-9_]*::[0-9a-f]{1,4}\b(?::[0-9a-f]{1,4}\b)*(?:\.[0-9]{1,3}){0,3}",
        IP_ADDRESS,
    ),
    // With `v`, the match is a version, and not an address.
    (r"(?i)(?:\bv)?[0-9]+(?:\.[0-9]+){3,}", IP_ADDRESS),
];

/// The form of a telephone number in pairs of digits. It is replaced before dates, because three of
/// its pairs would be read as a date.
const PAIRS: (&str, &str) = (r"\b\d{2}(?:[./-]\d{2}){4,}\b", NUMBER);

/// The forms of accounts and other numbers, which are replaced after dates.
const NUMBERS: [(&str, &str); 3] = [
    (r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", "[code]"),
    // The letters beside a number are part of the match. If there are no separators, the match is a
    // word, which [`is_code`] judges.
    (
        r"[\p{L}\p{M}\p{N}]*[\p{L}\p{M}]\d(?:[()./\u{2010}-\u{2013}-]{0,3}\d){5,}[\p{L}\p{M}\p{N}]*",
        NUMBER,
    ),
    (
        r"(?x)(?:\+|\b|\()\d(?:[\x20()./\u{2010}-\u{2013}-]{0,3}\d){5,}\b
          (?:[()./\u{2010}-\u{2013}-]{1,3}\d+[\p{L}\p{M}][\p{L}\p{M}\p{N}]*)?",
        NUMBER,
    ),
];

/// Returns the forms of dates.
fn dates() -> [String; 5] {
    let (month, year) = (format!(r"(?:{MONTHS})\b\.?"), r"(?:\d{4}|'?\d{2})");
    [
        r"\b\d{4}[-./]\d{1,2}[-./]\d{1,2}(?:[T ]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?".into(),
        r"\b\d{1,2}[./-] ?\d{1,2}[./-] ?(?:\d{4}|\d{2})\b".into(),
        format!(r"(?i)\b\d{{1,2}}(?:st|nd|rd|th|er|\.|º)?[ -]+(?:of |de )?{month}(?:,?[ -]+(?:de |del )?{year})?\b"),
        format!(r"(?i)\b{month}[ -]+\d{{1,2}}(?:st|nd|rd|th)?\b(?:,? +{year}\b)?"),
        format!(r"(?i)\b(?:\d{{1,2}}/|{month} +)(?:1[89]|20)\d{{2}}\b"),
    ]
}

/// Returns the forms that are replaced in a text, as regular expressions in the order of
/// replacement, each with its replacement. [`is_meant`] may exclude a match.
fn forms() -> impl Iterator<Item = (String, &'static str)> {
    let known = |(form, stands): (&str, &'static str)| (form.to_string(), stands);
    let before = ADDRESSES.into_iter().chain([PAIRS]).map(known);
    let dates = dates().into_iter().map(|form| (form, DATE));
    before.chain(dates).chain(NUMBERS.into_iter().map(known))
}

/// The mask that replaces apparent identifiers in texts.
#[derive(Debug)]
struct Redacted {
    forms: Vec<(Regex, &'static str)>,
    /// Matches a word, or a replacement in brackets.
    word: Regex,
}

impl Redacted {
    fn try_new() -> Result<Self> {
        let compiled = |form: &str| Regex::new(form).map_err(|e| Error::internal(format!("an invalid pattern: {e}")));
        let forms = forms().map(|(form, stands)| Ok((compiled(&form)?, stands)));
        Ok(Self {
            forms: forms.collect::<Result<_>>()?,
            word: compiled(r"\[(?:mail|link|ip|mac|date|code|number)\]|[\p{L}\p{M}\p{N}]+")?,
        })
    }

    /// Returns `text` with every match of a form, every code, and every word in `names` replaced.
    /// `names` contains words in lower case.
    fn apply(&self, text: &str, names: &HashSet<String>) -> String {
        let mut redacted = parted(text);
        for (form, stands) in &self.forms {
            let replaced = |found: &regex::Captures| match is_meant(&found[0], stands) {
                true => stands.to_string(),
                false => found[0].to_string(),
            };
            if let Cow::Owned(without) = form.replace_all(&redacted, replaced) {
                redacted = without;
            }
        }
        redacted.retain(|c| c != BREAK);
        let of_word = |found: &regex::Captures| {
            let word = &found[0];
            match word {
                known if known.starts_with('[') => known.to_string(),
                name if names.contains(&name.to_lowercase()) => "[name]".into(),
                code if is_code(code) => "[code]".into(),
                other => other.to_string(),
            }
        };
        self.word.replace_all(&redacted, of_word).into_owned()
    }

    /// Adds the words of `identifier` to `names`, without words that are too short.
    fn add(&self, names: &mut HashSet<String>, identifier: &str) {
        let words = self.word.find_iter(identifier).map(|word| word.as_str());
        let is_name = |word: &&str| {
            let is_number = word.chars().all(|c| c.is_numeric());
            word.chars().count() > if is_number { 2 } else { 1 }
        };
        names.extend(words.filter(is_name).map(str::to_lowercase));
    }
}

/// Returns the text with [`BREAK`] between a Latin letter or a digit and `_` or a letter of a
/// script without spaces, so that regular expressions find the boundary of a word there. If the
/// text itself has a [`BREAK`], it is left out.
fn parted(text: &str) -> String {
    let is_edge = |a: char, b: char| (a.is_ascii_alphabetic() || a.is_numeric()) && (b == '_' || is_unspaced(b));
    let (mut parted, mut before) = (String::with_capacity(text.len()), None);
    for c in text.chars().filter(|c| *c != BREAK) {
        if before.is_some_and(|before| is_edge(before, c) || is_edge(c, before)) {
            parted.push(BREAK);
        }
        parted.push(c);
        before = Some(c);
    }
    parted
}

/// Returns true for a letter of a script that writes no spaces between words, or that adds endings
/// to a number without a space: the scripts of Thailand, Laos, Tibet, Myanmar and Cambodia, and
/// Chinese, Japanese and Korean.
fn is_unspaced(c: char) -> bool {
    let is_of_script = matches!(
        c,
        '\u{0e00}'..='\u{109f}'
            | '\u{1100}'..='\u{11ff}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3005}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7ff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{ff66}'..='\u{ffdc}'
            | '\u{20000}'..='\u{3ffff}'
    );
    is_of_script && !c.is_numeric()
}

/// Returns true if `found` is to be replaced by `stands`, whose form it has. Digits with periods or
/// hyphens are a hardware address only if there is a letter among them. A word of letters and
/// digits is a code, and not a number.
fn is_meant(found: &str, stands: &str) -> bool {
    match stands {
        IP_ADDRESS => is_ip_address(found),
        HARDWARE_ADDRESS => found.contains(|c: char| c == ':' || c.is_alphabetic()),
        DATE => is_date(found),
        NUMBER => found.chars().all(char::is_numeric) || !found.chars().all(char::is_alphanumeric),
        _ => true,
    }
}

/// Returns false for three numbers of one or two digits, the last of which may have four, that are
/// no date in the order of day and month, of month and day, or of year, month and day.
fn is_date(text: &str) -> bool {
    let numbers = text.split(['.', '/', '-']).map(|number| number.trim().parse::<u32>());
    let Ok(numbers) = numbers.collect::<std::result::Result<Vec<u32>, _>>() else {
        return true;
    };
    let is = |month: u32, day: u32| (1..=12).contains(&month) && (1..=31).contains(&day);
    match numbers[..] {
        [first, second, third] if first < 100 => is(second, first) || is(first, second) || is(second, third),
        _ => true,
    }
}

/// Returns true for an IPv4 address, whose numbers may begin with zeros, and for an IPv6 address
/// with at least one digit.
fn is_ip_address(text: &str) -> bool {
    if text.contains(':') {
        return text.contains(|c: char| c.is_ascii_digit()) && text.parse::<Ipv6Addr>().is_ok();
    }
    let numbers: std::result::Result<Vec<u8>, _> = text.split('.').map(str::parse).collect();
    numbers.is_ok_and(|numbers| numbers.len() == 4)
}

/// Returns true for a word of six characters or more that contains at least two digits and at least
/// one other character, such as a case number.
fn is_code(word: &str) -> bool {
    let digits = word.chars().filter(|c| c.is_numeric()).count();
    let all = word.chars().count();
    all >= 6 && digits >= 2 && digits < all
}

impl Mask for Redacted {
    fn data_type(&self, values: &DataType) -> Result<DataType> {
        match plain(values) {
            DataType::Utf8 | DataType::LargeUtf8 => Ok(DataType::Utf8),
            other => Err(unfit(
                KIND.clause.start,
                "texts",
                &other,
                "cast the column to a text in a query",
            )),
        }
    }

    fn mask(&self, unmasked: &Unmasked) -> Result<ArrayRef> {
        let identifiers = unmasked
            .beside
            .iter()
            .map(texts)
            .collect::<Result<Vec<StringArray>>>()?;
        let mut names = HashSet::new();
        let rows = texts(unmasked.values)?;
        let redacted = rows.iter().enumerate().map(|(row, text)| {
            let text = text?;
            names.clear();
            let known = identifiers.iter().filter(|column| column.is_valid(row));
            known.for_each(|column| self.add(&mut names, column.value(row)));
            Some(self.apply(text, &names))
        });
        Ok(Arc::new(redacted.collect::<StringArray>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::LazyLock;

    fn redacted(text: &str, identifiers: &[&str]) -> String {
        // Regular expressions take long to compile.
        static MASK: LazyLock<Redacted> = LazyLock::new(|| Redacted::try_new().unwrap());
        let mask = &*MASK;
        let mut names = HashSet::new();
        identifiers
            .iter()
            .for_each(|identifier| mask.add(&mut names, identifier));
        mask.apply(text, &names)
    }

    #[test]
    fn what_has_a_form_is_replaced() {
        for (text, wanted) in [
            ("write to ann.lee@example.org, please", "write to [mail], please"),
            (
                "see https://example.org/a?b=c or www.example.org",
                "see [link] or [link]",
            ),
            ("seen 2024-05-17 and 17.5.24", "seen [date] and [date]"),
            ("born 17. Mai 1970 in Bonn", "born [date] in Bonn"),
            ("on May 17th, 1970 and on 3 March", "on [date] and on [date]"),
            ("in May 1950, 5/1950 and Sept. 2001", "in [date], [date] and [date]"),
            (
                "1950-05-12T10:00:00.5Z and 2024-01-02 08:15+01:00 on",
                "[date] and [date] on",
            ),
            (
                "12 Main Street, 3 marks, 7 seconds",
                "12 Main Street, 3 marks, 7 seconds",
            ),
            ("le 1er janvier 2001, el 3 de marzo de 2002", "le [date], el [date]"),
            ("call +49 170 1234567 or (555) 867-5309", "call [number] or [number]"),
            (
                "SSN 123-45-6789, card 4111 1111 1111 1111",
                "SSN [number], card [number]",
            ),
            ("to DE89 3704 0044 0532 0130 00 today", "to [code] today"),
            ("case KH2024X77 is closed", "case [code] is closed"),
            ("120/80 mmHg, 38.5 C, 20 mg twice", "120/80 mmHg, 38.5 C, 20 mg twice"),
            (
                "from 10.0.0.1, 192.168.001.010:80 and 10.0.0.12/24.",
                "from [ip], [ip]:80 and [ip]/24.",
            ),
            (
                "fe80::1%eth0, [2001:DB8::]:443, 2001:db8:0:0:0:0:0:1 and 64:ff9b::192.0.2.33",
                "[ip]%eth0, [[ip]]:443, [ip] and [ip]",
            ),
            (
                "MAC 00:1a:2B:3c:4d:5e, 00-11-22-AA-BB-CC, 001a.2b3c.4d5e, 00:11:22:33:44:55",
                "MAC [mac], [mac], [mac], [mac]",
            ),
            (
                "example.xyz/ann, (sub.example.org:8080/a?b=c) or example.com.",
                "[link], ([link]) or [link].",
            ),
            (
                "card 4111.1111.1111.1111, tel 01.23.45.67.89",
                "card [number], tel [number]",
            ),
            (
                "server_10.0.0.1, server10.0.0.1, 10.0.0.1_a, 地址10.0.0.1是 and v10.20.30.40_",
                "server_[ip], server[ip], [ip]_a, 地址[ip]是 and [number]_",
            ),
            (
                "电话13812345678, 电话138-1234-5678号, 번호138 1234 5678입니다, tel_13812345678_x",
                "电话[number], 电话[number]号, 번호[number]입니다, tel_[number]_x",
            ),
            (
                "T138-12-345, 138-1234-5678x, x1y138-12-345z2, AB123456-78 and AB123456",
                "[number], [number], [number], [number] and [code]",
            ),
            ("生日2024-05-17 邮箱_ann@example.org", "生日[date] [mail]"),
            (
                "::1, [::1]:80, ::ffff:10.0.0.1, 地址::1",
                "[ip], [[ip]]:80, [ip], 地址[ip]",
            ),
            (
                "12.34.56, 31.12.24, 12/31/2024, 24-05-17, 99.13.24",
                "[number], [date], [date], [date], [number]",
            ),
            ("EXAMPLE.XYZ/ann, Example.Com/ann, 例1.com", "[link], [link], [link]"),
            ("123\u{1}456", "[number]"),
            ("nothing in here", "nothing in here"),
            ("", ""),
        ] {
            assert_eq!(redacted(text, &[]), wanted, "{text}");
        }
    }

    #[test]
    fn what_has_no_form_stays() {
        for text in [
            "version 1.2.3, v1.2.3.4 and 1.2.3.4.5",
            "at 12:34:56, 9:05 or 23:59:59.5",
            "38.5 or 1.25 of 2.5/3.5",
            "report.txt, a/report.txt and README.md",
            "e.g. this, i.e. that, z.B. and/or",
            "std::dec, abc::def, a:b:c, and::",
            "ASP.NET went.He",
            "Dr.Smith/Jones, went.He/she",
            "std::1, abc_1::2x, a_b, 一二三四五六",
            "40.5.99, E11.9 and 120/80 mmHg in 2024 10mg",
            "ab-cd-ef",
        ] {
            assert_eq!(redacted(text, &[]), text);
        }
    }

    #[test]
    fn the_names_of_the_row_are_replaced_in_any_case() {
        let found = redacted(
            "Mr LEE-Smith said that Ann's sister Anne saw lee. J. went.",
            &["Ann J. Lee", "Smith"],
        );
        assert_eq!(
            found,
            "Mr [name]-[name] said that [name]'s sister Anne saw [name]. J. went."
        );
        assert_eq!(redacted("in ward 12 or 4711", &["12", "4711"]), "in ward 12 or [name]");
        assert_eq!(
            redacted("STRAßE, straße, Müller", &["Straße Müller"]),
            "[name], [name], [name]"
        );
    }

    proptest! {
        /// No word of an identifier is left, and a replacement is not changed again.
        #[test]
        fn no_word_of_an_identifier_is_left(name in "[a-zA-Zäöü]{2,8}( [a-zA-Z]{2,8})?", before in "[a-z .,]{0,12}", after in "[a-z .,]{0,12}") {
            let text = format!("{before} {name} {after}");
            let once = redacted(&text, &[&name]);
            let words: Vec<String> = once.split(|c: char| !c.is_alphanumeric() && c != '[' && c != ']').map(str::to_lowercase).collect();
            for word in name.split(' ') {
                prop_assert!(!words.contains(&word.to_lowercase()), "{once}");
            }
            prop_assert_eq!(redacted(&once, &[]), once.clone());
        }

        #[test]
        fn six_digits_never_leave(digits in "[0-9]{6,14}", before in "[a-z ]{0,6}") {
            let text = format!("{before} {digits} end");
            let found = redacted(&text, &[]);
            prop_assert!(!found.contains(&digits), "{}", found);
        }
    }
}
