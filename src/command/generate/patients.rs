//! A hospital table: one row per visit, several per patient. All visits of a patient have the same
//! name, sex, year of birth, zip and insurer.
//!
//! Visits are divided into blocks of [`BLOCK_VISITS`], which [`BLOCK_PATIENTS`] patients share
//! unevenly. Therefore, each block can be generated without the others.

use super::census::{CategoryCodes, ZipCodes, category, days};
use super::draw::{Weights, below, chance, low, stream};
use super::medical::{CHAPTERS, Diagnosis, INSURERS, WARDS, chapter_weights, diagnoses};
use super::names::full_name;
use super::write::GeneratedRows;
use crate::base::error::Result;
use arrow::array::{ArrayRef, Decimal128Builder, Int32Builder, StringBuilder, TimestampMicrosecondBuilder};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow::record_batch::RecordBatch;
use rand::Rng;
use std::ops::Range;
use std::sync::Arc;

const BLOCK_VISITS: u64 = 64;
const BLOCK_PATIENTS: u64 = 24;
/// The first of the two years of the visits.
const FIRST_YEAR: i32 = 2024;
const EMERGENCY: usize = 0;
const CHILDREN: usize = 3;
const INTENSIVE_CARE: usize = 7;

pub(super) struct Patients {
    seed: u64,
    sex: Weights,
    age: Weights,
    /// The shares of the chapters of diagnoses by decade of age and sex (male, female).
    chapters: Vec<[Weights; 2]>,
    diagnoses: Vec<Diagnosis>,
    /// For each chapter, the index of its first diagnosis and the shares of its diagnoses.
    in_chapter: Vec<(usize, Weights)>,
    zips: ZipCodes,
}

struct Patient {
    id: String,
    name: String,
    birth_year: i32,
    sex: usize,
    zip: String,
    insurer: usize,
    /// The index of the patient's usual diagnosis, which most of the visits have.
    lasting: usize,
}

impl Patients {
    pub(super) fn new(seed: u64) -> Self {
        let diagnoses = diagnoses();
        let in_chapter = (0..CHAPTERS.len()).map(|chapter| {
            let first = diagnoses.iter().take_while(|d| d.chapter < chapter).count();
            let count = diagnoses.iter().filter(|d| d.chapter == chapter).count() as u32;
            // The share of a diagnosis is proportional to one over its rank. Ranks are scattered
            // over the chapter so that its blocks differ.
            (first, Weights::new((0..count).map(|i| 1_000 / (1 + i * 5 % count))))
        });
        Self {
            seed,
            sex: Weights::new([53, 47]),
            age: Weights::new((0..96).map(|age: u32| if age < 4 { 60 } else { 20 + age * (95 - age) / 30 })),
            chapters: (0..10)
                .map(|d| [false, true].map(|female| chapter_weights(d * 10 + 5, female)))
                .collect(),
            in_chapter: in_chapter.collect(),
            diagnoses,
            zips: ZipCodes,
        }
    }

    fn diagnosis(&self, rng: &mut impl Rng, age: usize, sex: usize) -> usize {
        let chapter = self.chapters[age / 10][usize::from(sex == 0)].draw(rng);
        let (first, shares) = &self.in_chapter[chapter];
        first + shares.draw(rng)
    }

    fn patient(&self, rng: &mut impl Rng, number: u64) -> Patient {
        let (sex, age) = (self.sex.draw(rng), self.age.draw(rng));
        let (mut name, mut zip) = (String::new(), String::new());
        full_name(rng, sex == 0, &mut name);
        self.zips.draw(rng, &mut zip);
        let insurer = match age {
            18..=25 if chance(rng, 40) => 3,
            18..=66 => [0, 1, 1, 1, 2, 4][low(rng, 6) as usize],
            _ => [0, 0, 0, 2][below(rng, 4) as usize],
        };
        let lasting = self.diagnosis(rng, age, sex);
        // The year of birth precedes the first visit for every age.
        let birth_year = FIRST_YEAR - 1 - age as i32;
        Patient {
            id: format!("P{number:07}"),
            name,
            birth_year,
            sex,
            zip,
            insurer,
            lasting,
        }
    }

    fn ward(&self, rng: &mut impl Rng, age: i32, chapter: usize) -> usize {
        let usual = if age < 16 { CHILDREN } else { CHAPTERS[chapter].ward };
        match below(rng, 100) {
            0..=17 => EMERGENCY,
            18..=21 => INTENSIVE_CARE,
            _ => usual,
        }
    }
}

/// Returns the patient of each visit of a block. Each patient has one visit, and the other visits
/// are distributed unevenly.
fn owners(rng: &mut impl Rng) -> Vec<usize> {
    let mut owners: Vec<usize> = (0..BLOCK_PATIENTS as usize).collect();
    owners.extend((BLOCK_PATIENTS..BLOCK_VISITS).map(|_| low(rng, BLOCK_PATIENTS as u32) as usize));
    owners
}

impl GeneratedRows for Patients {
    fn schema(&self) -> SchemaRef {
        let field = |name: &str, kind: DataType| Field::new(name, kind, true);
        Arc::new(Schema::new(vec![
            Field::new("patient_id", DataType::Utf8, false),
            Field::new("name", DataType::Utf8, false),
            Field::new("birth_year", DataType::Int32, false),
            field("sex", category()),
            Field::new("zip", DataType::Utf8, false),
            Field::new("visited_at", DataType::Timestamp(TimeUnit::Microsecond, None), false),
            field("ward", category()),
            field("diagnosis", category()),
            field("cost", DataType::Decimal128(10, 2)),
            field("insurer", category()),
        ]))
    }

    fn rows(&self, group: u64, range: Range<u64>) -> Result<RecordBatch> {
        // This function is not divided, because the bytes of the table depend on the order of the
        // draws.
        let n = (range.end - range.start) as usize;
        let rng = &mut stream(self.seed, group);
        let mut id = StringBuilder::with_capacity(n, n * 8);
        let mut name = StringBuilder::with_capacity(n, n * 24);
        let mut birth_year = Int32Builder::with_capacity(n);
        let mut zip = StringBuilder::with_capacity(n, n * 5);
        let mut visited_at = TimestampMicrosecondBuilder::with_capacity(n);
        let mut cost = Decimal128Builder::with_capacity(n).with_precision_and_scale(10, 2)?;
        let [mut sexes, mut wards, mut codes, mut insurers] = std::array::from_fn(|_| CategoryCodes::new(n));
        let (first_day, last_day) = (days(FIRST_YEAR, 1, 1)?, days(FIRST_YEAR + 2, 1, 1)?);
        for block in range.start / BLOCK_VISITS..range.end.div_ceil(BLOCK_VISITS) {
            let patients: Vec<Patient> = (0..BLOCK_PATIENTS)
                .map(|i| self.patient(rng, block * BLOCK_PATIENTS + i + 1))
                .collect();
            let in_range = (range.end - block * BLOCK_VISITS).min(BLOCK_VISITS) as usize;
            for owner in owners(rng).into_iter().take(in_range) {
                let patient = &patients[owner];
                let day = first_day + below(rng, (last_day - first_day) as u32) as i32;
                let minute = 6 * 60 + low(rng, 16 * 60);
                let age = FIRST_YEAR - patient.birth_year;
                let again = chance(rng, 60);
                let diagnosis = if again {
                    patient.lasting
                } else {
                    self.diagnosis(rng, age as usize, patient.sex)
                };
                let chapter = self.diagnoses[diagnosis].chapter;
                let ward = self.ward(rng, age, chapter);
                let base = CHAPTERS[chapter].cost * if ward == INTENSIVE_CARE { 4 } else { 1 };
                let cents = base * (20 + low(rng, 180)) + below(rng, 100);
                id.append_value(&patient.id);
                name.append_value(&patient.name);
                birth_year.append_value(patient.birth_year);
                sexes.push(patient.sex);
                zip.append_value(&patient.zip);
                visited_at.append_value((i64::from(day) * 24 * 60 + i64::from(minute)) * 60_000_000);
                wards.push(ward);
                // Some visits have no code yet.
                if chance(rng, 2) {
                    codes.push_null();
                } else {
                    codes.push(diagnosis);
                }
                cost.append_option((!chance(rng, 1)).then_some(i128::from(cents)));
                insurers.push(patient.insurer);
            }
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(id.finish()),
            Arc::new(name.finish()),
            Arc::new(birth_year.finish()),
            sexes.finish(super::vocabulary::SEX.iter().map(|v| v.label))?,
            Arc::new(zip.finish()),
            Arc::new(visited_at.finish()),
            wards.finish(WARDS.iter().copied())?,
            codes.finish(self.diagnoses.iter().map(|d| d.code))?,
            Arc::new(cost.finish()),
            insurers.finish(INSURERS.iter().copied())?,
        ];
        Ok(RecordBatch::try_new(self.schema(), columns)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::Error;
    use arrow::array::AsArray;
    use arrow::datatypes::Int32Type;
    use std::collections::HashMap;

    #[test]
    fn a_patient_keeps_name_and_year_of_birth() -> Result<()> {
        let batch = Patients::new(9).rows(0, 0..8_000)?;
        let column = |name: &str| {
            batch
                .column_by_name(name)
                .cloned()
                .ok_or_else(|| Error::internal("no column"))
        };
        let (id, name, year) = (column("patient_id")?, column("name")?, column("birth_year")?);
        let (id, name, year) = (
            id.as_string::<i32>(),
            name.as_string::<i32>(),
            year.as_primitive::<Int32Type>(),
        );
        let mut known = HashMap::new();
        let mut visits = HashMap::<_, u32>::new();
        for row in 0..batch.num_rows() {
            let person = (name.value(row), year.value(row));
            assert_eq!(*known.entry(id.value(row)).or_insert(person), person);
            *visits.entry(id.value(row)).or_default() += 1;
        }
        assert_eq!(known.len(), 3_000);
        assert!(visits.values().max() > Some(&5) && visits.values().min() == Some(&1));
        Ok(())
    }
}
