//! Diagnoses with codes of ICD-10-CM (2024): a few codes from each block, with 3 to 8 characters.
//! The shares of the diagnoses are invented.

use super::draw::Weights;

/// A chapter of ICD-10-CM.
pub(super) struct Chapter {
    pub(super) title: &'static str,
    /// The ward that treats most of the chapter's diagnoses, as an index into [`WARDS`].
    pub(super) ward: usize,
    /// The typical cost of a visit, in dollars.
    pub(super) cost: u32,
    /// The share of the chapter among the visits of children, adults up to 44, adults up to 64, and
    /// older adults.
    shares: [u32; 4],
    /// The blocks of the chapter: the first and the last category, and the codes in use.
    blocks: &'static [(&'static str, &'static [&'static str])],
}

pub(super) const WARDS: &[&str] = &[
    "emergency",
    "internal medicine",
    "surgery",
    "children",
    "maternity",
    "psychiatry",
    "oncology",
    "intensive care",
];

pub(super) const INSURERS: &[&str] = &["public fund", "workers fund", "private", "student plan", "none"];

const MATERNITY: usize = 4;

pub(super) const CHAPTERS: &[Chapter] = &[
    Chapter {
        title: "heart and vessels",
        ward: 1,
        cost: 2_600,
        shares: [2, 12, 60, 130],
        blocks: &[
            ("I10-I1A", &["I10", "I11.0", "I11.9", "I15.9"]),
            ("I20-I25", &["I20.0", "I20.9", "I21.4", "I21.9", "I25.10", "I25.110"]),
            ("I30-I5A", &["I34.0", "I42.0", "I48.0", "I48.91", "I50.9"]),
            ("I60-I69", &["I61.9", "I63.9", "I67.9", "I69.354"]),
        ],
    },
    Chapter {
        title: "lungs and airways",
        ward: 1,
        cost: 1_300,
        shares: [90, 30, 35, 60],
        blocks: &[
            ("J00-J06", &["J00", "J01.90", "J02.9", "J03.90", "J04.0", "J06.9"]),
            ("J09-J18", &["J10.1", "J11.1", "J15.9", "J18.0", "J18.9"]),
            ("J40-J4A", &["J40", "J44.1", "J44.9", "J45.909"]),
        ],
    },
    Chapter {
        title: "digestion",
        ward: 2,
        cost: 1_900,
        shares: [40, 45, 50, 45],
        blocks: &[
            ("K20-K31", &["K21.9", "K25.9", "K29.70", "K30"]),
            ("K35-K38", &["K35.20", "K35.30", "K35.80", "K36", "K37"]),
            ("K40-K46", &["K40.90", "K42.9", "K43.9", "K44.9"]),
            ("K50-K52", &["K50.90", "K51.90", "K52.1", "K52.9"]),
        ],
    },
    Chapter {
        title: "bones and joints",
        ward: 2,
        cost: 2_100,
        shares: [10, 40, 60, 70],
        blocks: &[
            ("M15-M19", &["M16.0", "M16.9", "M17.0", "M17.9", "M19.90"]),
            ("M20-M25", &["M20.10", "M21.40", "M25.50", "M25.561"]),
            ("M50-M54", &["M50.20", "M51.26", "M54.2", "M54.50"]),
        ],
    },
    Chapter {
        title: "nerves",
        ward: 1,
        cost: 2_300,
        shares: [10, 20, 25, 40],
        blocks: &[
            ("G20-G26", &["G20.C", "G24.9", "G25.0"]),
            ("G30-G32", &["G30.0", "G30.9", "G31.84", "G31.9"]),
            ("G40-G47", &["G40.909", "G43.909", "G44.209", "G45.9", "G47.33"]),
        ],
    },
    Chapter {
        title: "mind",
        ward: 5,
        cost: 1_700,
        shares: [12, 50, 35, 20],
        blocks: &[
            ("F10-F19", &["F10.10", "F10.20", "F11.20", "F17.210"]),
            ("F30-F39", &["F31.9", "F32.0", "F32.9", "F32.A", "F33.1", "F33.9"]),
            ("F40-F48", &["F40.10", "F41.1", "F41.9", "F43.10", "F43.21"]),
        ],
    },
    Chapter {
        title: "hormones and metabolism",
        ward: 1,
        cost: 900,
        shares: [12, 20, 45, 50],
        blocks: &[
            ("E00-E07", &["E03.9", "E04.1", "E05.00", "E06.3"]),
            ("E08-E13", &["E10.9", "E11.40", "E11.65", "E11.9"]),
            ("E70-E88", &["E78.00", "E78.1", "E78.5", "E86.0", "E87.6"]),
        ],
    },
    Chapter {
        title: "tumours",
        ward: 6,
        cost: 5_200,
        shares: [2, 8, 40, 60],
        blocks: &[
            ("C15-C26", &["C16.9", "C18.9", "C20", "C22.0", "C25.9"]),
            ("C30-C39", &["C32.9", "C34.11", "C34.90", "C37"]),
            ("C64-C68", &["C64.1", "C64.9", "C66.1", "C67.9", "C68.0"]),
            ("C81-C96", &["C81.90", "C83.30", "C85.90", "C91.00"]),
        ],
    },
    Chapter {
        title: "infections",
        ward: 1,
        cost: 1_100,
        shares: [80, 30, 20, 25],
        blocks: &[
            ("A00-A09", &["A02.0", "A04.72", "A08.0", "A08.4", "A09"]),
            ("B00-B09", &["B00.9", "B01.9", "B02.9", "B08.1", "B09"]),
        ],
    },
    Chapter {
        title: "skin",
        ward: 1,
        cost: 500,
        shares: [20, 20, 12, 12],
        blocks: &[
            ("L00-L08", &["L01.00", "L02.91", "L03.90", "L08.9"]),
            ("L20-L30", &["L20.9", "L23.9", "L25.9", "L30.9"]),
        ],
    },
    Chapter {
        title: "pregnancy and birth",
        ward: MATERNITY,
        cost: 2_400,
        shares: [1, 90, 1, 1],
        blocks: &[
            ("O10-O16", &["O10.919", "O13.9", "O14.90", "O16.9"]),
            ("O20-O29", &["O20.0", "O21.0", "O23.40", "O24.410", "O26.90"]),
            ("O60-O77", &["O60.10X0", "O62.0", "O70.0", "O72.1"]),
        ],
    },
    Chapter {
        title: "injuries",
        ward: 0,
        cost: 1_500,
        shares: [70, 60, 35, 45],
        blocks: &[
            ("S00-S09", &["S00.03XA", "S01.01XA", "S02.2XXA", "S06.0X0A", "S09.90XA"]),
            ("S60-S69", &["S60.221A", "S61.419A", "S62.101A", "S63.501A", "S69.91XA"]),
            (
                "S80-S89",
                &["S80.01XA", "S82.001A", "S82.891A", "S83.511A", "S86.011A", "S89.91XA"],
            ),
        ],
    },
];

/// A diagnosis: its code, its block and the index of its chapter.
pub(super) struct Diagnosis {
    pub(super) code: &'static str,
    pub(super) block: &'static str,
    pub(super) chapter: usize,
}

/// Returns all diagnoses in the order of the chapters.
pub(super) fn diagnoses() -> Vec<Diagnosis> {
    let in_chapter = |(chapter, of): (usize, &'static Chapter)| {
        of.blocks
            .iter()
            .flat_map(move |(block, codes)| codes.iter().map(move |code| Diagnosis { code, block, chapter }))
    };
    CHAPTERS.iter().enumerate().flat_map(in_chapter).collect()
}

/// Returns the shares of the chapters by age and sex.
pub(super) fn chapter_weights(age: usize, female: bool) -> Weights {
    let band = match age {
        0..=15 => 0,
        16..=44 => 1,
        45..=64 => 2,
        _ => 3,
    };
    Weights::new(CHAPTERS.iter().map(|chapter| match chapter.ward {
        MATERNITY if !female => 1,
        _ => chapter.shares[band],
    }))
}
