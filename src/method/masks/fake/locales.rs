//! The lists from which FAKE draws: common names, and telephone numbers that are never assigned.
//!
//! The names are among the most common ones in each country according to its statistics office.
//! They have no accents, because mail addresses are formed from the same letters. The lists must
//! not change, so that every release with the same secret has the same names.

/// The names and telephone numbers of one country.
#[derive(Debug)]
pub(super) struct Locale {
    /// The text that may follow LOCALE.
    pub(super) word: &'static str,
    pub(super) forenames: &'static [&'static str],
    pub(super) surnames: &'static [&'static str],
    /// Forms of telephone numbers, in which each `#` stands for any digit.
    pub(super) telephones: &'static [&'static str],
}

/// Every locale. The first one is the default.
pub(super) const LOCALES: &[Locale] = &[EN, DE, FR];

/// Names from the United States, and telephone numbers reserved for fiction: 555-0100 to 555-0199
/// in any area code (ATIS-0300115).
const EN: Locale = Locale {
    word: "en",
    #[rustfmt::skip]
    forenames: &[
        "James", "Mary", "Robert", "Patricia", "John", "Jennifer", "Michael", "Linda", "David", "Elizabeth",
        "William", "Barbara", "Richard", "Susan", "Joseph", "Jessica", "Thomas", "Sarah", "Charles", "Karen",
        "Christopher", "Lisa", "Daniel", "Nancy", "Matthew", "Betty", "Anthony", "Margaret", "Mark", "Sandra",
        "Donald", "Ashley", "Steven", "Kimberly", "Paul", "Emily", "Andrew", "Donna", "Joshua", "Michelle",
        "Kenneth", "Carol", "Kevin", "Amanda", "Brian", "Dorothy", "George", "Melissa", "Edward", "Deborah",
        "Ronald", "Stephanie", "Timothy", "Rebecca", "Jason", "Sharon", "Jeffrey", "Laura", "Ryan", "Cynthia",
        "Jacob", "Kathleen", "Gary", "Amy", "Nicholas", "Angela", "Eric", "Shirley", "Jonathan", "Anna",
        "Stephen", "Brenda", "Larry", "Pamela", "Justin", "Emma", "Scott", "Nicole", "Brandon", "Helen",
        "Benjamin", "Samantha", "Samuel", "Katherine", "Gregory", "Christine", "Frank", "Debra", "Alexander",
        "Rachel", "Raymond", "Carolyn", "Patrick", "Janet", "Jack", "Catherine", "Dennis", "Maria", "Jerry",
        "Heather",
    ],
    #[rustfmt::skip]
    surnames: &[
        "Smith", "Johnson", "Williams", "Brown", "Jones", "Garcia", "Miller", "Davis", "Rodriguez",
        "Martinez", "Hernandez", "Lopez", "Gonzalez", "Wilson", "Anderson", "Thomas", "Taylor", "Moore",
        "Jackson", "Martin", "Lee", "Perez", "Thompson", "White", "Harris", "Sanchez", "Clark", "Ramirez",
        "Lewis", "Robinson", "Walker", "Young", "Allen", "King", "Wright", "Scott", "Torres", "Nguyen",
        "Hill", "Flores", "Green", "Adams", "Nelson", "Baker", "Hall", "Rivera", "Campbell", "Mitchell",
        "Carter", "Roberts", "Gomez", "Phillips", "Evans", "Turner", "Diaz", "Parker", "Cruz", "Edwards",
        "Collins", "Reyes", "Stewart", "Morris", "Morales", "Murphy", "Cook", "Rogers", "Gutierrez", "Ortiz",
        "Morgan", "Cooper", "Peterson", "Bailey", "Reed", "Kelly", "Howard", "Ramos", "Kim", "Cox", "Ward",
        "Richardson", "Watson", "Brooks", "Chavez", "Wood", "James", "Bennett", "Gray", "Mendoza", "Ruiz",
        "Hughes", "Price", "Alvarez", "Castillo", "Sanders", "Patel", "Myers", "Long", "Ross", "Foster",
    ],
    telephones: &[
        "+1-201-555-01##",
        "+1-202-555-01##",
        "+1-203-555-01##",
        "+1-205-555-01##",
        "+1-206-555-01##",
        "+1-207-555-01##",
        "+1-208-555-01##",
        "+1-209-555-01##",
        "+1-210-555-01##",
        "+1-212-555-01##",
        "+1-213-555-01##",
        "+1-214-555-01##",
        "+1-215-555-01##",
        "+1-216-555-01##",
        "+1-217-555-01##",
        "+1-218-555-01##",
        "+1-219-555-01##",
        "+1-224-555-01##",
        "+1-225-555-01##",
        "+1-228-555-01##",
        "+1-229-555-01##",
        "+1-231-555-01##",
        "+1-234-555-01##",
        "+1-239-555-01##",
    ],
};

/// Names from Germany, and telephone numbers reserved for films (Bundesnetzagentur, Mitteilung
/// 148/2021).
const DE: Locale = Locale {
    word: "de",
    #[rustfmt::skip]
    forenames: &[
        "Peter", "Ursula", "Wolfgang", "Monika", "Michael", "Petra", "Werner", "Elisabeth", "Klaus", "Sabine",
        "Thomas", "Renate", "Manfred", "Helga", "Helmut", "Karin", "Juergen", "Brigitte", "Heinz", "Ingrid",
        "Gerhard", "Erika", "Andreas", "Andrea", "Hans", "Gisela", "Josef", "Claudia", "Guenter", "Susanne",
        "Dieter", "Gabriele", "Horst", "Christa", "Walter", "Christine", "Frank", "Hildegard", "Bernd",
        "Anna", "Karl", "Birgit", "Herbert", "Barbara", "Franz", "Gertrud", "Martin", "Martina", "Uwe",
        "Heike", "Georg", "Marianne", "Heinrich", "Elke", "Stefan", "Irmgard", "Christian", "Maria",
        "Karlheinz", "Gerda", "Rudolf", "Angelika", "Kurt", "Silvia", "Hermann", "Margarete", "Johann",
        "Kerstin", "Wilhelm", "Ruth", "Siegfried", "Ute", "Rolf", "Edith", "Joachim", "Stefanie", "Friedrich",
        "Hannelore", "Alfred", "Cornelia", "Lukas", "Johanna", "Jonas", "Lena", "Felix", "Julia", "Paul",
        "Katharina", "Leon", "Laura", "Maximilian", "Sophie", "Tobias", "Lea", "Jan", "Nina", "Florian",
        "Marie", "Sebastian", "Franziska",
    ],
    #[rustfmt::skip]
    surnames: &[
        "Mueller", "Schmidt", "Schneider", "Fischer", "Weber", "Meyer", "Wagner", "Becker", "Schulz",
        "Hoffmann", "Schaefer", "Koch", "Bauer", "Richter", "Klein", "Wolf", "Schroeder", "Neumann",
        "Schwarz", "Zimmermann", "Braun", "Krueger", "Hofmann", "Hartmann", "Lange", "Schmitt", "Werner",
        "Schmitz", "Krause", "Meier", "Lehmann", "Schmid", "Schulze", "Maier", "Koehler", "Herrmann",
        "Koenig", "Walter", "Mayer", "Huber", "Kaiser", "Fuchs", "Peters", "Lang", "Scholz", "Moeller",
        "Weiss", "Jung", "Hahn", "Schubert", "Vogel", "Friedrich", "Keller", "Guenther", "Frank", "Berger",
        "Winkler", "Roth", "Beck", "Lorenz", "Baumann", "Franke", "Albrecht", "Schuster", "Simon", "Ludwig",
        "Boehm", "Winter", "Kraus", "Martin", "Schumacher", "Kraemer", "Vogt", "Stein", "Jaeger", "Otto",
        "Sommer", "Gross", "Seidel", "Heinrich", "Brandt", "Haas", "Schreiber", "Graf", "Schulte", "Dietrich",
        "Ziegler", "Kuhn", "Kuehn", "Pohl", "Engel", "Horn", "Busch", "Bergmann", "Thomas", "Voigt", "Sauer",
        "Arnold", "Wolff", "Pfeiffer",
    ],
    telephones: &[
        "+49 30 23125###",
        "+49 69 90009###",
        "+49 40 66969###",
        "+49 221 4710###",
        "+49 89 99998###",
    ],
};

/// Names from France, and telephone numbers reserved for films (Arcep, decision 2018-0881).
const FR: Locale = Locale {
    word: "fr",
    #[rustfmt::skip]
    forenames: &[
        "Jean", "Marie", "Pierre", "Jeanne", "Michel", "Francoise", "Andre", "Monique", "Philippe",
        "Catherine", "Rene", "Nathalie", "Louis", "Isabelle", "Alain", "Jacqueline", "Jacques", "Anne",
        "Bernard", "Sylvie", "Marcel", "Martine", "Daniel", "Madeleine", "Roger", "Nicole", "Robert",
        "Suzanne", "Paul", "Helene", "Claude", "Christine", "Christian", "Marguerite", "Henri", "Denise",
        "Georges", "Louise", "Nicolas", "Christiane", "Francois", "Yvonne", "Patrick", "Valerie", "Gerard",
        "Sophie", "Christophe", "Stephanie", "Joseph", "Veronique", "Julien", "Marcelle", "Maurice", "Simone",
        "Laurent", "Celine", "Frederic", "Chantal", "Eric", "Patricia", "David", "Brigitte", "Stephane",
        "Annie", "Pascal", "Julie", "Sebastien", "Aurelie", "Alexandre", "Laurence", "Thierry", "Germaine",
        "Olivier", "Camille", "Antoine", "Christelle", "Raymond", "Cecile", "Guillaume", "Virginie",
        "Dominique", "Emilie", "Serge", "Sandrine", "Thomas", "Laura", "Vincent", "Pauline", "Yves", "Marine",
        "Maxime", "Lea", "Benoit", "Claire", "Romain", "Manon", "Bruno", "Mathilde", "Hugo", "Chloe",
    ],
    #[rustfmt::skip]
    surnames: &[
        "Martin", "Bernard", "Thomas", "Petit", "Robert", "Richard", "Durand", "Dubois", "Moreau", "Laurent",
        "Simon", "Michel", "Lefebvre", "Leroy", "Roux", "David", "Bertrand", "Morel", "Fournier", "Girard",
        "Bonnet", "Dupont", "Lambert", "Fontaine", "Rousseau", "Vincent", "Muller", "Lefevre", "Faure",
        "Andre", "Mercier", "Blanc", "Guerin", "Boyer", "Garnier", "Chevalier", "Francois", "Legrand",
        "Gauthier", "Garcia", "Perrin", "Robin", "Clement", "Morin", "Nicolas", "Henry", "Roussel", "Mathieu",
        "Gautier", "Masson", "Marchand", "Duval", "Denis", "Dumont", "Marie", "Lemaire", "Noel", "Meyer",
        "Dufour", "Meunier", "Brun", "Blanchard", "Giraud", "Joly", "Riviere", "Lucas", "Brunet", "Gaillard",
        "Barbier", "Arnaud", "Martinez", "Gerard", "Roche", "Renard", "Schmitt", "Roy", "Leroux", "Colin",
        "Vidal", "Caron", "Picard", "Roger", "Fabre", "Aubert", "Lemoine", "Renaud", "Dumas", "Lacroix",
        "Olivier", "Philippe", "Bourgeois", "Pierre", "Benoit", "Rey", "Leclerc", "Payet", "Rolland",
        "Leclercq", "Guillaume", "Lecomte",
    ],
    telephones: &[
        "+33 1 99 00 ## ##",
        "+33 2 61 91 ## ##",
        "+33 3 53 01 ## ##",
        "+33 4 65 71 ## ##",
        "+33 5 36 49 ## ##",
        "+33 6 39 98 ## ##",
    ],
};
