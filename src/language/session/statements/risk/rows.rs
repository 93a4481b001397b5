//! The result rows of RISK OF, with the columns section, subject, measure, value and note.

use super::measure::{MOST_SUBSETS, RiskFigures};
use crate::base::error::Result;
use crate::method::risk::{Above, AttackerRisk, ClassEstimate, Estimate, Histogram};
use arrow::array::{ArrayRef, Float64Array, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

/// Returns the schema of the result.
pub(in crate::language::session) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("section", DataType::Utf8, false),
        Field::new("subject", DataType::Utf8, true),
        Field::new("measure", DataType::Utf8, false),
        Field::new("value", DataType::Float64, true),
        Field::new("note", DataType::Utf8, true),
    ]))
}

/// One result row. If it has no subject, it is about the whole table.
struct Row {
    section: &'static str,
    subject: Option<String>,
    measure: String,
    value: Option<f64>,
    note: Option<String>,
}

#[derive(Default)]
struct Rows(Vec<Row>);

impl Rows {
    fn add(&mut self, section: &'static str, measure: impl Into<String>, value: impl Into<Option<f64>>) -> &mut Row {
        self.0.push(Row {
            section,
            subject: None,
            measure: measure.into(),
            value: value.into(),
            note: None,
        });
        let last = self.0.len() - 1;
        &mut self.0[last]
    }
}

impl Row {
    fn of(&mut self, subject: impl Into<String>) -> &mut Self {
        self.subject = Some(subject.into());
        self
    }

    fn note(&mut self, note: impl Into<String>) -> &mut Self {
        self.note = Some(note.into());
        self
    }
}

/// Returns the result rows as one batch.
pub(in crate::language::session) fn batch(measured: &RiskFigures) -> Result<RecordBatch> {
    let mut rows = Rows::default();
    table(&mut rows, measured);
    attackers(&mut rows, measured);
    individual(&mut rows, measured);
    uniqueness(&mut rows, measured);
    sensitive(&mut rows, measured);
    columns(&mut rows, measured);
    histogram(&mut rows, measured);
    let rows = rows.0;
    let section: StringArray = rows.iter().map(|r| Some(r.section)).collect();
    let subject: StringArray = rows.iter().map(|r| r.subject.as_deref()).collect();
    let measure: StringArray = rows.iter().map(|r| Some(r.measure.as_str())).collect();
    let value: Float64Array = rows.iter().map(|r| r.value).collect();
    let note: StringArray = rows.iter().map(|r| r.note.as_deref()).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(section),
        Arc::new(subject),
        Arc::new(measure),
        Arc::new(value),
        Arc::new(note),
    ];
    Ok(RecordBatch::try_new(schema(), columns)?)
}

fn table(rows: &mut Rows, measured: &RiskFigures) {
    let risk = &measured.risk;
    let people = rows.add("table", "rows", risk.rows as f64);
    match (&measured.entity, measured.starred) {
        (Some(entity), _) => {
            people.note(format!(
                "distinct values of {entity}, counted once in every class they are in; so is every figure below"
            ));
        }
        (None, 0) => {}
        (None, starred) => {
            people.note(format!("without {starred} suppressed rows, which are not a class"));
        }
    }
    rows.add("table", "classes", risk.classes as f64);
    rows.add("table", "average class size", risk.average_class_size);
    rows.add("table", "smallest class", risk.smallest_class.map(|s| s as f64))
        .note("the k that k_anonymity reaches");
    rows.add("table", "largest class", risk.largest_class.map(|s| s as f64));
}

fn attackers(rows: &mut Rows, measured: &RiskFigures) {
    let risk = &measured.risk;
    attacker(rows, "prosecutor", &risk.prosecutor, measured.k);
    match &risk.journalist {
        Some(journalist) => attacker(rows, "journalist", journalist, measured.k),
        None => {
            // Every class is at least as large in the population as in the table, so the prosecutor
            // risk is an upper bound.
            let most = &risk.prosecutor;
            rows.add("journalist", HIGHEST, most.highest).note(AT_MOST);
            rows.add("journalist", MEAN, most.mean).note(AT_MOST);
            for above in &most.above {
                rows.add("journalist", share_above(above), above.share).note(AT_MOST);
            }
        }
    }
    let marketer = rows.add("marketer", MEAN, risk.marketer);
    marketer.note(match risk.journalist {
        Some(_) => "the share re-identified when all rows are tried",
        None => AT_MOST,
    });
}

const HIGHEST: &str = "highest";
const MEAN: &str = "mean";
const EWENS: &str = "by Ewens' formula, its limit: the likelihood peaks below 0; the decision rule does not use it";
const AT_MOST: &str = "at most: no POPULATION is named";

fn share_above(above: &Above) -> String {
    format!("share of rows above {}", above.threshold)
}

fn attacker(rows: &mut Rows, section: &'static str, attacker: &AttackerRisk, k: u64) {
    let place = if section == "journalist" {
        " of the population"
    } else {
        ""
    };
    rows.add(section, HIGHEST, attacker.highest)
        .note(format!("1 / the smallest class{place}"));
    rows.add(section, "share of rows at the highest", attacker.rows_at_highest);
    rows.add(section, MEAN, attacker.mean)
        .note("the share re-identified when all rows are tried");
    rows.add(section, "lowest", attacker.lowest)
        .note(format!("1 / the largest class{place}"));
    rows.add(section, "share of rows at the lowest", attacker.rows_at_lowest);
    for above in &attacker.above {
        let row = rows.add(section, share_above(above), above.share);
        if above.threshold == 1.0 / k as f64 {
            row.note(format!("1 / k for k = {k}"));
        }
    }
}

/// Adds the individual risks according to sampling weights, if the statement has WEIGHT.
fn individual(rows: &mut Rows, measured: &RiskFigures) {
    let Some(found) = &measured.individual else {
        return;
    };
    let section = "individual";
    rows.add(section, "population", found.population)
        .note("the sum of WEIGHT");
    rows.add(section, HIGHEST, found.highest)
        .note("the mean of 1 / the class's size in the population, given its rows and weights");
    rows.add(section, MEAN, found.mean)
        .note("the share re-identified when all rows are tried");
    rows.add(section, "expected re-identifications", found.expected);
    for above in &found.above {
        rows.add(section, share_above(above), above.share);
    }
}

fn uniqueness(rows: &mut Rows, measured: &RiskFigures) {
    let risk = &measured.risk;
    rows.add("uniqueness", "uniques", risk.sample_uniques as f64)
        .of("sample");
    rows.add("uniqueness", "share", risk.sample_uniqueness).of("sample");
    if let Some(population) = &measured.population {
        rows.add("uniqueness", "uniques", population.uniques() as f64)
            .of("population")
            .note(format!("counted in the {} rows of POPULATION", population.rows()));
        let share = if population.rows() == 0 {
            0.0
        } else {
            population.uniques() as f64 / population.rows() as f64
        };
        rows.add("uniqueness", "share", share).of("population");
    }
    let Some(found) = &risk.population_uniqueness else {
        for estimator in ["pitman", "zayatz", "snb", "dankar"] {
            rows.add("uniqueness", "estimated share", None)
                .of(estimator)
                .note("needs the share of the table in the population: WITH (sampling_fraction = 0.1)");
        }
        return;
    };
    let fraction = rows.add("uniqueness", "sampling fraction", found.sampling_fraction);
    if let Some(from) = measured.counted_fraction {
        fraction.note(from);
    }
    let chose = found
        .dankar_chose
        .map(|estimator| format!("the rule chose {}", estimator.name()));
    for (estimator, estimate, note) in [
        ("pitman", found.pitman, found.pitman_is_ewens.then(|| EWENS.into())),
        ("zayatz", found.zayatz, None),
        ("snb", found.snb, None),
        ("dankar", found.dankar, chose),
    ] {
        let note = note.or_else(|| estimate.is_none().then(|| no_solution(estimator, measured)));
        let mut add = |measure: &'static str, value: fn(Estimate) -> f64| {
            let row = rows.add("uniqueness", measure, estimate.map(value)).of(estimator);
            if let Some(note) = &note {
                row.note(note);
            }
        };
        add("estimated uniques", |e| e.uniques);
        add("estimated share", |e| e.share);
    }
}

fn no_solution(estimator: &str, measured: &RiskFigures) -> String {
    let none = "no solution for these class sizes";
    match measured.class_estimate {
        ClassEstimate::Peer if estimator == "snb" => {
            format!("{none}; WITH (snb_classes = haas_stokes) counts the population's classes as that paper does")
        }
        _ => none.into(),
    }
}

/// Adds rows for each subset of columns. Subsets of the same size are sorted by the number of row
/// pairs that they separate, in descending order.
fn columns(rows: &mut Rows, measured: &RiskFigures) {
    let mut sorted: Vec<&(Vec<String>, Histogram)> = measured.columns.iter().collect();
    let apart = |entry: &(Vec<String>, Histogram)| entry.1.pairs_apart().0;
    sorted.sort_by(|a, b| a.0.len().cmp(&b.0.len()).then_with(|| apart(b).cmp(&apart(a))));
    let larger = measured.columns.iter().map(|(names, _)| names.len());
    let all = larger.clone().max().unwrap_or(0);
    let sizes = larger.filter(|size| *size < all).max().unwrap_or(all);
    rows.add("columns", "subsets measured", measured.columns.len() as f64)
        .note(match sizes + 1 < all {
            true => format!(
                "those of up to {sizes} columns, and all columns; WITH (subset_size = ...), at most {MOST_SUBSETS}"
            ),
            false => "all".into(),
        });
    for (names, histogram) in sorted {
        let subject = names.join(", ");
        rows.add("columns", "distinction", histogram.distinction())
            .of(&subject)
            .note(format!(
                "{} combinations of {} rows",
                histogram.classes(),
                histogram.rows()
            ));
        let cells = || histogram.iter().filter(|(size, _)| *size < measured.k);
        let unsafe_cells: u64 = cells().map(|(_, cells)| cells).sum();
        let exposed: u64 = cells().map(|(size, cells)| size * cells).sum();
        rows.add("columns", "unsafe cells", unsafe_cells as f64)
            .of(&subject)
            .note(format!(
                "combinations of fewer than k = {} rows; {exposed} rows are in them",
                measured.k
            ));
        let (apart, all) = histogram.pairs_apart();
        rows.add("columns", "separation", histogram.separation())
            .of(&subject)
            .note(format!("{apart} of {all} pairs of rows differ"));
    }
}

fn sensitive(rows: &mut Rows, measured: &RiskFigures) {
    for worst in &measured.sensitive {
        rows.add("sensitive", worst.measure.clone(), worst.reached)
            .of(&worst.attribute)
            .note(&worst.meaning);
    }
}

/// The minimum class size whose band contains more than one size. The bands are 1, 2, 3, 4, 5-9,
/// 10-19, 20-49, 50-99, and so on.
const FIRST_BAND: u64 = 5;

fn histogram(rows: &mut Rows, measured: &RiskFigures) {
    let mut add = |subject: String, classes: u64, people: u64| {
        rows.add("histogram", "classes", classes as f64)
            .of(subject)
            .note(format!("{people} rows"));
    };
    let sizes = measured.risk.histogram.iter();
    if !measured.bands {
        sizes.for_each(|(size, classes)| add(size.to_string(), classes, size * classes));
        return;
    }
    let mut open: Option<(u64, u64, u64, u64)> = None;
    for (size, classes) in sizes {
        let (low, high) = band(size);
        open = Some(match open {
            Some((l, h, c, n)) if l == low => (l, h, c + classes, n + size * classes),
            before => {
                if let Some((l, h, c, n)) = before {
                    add(label(l, h), c, n);
                }
                (low, high, classes, size * classes)
            }
        });
    }
    if let Some((l, h, c, n)) = open {
        add(label(l, h), c, n);
    }
}

/// Returns the first and the last size in the band of a class size. A size below [`FIRST_BAND`] has
/// a band of its own. All other bands begin at 1, 2 or 5 times a power of ten, and end before the
/// next such number.
fn band(size: u64) -> (u64, u64) {
    if size < FIRST_BAND {
        return (size, size);
    }
    let power = 10u64.pow(size.ilog10());
    let (low, next) = match size / power {
        1 => (1, 2),
        2..=4 => (2, 5),
        _ => (5, 10),
    };
    (low * power, power.saturating_mul(next) - 1)
}

fn label(low: u64, high: u64) -> String {
    if low == high {
        low.to_string()
    } else {
        format!("{low}-{high}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_follow_one_another() {
        let found: Vec<String> = [1, 4, 5, 9, 10, 19, 20, 49, 50, 99, 100, 4999]
            .map(band)
            .map(|(l, h)| label(l, h))
            .into();
        assert_eq!(
            found,
            [
                "1",
                "4",
                "5-9",
                "5-9",
                "10-19",
                "10-19",
                "20-49",
                "20-49",
                "50-99",
                "50-99",
                "100-199",
                "2000-4999"
            ]
        );
    }
}
