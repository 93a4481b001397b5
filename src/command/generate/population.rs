//! The dependencies between the columns of a person: shares by age, sex, education and origin.
//!
//! The census and the bench table both use these shares. A value is identified by its index in its
//! vocabulary.

use super::draw::Weights;
use super::vocabulary::{self as words, Category};

/// The lowest age.
pub(super) const YOUNGEST: usize = 17;
/// The highest age. It represents all higher ages too.
pub(super) const OLDEST: usize = 90;

/// The shares of each column's values, given other columns of a person.
pub(super) struct Population {
    pub(super) sex: Weights,
    /// The shares of the ages from [`YOUNGEST`] on.
    pub(super) age: Weights,
    pub(super) race: Weights,
    /// The shares of marital statuses by stage of life and sex.
    marital: Vec<Weights>,
    /// The shares of educations by stage of life.
    education: Vec<Weights>,
    /// The shares of native countries by race.
    country: Vec<Weights>,
    /// The shares of classes of work by stage of life.
    workclass: Vec<Weights>,
    /// The shares of occupations by tier of education and sex.
    occupation: Vec<Weights>,
    /// The shares of salary classes by tier of education, stage of life and sex.
    salary: Vec<Weights>,
}

/// The number of stages of life: student, early, middle, late working age, retired.
const STAGES: usize = 5;
/// The number of tiers of education: school, further, higher.
const TIERS: usize = 3;
const SEXES: usize = 2;

impl Population {
    pub(super) fn new() -> Self {
        let stages_and_sexes = || (0..STAGES).flat_map(|stage| (0..SEXES).map(move |sex| (stage, sex)));
        Self {
            sex: plain(words::SEX),
            age: Weights::new((YOUNGEST..=OLDEST).map(age_weight)),
            race: plain(words::RACE),
            marital: stages_and_sexes().map(|(stage, sex)| marital(stage, sex)).collect(),
            education: (0..STAGES).map(education).collect(),
            country: words::RACE.iter().map(|race| country(race.label)).collect(),
            workclass: (0..STAGES).map(workclass).collect(),
            occupation: (0..TIERS * SEXES).map(|i| occupation(i / SEXES, i % SEXES)).collect(),
            salary: (0..TIERS)
                .flat_map(|tier| stages_and_sexes().map(move |(stage, sex)| salary(tier, stage, sex)))
                .collect(),
        }
    }

    /// Returns the shares of the marital statuses for an age (given as its index in `age`) and a
    /// sex.
    pub(super) fn marital(&self, age: usize, sex: usize) -> &Weights {
        &self.marital[stage(age) * SEXES + sex]
    }

    pub(super) fn education(&self, age: usize) -> &Weights {
        &self.education[stage(age)]
    }

    pub(super) fn country(&self, race: usize) -> &Weights {
        &self.country[race]
    }

    pub(super) fn workclass(&self, age: usize) -> &Weights {
        &self.workclass[stage(age)]
    }

    pub(super) fn occupation(&self, education: usize, sex: usize) -> &Weights {
        &self.occupation[tier(education) * SEXES + sex]
    }

    pub(super) fn salary(&self, education: usize, age: usize, sex: usize) -> &Weights {
        &self.salary[(tier(education) * STAGES + stage(age)) * SEXES + sex]
    }
}

fn plain(values: &[Category]) -> Weights {
    Weights::new(values.iter().map(|v| v.weight))
}

/// Returns the distribution of the values, with each base share multiplied by a factor.
fn scaled(values: &[Category], factor: impl Fn(&Category) -> u32) -> Weights {
    Weights::new(values.iter().map(|v| v.weight * factor(v)))
}

fn stage(age: usize) -> usize {
    match age + YOUNGEST {
        ..=23 => 0,
        24..=34 => 1,
        35..=51 => 2,
        52..=65 => 3,
        _ => 4,
    }
}

fn tier(education: usize) -> usize {
    match words::EDUCATION[education].kind() {
        "school" => 0,
        "further" => 1,
        _ => 2,
    }
}

fn age_weight(age: usize) -> u32 {
    let age = age as u32;
    match age {
        ..=22 => 100 + 15 * age,
        23..=40 => 440 - (age - 23),
        41..=65 => 420 - 11 * (age - 41),
        66..=89 => 150 - 6 * (age - 66),
        _ => 14,
    }
}

fn marital(stage: usize, sex: usize) -> Weights {
    scaled(words::MARITAL_STATUS, |v| match (v.label, stage) {
        ("never married", _) => [300, 90, 25, 12, 8][stage],
        ("widowed", _) => [0, 1, 4, 25, 110][stage] * if sex == 0 { 3 } else { 1 },
        ("divorced" | "separated", _) => [2, 16, 40, 40, 20][stage],
        _ => [8, 45, 68, 72, 50][stage],
    })
}

fn education(stage: usize) -> Weights {
    scaled(words::EDUCATION, |v| match (v.kind(), v.groups[0]) {
        (_, "primary school") => [2, 5, 8, 14, 25][stage],
        (_, "some high school") => [24, 7, 8, 12, 18][stage],
        ("school", _) => [10, 10, 10, 11, 11][stage],
        (_, "advanced degree") => [0, 7, 12, 14, 8][stage],
        ("higher", _) => [2, 12, 12, 9, 6][stage],
        _ => [15, 12, 11, 7, 5][stage],
    })
}

fn country(race: &str) -> Weights {
    scaled(words::NATIVE_COUNTRY, |v| {
        if v.label == words::HOME {
            return match race {
                "white" => 40,
                "black" => 30,
                "asian" => 4,
                "indigenous" => 60,
                _ => 5,
            };
        }
        match (race, v.kind(), v.groups[0]) {
            ("white", "Europe", _) | ("asian", "Asia", _) => 30,
            ("black", "Africa", _) | ("black", _, "Caribbean") => 60,
            ("white" | "other" | "indigenous", _, "Central America" | "South America" | "Caribbean") => 20,
            _ => 1,
        }
    })
}

fn workclass(stage: usize) -> Weights {
    scaled(words::WORKCLASS, |v| match v.kind() {
        "private sector" => [14, 12, 10, 9, 8][stage],
        "public sector" => [5, 9, 12, 12, 7][stage],
        _ => [2, 6, 11, 15, 24][stage],
    })
}

fn occupation(tier: usize, sex: usize) -> Weights {
    scaled(words::OCCUPATION, |v| {
        let by_tier = match v.kind() {
            "professional" => [3, 9, 34][tier],
            "office and sales" => [9, 13, 8][tier],
            "services" => [12, 9, 2][tier],
            _ => [17, 9, 2][tier],
        };
        let by_sex = match v.label {
            "clerk" | "care and nursing" | "household help" | "teacher" => [14, 5],
            "craft and repair" | "transport" | "police and fire" | "farming and fishing" => [1, 14],
            "machine operator" => [6, 12],
            _ => [9, 10],
        };
        by_tier * by_sex[sex]
    })
}

fn salary(tier: usize, stage: usize, sex: usize) -> Weights {
    let over = [[1, 9, 18, 18, 8], [2, 16, 32, 32, 14], [6, 36, 62, 62, 34]][tier][stage];
    let over = if sex == 0 { over / 2 } else { over };
    Weights::new([100 - over, over])
}
