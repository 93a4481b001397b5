//! The changes that randomly drawn masks make to columns of numbers, dates and categories. Totals,
//! means, spread, distributions and correlations are measured before and after masking.

use super::basis::{both, contributions, counts, deciding, persons, rows_deciding, rows_of_one, whole};
use super::measurable::{MeasurableColumn, labels_in_place, types};
use super::sides::Tables;
use crate::base::error::Result;
use crate::base::quoting::quote;
use crate::method::hierarchy::is_binary;
use crate::method::utility::{Figure, FigureBasis, MeasureKind, date_of};
use crate::release::recount::sql::{number, steady};
use arrow::datatypes::DataType;

/// The measures of a column of numbers, each with the SQL function that computes it.
const OF_NUMBERS: &[(MeasureKind, &str)] = &[
    (MeasureKind::Total, "sum"),
    (MeasureKind::Mean, "avg"),
    (MeasureKind::Deviation, "stddev"),
];
/// The measures of a column of dates or timestamps, each with the SQL function that computes it. A
/// sum of dates has no meaning.
const OF_DATES: &[(MeasureKind, &str)] = &[(MeasureKind::MeanDate, "avg"), (MeasureKind::DeviationInDays, "stddev")];

/// Returns the figures of masked columns, including their correlations with each other and with the
/// `others`. All of these are columns of the release. The figure of a correlation that cannot be
/// measured contains the reason.
pub(super) async fn figures(tables: &Tables<'_>, masked: &[String], others: &[String]) -> Result<Vec<Figure>> {
    let mut found = vec![];
    let (mut known, mut labelled) = (vec![], vec![]);
    if !masked.is_empty() {
        for column in others {
            match labels_in_place(tables, column).await? {
                Some(why) => labelled.push((column, why)),
                None => known.extend(MeasurableColumn::of(tables, column).await?),
            }
        }
    }
    for column in masked {
        if let Some(column) = MeasurableColumn::of(tables, column).await? {
            found.extend(moments(tables, &column, &known).await?);
            found.extend(labelled.iter().map(|(other, why)| {
                let measure = MeasureKind::Correlation((*other).clone());
                let figure = Figure::new(measure, None).of(&column.name);
                figure.note(format!("not measured: {why}"))
            }));
            known.push(column);
        } else if has_categories(tables, column).await? {
            let figure = Figure::new(MeasureKind::TotalVariation, total_variation(tables, column).await?);
            found.push(figure.of(column).on(whole(tables).await?));
        }
    }
    Ok(found)
}

/// Returns the moments of a column, and its correlations with the `others`. One query reads all of
/// them in the release, and another one in the source. A third query reads what the persons of the
/// source contribute to the moments.
async fn moments(tables: &Tables<'_>, column: &MeasurableColumn, others: &[MeasurableColumn]) -> Result<Vec<Figure>> {
    let measures = if column.is_time { OF_DATES } else { OF_NUMBERS };
    let aggregates = |table: usize| {
        let value = &column.values[table];
        let mut aggregates = vec!["count(*)".to_string(), persons(tables, value)];
        aggregates.extend(measures.iter().map(|measure| aggregate(column, table, measure)));
        for other in others {
            let other = &other.values[table];
            // Rows in which one of the values is NULL do not count.
            aggregates.push(persons(tables, &format!("({value} + {other})")));
            aggregates.push(deciding(value, other));
            aggregates.push(deciding(other, value));
            aggregates.push(format!("corr({value}, {other})"));
        }
        aggregates
    };
    let most = rows_of_one(tables).await?;
    let mut pairs = both(tables, [aggregates(0), aggregates(1)]).await?.into_iter();
    let rows = counts(pairs.next());
    let basis = FigureBasis::new(counts(pairs.next()), rows);
    let [to_total, to_squares] = contributions(tables, &column.values[1]).await?;
    let mut found = vec![];
    for (measure, _) in measures {
        let contributions = match measure {
            MeasureKind::Deviation | MeasureKind::DeviationInDays => to_squares,
            _ => to_total,
        };
        let basis = basis.with_contributions(contributions);
        found.push(figure(measure.clone(), pairs.next()).on(basis));
    }
    for other in others {
        let basis = FigureBasis::new(counts(pairs.next()), rows).with_rows_of_one(most);
        let decided = rows_deciding([pairs.next(), pairs.next()]);
        let measure = MeasureKind::Correlation(other.name.clone());
        let correlation = figure(measure, pairs.next());
        // Without a correlation in the source, no row decides it.
        found.push(match correlation.of_source {
            Some(_) => correlation.on(basis.decided_by(decided)),
            None => correlation.on(basis),
        });
    }
    Ok(found.into_iter().map(|figure| figure.of(&column.name)).collect())
}

/// Returns the SQL for a measure of the values of a column in a table: 0 is the release, and 1 is
/// the source. Integers are summed exactly, and only the sum is converted to a floating-point
/// number.
fn aggregate(column: &MeasurableColumn, table: usize, (measure, function): &(MeasureKind, &str)) -> String {
    match (measure, &column.exact[table]) {
        (MeasureKind::Total, Some(exact)) => format!("sum({exact})"),
        (MeasureKind::Mean, Some(exact)) => {
            // A second count of the same column would have the same name as the first.
            format!("CAST(sum({exact}) AS DOUBLE) / sum(CASE WHEN {exact} IS NULL THEN 0 ELSE 1 END)")
        }
        _ => format!("{function}({})", column.values[table]),
    }
}

/// Returns the figure of a measure, given its values in the release and in the source. If it is a
/// mean of dates, its note contains the means as dates.
fn figure(measure: MeasureKind, pair: Option<[Option<f64>; 2]>) -> Figure {
    // The correlation of a column whose values are all equal is NaN, and so is the mean of numbers
    // that include NaN. Such values are left out.
    let known = |value: Option<f64>| value.filter(|value| value.is_finite()).map(steady);
    let [release, source] = pair.unwrap_or_default().map(known);
    let is_date = measure == MeasureKind::MeanDate;
    let figure = Figure::new(measure, release).beside(source);
    let dates = [(release, "release"), (source, "source")].into_iter();
    let dates = dates.filter_map(|(days, of)| Some(format!("{} in the {of}", date_of(days?)?)));
    let dates: Vec<String> = dates.collect();
    match is_date && !dates.is_empty() {
        true => figure.note(dates.join(", ")),
        false => figure,
    }
}

/// Returns half the sum, over all values, of the absolute difference between the shares of a value
/// in the two tables. Values are compared as texts.
async fn total_variation(tables: &Tables<'_>, column: &str) -> Result<Option<f64>> {
    let text = format!("CAST({} AS VARCHAR)", quote(column));
    let shares = |table: &str, sign: &str| {
        format!("SELECT {text} AS v, {sign}1.0 / (SELECT count(*) FROM {table}) AS p FROM {table}")
    };
    let sql = format!(
        "SELECT sum(abs(d)) / 2 FROM (SELECT sum(p) AS d FROM ({} UNION ALL {}) GROUP BY v)",
        shares(&tables.released.released(), ""),
        shares(&quote(tables.source), "-")
    );
    Ok(number(tables.session, &sql).await?.map(steady))
}

/// Returns true if the values of a column can be compared as texts: they are strings in both
/// tables, or values of the same type that are neither nested nor binary.
async fn has_categories(tables: &Tables<'_>, column: &str) -> Result<bool> {
    let is_flat = |of: &DataType| !of.is_nested() && !is_binary(of);
    let types = types(tables, column).await?;
    Ok(types.is_some_and(|[released, source]| {
        released.is_string() && source.is_string() || released == source && is_flat(&source)
    }))
}
