//! PER ROW: the figures of every row, by its number and without its values.

use super::classed_rows::ClassedRows;
use super::measure::OPTIONS;
use super::spec::RiskSpec;
use crate::catalogue::Arguments;
use crate::error::{Error, Result};
use crate::pool::blocking;
use crate::risk::{MOST_COLUMNS, SpecialUniques, Weighed, number_of_sets};
use crate::session::context::AnonContext;
use arrow::array::{ArrayRef, Float64Array, UInt64Array};
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

/// The most sets of columns that special uniques are searched on: each set groups all classes.
const MOST_SETS: u64 = 10_000;

/// The options of WITH that PER ROW has a use for.
const USED: [&str; 2] = ["sampling_fraction", "subset_size"];

impl AnonContext {
    /// Returns the figures of every row.
    pub(super) async fn measure_rows(&self, statement: &RiskSpec) -> Result<RecordBatch> {
        check(statement)?;
        let options = Arguments::of_options(&OPTIONS, &statement.options)?;
        let largest = usize::try_from(options.count("subset_size")?).unwrap_or(usize::MAX);
        let columns = statement.quasi_identifiers.len();
        if columns > MOST_COLUMNS || number_of_sets(columns, largest) > MOST_SETS {
            return Err(Error::usage(format!(
                "special uniques of up to {largest} of {columns} columns are too many to search: at most {MOST_SETS} sets \
                 of at most {MOST_COLUMNS} columns; lower WITH (subset_size = ...), or name fewer QUASI IDENTIFIERS"
            )));
        }
        let fraction = options.given("sampling_fraction", Arguments::real)?;
        let rows = self.classed_rows(statement).await?;
        let is_weighed = statement.weight.is_some();
        blocking("measuring the rows", move || {
            figures(&rows, largest, is_weighed, fraction)
        })
        .await
    }
}

/// Returns one row of figures for each row.
fn figures(rows: &ClassedRows, largest: usize, is_weighed: bool, fraction: Option<f64>) -> Result<RecordBatch> {
    let sizes: Vec<u64> = rows.classes.iter().map(|c| c.rows).collect();
    let special = SpecialUniques::of(&rows.columns, &sizes, largest)?;
    let fraction = fraction.or_else(|| rows.fraction().filter(|_| is_weighed));
    let risk = |class: &Weighed| match (is_weighed, fraction) {
        (true, _) => Some(class.risk()),
        (false, Some(fraction)) => {
            let weight = class.rows as f64 / fraction;
            Some(Weighed { weight, ..*class }.risk())
        }
        (false, None) => None,
    };
    let risks: Vec<Option<f64>> = rows.classes.iter().map(risk).collect();
    let scores: Vec<Option<f64>> = special.scores().into_iter().map(Some).collect();
    let dis: Vec<Option<f64>> = match fraction {
        Some(fraction) => special.dis(fraction).into_iter().map(Some).collect(),
        None => vec![None; sizes.len()],
    };
    let classes = || rows.class_of.iter().map(|class| class.map(|class| class as usize));
    let by_class = |figures: Vec<Option<f64>>| -> ArrayRef {
        let rows: Float64Array = classes().map(|class| figures[class?]).collect();
        Arc::new(rows)
    };
    let row: UInt64Array = (1..=rows.class_of.len() as u64).map(Some).collect();
    let size: UInt64Array = classes().map(|class| Some(sizes[class?])).collect();
    Ok(RecordBatch::try_from_iter_with_nullable([
        ("row", Arc::new(row) as ArrayRef, false),
        ("class_size", Arc::new(size), true),
        ("individual_risk", by_class(risks), true),
        ("suda_score", by_class(scores), true),
        ("dis_suda_score", by_class(dis), true),
    ])?)
}

/// Fails with a usage error if a part of the statement has no effect on the figures of a row.
fn check(statement: &RiskSpec) -> Result<()> {
    let unused = [
        ("SENSITIVE", !statement.sensitive.is_empty()),
        ("POPULATION", statement.population.is_some()),
        ("ENTITY", statement.entity.is_some()),
    ];
    let clause = unused
        .iter()
        .find(|(_, is_there)| *is_there)
        .map(|(clause, _)| (*clause).to_string());
    let mut options = statement.options.iter().map(|(name, _)| name);
    let option = options
        .find(|name| !USED.contains(&name.as_str()))
        .map(|name| format!("the option {name}"));
    match clause.or(option) {
        Some(what) => Err(Error::usage(format!(
            "PER ROW measures the class of each row, its individual risk and its special uniques, and has no use for {what}; \
             leave it out, or leave PER ROW out"
        ))),
        None => Ok(()),
    }
}
