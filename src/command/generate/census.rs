//! A census-like table: one row per person, with identifiers, quasi-identifiers and sensitive
//! columns.

use super::draw::{Scatter, bell, below, chance, low, stream};
use super::names::full_name;
use super::population::{Population, YOUNGEST};
use super::vocabulary::{self as words, Category};
use super::write::GeneratedRows;
use crate::base::error::{Error, Result};
use arrow::array::{
    ArrayRef, Date32Builder, Decimal128Builder, DictionaryArray, Int32Array, Int32Builder, StringArray, StringBuilder,
};
use arrow::datatypes::{DataType, Field, Int32Type, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use chrono::NaiveDate;
use rand::Rng;
use std::ops::Range;
use std::sync::Arc;

/// The year on whose first day each person has the given age.
const YEAR: i32 = 2026;
/// The number of social security numbers that begin with 9. These numbers are never issued, so none
/// of them belongs to a person.
const NUMBERS: u64 = 100_000_000;

pub(super) struct Census {
    seed: u64,
    population: Population,
    numbers: Scatter,
    zips: ZipCodes,
}

impl Census {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            seed,
            population: Population::new(),
            numbers: Scatter::new(NUMBERS, seed),
            zips: ZipCodes,
        }
    }
}

/// Five-digit codes of two dozen areas. Most people live in a few areas, and in a few codes of each
/// area.
pub(super) struct ZipCodes;

impl ZipCodes {
    /// Writes a random code to `out`, which is cleared first.
    pub(super) fn draw(&self, rng: &mut impl Rng, out: &mut String) {
        let area = low(rng, 24).min(low(rng, 24));
        // Groups of six areas share their first two digits, so that prefixes of two, three and four
        // digits are meaningful.
        let prefix = 100 * (area / 6 * 2 + 1) + 10 * (area % 6) + area % 3;
        let code = low(rng, 40).min(low(rng, 40));
        push_digits(out, prefix * 100 + code * 2 + area % 2, 5);
    }
}

/// Writes the last `digits` digits of `number` to `out`, which is cleared first.
pub(super) fn push_digits(out: &mut String, number: u32, digits: u32) {
    out.clear();
    for place in (0..digits).rev() {
        out.push(char::from(b'0' + (number / 10u32.pow(place) % 10) as u8));
    }
}

/// The codes of a categorical column, which is written as strings.
pub(super) struct CategoryCodes(Int32Builder);

impl CategoryCodes {
    pub(super) fn new(rows: usize) -> Self {
        Self(Int32Builder::with_capacity(rows))
    }

    pub(super) fn push(&mut self, code: usize) {
        self.0.append_value(code as i32);
    }

    pub(super) fn push_null(&mut self) {
        self.0.append_null();
    }

    pub(super) fn finish<'a>(mut self, labels: impl IntoIterator<Item = &'a str>) -> Result<ArrayRef> {
        let labels: StringArray = labels.into_iter().map(Some).collect();
        Ok(Arc::new(DictionaryArray::<Int32Type>::try_new(
            self.0.finish(),
            Arc::new(labels),
        )?))
    }

    fn finish_words(self, values: &[Category]) -> Result<ArrayRef> {
        self.finish(values.iter().map(|v| v.label))
    }
}

/// Returns the type of a column made by [`CategoryCodes`].
pub(super) fn category() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}

/// Returns the number of days from 1970-01-01 to a date.
pub(super) fn days(year: i32, month: u32, day: u32) -> Result<i32> {
    let date = NaiveDate::from_ymd_opt(year, month, day).ok_or_else(|| Error::internal("no such date"))?;
    Ok(date.to_epoch_days())
}

impl GeneratedRows for Census {
    fn schema(&self) -> SchemaRef {
        let field = |name: &str, kind: DataType| Field::new(name, kind, true);
        Arc::new(Schema::new(vec![
            Field::new("name", DataType::Utf8, false),
            Field::new("ssn", DataType::Utf8, false),
            Field::new("age", DataType::Int32, false),
            field("sex", category()),
            Field::new("zip", DataType::Utf8, false),
            field("birth_date", DataType::Date32),
            field("education", category()),
            field("marital_status", category()),
            field("native_country", category()),
            field("race", category()),
            field("workclass", category()),
            field("occupation", category()),
            field("salary_class", category()),
            field("income", DataType::Decimal128(10, 2)),
        ]))
    }

    fn rows(&self, group: u64, range: Range<u64>) -> Result<RecordBatch> {
        // This function is not divided, because the bytes of the table depend on the order of the
        // draws.
        let n = (range.end - range.start) as usize;
        let (rng, people) = (&mut stream(self.seed, group), &self.population);
        let mut text = String::new();
        let mut name = StringBuilder::with_capacity(n, n * 24);
        let mut ssn = StringBuilder::with_capacity(n, n * 11);
        let mut ages = Vec::with_capacity(n);
        let mut zip = StringBuilder::with_capacity(n, n * 5);
        let mut birth = Date32Builder::with_capacity(n);
        let mut income = Decimal128Builder::with_capacity(n).with_precision_and_scale(10, 2)?;
        let [mut sexes, mut educations, mut maritals, mut countries] = std::array::from_fn(|_| CategoryCodes::new(n));
        let [mut races, mut workclasses, mut occupations, mut salaries] =
            std::array::from_fn(|_| CategoryCodes::new(n));
        let year_starts = (YEAR - 120..=YEAR)
            .map(|year| days(year, 1, 1))
            .collect::<Result<Vec<_>>>()?;
        for row in range {
            let (sex, age, race) = (people.sex.draw(rng), people.age.draw(rng), people.race.draw(rng));
            let education = people.education(age).draw(rng);
            let over = people.salary(education, age, sex).draw(rng);
            full_name(rng, sex == 0, &mut text);
            name.append_value(&text);
            push_ssn(&mut text, self.numbers.at(row % NUMBERS) as u32);
            ssn.append_value(&text);
            ages.push((age + YOUNGEST) as i32);
            sexes.push(sex);
            self.zips.draw(rng, &mut text);
            zip.append_value(&text);
            // The birth date is within the year up to the first day of `YEAR` minus the age.
            let first = year_starts[120 - age - YOUNGEST] - below(rng, 365) as i32;
            birth.append_option((!chance(rng, 1)).then_some(first));
            educations.push(education);
            maritals.push(people.marital(age, sex).draw(rng));
            races.push(race);
            let country = people.country(race).draw(rng);
            if chance(rng, 2) {
                countries.push_null();
            } else {
                countries.push(country);
            }
            let (workclass, occupation) = (
                people.workclass(age).draw(rng),
                people.occupation(education, sex).draw(rng),
            );
            // A missing class of work implies a missing occupation.
            if chance(rng, 5) {
                workclasses.push_null();
                occupations.push_null();
            } else {
                workclasses.push(workclass);
                occupations.push(occupation);
            }
            salaries.push(over);
            let cents = i128::from(income_cents(rng, over));
            income.append_option((!chance(rng, 2)).then_some(cents));
        }
        let columns: Vec<ArrayRef> = vec![
            Arc::new(name.finish()),
            Arc::new(ssn.finish()),
            Arc::new(Int32Array::from(ages)),
            sexes.finish_words(words::SEX)?,
            Arc::new(zip.finish()),
            Arc::new(birth.finish()),
            educations.finish_words(words::EDUCATION)?,
            maritals.finish_words(words::MARITAL_STATUS)?,
            countries.finish_words(words::NATIVE_COUNTRY)?,
            races.finish_words(words::RACE)?,
            workclasses.finish_words(words::WORKCLASS)?,
            occupations.finish_words(words::OCCUPATION)?,
            salaries.finish_words(words::SALARY_CLASS)?,
            Arc::new(income.finish()),
        ];
        Ok(RecordBatch::try_new(self.schema(), columns)?)
    }
}

fn push_ssn(out: &mut String, number: u32) {
    push_digits(out, 900_000_000 + number, 9);
    out.insert(5, '-');
    out.insert(3, '-');
}

/// Returns a yearly income in cents, below or above 50,000 dollars by salary class. Most incomes
/// are multiples of 100 dollars.
fn income_cents(rng: &mut impl Rng, over: usize) -> u32 {
    let dollars = match over {
        0 => 4_000 + bell(rng, 46_000),
        _ => 50_100 + low(rng, 70_000) + if chance(rng, 10) { low(rng, 400_000) } else { 0 },
    };
    if chance(rng, 70) {
        dollars / 100 * 10_000
    } else {
        dollars * 100 + below(rng, 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Array, AsArray};
    use arrow::datatypes::{Date32Type, Decimal128Type};
    use chrono::Datelike;

    #[test]
    fn age_fits_the_birth_date_and_income_the_salary_class() -> Result<()> {
        let batch = Census::new(5).rows(0, 0..5_000)?;
        let column = |name: &str| {
            batch
                .column_by_name(name)
                .cloned()
                .ok_or_else(|| Error::internal("no column"))
        };
        let (age, birth, income) = (column("age")?, column("birth_date")?, column("income")?);
        let (age, birth) = (age.as_primitive::<Int32Type>(), birth.as_primitive::<Date32Type>());
        let (income, class) = (income.as_primitive::<Decimal128Type>(), column("salary_class")?);
        let class = class.as_dictionary::<Int32Type>();
        for row in 0..batch.num_rows() {
            if let (true, Some(date)) = (birth.is_valid(row), birth.value_as_date(row)) {
                let birthday_passed = date.ordinal() == 1;
                assert_eq!(
                    YEAR - date.year() - i32::from(!birthday_passed),
                    age.value(row),
                    "born {date}"
                );
            }
            if income.is_valid(row) {
                assert_eq!(income.value(row) > 5_000_000, class.keys().value(row) == 1);
            }
        }
        assert!(income.null_count() > 0 && birth.null_count() > 0);
        Ok(())
    }
}
