//! The meaning of a column's name.
//!
//! A name is split into lower-case words at every character that is no letter or digit and at `camelCase` humps. A rule
//! is one or more consecutive words; a word that ends in `*` is the beginning of a word. The first rule that fits
//! counts.

/// The meaning of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// One of the identifiers of Safe Harbor.
    Identifier(&'static str),
    /// A code, which identifies people if most of its values are different.
    Code,
    /// A fact that others can know of a person.
    QuasiIdentifier(&'static str),
    /// A fact that a person would not want told.
    Sensitive(&'static str),
    /// The label that a classifier learns.
    ClassLabel,
}

use Meaning::{ClassLabel, Code, Identifier, QuasiIdentifier, Sensitive};

/// Lists of words with their meanings, in the order in which they are tried.
const RULES: &[(&str, Meaning)] = &[
    (
        "email, e mail, mail, mailbox",
        Identifier("an e-mail address (Safe Harbor 6)"),
    ),
    (
        "ip, ip address, ipv4, ipv6",
        Identifier("an IP address (Safe Harbor 15)"),
    ),
    (
        "imei, imsi, udi, mac, mac address, device id, device, serial number, serial no, serial",
        Identifier("a device's number (Safe Harbor 13)"),
    ),
    (
        "url, website, homepage, web address, web page, link",
        Identifier("a web address (Safe Harbor 14)"),
    ),
    (
        "vin, license plate, licence plate, number plate, plate, vehicle id, vehicle number",
        Identifier("a vehicle's number (Safe Harbor 12)"),
    ),
    (
        "ssn, social security, social insurance, national id, national insurance, nino, nhs number, bsn, \
         tax id, tax number, tin, pesel, cpf, aadhaar, personnummer",
        Identifier("a social security or national number (Safe Harbor 7)"),
    ),
    (
        "mrn, medical record, health record, chart number, record number, patient id, patient no, \
         patient number, patient, subject id, hadm id, case number, encounter id, visit id, admission id",
        Identifier("a medical record number (Safe Harbor 8)"),
    ),
    (
        "beneficiary, member id, member number, policy number, policy no, policy id, insured id, \
         insurance number, insurance id, plan number, medicare, medicaid, health plan",
        Identifier("a health plan's number (Safe Harbor 9)"),
    ),
    (
        "account number, account no, account id, account, acct, iban, card number, credit card, customer id, \
         customer number, client id, client number",
        Identifier("an account number (Safe Harbor 10)"),
    ),
    (
        "license, licence, license number, certificate, passport, permit, driver license, npi, dea",
        Identifier("a certificate or licence number (Safe Harbor 11)"),
    ),
    (
        "phone, telephone, mobile, cell, tel, cellphone, msisdn",
        Identifier("a telephone number (Safe Harbor 4)"),
    ),
    ("fax", Identifier("a fax number (Safe Harbor 5)")),
    (
        "fingerprint, voiceprint, faceprint, retina, iris scan, biometric*, palm print, dna, genome",
        Identifier("biometric data (Safe Harbor 16)"),
    ),
    (
        "photo*, image, picture, portrait, avatar, selfie",
        Identifier("a photograph (Safe Harbor 17)"),
    ),
    (
        "user name, username, login, user id, handle, password, cookie, token, session id",
        Identifier("an account of a person (Safe Harbor 18)"),
    ),
    (
        "first name, last name, full name, given name, family name, maiden name, middle name, surname, \
         lastname, forename, nickname, patient name, person name, customer name, client name, employee name, \
         student name, mother name, father name, contact name, spouse name, child name, doctor name, \
         physician name, nurse name, author name, birth name, =name, =names",
        Identifier("the name of a person (Safe Harbor 1)"),
    ),
    (
        "address, addr, street, house number, latitude, longitude, lat, lon, lng, gps, geo, geolocation, \
         coordinates",
        Identifier("a place finer than a town (Safe Harbor 2)"),
    ),
    ("id, uuid, guid, identifier", Code),
    (
        "salary*, income, wage*, earning*, payment, debt*, loan*, credit*, balance, capital, asset*, wealth, \
         cost*, charge*, amount, price, expens*, spend*, limit amt, bill amt*, pay amt*",
        Sensitive("money of a person"),
    ),
    (
        "diagnos*, diseas*, illness*, condition*, disorder*, icd*, symptom*, medicat*, medicine*, drug*, \
         treat*, therap*, procedure*, surg*, prescri*, dose, lab, test result, result*, hiv, cancer*, \
         tumor*, tumour*, allerg*, blood*, glucose, insulin, cholesterol, bmi, hba1c, pressure, heart rate, \
         pulse, skin thickness, pregnan*, diabet*, outcome*, mortality, disabil*, mental, psych*, smok*, \
         alcohol*, genetic*, gene, abuse, addict*, vaccin*",
        Sensitive("health data (GDPR article 9)"),
    ),
    (
        "religio*, belief*, faith, politic*, party, vote*, union, sexual*, orientation",
        Sensitive("a special category of data (GDPR article 9)"),
    ),
    (
        "crime*, criminal*, offen*, convict*, arrest*, violat*, grade*, score*, gpa, exam*, rating",
        Sensitive("a judgement of a person"),
    ),
    (
        "zip*, postal*, postcode, post code, plz, city, town, village, county, district, precinct, \
         municipality, neighborhood, neighbourhood, parish, census tract",
        QuasiIdentifier("a place smaller than a state (Safe Harbor 2)"),
    ),
    ("age, ages", QuasiIdentifier("an age, which Safe Harbor 3 limits to 89")),
    (
        "birth*, dob, yob, date of birth, born",
        QuasiIdentifier("a date or year of birth (Safe Harbor 3)"),
    ),
    (
        "sex, gender, race, ethnic*, ancestry, state, province, region, country, nation*, citizen*, \
         birthplace, language*, education*, degree, school, university, marital*, married, relationship, \
         family, household, children, kids, occupation*, job, profession*, employer, company, workclass, \
         work class, industry, department, position, title, height, weight, eye*, hair*, veteran, military, \
         housing, hours, migrat*, nativity, tenure",
        QuasiIdentifier("something that others can know of a person"),
    ),
    ("class, label, target", ClassLabel),
];

/// Words for people, whose codes may occur once for each event of a person.
const PEOPLE: &str = "patient, person, people, customer, client, user, member, employee, worker, student, subject, ssn, \
     mrn, citizen, individual, beneficiary, email, pupil, resident, household";

/// Returns the meaning of a name, if it is known.
pub(super) fn meaning(name: &str) -> Option<Meaning> {
    let words = words(name);
    let named = |rules: &str| rules.split(", ").any(|rule| fits(rule, &words));
    RULES
        .iter()
        .find(|(rules, _)| named(rules))
        .map(|(_, meaning)| *meaning)
}

/// Returns true if the name is about people.
pub(super) fn is_person(name: &str) -> bool {
    words(name).iter().any(|w| PEOPLE.split(", ").any(|person| person == w))
}

/// Returns true if the name is about ages.
pub(super) fn is_age(name: &str) -> bool {
    fits("age", &words(name))
}

fn fits(rule: &str, words: &[String]) -> bool {
    if let Some(whole) = rule.strip_prefix('=') {
        return words == [whole];
    }
    let rule: Vec<&str> = rule.split(' ').collect();
    let is = |word: &String, rule: &str| match rule.strip_suffix('*') {
        Some(beginning) => word.starts_with(beginning),
        None => word == rule,
    };
    let in_a_row = words
        .windows(rule.len())
        .any(|w| w.iter().zip(&rule).all(|(word, rule)| is(word, rule)));
    // A name may also be written without a gap, as in `firstname`.
    in_a_row || (rule.len() > 1 && words.iter().any(|w| is(w, &rule.concat())))
}

/// Returns the words of a name, in lower case.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for c in name.chars() {
        let hump = c.is_uppercase() && before.is_lowercase();
        if (hump || !c.is_alphanumeric()) && words.last().is_some_and(|w| !w.is_empty()) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        before = c;
    }
    words.retain(|w| !w.is_empty());
    words
}
