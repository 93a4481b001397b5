//! PER ROW: returns figures for every row, which is identified by its number. The result contains
//! values of the row only in the columns of KEEP.

use super::classed_rows::ClassedRows;
use super::measure::OPTIONS;
use super::spec::RiskSpec;
use crate::base::catalogue::Arguments;
use crate::base::error::{Error, Result};
use crate::base::pool::blocking;
use crate::language::session::context::AnonContext;
use crate::method::risk::{MOST_COLUMNS, SpecialUniques, Weighed, number_of_sets};
use arrow::array::{ArrayRef, Float64Array, UInt64Array};
use arrow::record_batch::RecordBatch;
use std::sync::Arc;

/// The maximum number of column sets in the search for special uniques. For each set, all classes
/// are grouped.
const MOST_SETS: u64 = 10_000;

/// The result columns with the row number and the figures.
const FIGURES: [&str; 5] = ["row", "class_size", "individual_risk", "suda_score", "dis_suda_score"];

/// The result column with household risks, which exists only if the statement has ENTITY.
const HOUSEHOLD_RISK: &str = "household_risk";

/// The options of WITH that have an effect with PER ROW.
const USED: [&str; 3] = ["sampling_fraction", "subset_size", "contributions"];

impl AnonContext {
    /// Returns one result row for every row of the table.
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
        let of_columns = match options.boolean("contributions")? {
            true => statement
                .quasi_identifiers
                .iter()
                .map(|q| format!("suda_of_{}", q.column))
                .collect(),
            false => vec![],
        };
        check_kept(statement, &of_columns)?;
        let rows = self.classed_rows(statement).await?;
        let is_weighed = statement.weight.is_some();
        blocking("measuring the rows", move || {
            figures(&rows, largest, (is_weighed, fraction), of_columns)
        })
        .await
    }
}

/// Returns one result row for each of `rows`. `largest` is the maximum size of the column sets in
/// the search for special uniques. `is_weighed` tells whether the statement has WEIGHT, and
/// `fraction` is the given sampling fraction. `of_columns` are the names of the result columns with
/// the contributions of the quasi-identifiers; empty if they are not requested.
fn figures(
    rows: &ClassedRows,
    largest: usize,
    (is_weighed, fraction): (bool, Option<f64>),
    of_columns: Vec<String>,
) -> Result<RecordBatch> {
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
    let households = household_risks(rows, &risks);
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
    let figures: [ArrayRef; 5] = [
        Arc::new(row),
        Arc::new(size),
        by_class(risks),
        by_class(scores),
        by_class(dis),
    ];
    let named = FIGURES.map(String::from).into_iter().zip(figures);
    let households = households.map(|risks| (HOUSEHOLD_RISK.to_string(), Arc::new(risks) as ArrayRef));
    let contributions = match of_columns.is_empty() {
        true => vec![],
        false => special.contributions(),
    };
    let contributions = of_columns.into_iter().zip(contributions.into_iter().map(by_class));
    let kept = rows
        .kept
        .iter()
        .map(|(field, column)| (field.name().clone(), Arc::clone(column)));
    let columns = named.chain(households).chain(contributions).chain(kept);
    Ok(RecordBatch::try_from_iter_with_nullable(columns.map(
        |(name, column)| {
            let is_nullable = name != FIGURES[0];
            (name, column, is_nullable)
        },
    ))?)
}

/// Returns, for each row, the risk that at least one row in its household is re-identified: 1 minus
/// the product of `1 - r`, where r is the risk of each row in the household. Rows without a risk
/// are left out of the product, and have no household risk. Returns `None` if the statement has no
/// ENTITY.
fn household_risks(rows: &ClassedRows, risks: &[Option<f64>]) -> Option<Float64Array> {
    let households = rows.household_of.as_ref()?.iter().map(|household| *household as usize);
    let risk_of = |class: Option<u32>| risks.get(class? as usize).copied().flatten();
    let mut safe = vec![1.0; households.clone().max().map_or(0, |last| last + 1)];
    for (household, class) in households.clone().zip(&rows.class_of) {
        safe[household] *= 1.0 - risk_of(*class).unwrap_or(0.0);
    }
    let by_row = households.zip(&rows.class_of);
    Some(
        by_row
            .map(|(household, class)| risk_of(*class).map(|_| 1.0 - safe[household]))
            .collect(),
    )
}

/// Fails with a usage error if a column of KEEP has the same name as a result column.
fn check_kept(statement: &RiskSpec, of_columns: &[String]) -> Result<()> {
    let is_figure = |kept: &&String| {
        FIGURES.contains(&kept.as_str())
            || (*kept == HOUSEHOLD_RISK && statement.entity.is_some())
            || of_columns.contains(kept)
    };
    match statement.keep.iter().find(is_figure) {
        Some(kept) => Err(Error::usage(format!(
            "KEEP: {kept:?} is also the name of a figure; give the column another name in a query: SELECT {kept} AS \
             own_{kept}"
        ))),
        None => Ok(()),
    }
}

/// Fails with a usage error if a part of the statement has no effect with PER ROW.
fn check(statement: &RiskSpec) -> Result<()> {
    let is_without_risk = statement.weight.is_none() && !statement.options.iter().any(|(name, _)| name == USED[0]);
    if let (Some(entity), true) = (&statement.entity, is_without_risk) {
        return Err(Error::usage(format!(
            "ENTITY ({entity}) asks PER ROW for the risk of each household, which follows from the individual risks of its rows; \
             name WEIGHT (w) or WITH (sampling_fraction = ...), or leave ENTITY out"
        )));
    }
    let unused = [
        ("SENSITIVE", !statement.sensitive.is_empty()),
        ("POPULATION", statement.population.is_some()),
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
