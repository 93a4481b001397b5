//! The meanings of column names. Each row of the table has one meaning, and one text of rules per
//! language, separated by commas.
//!
//! The words are in lower case and without accents; `ä`, `ö`, `ü` and `ß` are written as `ae`,
//! `oe`, `ue` and `ss`. A rule consists of one or more consecutive words. A word that ends in `*`
//! matches every word that begins with the text before the `*`. A rule that begins with `=` must
//! match the whole name, and a rule that begins with `+` must match the last word of a name with
//! several words. The first row with a matching rule is used.

/// The meaning of a column name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// One of the identifiers on the Safe Harbor list, with its description.
    Identifier(&'static str),
    /// A code, which identifies people if many of its values are different.
    Code,
    /// Free text, if the column contains text.
    FreeText,
    /// An age.
    Age,
    /// A date or year of birth.
    Birth,
    /// A part of a date that is finer than the year.
    DatePart,
    /// A place that is smaller than a state, or its postal code.
    Place,
    /// Another fact that others can know about a person, with its description.
    QuasiIdentifier(&'static str),
    /// A fact that people do not want others to know, with its description.
    Sensitive(&'static str),
    /// The label that a classifier learns.
    ClassLabel,
}

use Meaning::{Age, Birth, ClassLabel, Code, DatePart, FreeText, Identifier, Place, QuasiIdentifier, Sensitive};

/// The meanings in the order in which they are tried, each with its words in English, German,
/// French and Spanish.
pub(super) const VOCABULARY: &[(Meaning, &[&str])] = &[
    (
        Identifier("an e-mail address (Safe Harbor 6)"),
        &[
            "email, e mail, mail, mailbox",
            "mailadresse, emailadresse",
            "courriel, adresse electronique",
            "correo, correo electronico",
        ],
    ),
    (
        Identifier("an IP address (Safe Harbor 15)"),
        &["ip, ip address, ipv4, ipv6", "ip adresse", "adresse ip", "direccion ip"],
    ),
    (
        Identifier("a device's number (Safe Harbor 13)"),
        &[
            "imei, imsi, udi, mac, mac address, device id, device, serial number, serial no, serial",
            "seriennummer, geraetenummer, geraete id, mac adresse",
            "numero serie, numero de serie, adresse mac",
            "numero de serie, direccion mac",
        ],
    ),
    (
        Identifier("a web address (Safe Harbor 14)"),
        &[
            "url, website, homepage, web address, web page, link",
            "webseite, webadresse",
            "site web",
            "sitio web, pagina web, enlace",
        ],
    ),
    (
        Identifier("a vehicle's number (Safe Harbor 12)"),
        &[
            "vin, license plate, licence plate, number plate, plate, vehicle id, vehicle number",
            "kennzeichen, kfz kennzeichen, fahrgestellnummer, fahrzeugnummer",
            "immatriculation, plaque, plaque immatriculation, numero chassis",
            "matricula, placa, bastidor",
        ],
    ),
    (
        Identifier("a social security or national number (Safe Harbor 7)"),
        &[
            "ssn, social security, social insurance, national id, national insurance, nino, nhs number, bsn, tax id, \
             tax number, tin, pesel, cpf, aadhaar, personnummer",
            "sozialversicherung*, svnr, rvnr, rentenversicherungsnummer, steuer id, steuerid, \
             steuernummer, steueridentifikation*, ahv, personenkennzeichen",
            "nss, nir, securite sociale, numero insee, insee, numero fiscal",
            "dni, nie, nif, seguridad social, nuss, curp, rfc, cedula, rut, identificacion fiscal",
        ],
    ),
    (
        Identifier("a medical record number (Safe Harbor 8)"),
        &[
            "mrn, medical record, health record, chart number, record number, patient id, patient no, patient number, \
             =patient, subject id, hadm id, case number, encounter id, visit id, admission id",
            "patientennummer, patienten id, patientid, pat nummer, pat id, fallnummer, fall id, aktenzeichen, \
             aufnahmenummer",
            "numero patient, id patient, ipp, numero dossier, dossier medical",
            "id paciente, =paciente, numero paciente, historia clinica, expediente",
        ],
    ),
    (
        Identifier("a health plan's number (Safe Harbor 9)"),
        &[
            "beneficiary, member id, member number, policy number, policy no, policy id, insured id, insurance number, \
             insurance id, plan number, medicare, medicaid, health plan",
            "versichertennummer, versicherten id, versicherungsnummer, kvnr, krankenversicherungsnummer, \
             policennummer, mitgliedsnummer",
            "numero assure, numero adherent, numero police, carte vitale",
            "numero poliza, poliza, numero asegurado, tarjeta sanitaria, numero afiliado",
        ],
    ),
    (
        Identifier("an account number (Safe Harbor 10)"),
        &[
            "account number, account no, account id, account, acct, iban, card number, credit card, customer id, \
             customer number, client id, client number",
            "kontonummer, konto, kreditkarte*, kartennummer, kundennummer, kunden id",
            "numero compte, compte bancaire, rib, carte bancaire, numero client, id client",
            "cuenta bancaria, numero cuenta, numero de cuenta, tarjeta credito, tarjeta de credito, id cliente, \
             numero cliente",
        ],
    ),
    (
        Identifier("a certificate or licence number (Safe Harbor 11)"),
        &[
            "license, licence, license number, certificate, passport, permit, driver license, npi, dea",
            "ausweis*, personalausweis*, reisepass*, fuehrerschein*, passnummer, lanr",
            "passeport, permis conduire, permis de conduire, carte identite, cni, rpps",
            "pasaporte, permiso conducir, carnet, licencia",
        ],
    ),
    (
        Identifier("a telephone number (Safe Harbor 4)"),
        &[
            "phone, telephone, mobile, cell, tel, cellphone, msisdn",
            "telefon*, handy, handynummer, mobil, mobilnummer, festnetz, rufnummer",
            "portable, numero telephone",
            "telefono, movil, celular",
        ],
    ),
    (
        Identifier("a fax number (Safe Harbor 5)"),
        &["fax", "faxnummer", "telecopie"],
    ),
    (
        Identifier("biometric data (Safe Harbor 16)"),
        &[
            "fingerprint, voiceprint, faceprint, retina, iris scan, biometric*, palm print, dna, genome",
            "fingerabdruck, biometri*, genom",
            "empreinte*, biometri*",
            "huella*, biometri*",
        ],
    ),
    (
        Identifier("a photograph (Safe Harbor 17)"),
        &[
            "photo*, image, picture, portrait, avatar, selfie",
            "foto*, lichtbild, bild",
            "cliche",
            "imagen, retrato",
        ],
    ),
    (
        Identifier("an account of a person (Safe Harbor 18)"),
        &[
            "user name, username, login, user id, handle, password, cookie, token, session id",
            "benutzername, benutzer id, nutzername, passwort, kennwort",
            "identifiant, nom utilisateur, mot de passe",
            "usuario, nombre usuario, contrasena",
        ],
    ),
    (
        Identifier("the name of a person (Safe Harbor 1)"),
        &[
            "first name, last name, full name, given name, family name, maiden name, middle name, surname, lastname, \
             forename, nickname, patient name, person name, customer name, client name, employee name, student name, \
             mother name, father name, contact name, spouse name, child name, doctor name, physician name, nurse name, \
             author name, birth name, =name, =names",
            "vorname*, nachname*, familienname*, zuname, geburtsname*, rufname, spitzname, vollstaendiger name, \
             mutter name, vater name, ansprechpartner, patientenname, kundenname, arztname",
            "prenom*, nom famille, nom de famille, nom naissance, nom de naissance, nom usage, nom complet, nom patient, \
             =nom, =noms",
            "=nombre, =nombres, apellido*, nombre completo, nombre paciente, primer nombre, segundo nombre",
        ],
    ),
    (
        Identifier("a place finer than a town (Safe Harbor 2)"),
        &[
            "address, addr, street, house number, latitude, longitude, lat, lon, lng, gps, geo, geolocation, coordinates",
            "adresse, anschrift, strasse, str, hausnummer, wohnadresse, breitengrad, laengengrad, koordinaten",
            "rue, voie, domicile, coordonnees",
            "direccion, calle, domicilio, latitud, longitud, coordenadas",
        ],
    ),
    // Values that Safe Harbor 2 and 3 limit. The other words in the name do not matter: an age at
    // diagnosis is also an age.
    (
        Place,
        &[
            "zip*, postal*, postcode, post code, plz, city, town, village, county, district, precinct, municipality, \
             neighborhood, neighbourhood, parish, census tract, birthplace, place of birth, birth place, birth city",
            "postleitzahl, geburtsort, ort, wohnort, stadt, stadtteil, gemeinde, kreis, landkreis, bezirk, ortsteil",
            "cp, lieu naissance, lieu de naissance, ville, commune, departement, arrondissement, quartier, canton",
            "cp, lugar nacimiento, lugar de nacimiento, ciudad, municipio, localidad, barrio, poblacion, comarca, distrito",
        ],
    ),
    (
        Age,
        &[
            "age, ages, age group, age range, age band, age bracket, age class, age category, age cat, age years, age yrs, \
             years old, yrs old",
            "alter, lebensalter, altersgruppe, altersklasse",
            "tranche age",
            "edad, grupo edad",
        ],
    ),
    (
        QuasiIdentifier("a country of birth"),
        &[
            "birth country, country of birth",
            "geburtsland",
            "pays naissance, pays de naissance",
            "pais nacimiento, pais de nacimiento",
        ],
    ),
    (
        DatePart,
        &[
            "=month, =day, =weekday, =quarter, day of week, day of month, admission month, discharge month, visit month, admission day, \
             discharge day, visit day, admission week, discharge week, visit week",
            "=monat, =wochentag, =quartal, =kalenderwoche",
            "=mois, =jour, =trimestre",
            "=mes, =dia, =trimestre",
        ],
    ),
    (
        Birth,
        &[
            "birth*, dob, yob, date of birth, born",
            "geburt*, geb, gebdatum, gebdat, geb datum, jahrgang",
            "naissance, ne le, nee le",
            "nacimiento, fecha nac, nacido*, fnac",
        ],
    ),
    (
        Code,
        &["id, uuid, guid, identifier", "kennung, vorgang*, geschaeftszeichen"],
    ),
    (
        FreeText,
        &[
            "note, notes, comment*, remark*, free text, narrative, memo",
            "bemerkung*, kommentar*, freitext*, notiz*, anmerkung*, anamnese, arztbrief, beschreibung",
            "commentaire*, remarque*, texte libre, compte rendu",
            "comentario*, observaciones, notas, texto libre, descripcion",
        ],
    ),
    (
        Sensitive("financial data"),
        &[
            "salary*, income, wage*, earning*, payment, debt*, loan*, credit*, balance, capital, asset*, wealth, cost*, \
             charge*, amount, price, expens*, spend*, limit amt, bill amt*, pay amt*",
            "gehalt*, einkommen*, lohn*, verdienst, schulden, kredit*, vermoegen, kosten, betrag*, rechnungsbetrag*, gesamtbetrag*, kontostand, preis, miete",
            "salaire*, revenu*, remuneration, dette*, pret, solde, montant, cout*, patrimoine, loyer",
            "salario*, sueldo, ingreso*, renta, deuda*, prestamo*, saldo, importe, coste*, costo*, patrimonio, alquiler",
        ],
    ),
    (
        Sensitive("health data (GDPR article 9)"),
        &[
            "diagnos*, diseas*, illness*, condition*, disorder*, icd*, symptom*, medicat*, medicine*, drug*, treat*, \
             therap*, procedure*, surg*, prescri*, dose, lab, test result, result*, hiv, cancer*, tumor*, tumour*, \
             allerg*, blood*, glucose, insulin, cholesterol, bmi, hba1c, pressure, heart rate, pulse, skin thickness, \
             pregnan*, diabet*, outcome*, mortality, disabil*, mental, psych*, smok*, alcohol*, genetic*, gene, abuse, \
             addict*, vaccin*",
            "hauptdiagnos*, nebendiagnos*, krank*, erkrankung*, befund*, beschwerde*, medikament*, behandlung*, eingriff*, operation*, labor*, krebs*, \
             blut*, puls, herzfrequenz, schwanger*, behinderung*, raucher*, rauchen, impf*, pflegegrad, todesursache",
            "maladie*, pathologie*, symptome*, medicament*, traitement*, chirurgi*, ordonnance*, tabac, tabagisme, \
             fumeur*, grossesse*, handicap*, sang, tension, glycemie, resultat*",
            "enfermedad*, patologia*, sintoma*, medicament*, tratamiento*, cirugia*, receta*, fumador*, tabaco, \
             embarazo*, discapacidad*, sangre, tension, alergia*, resultado*",
        ],
    ),
    (
        Sensitive("a special category of data (GDPR article 9)"),
        &[
            "religio*, belief*, faith, politic*, party, vote*, union, sexual*, orientation",
            "konfession*, glaube*, glauben, bekenntnis, partei*, gewerkschaft*, weltanschauung",
            "croyance*, confession, parti, syndicat*, politique*",
            "creencia*, confesion, partido, sindicat*, politica*",
        ],
    ),
    (
        Sensitive("an assessment of a person"),
        &[
            "crime*, criminal*, offen*, convict*, arrest*, violat*, grade*, score*, gpa, exam*, rating",
            "straftat*, vorstrafe*, delikt*, verurteil*, zensur*, schulnote*, punktzahl, beurteilung*, bewertung*",
            "infraction*, condamnation*, delit*, evaluation*",
            "delito*, condena*, antecedentes, calificacion*, evaluacion*",
        ],
    ),
    (
        QuasiIdentifier("an attribute that others may know"),
        &[
            "sex, gender, race, ethnic*, ancestry, state, province, region, country, nation*, citizen*, language*, \
             education*, degree, school, university, marital*, marriage, married, relationship, family, household, children, kids, \
             occupation*, job, profession*, employer, company, workclass, work class, industry, department, position, \
             title, height, weight, eye*, hair*, veteran, military, housing, hours, migrat*, nativity, tenure",
            "geschlecht, anrede, titel, staatsangehoerigkeit, staatsbuergerschaft, nationalitaet, herkunft*, sprache, \
             muttersprache, land, bundesland, bildung*, abschluss, schulabschluss, schule, familienstand, verheiratet, \
             kinder, kinderzahl, haushalt*, beruf*, taetigkeit, arbeitgeber, firma, branche, abteilung, stellung, \
             groesse, koerpergroesse, gewicht, augenfarbe, haarfarbe, migrationshintergrund, wohnform",
            "sexe, genre, civilite, nationalite, citoyennete, origine*, langue, pays, diplome, etudes, niveau etudes, \
             ecole, etat civil, situation familiale, situation matrimoniale, enfants, menage, metier, emploi, csp, \
             employeur, entreprise, secteur, taille, poids",
            "sexo, genero, nacionalidad, ciudadania, origen, etnia, raza, idioma, lengua, pais, provincia, estudios, \
             nivel estudios, educacion, escuela, universidad, estado civil, casado, hijos, hogar, profesion, ocupacion, \
             empleo, trabajo, empleador, empresa, sector, estatura, altura, peso",
        ],
    ),
    (
        ClassLabel,
        &["class, label, target", "klasse, zielgroesse", "classe", "clase"],
    ),
    // A number of something that no earlier row names, as in `room_number`.
    (Code, &["+number"]),
];

/// Words for people. A code for a person may occur in several rows, one for each event.
pub(super) const PEOPLE: &[&str] = &[
    "patient, person, people, customer, client, user, member, employee, worker, student, subject, ssn, mrn, citizen, \
     individual, beneficiary, email, pupil, resident, household",
    "patienten, pat nummer, pat id, kunde, kunden, mitarbeiter, schueler, versicherten, \
     versichertennummer, kvnr, personalnummer, haushalt",
    "patiente, personne, salarie, eleve, assure, nss, nir",
    "paciente, persona, cliente, empleado, alumno, dni, asegurado",
];

/// Words for postal codes in English, as used in the United States.
pub(super) const POSTCODES: &[&str] = &["zip*, postal*, postcode, post code"];

/// Words for postal codes in other languages.
pub(super) const FOREIGN_POSTCODES: &[&str] = &["plz, postleitzahl", "cp, code postal", "cp, codigo postal"];
