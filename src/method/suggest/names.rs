//! Looks up the meaning of a column's name in the vocabulary.
//!
//! A name is split into words at every character that is neither a letter nor a digit, and before
//! each capital letter that follows a lowercase letter, as in `camelCase`. Letters are normalized
//! as in the vocabulary: lower case, without accents. Every word for a number (`nr`, `no`,
//! `nummer`) is replaced by `number`, except `no` at the beginning of a name. Most of these words
//! are also replaced at the end of a longer word. So `Pat.-Nr`, `PatNr` and `pat_no` are
//! equivalent.

use super::vocabulary::{FOREIGN_POSTCODES, Meaning, PEOPLE, POSTCODES, VOCABULARY};

/// Returns the meaning of a name; `None` if it is not in the vocabulary.
pub(super) fn meaning(name: &str) -> Option<Meaning> {
    let words = words(name);
    let found = VOCABULARY.iter().find(|(_, languages)| named(languages, &words));
    found.map(|(meaning, _)| *meaning)
}

/// Returns true if the name contains a word for people.
pub(super) fn is_person(name: &str) -> bool {
    named(PEOPLE, &words(name))
}

/// Returns true if the name means a postal code.
pub(super) fn is_postcode(name: &str) -> bool {
    named(POSTCODES, &words(name)) || is_foreign_postcode(name)
}

/// Returns true if the name means a postal code in a language other than English.
pub(super) fn is_foreign_postcode(name: &str) -> bool {
    named(FOREIGN_POSTCODES, &words(name))
}

/// Returns true if the name contains a word for a day, a week or a month.
pub(super) fn is_of_a_day(name: &str) -> bool {
    words(name).iter().any(|word| DAYS.contains(&word.as_str()))
}

/// The words for days, weeks and months.
const DAYS: &[&str] = &[
    "day",
    "week",
    "month",
    "birthday",
    "tag",
    "woche",
    "monat",
    "geburtstag",
    "geburtsmonat",
    "jour",
    "semaine",
    "mois",
    "dia",
    "semana",
    "mes",
];

fn named(languages: &[&str], words: &[String]) -> bool {
    let mut rules = languages.iter().flat_map(|rules| rules.split(", "));
    rules.any(|rule| fits(rule, words))
}

fn fits(rule: &str, words: &[String]) -> bool {
    if let Some(whole) = rule.strip_prefix('=') {
        return words == [whole];
    }
    if let Some(last) = rule.strip_prefix('+') {
        return words.len() > 1 && words.last().is_some_and(|word| word == last);
    }
    let rule = numbered(rule.split(' ').map(str::to_string).collect());
    let is = |word: &String, rule: &str| match rule.strip_suffix('*') {
        Some(beginning) => word.starts_with(beginning),
        // Columns for several visits of a person may be numbered, as in age1 and age2.
        None => word == rule || word.trim_end_matches(|c: char| c.is_ascii_digit()) == rule,
    };
    let in_a_row = words
        .windows(rule.len())
        .any(|w| w.iter().zip(&rule).all(|(word, rule)| is(word, rule)));
    // The words may also be written without separators, as in `firstname`.
    in_a_row || (rule.len() > 1 && words.iter().any(|w| is(w, &rule.concat())))
}

/// The word by which every word for a number is replaced.
const NUMBER: &str = "number";

/// Returns the words with every word for a number replaced by [`NUMBER`]. A longer word that ends
/// in a word for a number is split into two words.
fn numbered(words: Vec<String>) -> Vec<String> {
    let mut read = vec![];
    for (place, word) in words.into_iter().enumerate() {
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_number = match letters {
            "nr" | "num" | "nummer" | "nbr" | NUMBER => true,
            // At the beginning of a name, `no` means "without" and not "number".
            "no" => place > 0,
            _ => false,
        };
        let stem = ["nummer", NUMBER, "nr"]
            .iter()
            .find_map(|end| letters.strip_suffix(end));
        match stem.filter(|stem| !stem.is_empty()) {
            _ if is_number => read.push(NUMBER.to_string()),
            Some(stem) => read.extend([stem.to_string(), NUMBER.to_string()]),
            None => read.push(word),
        }
    }
    read
}

/// Returns the words of a name in normalized form: in lower case, without accents, and with
/// [`NUMBER`] for every word for a number.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        // An accent may be a separate character after its letter, as file systems and some exports
        // write it.
        let is_letter = c.is_alphanumeric() || is_accent(c);
        let hump = c.is_uppercase() && before.is_lowercase();
        if (hump || !is_letter) && words.last().is_some_and(|w| !w.is_empty()) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (is_letter, words.last_mut()) {
            add(word, c);
        }
        before = c;
    }
    words.retain(|w| !w.is_empty());
    numbered(words)
}

fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Appends a letter to a word in the normalized form that the vocabulary uses.
fn add(word: &mut String, letter: char) {
    for c in letter.to_lowercase() {
        match c {
            'ä' | 'æ' => word.push_str("ae"),
            'ö' | 'œ' | 'ø' => word.push_str("oe"),
            'ü' => word.push_str("ue"),
            'ß' => word.push_str("ss"),
            'à' | 'á' | 'â' | 'ã' | 'å' => word.push('a'),
            'ç' => word.push('c'),
            'è' | 'é' | 'ê' | 'ë' => word.push('e'),
            'ì' | 'í' | 'î' | 'ï' => word.push('i'),
            'ñ' => word.push('n'),
            'ò' | 'ó' | 'ô' | 'õ' => word.push('o'),
            'ù' | 'ú' | 'û' => word.push('u'),
            // A diaeresis that follows its letter as a separate character makes it an umlaut.
            '\u{308}' if word.ends_with(['a', 'o', 'u']) => word.push('e'),
            c if is_accent(c) => {}
            c => word.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_words() {
        for (name, read) in [
            ("FirstName", "first name"),
            ("native-country", "native country"),
            ("Staatsangehörigkeit", "staatsangehoerigkeit"),
            ("Staatsangeho\u{308}rigkeit", "staatsangehoerigkeit"),
            ("CÓDIGO postal", "codigo postal"),
            ("pre\u{301}nom", "prenom"),
            ("Straße_Nr", "strasse number"),
            ("Fall-Nr2", "fall number"),
            ("Pat.-Nr", "pat number"),
            ("PatNr", "pat number"),
            ("Fallnummer", "fall number"),
            ("case_no", "case number"),
            ("no_show", "no show"),
            ("größe", "groesse"),
            ("año", "ano"),
            (" \"!", ""),
        ] {
            assert_eq!(words(name).join(" "), read, "{name}");
        }
    }

    #[test]
    fn every_rule_of_the_vocabulary_fits_its_own_name() {
        let known = VOCABULARY.iter().flat_map(|(_, languages)| languages.iter());
        for rule in known
            .chain(PEOPLE)
            .chain(POSTCODES)
            .chain(FOREIGN_POSTCODES)
            .flat_map(|rules| rules.split(", "))
        {
            let name = rule.trim_start_matches('=').replace('*', "").replace('+', "a ");
            assert!(!name.is_empty() && fits(rule, &words(&name)), "{rule}");
        }
    }
}
