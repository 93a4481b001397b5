//! Invented diagnoses with codes in the form of the ICD (letter, two digits), blocks and chapters.

use super::draw::Weights;

/// A chapter of diagnoses.
pub(super) struct Chapter {
    letter: char,
    pub(super) title: &'static str,
    /// The ward that treats most of the chapter's diagnoses, as an index into [`WARDS`].
    pub(super) ward: usize,
    /// The typical cost of a visit, in dollars.
    pub(super) cost: u32,
    /// The blocks of the chapter: the first code, and the number of consecutive codes in use.
    blocks: &'static [(u32, u32)],
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

pub(super) const CHAPTERS: &[Chapter] = &[
    chapter('H', "heart and vessels", 1, 2_600, &[(0, 4), (10, 6), (20, 5), (60, 4)]),
    chapter('L', "lungs and airways", 1, 1_300, &[(0, 6), (20, 5), (40, 4)]),
    chapter('D', "digestion", 2, 1_900, &[(0, 4), (20, 5), (40, 4), (50, 4)]),
    chapter('B', "bones and joints", 2, 2_100, &[(0, 5), (10, 4), (40, 4)]),
    chapter('N', "nerves", 1, 2_300, &[(0, 3), (20, 4), (40, 5)]),
    chapter('M', "mind", 5, 1_700, &[(10, 4), (30, 6), (40, 5)]),
    chapter('E', "hormones and metabolism", 1, 900, &[(0, 4), (10, 4), (60, 5)]),
    chapter('C', "tumours", 6, 5_200, &[(10, 5), (30, 4), (50, 5), (80, 4)]),
    chapter('I', "infections", 1, 1_100, &[(0, 5), (20, 5)]),
    chapter('S', "skin", 1, 500, &[(0, 4), (20, 4)]),
    chapter('P', "pregnancy and birth", 4, 2_400, &[(0, 4), (20, 5), (80, 4)]),
    chapter('X', "injuries", 0, 1_500, &[(0, 5), (20, 5), (60, 6)]),
];

const fn chapter(letter: char, title: &'static str, ward: usize, cost: u32, blocks: &'static [(u32, u32)]) -> Chapter {
    Chapter {
        letter,
        title,
        ward,
        cost,
        blocks,
    }
}

/// A diagnosis: its code, its block and the index of its chapter.
pub(super) struct Diagnosis {
    pub(super) code: String,
    pub(super) block: String,
    pub(super) chapter: usize,
}

/// Returns all diagnoses in the order of the chapters.
pub(super) fn diagnoses() -> Vec<Diagnosis> {
    let in_chapter = |(at, chapter): (usize, &'static Chapter)| {
        let letter = chapter.letter;
        chapter.blocks.iter().flat_map(move |(first, count)| {
            (*first..first + count).map(move |code| Diagnosis {
                code: format!("{letter}{code:02}"),
                block: format!("{letter}{first:02}-{letter}{:02}", first + 9),
                chapter: at,
            })
        })
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
    Weights::new(CHAPTERS.iter().map(|chapter| match chapter.letter {
        'H' => [2, 12, 60, 130][band],
        'L' => [90, 30, 35, 60][band],
        'D' => [40, 45, 50, 45][band],
        'B' => [10, 40, 60, 70][band],
        'N' => [10, 20, 25, 40][band],
        'M' => [12, 50, 35, 20][band],
        'E' => [12, 20, 45, 50][band],
        'C' => [2, 8, 40, 60][band],
        'I' => [80, 30, 20, 25][band],
        'S' => [20, 20, 12, 12][band],
        'P' if female => [1, 90, 1, 1][band],
        'P' => 1,
        _ => [70, 60, 35, 45][band],
    }))
}
