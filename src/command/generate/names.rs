//! Names composed of syllables; any resemblance to a person is accidental.

use super::draw::below;
use rand::Rng;

const FEMALE: &[&str] = &[
    "Adra", "Belisa", "Corina", "Delphe", "Elowyn", "Fenna", "Galia", "Hesper", "Iselin", "Junia", "Kalinda", "Lioba",
    "Maelis", "Nerida", "Odalys", "Petra", "Quilla", "Rosalba", "Sunniva", "Tamsin", "Ulrike", "Vesna", "Wilmet",
    "Xanthe", "Ysolde", "Zelda", "Averil", "Bryony", "Carys", "Dorit",
];
const MALE: &[&str] = &[
    "Alaric", "Bastian", "Cosmo", "Darian", "Emeric", "Florin", "Gideon", "Halvar", "Ivo", "Jorund", "Kester",
    "Leander", "Matthis", "Nestor", "Osric", "Piran", "Quentin", "Rurik", "Silvan", "Torben", "Ulf", "Valerian",
    "Wendel", "Xaver", "Yorick", "Zoltan", "Anselm", "Benno", "Caspian", "Dragan",
];
const BEGIN: &[&str] = &[
    "Al", "Bar", "Cor", "Dun", "El", "Far", "Gren", "Hol", "Is", "Jar", "Kel", "Lor", "Mar", "Nor", "Or", "Pel",
    "Quin", "Ros", "Stav", "Tor", "Ul", "Var", "Wes", "Yar", "Zan",
];
const MIDDLE: &[&str] = &[
    "a", "an", "ber", "de", "en", "gar", "i", "lo", "mi", "na", "o", "ri", "sa", "ten", "vo", "we",
];
const END: &[&str] = &[
    "beck", "brandt", "croft", "dale", "esk", "feld", "gaard", "holt", "ing", "kin", "land", "low", "man", "mere",
    "quist", "ridge", "sen", "stad", "ton", "vik", "wick", "worth",
];

fn one<'a>(rng: &mut impl Rng, from: &[&'a str]) -> &'a str {
    from[below(rng, from.len() as u32) as usize]
}

/// Writes a random full name to `out`, which is cleared first.
pub(super) fn full_name(rng: &mut impl Rng, female: bool, out: &mut String) {
    out.clear();
    out.push_str(one(rng, if female { FEMALE } else { MALE }));
    out.push(' ');
    out.push(char::from(b'A' + below(rng, 26) as u8));
    out.push_str(". ");
    for part in [BEGIN, MIDDLE, END] {
        out.push_str(one(rng, part));
    }
}
